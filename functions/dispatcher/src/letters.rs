//! The mails that follow from events.
//!
//! An event says that a mail follows from it ([`Notice`]) and never what that says: bodies of events
//! are shown to subscribers, and a mail may hold a token. It is composed here, of what the table
//! holds, and written in the transaction in which its event is pending no longer. So each is written
//! once, whoever hands the event on how often, and none is lost by a crash before.

use gateway::app::App;
use gateway::outbox::Outgoing;
use gateway::problem::{Code, Problem};
use gateway::table::Write;
use ground::event::Event;
use ground::id::{DisputeId, FulfillmentId, MerchantId, OrderId, RefundId};
use ground::key;
use ground::mail::{Mail, MailContent, Notice};
use identity::challenge::{Link, Purpose};
use identity::merchant::{Merchant, MerchantStatus};
use identity::notifications;
use identity::settings::Settings;
use identity::store::Store;
use sales::dispute::Dispute;
use sales::notifications::{
    dispute_opened, order_cancelled, order_delivered, order_expired, order_placed, order_refunded,
    order_shipped,
};
use sales::order::Order;
use sales::order::fulfillment::Fulfillment;
use sales::order::refund::Refund;
use serde_json::Value;

/// A mail, and the link whose token it brings.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    mail: Mail,
    link: Option<Link>,
}

impl Outgoing for Letter {
    fn put_into(self, write: Write) -> Write {
        let write = write.also(self.link, |write, link| write.create(&link, Code::VersionConflict));
        write.emit(self.mail)
    }
}

/// The mail that follows from an event; none where nobody is to be written to any more.
///
/// # Errors
/// 503 when the table or the secret cannot be reached.
pub(crate) async fn following(app: &App, event: &Event) -> Result<Option<Letter>, Problem> {
    let composed = match event.notice {
        None => return Ok(None),
        Some(Notice::ConfirmAddress) => confirm_address(app, event).await?,
        Some(Notice::OrderPlaced) => placed(app, event).await?,
        Some(Notice::OrderShipped) => shipped(app, event).await?,
        Some(
            notice @ (Notice::OrderDelivered
            | Notice::OrderRefunded
            | Notice::OrderCancelled
            | Notice::OrderExpired),
        ) => went_on(app, event, notice).await?,
        Some(Notice::DisputeOpened) => disputed(app, event).await?,
    };
    let Some((content, link)) = composed else { return Ok(None) };
    let key = app.secrets.mail_key().await?;
    Ok(Some(Letter { mail: Mail::following(event, &key, &content)?, link }))
}

/// What a mail says, and the link whose token it brings.
type Composed = Option<(MailContent, Option<Link>)>;

/// To whoever opened an account: a link that confirms the address. An account that has moved to
/// another address was mailed there.
async fn confirm_address(app: &App, event: &Event) -> Result<Composed, Problem> {
    let Some(id) = MerchantId::parse(&event.entity_id) else { return Ok(None) };
    let account: Option<Merchant> = app.table.get(&key::merchant(&id)).await?;
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    let first = body.pointer("/data/email").and_then(Value::as_str);
    let waits = |account: &Merchant| {
        account.status == MerchantStatus::Active
            && !account.email_verified
            && first.is_none_or(|first| first == account.email.as_str())
    };
    Ok(account.filter(waits).map(|account| {
        let (link, token) = Link::begin(Purpose::Verify, Some(&account), event.created_at);
        let url = &app.config.base_url;
        (notifications::verify_email(&account.email, &token, url), Some(link))
    }))
}

/// To a shopper: the order was placed.
async fn placed(app: &App, event: &Event) -> Result<Composed, Problem> {
    let ids = event.store_id.as_ref().zip(OrderId::parse(&event.entity_id));
    let Some((store_id, order_id)) = ids else { return Ok(None) };
    let (store_key, order_key) = (key::store(store_id), key::order(store_id, &order_id));
    let mut batch = app.table.get_many(&[&store_key, &order_key]).await?;
    let (store, order): (Option<Store>, Option<Order>) =
        (batch.take(&store_key)?, batch.take(&order_key)?);
    Ok(store.zip(order).and_then(|(store, order)| {
        let to = order.email.as_ref()?;
        Some((order_placed(to, &store.name, &order), None))
    }))
}

/// To a customer: something of the order left.
async fn shipped(app: &App, event: &Event) -> Result<Composed, Problem> {
    let order_id = event.timeline.as_deref().and_then(OrderId::parse);
    let ids = event.store_id.as_ref().zip(order_id).zip(FulfillmentId::parse(&event.entity_id));
    let Some(((store_id, order_id), id)) = ids else { return Ok(None) };
    let (store_key, order_key) = (key::store(store_id), key::order(store_id, &order_id));
    let fulfillment_key = key::fulfillment(store_id, &order_id, &id);
    let mut batch = app.table.get_many(&[&store_key, &order_key, &fulfillment_key]).await?;
    let (store, order): (Option<Store>, Option<Order>) =
        (batch.take(&store_key)?, batch.take(&order_key)?);
    let fulfillment: Option<Fulfillment> = batch.take(&fulfillment_key)?;
    Ok(store.zip(order).zip(fulfillment).and_then(|((store, order), fulfillment)| {
        let to = order.email.as_ref()?;
        Some((order_shipped(to, &store.name, &order, &fulfillment.tracking), None))
    }))
}

/// To whom the store belongs, where that address is proven: a customer's bank disputes a payment. A
/// store's own contact is not written to: its merchant, who knows what a provider signs with, could
/// have mails sent to anybody.
async fn disputed(app: &App, event: &Event) -> Result<Composed, Problem> {
    let ids = event.store_id.as_ref().zip(DisputeId::parse(&event.entity_id));
    let Some((store_id, id)) = ids else { return Ok(None) };
    let (store_key, dispute_key) = (key::store(store_id), key::dispute(store_id, &id));
    let mut batch = app.table.get_many(&[&store_key, &dispute_key]).await?;
    let (store, dispute): (Option<Store>, Option<Dispute>) =
        (batch.take(&store_key)?, batch.take(&dispute_key)?);
    let Some((store, dispute)) = store.zip(dispute) else { return Ok(None) };
    let owner: Option<Merchant> = app.table.get(&key::merchant(&store.owner_id)).await?;
    let owner = owner.filter(|owner| owner.email_verified);
    Ok(owner.map(|owner| (dispute_opened(&owner.email, &store.name, &dispute), None)))
}

/// To whoever ordered: what became of the order, where the store wants that told.
async fn went_on(app: &App, event: &Event, notice: Notice) -> Result<Composed, Problem> {
    let order_id = OrderId::parse(&event.entity_id);
    let order_id = order_id.or_else(|| event.timeline.as_deref().and_then(OrderId::parse));
    let Some((store_id, order_id)) = event.store_id.as_ref().zip(order_id) else { return Ok(None) };
    let (store_key, order_key) = (key::store(store_id), key::order(store_id, &order_id));
    let settings_key = Settings::key_of(store_id);
    let refund_key =
        RefundId::parse(&event.entity_id).map(|id| key::refund(store_id, &order_id, &id));
    let keys = [&store_key, &order_key, &settings_key].into_iter().chain(&refund_key);
    let mut batch = app.table.get_many(&keys.collect::<Vec<_>>()).await?;
    let (store, order): (Option<Store>, Option<Order>) =
        (batch.take(&store_key)?, batch.take(&order_key)?);
    let refund: Option<Refund> = match &refund_key {
        Some(key) => batch.take(key)?,
        None => None,
    };
    let settings: Option<Settings> = batch.take(&settings_key)?;
    let wants = settings.map(|settings| settings.notifications).unwrap_or_default();
    let is_wanted = match notice {
        Notice::OrderDelivered => wants.delivery_confirmation,
        Notice::OrderRefunded => wants.refund_confirmation,
        _ => wants.cancellation_confirmation,
    };
    let Some((store, order)) = store.zip(order).filter(|_| is_wanted) else { return Ok(None) };
    let Some(to) = &order.email else { return Ok(None) };
    let content = match (notice, refund) {
        (Notice::OrderDelivered, _) => Some(order_delivered(to, &store.name, &order)),
        (Notice::OrderRefunded, Some(refund)) => {
            Some(order_refunded(to, &store.name, &order, &refund))
        }
        (Notice::OrderCancelled, _) => Some(order_cancelled(to, &store.name, &order)),
        (Notice::OrderExpired, _) => Some(order_expired(to, &store.name, &order)),
        _ => None,
    };
    Ok(content.map(|content| (content, None)))
}

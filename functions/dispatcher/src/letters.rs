//! The mails that follow from events.
//!
//! An event says that a mail follows from it ([`Notice`]) and never what that says: bodies of events
//! are shown to subscribers, and a mail may hold a token. It is composed here, of what the table
//! holds, and written in the transaction in which its event is pending no longer. So each is written
//! once, whoever hands the event on how often, and none is lost by a crash before.

use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::outbox::Outgoing;
use gateway::problem::{Code, Problem};
use gateway::table::Write;
use ground::event::Event;
use ground::fields::Email;
use ground::id::{DisputeId, FulfillmentId, MerchantId, OrderId, RefundId, StoreId};
use ground::key;
use ground::mail::{Mail, MailContent, Notice};
use identity::challenge::{Link, Purpose};
use identity::merchant::{Merchant, MerchantStatus};
use identity::notifications;
use identity::settings::{Notifications, Settings};
use identity::store::Store;
use sales::dispute::Dispute;
use sales::notifications::{
    dispute_opened, order_cancelled, order_delivered, order_expired, order_placed, order_refunded,
    order_shipped, payment_requested,
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
        Some(Notice::PaymentRequested) => asked_to_pay(app, event).await?,
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

/// What mails about an order are written of.
struct OnOrder {
    store: Store,
    order: Order,
    settings: Notifications,
    /// Where they go.
    to: Email,
}

/// The order that an event is about, with an item of its own that the event names, in one round trip;
/// none where nobody is to be written to.
async fn on_order<T: Item>(
    app: &App,
    event: &Event,
    item: impl Fn(&StoreId, &OrderId) -> Option<Key>,
) -> Result<Option<(OnOrder, Option<T>)>, Problem> {
    let order_id = OrderId::parse(&event.entity_id);
    let order_id = order_id.or_else(|| event.timeline.as_deref().and_then(OrderId::parse));
    let Some((store_id, order_id)) = event.store_id.as_ref().zip(order_id) else { return Ok(None) };
    let (store_key, order_key) = (key::store(store_id), key::order(store_id, &order_id));
    let (settings_key, item_key) = (Settings::key_of(store_id), item(store_id, &order_id));
    let keys = [&store_key, &order_key, &settings_key].into_iter().chain(&item_key);
    let mut batch = app.table.get_many(&keys.collect::<Vec<_>>()).await?;
    let (store, order): (Option<Store>, Option<Order>) =
        (batch.take(&store_key)?, batch.take(&order_key)?);
    let item = match &item_key {
        Some(key) => batch.take(key)?,
        None => None,
    };
    let settings: Option<Settings> = batch.take(&settings_key)?;
    let settings = settings.map(|settings| settings.notifications).unwrap_or_default();
    Ok(store.zip(order).and_then(|(store, order)| {
        let to = order.email.clone()?;
        Some((OnOrder { store, order, settings, to }, item))
    }))
}

impl OnOrder {
    /// The mail with a link to the store's page of the order, where it has one.
    async fn linked(&self, app: &App, mail: MailContent) -> Result<Composed, Problem> {
        let Some(page) = &self.settings.order_status_url else { return Ok(Some((mail, None))) };
        let link = self.order.link(page, &app.secrets.order_link_key().await?);
        Ok(Some((link.iter().fold(mail, |mail, link| mail.linked("See your order", link)), None)))
    }
}

/// To a shopper: the order was placed.
async fn placed(app: &App, event: &Event) -> Result<Composed, Problem> {
    let Some((on, _)) = on_order::<Order>(app, event, |_, _| None).await? else { return Ok(None) };
    on.linked(app, order_placed(&on.to, &on.store.name, &on.order)).await
}

/// To a customer: something of the order left.
async fn shipped(app: &App, event: &Event) -> Result<Composed, Problem> {
    let id = FulfillmentId::parse(&event.entity_id);
    let key = |store: &_, order: &_| Some(key::fulfillment(store, order, id.as_ref()?));
    let found = on_order::<Fulfillment>(app, event, key).await?;
    let Some((on, Some(fulfillment))) = found else { return Ok(None) };
    let mail = order_shipped(&on.to, &on.store.name, &on.order, &fulfillment.tracking);
    on.linked(app, mail).await
}

/// To whom an order is for: it waits to be paid, at a page of the store's. Where the store has none, or
/// the order waits no more, there is nothing to write.
async fn asked_to_pay(app: &App, event: &Event) -> Result<Composed, Problem> {
    let Some((on, _)) = on_order::<Order>(app, event, |_, _| None).await? else { return Ok(None) };
    let page = on.settings.pays_at().filter(|_| on.order.is_payable(app.clock.now()));
    let Some(page) = page else { return Ok(None) };
    let link = on.order.link(page, &app.secrets.order_link_key().await?);
    let mail = |link: String| payment_requested(&on.to, &on.store.name, &on.order, &link);
    Ok(link.map(|link| (mail(link), None)))
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
    let id = RefundId::parse(&event.entity_id);
    let key = |store: &_, order: &_| Some(key::refund(store, order, id.as_ref()?));
    let Some((on, refund)) = on_order::<Refund>(app, event, key).await? else { return Ok(None) };
    let is_wanted = match notice {
        Notice::OrderDelivered => on.settings.delivery_confirmation,
        Notice::OrderRefunded => on.settings.refund_confirmation,
        _ => on.settings.cancellation_confirmation,
    };
    let (to, shop, order) = (&on.to, on.store.name.as_str(), &on.order);
    let content = match (notice, refund) {
        (Notice::OrderDelivered, _) => Some(order_delivered(to, shop, order)),
        (Notice::OrderRefunded, Some(refund)) => Some(order_refunded(to, shop, order, &refund)),
        (Notice::OrderCancelled, _) => Some(order_cancelled(to, shop, order)),
        (Notice::OrderExpired, _) => Some(order_expired(to, shop, order)),
        _ => None,
    };
    match content.filter(|_| is_wanted) {
        Some(content) => on.linked(app, content).await,
        None => Ok(None),
    }
}

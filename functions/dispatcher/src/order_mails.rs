//! The mails that follow from events.
//!
//! An event says that a mail follows from it ([`Notice`]) and never what that says: bodies of events
//! are shown to subscribers, and a mail may hold a token. It is composed here, of what the table
//! holds, and written in the transaction in which its event is pending no longer. So each is written
//! once, whoever hands the event on how often, and none is lost by a crash before.

use core_types::event::Event;
use core_types::fields::{Email, LinkTemplate};
use core_types::id::{DisputeId, FulfillmentId, MerchantId, OrderId, PaymentId, RefundId, StoreId};
use core_types::key;
use core_types::mail::{Mail, MailContent, Notice};
use core_types::provider::ProviderName;
use delivery::mail::allowance::PaidOrder;
use identity::challenge::{Link, Purpose};
use identity::domain::Domains;
use identity::merchant::{Merchant, MerchantStatus};
use identity::notifications;
use identity::settings::{Notifications, Settings};
use identity::store::Store;
use primitives::problem::{Code, Problem};
use sales::dispute::Dispute;
use sales::notifications::{
    NotificationKind, NotificationTexts, OrderNews, about_order, dispute_opened, may_be_followed,
};
use sales::order::fulfillment::Fulfillment;
use sales::order::refund::Refund;
use sales::order::{ORDER_PAID, Order};
use sales::payment::{Mode, Payment};
use serde_json::Value;
use services::Services;
use table::Write;
use table::item::{Item, Key};
use table::outbox::Outgoing;

/// What is written with an event that was handed on.
#[derive(Debug, Clone)]
pub(crate) struct Consequences {
    /// The mail that follows from it.
    mail: Option<Mail>,
    /// The link whose token that brings.
    link: Option<Link>,
    /// The order that was paid with real money, if it says so.
    pub(crate) paid: Option<PaidOrder>,
}

impl Outgoing for Consequences {
    fn put_into(self, write: Write) -> Write {
        write
            .also(self.link, |write, link| write.create(&link, Code::VersionConflict))
            .also(self.mail, Write::emit)
            .also(self.paid, Write::emit)
    }
}

/// What follows from an event.
///
/// # Errors
/// 503 when the table or the secret cannot be reached.
pub(crate) async fn following(
    services: &Services,
    event: &Event,
) -> Result<Option<Consequences>, Problem> {
    let (mail, link) = mailed(services, event).await?.unzip();
    let paid = if event.name == ORDER_PAID.name { paid(services, event).await? } else { None };
    let any = mail.is_some() || paid.is_some();
    Ok(any.then(|| Consequences { mail, link: link.flatten(), paid }))
}

/// That an order was paid through a provider, and not in its sandbox. What a merchant says was paid, anybody
/// can say of their own store. The event says through whom: only where it was a provider, the table is asked.
async fn paid(services: &Services, event: &Event) -> Result<Option<PaidOrder>, Problem> {
    let ids = event.store_id.as_ref().zip(OrderId::parse(&event.entity_id));
    let Some((store_id, order_id)) = ids else { return Ok(None) };
    let payments: Vec<Key> = taken_by_providers(event)
        .iter()
        .map(|payment| key::payment(store_id, &order_id, payment))
        .collect();
    if payments.is_empty() {
        return Ok(None);
    }
    let store_key = key::store(store_id);
    let mut found =
        services.table.get_many(&payments.iter().chain([&store_key]).collect::<Vec<_>>()).await?;
    let Some(store) = found.take::<Store>(&store_key)? else { return Ok(None) };
    for payment in &payments {
        if found.take::<Payment>(payment)?.is_some_and(|payment| payment.mode == Mode::Live) {
            return Ok(Some(PaidOrder { store: store.id, owner: store.owner_id }));
        }
    }
    Ok(None)
}

/// Payments that providers have taken, by what an order's event says of it.
fn taken_by_providers(event: &Event) -> Vec<PaymentId> {
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    let payments = body.pointer("/data/payments").and_then(Value::as_array);
    let taken = |payment: &&Value| {
        let provider = payment.get("provider").and_then(Value::as_str);
        let captured = payment.pointer("/captured/amount").and_then(Value::as_i64);
        provider.is_some_and(|provider| provider != ProviderName::Manual.as_str())
            && captured.is_some_and(|amount| amount > 0)
    };
    let id = |payment: &Value| PaymentId::parse(payment.get("payment_id")?.as_str()?);
    payments.into_iter().flatten().filter(taken).filter_map(id).collect()
}

/// The mail that follows from an event; none where nobody is to be written to any more.
///
/// # Errors
/// 503 when the table or the secret cannot be reached.
async fn mailed(
    services: &Services,
    event: &Event,
) -> Result<Option<(Mail, Option<Link>)>, Problem> {
    let composed = match event.notice {
        None => return Ok(None),
        Some(Notice::ConfirmAddress) => confirm_address(services, event).await?,
        Some(Notice::OrderPlaced) => placed(services, event).await?,
        Some(Notice::OrderShipped) => shipped(services, event).await?,
        Some(Notice::OrderDelivered) => delivered(services, event).await?,
        Some(Notice::OrderRefunded) => refunded(services, event).await?,
        Some(Notice::OrderCancelled) => {
            over(services, event, NotificationKind::OrderCancelled).await?
        }
        Some(Notice::OrderExpired) => over(services, event, NotificationKind::OrderExpired).await?,
        Some(Notice::PaymentRequested) => asked_to_pay(services, event).await?,
        Some(Notice::DisputeOpened) => disputed(services, event).await?,
    };
    let Some((content, link)) = composed else { return Ok(None) };
    let key = services.secrets.mail_key().await?;
    Ok(Some((Mail::following(event, &key, &content)?, link)))
}

/// What a mail says, and the link whose token it brings.
type Composed = Option<(MailContent, Option<Link>)>;

/// To whoever opened an account: a link that confirms the address. An account that has moved to
/// another address was mailed there.
async fn confirm_address(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let Some(id) = MerchantId::parse(&event.entity_id) else { return Ok(None) };
    let account: Option<Merchant> = services.table.get(&key::merchant(&id)).await?;
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    let first = body.pointer("/data/email").and_then(Value::as_str);
    let waits = |account: &Merchant| {
        account.status == MerchantStatus::Active
            && !account.email_verified
            && first.is_none_or(|first| first == account.email.as_str())
    };
    Ok(account.filter(waits).map(|account| {
        let (link, token) = Link::begin(Purpose::Verify, Some(&account), event.created_at);
        let url = &services.config.base_url;
        (notifications::verify_email(&account.email, &token, url), Some(link))
    }))
}

/// What mails about an order are written of.
struct OnOrder {
    store: Store,
    order: Order,
    settings: Notifications,
    domains: Domains,
    texts: NotificationTexts,
    /// Where they go.
    to: Email,
}

/// The order that an event is about, with an item of its own that the event names, in one round trip;
/// none where nobody is to be written to.
async fn on_order<T: Item>(
    services: &Services,
    event: &Event,
    kind: NotificationKind,
    item: impl Fn(&StoreId, &OrderId) -> Option<Key>,
) -> Result<Option<(OnOrder, Option<T>)>, Problem> {
    let order_id = OrderId::parse(&event.entity_id);
    let order_id = order_id.or_else(|| event.timeline.as_deref().and_then(OrderId::parse));
    let Some((store_id, order_id)) = event.store_id.as_ref().zip(order_id) else { return Ok(None) };
    let (store_key, order_key) = (key::store(store_id), key::order(store_id, &order_id));
    let (settings_key, item_key) = (Settings::key_of(store_id), item(store_id, &order_id));
    let domains_key = key::domains(store_id);
    let none = NotificationTexts::none(store_id, kind);
    let texts_key = none.key();
    let keys = [&store_key, &order_key, &settings_key, &domains_key, &texts_key];
    let keys = keys.into_iter().chain(&item_key);
    let mut batch = services.table.get_many(&keys.collect::<Vec<_>>()).await?;
    let (store, order): (Option<Store>, Option<Order>) =
        (batch.take(&store_key)?, batch.take(&order_key)?);
    let item = match &item_key {
        Some(key) => batch.take(key)?,
        None => None,
    };
    let settings: Option<Settings> = batch.take(&settings_key)?;
    let settings = settings.map(|settings| settings.notifications).unwrap_or_default();
    let domains = Domains::of(store_id, batch.take(&domains_key)?);
    let texts = batch.take(&texts_key)?.unwrap_or(none);
    Ok(store.zip(order).and_then(|(store, order)| {
        let to = order.email.clone()?;
        Some((OnOrder { store, order, settings, domains, texts, to }, item))
    }))
}

/// The same, of an event that needs nothing but the order.
async fn on_order_alone(
    services: &Services,
    event: &Event,
    kind: NotificationKind,
) -> Result<Option<OnOrder>, Problem> {
    let found = on_order::<Order>(services, event, kind, |_, _| None).await?;
    Ok(found.map(|(on, _)| on))
}

impl OnOrder {
    /// The mail, with a link to the store's page of the order, where it has one.
    async fn told(&self, services: &Services, news: OrderNews<'_>) -> Result<Composed, Problem> {
        let page = self.settings.shows_at(|page| self.may_lead_to(services, page));
        self.linked(services, page, news).await
    }

    /// The mail, with a link to this page of the store's.
    async fn linked(
        &self,
        services: &Services,
        page: Option<&LinkTemplate>,
        news: OrderNews<'_>,
    ) -> Result<Composed, Problem> {
        let link = match page {
            Some(page) => self.order.link(page, &services.secrets.order_link_key().await?),
            None => None,
        };
        let news = OrderNews { link: link.as_deref(), ..news };
        let mail = about_order(&self.to, &self.texts, (&self.store, &self.order), news)?;
        Ok(Some((if self.order.is_email_proven { mail } else { mail.to_stranger() }, None)))
    }

    /// Whether the store may lead its customers there now, whatever it could when it was set.
    fn may_lead_to(&self, services: &Services, page: &LinkTemplate) -> bool {
        self.domains.may_lead_to(page.as_str(), &services.config.base_url)
    }
}

/// To a shopper: the order was placed.
async fn placed(services: &Services, event: &Event) -> Result<Composed, Problem> {
    match on_order_alone(services, event, NotificationKind::OrderPlaced).await? {
        Some(on) => on.told(services, OrderNews::default()).await,
        None => Ok(None),
    }
}

/// To a customer: something of the order left.
async fn shipped(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let id = FulfillmentId::parse(&event.entity_id);
    let key = |store: &_, order: &_| Some(key::fulfillment(store, order, id.as_ref()?));
    let found =
        on_order::<Fulfillment>(services, event, NotificationKind::OrderShipped, key).await?;
    let Some((on, Some(fulfillment))) = found else { return Ok(None) };
    let mut tracking = fulfillment.tracking.clone();
    let base_url = &services.config.base_url;
    tracking.url = tracking.url.filter(|url| may_be_followed(url, &on.domains, base_url));
    on.told(services, OrderNews { tracking: Some(&tracking), ..Default::default() }).await
}

/// To whoever ordered: a parcel arrived, where the store wants that told.
async fn delivered(services: &Services, event: &Event) -> Result<Composed, Problem> {
    match on_order_alone(services, event, NotificationKind::OrderDelivered).await? {
        Some(on) if on.settings.delivery_confirmation => {
            on.told(services, OrderNews::default()).await
        }
        _ => Ok(None),
    }
}

/// To whoever ordered: money went back, where the store wants that told.
async fn refunded(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let id = RefundId::parse(&event.entity_id);
    let key = |store: &_, order: &_| Some(key::refund(store, order, id.as_ref()?));
    let found = on_order::<Refund>(services, event, NotificationKind::OrderRefunded, key).await?;
    let Some((on, Some(refund))) = found else { return Ok(None) };
    if !on.settings.refund_confirmation {
        return Ok(None);
    }
    on.told(services, OrderNews { refund: Some(&refund), ..Default::default() }).await
}

/// To whoever ordered: the order has ended, where the store wants that told.
async fn over(
    services: &Services,
    event: &Event,
    kind: NotificationKind,
) -> Result<Composed, Problem> {
    match on_order_alone(services, event, kind).await? {
        Some(on) if on.settings.cancellation_confirmation => {
            on.told(services, OrderNews::default()).await
        }
        _ => Ok(None),
    }
}

/// To whom an order is for: it waits to be paid, at a page of the store's. Where the store has none, or
/// the order waits no more, there is nothing to write.
async fn asked_to_pay(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let found = on_order_alone(services, event, NotificationKind::PaymentRequested).await?;
    let Some(on) = found.filter(|on| on.order.is_payable(services.clock.now())) else {
        return Ok(None);
    };
    match on.settings.pays_at(|page| on.may_lead_to(services, page)) {
        Some(page) => on.linked(services, Some(page), OrderNews::default()).await,
        None => Ok(None),
    }
}

/// To whom the store belongs, where that address is proven: a customer's bank disputes a payment. A
/// store's own contact is not written to: its merchant, who knows what a provider signs with, could
/// have mails sent to anybody.
async fn disputed(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let ids = event.store_id.as_ref().zip(DisputeId::parse(&event.entity_id));
    let Some((store_id, id)) = ids else { return Ok(None) };
    let (store_key, dispute_key) = (key::store(store_id), key::dispute(store_id, &id));
    let mut batch = services.table.get_many(&[&store_key, &dispute_key]).await?;
    let (store, dispute): (Option<Store>, Option<Dispute>) =
        (batch.take(&store_key)?, batch.take(&dispute_key)?);
    let Some((store, dispute)) = store.zip(dispute) else { return Ok(None) };
    let owner: Option<Merchant> = services.table.get(&key::merchant(&store.owner_id)).await?;
    let owner = owner.filter(|owner| owner.email_verified);
    Ok(owner.map(|owner| (dispute_opened(&owner.email, &store.name, &dispute), None)))
}

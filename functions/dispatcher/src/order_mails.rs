//! Mails that follow from events.
//!
//! An event says that a mail follows from it ([`Notice`]), but not its text: bodies of events are sent to
//! subscribers, and a mail may have a token. The mail is composed here from the table, and written in the
//! transaction that ends the event's pending state. So each mail is written once, however often its event
//! is dispatched, and a crash loses none.

use catalogue::location::Location;
use core_types::event::Event;
use core_types::fields::{Email, LinkTemplate};
use core_types::id::{DisputeId, FulfillmentId, MerchantId, OrderId, PaymentId, RefundId, StoreId};
use core_types::key;
use core_types::mail::{Mail, MailContent, Notice};
use core_types::provider::ProviderName;
use delivery::mail::allowance::PaidOrderCount;
use identity::challenge::{Link, Purpose};
use identity::domain::Domains;
use identity::merchant::{Merchant, MerchantStatus};
use identity::notifications;
use identity::settings::{Notifications, Settings};
use identity::store::Store;
use primitives::problem::{Code, Problem};
use sales::dispute::Dispute;
use sales::notifications::{
    NotificationKind, NotificationTexts, OrderNews, dispute_opened, may_be_followed, order_mail,
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

use crate::alerts;
use crate::cart_mails::compose_cart_abandoned;

/// The items that are written with a published event.
#[derive(Debug, Clone)]
pub(crate) struct EventOutput {
    /// The mails that follow from it.
    mails: Vec<Mail>,
    /// The link whose token is in the mail.
    link: Option<Link>,
    /// The order that was paid with real money, if the event says so.
    pub(crate) paid: Option<PaidOrderCount>,
}

impl Outgoing for EventOutput {
    fn put_into(self, write: Write) -> Write {
        let write =
            write.when_some(self.link, |write, link| write.create(&link, Code::VersionConflict));
        let write = self.mails.into_iter().fold(write, Write::emit);
        write.when_some(self.paid, Write::emit)
    }
}

/// Determines what follows from an event.
///
/// # Errors
/// 503 when the table or the secret cannot be reached.
pub(crate) async fn compose_for_event(
    services: &Services,
    event: &Event,
) -> Result<Option<EventOutput>, Problem> {
    let (mails, link) = compose_mails(services, event).await?;
    let paid =
        if event.name == ORDER_PAID.name { paid_order_of(services, event).await? } else { None };
    let any = !mails.is_empty() || paid.is_some();
    Ok(any.then_some(EventOutput { mails, link, paid }))
}

/// Returns an order that was paid through a provider, and not in its sandbox. Merchants can mark any
/// order of their own store as paid, so manual payments do not count. The event names the providers: the
/// table is read only if there is one.
async fn paid_order_of(
    services: &Services,
    event: &Event,
) -> Result<Option<PaidOrderCount>, Problem> {
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
            return Ok(Some(PaidOrderCount { store: store.id, owner: store.owner_id }));
        }
    }
    Ok(None)
}

/// The payments that providers have captured, according to the event of an order.
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

/// Composes the mails that follow from an event, and the link whose token is in one; none if nobody is to be notified any
/// more. They are written with the event's publication, which happens once.
///
/// # Errors
/// 503 when the table or the secret cannot be reached.
async fn compose_mails(
    services: &Services,
    event: &Event,
) -> Result<(Vec<Mail>, Option<Link>), Problem> {
    let Some(notice) = event.notice else { return Ok((Vec::new(), None)) };
    let (composed, alert) = match notice {
        Notice::OrderPlaced => compose_order_placed(services, event).await?,
        Notice::FormSubmitted => (None, alerts::about_message(services, event).await?),
        Notice::DataRequested => (None, alerts::about_data_request(services, event).await?),
        Notice::ConfirmAddress => (compose_confirm_address(services, event).await?, None),
        Notice::OrderShipped => (compose_shipped(services, event).await?, None),
        Notice::OrderDelivered => (compose_delivered(services, event).await?, None),
        Notice::OrderRefunded => (compose_refunded(services, event).await?, None),
        Notice::OrderCancelled => {
            let kind = NotificationKind::OrderCancelled;
            (compose_order_ended(services, event, kind).await?, None)
        }
        Notice::OrderExpired => {
            let kind = NotificationKind::OrderExpired;
            (compose_order_ended(services, event, kind).await?, None)
        }
        Notice::PaymentRequested => (compose_payment_requested(services, event).await?, None),
        Notice::CartAbandoned => {
            let content = compose_cart_abandoned(services, event).await?;
            (content.map(|content| (content, None)), None)
        }
        Notice::DisputeOpened => (disputed(services, event).await?, None),
    };
    if composed.is_none() && alert.is_none() {
        return Ok((Vec::new(), None));
    }
    let key = services.secrets.mail_key().await?;
    let (content, link) = composed.unzip();
    let mail = content.map(|content| Mail::of_event(event, &key, &content)).transpose()?;
    let alert = alert.map(|alert| Mail::compose(&key, &alert, event.created_at)).transpose()?;
    Ok((mail.into_iter().chain(alert).collect(), link.flatten()))
}

/// The content of a mail, and the link whose token is in it.
type Composed = Option<(MailContent, Option<Link>)>;

/// To a new account: a link that confirms the address. None if the account has another address by now: it
/// was mailed there.
async fn compose_confirm_address(services: &Services, event: &Event) -> Result<Composed, Problem> {
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

/// The items that mails about an order are composed from.
struct OrderContext {
    store: Store,
    order: Order,
    settings: Notifications,
    domains: Domains,
    texts: NotificationTexts,
    /// The recipient.
    to: Email,
}

/// Loads the order of an event, with a further item that the event names, in one round trip; none if
/// nobody is to be notified.
async fn load_order_and<T: Item>(
    services: &Services,
    event: &Event,
    kind: NotificationKind,
    item: impl Fn(&StoreId, &OrderId) -> Option<Key>,
) -> Result<Option<(OrderContext, Option<T>)>, Problem> {
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
        Some((OrderContext { store, order, settings, domains, texts, to }, item))
    }))
}

/// As [`load_order_and`], for an event that needs nothing but the order.
async fn load_order(
    services: &Services,
    event: &Event,
    kind: NotificationKind,
) -> Result<Option<OrderContext>, Problem> {
    let found = load_order_and::<Order>(services, event, kind, |_, _| None).await?;
    Ok(found.map(|(context, _)| context))
}

impl OrderContext {
    /// The mail, with a link to the store's page of the order, or else to its shop's.
    async fn mail_about_order(
        &self,
        services: &Services,
        news: OrderNews<'_>,
    ) -> Result<Composed, Problem> {
        let page = self.settings.order_status_page(|page| self.is_allowed_link(services, page));
        let page = page.cloned().or_else(|| self.store.order_page(&services.config));
        self.mail_with_link(services, page.as_ref(), news).await
    }

    /// The mail, with a link to this page of the store.
    async fn mail_with_link(
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
        let mail =
            order_mail(&self.to, &self.texts, (&self.store, &self.settings), &self.order, news)?;
        Ok(Some((if self.order.is_email_proven { mail } else { mail.for_unverified() }, None)))
    }

    /// The location where the customer picks the goods up. Takes a read only for a pickup at one.
    async fn pickup(&self, services: &Services) -> Result<Option<Location>, Problem> {
        let shipping = self.order.shipping_line.as_ref();
        match shipping.and_then(|line| line.service.pickup_location()) {
            Some(id) => services.table.get(&key::location(&self.store.id, id)).await,
            None => Ok(None),
        }
    }

    /// Whether the store may link to this page now: its domains may have changed since the page was set.
    fn is_allowed_link(&self, services: &Services, page: &LinkTemplate) -> bool {
        self.domains.is_allowed_link(page.as_str(), &services.config.base_url)
    }
}

/// To the shopper, and to the store's owner: the order was placed, and paid if it was to be paid through a provider.
/// Neither if the store does not want that mail by now.
async fn compose_order_placed(
    services: &Services,
    event: &Event,
) -> Result<(Composed, Option<MailContent>), Problem> {
    let Some(context) = load_order(services, event, NotificationKind::OrderPlaced).await? else {
        return Ok((None, None));
    };
    let (store, settings) = (&context.store, &context.settings);
    let alert = alerts::about_order(services, (store, settings), &context.order).await?;
    if !context.settings.order_confirmation {
        return Ok((None, alert));
    }
    let pickup = context.pickup(services).await?;
    let news = OrderNews { pickup: pickup.as_ref(), ..Default::default() };
    Ok((context.mail_about_order(services, news).await?, alert))
}

/// To the customer: a fulfilment was shipped.
async fn compose_shipped(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let id = FulfillmentId::parse(&event.entity_id);
    let key = |store: &_, order: &_| Some(key::fulfillment(store, order, id.as_ref()?));
    let found =
        load_order_and::<Fulfillment>(services, event, NotificationKind::OrderShipped, key).await?;
    let Some((context, Some(fulfillment))) = found else { return Ok(None) };
    let mut tracking = fulfillment.tracking.clone();
    let base_url = &services.config.base_url;
    let may_be_followed = |url: &String| may_be_followed(url, &context.domains, base_url);
    tracking.url = tracking.url.take().filter(may_be_followed).or_else(|| tracking.carriers_page());
    let (fulfillment, tracking) = (Some(&fulfillment), Some(&tracking));
    context
        .mail_about_order(services, OrderNews { fulfillment, tracking, ..Default::default() })
        .await
}

/// To the customer: a parcel was delivered, if the store wants that mail.
async fn compose_delivered(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let id = FulfillmentId::parse(&event.entity_id);
    let key = |store: &_, order: &_| Some(key::fulfillment(store, order, id.as_ref()?));
    let kind = NotificationKind::OrderDelivered;
    let found = load_order_and::<Fulfillment>(services, event, kind, key).await?;
    let Some((context, fulfillment)) =
        found.filter(|(context, _)| context.settings.delivery_confirmation)
    else {
        return Ok(None);
    };
    let fulfillment = fulfillment.as_ref();
    context.mail_about_order(services, OrderNews { fulfillment, ..Default::default() }).await
}

/// To the customer: a refund was made, if the store wants that mail.
async fn compose_refunded(services: &Services, event: &Event) -> Result<Composed, Problem> {
    let id = RefundId::parse(&event.entity_id);
    let key = |store: &_, order: &_| Some(key::refund(store, order, id.as_ref()?));
    let found =
        load_order_and::<Refund>(services, event, NotificationKind::OrderRefunded, key).await?;
    let Some((context, Some(refund))) = found else { return Ok(None) };
    if !context.settings.refund_confirmation {
        return Ok(None);
    }
    context
        .mail_about_order(services, OrderNews { refund: Some(&refund), ..Default::default() })
        .await
}

/// To the customer: the order was cancelled or has expired, if the store wants that mail.
async fn compose_order_ended(
    services: &Services,
    event: &Event,
    kind: NotificationKind,
) -> Result<Composed, Problem> {
    match load_order(services, event, kind).await? {
        Some(context) if context.settings.cancellation_confirmation => {
            context.mail_about_order(services, OrderNews::default()).await
        }
        _ => Ok(None),
    }
}

/// To the customer: a request to pay the order, at a page of the store. None if the store has no such
/// page, or the order is no longer payable.
async fn compose_payment_requested(
    services: &Services,
    event: &Event,
) -> Result<Composed, Problem> {
    let found = load_order(services, event, NotificationKind::PaymentRequested).await?;
    let Some(context) = found.filter(|context| context.order.is_payable(services.clock.now()))
    else {
        return Ok(None);
    };
    let page = context.settings.payment_page(|page| context.is_allowed_link(services, page));
    match page.cloned().or_else(|| context.store.order_page(&services.config)) {
        Some(page) => {
            let pickup = context.pickup(services).await?;
            let pickup = pickup.as_ref();
            let news = OrderNews { pickup, ..Default::default() };
            context.mail_with_link(services, Some(&page), news).await
        }
        None => Ok(None),
    }
}

/// To the store's owner, if their address is proven: a customer's bank disputes a payment. The store's
/// contact address is not used: its merchant, who knows the secret that a provider signs with, could have
/// mails sent to anybody.
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

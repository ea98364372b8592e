//! Every key of the table, on one page (docs/data-model.md). `<t>` is a [`Timestamp`] as text.

use gateway::clock::Timestamp;
use gateway::item::{Index, Key};

use crate::id::{
    AddressId, AppId, CategoryId, ChallengeId, CollectionId, CustomerId, CustomerSessionId,
    DeliveryId, EventId, FormSubmissionId, FulfillmentId, GiftCardEntryId, GiftCardId, GrantId,
    InstallationId, LocationId, MailId, MediaId, MerchantId, MovementId, OrderId, PaymentId,
    ProductId, RefundId, ReviewId, SessionId, StoreId, SubmissionId, SubscriptionId, VariantId,
};

/// An entry of a secondary index.
pub type IndexKey = (Index, Key);

fn gsi1(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi1, Key::new(pk, sk))
}

fn gsi2(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi2, Key::new(pk, sk))
}

// Merchants: the account, its developer profile and its sessions share a partition.

/// A merchant.
pub fn merchant(id: &MerchantId) -> Key {
    Key::new(format!("MER#{id}"), "A")
}
/// A merchant's developer profile.
pub fn developer(id: &MerchantId) -> Key {
    Key::new(format!("MER#{id}"), "DEV")
}
/// A session: in its merchant's partition, so that the list is one consistent query.
pub fn session(merchant: &MerchantId, id: &SessionId) -> Key {
    Key::new(format!("MER#{merchant}"), format!("SES#{id}"))
}
/// A merchant's second factor.
pub fn mfa(merchant: &MerchantId) -> Key {
    Key::new(format!("MER#{merchant}"), "MFA")
}
/// What sort keys of sessions begin with.
pub const SESSIONS: &str = "SES#";
/// The one account of an e-mail address.
pub fn unique_email(normalized: &str) -> Key {
    Key::new(format!("UQ#EMAIL#{normalized}"), "U")
}
/// A one-time-code challenge.
pub fn challenge(id: &ChallengeId) -> Key {
    Key::new(format!("OTP#{id}"), "A")
}
/// A reset or verification link, by the digest of its token.
pub fn link(digest: &str) -> Key {
    Key::new(format!("RST#{digest}"), "A")
}
/// A sign-in throttle, by the digest of who is throttled.
pub fn throttle(kind: &str, digest: &str) -> Key {
    Key::new(format!("THR#{kind}#{digest}"), "A")
}
/// A mail on its way.
pub fn mail(id: &MailId) -> Key {
    Key::new(format!("MAI#{id}"), "A")
}

// Stores: what a store's admin and its storefront read share a partition.

/// A store.
pub fn store(id: &StoreId) -> Key {
    Key::new(format!("STO#{id}"), "A")
}
/// A merchant's stores, by creation.
pub fn stores_of(owner: &MerchantId, created: Timestamp) -> IndexKey {
    gsi1(format!("MER#{owner}#STO"), created.to_string())
}
/// A store, found by its subdomain: for reads that may be a moment old.
pub fn store_by_subdomain(subdomain: &str) -> IndexKey {
    gsi2(format!("SDM#{subdomain}"), "A")
}
/// The one store of a subdomain.
pub fn unique_subdomain(subdomain: &str) -> Key {
    Key::new(format!("UQ#SUB#{subdomain}"), "U")
}
/// A navigation menu.
pub fn navigation(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("NAV#{handle}"))
}
/// A policy page.
pub fn policy(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("POL#{handle}"))
}
/// A group of settings.
pub fn settings(store: &StoreId, group: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("SET#{group}"))
}

// The app platform.

/// An app.
pub fn app(id: &AppId) -> Key {
    Key::new(format!("APP#{id}"), "A")
}
/// Apps of a catalogue status, by category and slug.
pub fn apps_by_status(status: &str, category: &str, slug: &str) -> IndexKey {
    gsi1(format!("APPCAT#{status}"), format!("{category}#{slug}"))
}
/// A mark that stops an app, for the installations of one shard.
pub fn app_stop(id: &AppId, shard: char) -> Key {
    Key::new(format!("APP#{id}#STOP#{shard}"), "A")
}
/// A developer's apps, by creation.
pub fn apps_of(developer: &MerchantId, created: Timestamp) -> IndexKey {
    gsi2(format!("DEV#{developer}#APP"), created.to_string())
}
/// The one app of a client id, with what authenticates the client.
pub fn client(client_id: &str) -> Key {
    Key::new(format!("UQ#CLI#{client_id}"), "U")
}
/// The one app of a slug.
pub fn unique_app_slug(slug: &str) -> Key {
    Key::new(format!("UQ#APPSLUG#{slug}"), "U")
}
/// A submission of an app.
pub fn submission(app: &AppId, id: &SubmissionId) -> Key {
    Key::new(format!("APP#{app}"), format!("SUB#{id}"))
}
/// What sort keys of submissions begin with.
pub const SUBMISSIONS: &str = "SUB#";
/// Submissions of a status, by time: the operators' queue.
pub fn submissions_by_status(status: &str, at: Timestamp, id: &SubmissionId) -> IndexKey {
    gsi1(format!("SUBQ#{status}"), format!("{at}#{id}"))
}
/// A submission found by its id alone.
pub fn submission_by_id(id: &SubmissionId) -> IndexKey {
    gsi2(format!("SUB#{id}"), "A")
}
/// The one review of an app by a store.
pub fn app_review(app: &AppId, store: &StoreId) -> Key {
    Key::new(format!("APP#{app}"), format!("REV#{store}"))
}
/// An app's reviews, by time.
pub fn reviews_of_app(app: &AppId, at: Timestamp, id: &ReviewId) -> IndexKey {
    gsi1(format!("APP#{app}#REV"), format!("{at}#{id}"))
}
/// A review found by its id alone.
pub fn app_review_by_id(id: &ReviewId) -> IndexKey {
    gsi2(format!("REV#{id}"), "A")
}
/// An installation; its id follows from store and app, so the upsert is one keyed write.
pub fn installation(id: &InstallationId) -> Key {
    Key::new(format!("INS#{id}"), "A")
}
/// A store's installations.
pub fn installations_of_store(store: &StoreId, app: &AppId) -> IndexKey {
    gsi1(format!("STO#{store}#INS"), app.as_str())
}
/// An app's installations, by status and time.
pub fn installations_of_app(app: &AppId, status: &str, at: Timestamp) -> IndexKey {
    gsi2(format!("APP#{app}#INS"), format!("{status}#{at}"))
}
/// An authorization code, by its digest.
pub fn code(digest: &str) -> Key {
    Key::new(format!("COD#{digest}"), "A")
}
/// An app token, by its digest.
pub fn app_token(digest: &str) -> Key {
    Key::new(format!("TOK#{digest}"), "A")
}
/// A refresh token, by its digest.
pub fn refresh_token(digest: &str) -> Key {
    Key::new(format!("RTK#{digest}"), "A")
}
/// A grant: whether the tokens that came of one authorization still hold.
pub fn grant(id: &GrantId) -> Key {
    Key::new(format!("GRT#{id}"), "A")
}
/// An installation's tokens, by expiry.
pub fn tokens_of_installation(id: &InstallationId, expires: Timestamp) -> IndexKey {
    gsi1(format!("INS#{id}#TOK"), expires.to_string())
}

// Events and webhooks.

/// A webhook subscription of a store.
pub fn subscription(store: &StoreId, id: &SubscriptionId) -> Key {
    Key::new(format!("STO#{store}"), format!("WHS#{id}"))
}
/// The subscription behind an app's own `webhook_url`: to events about the app, on any store.
pub fn app_subscription(app: &AppId, id: &SubscriptionId) -> Key {
    Key::new(format!("APP#{app}"), format!("WHS#{id}"))
}
/// How many subscriptions a store has.
pub fn subscription_count(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "CTR#WHS")
}
/// What sort keys of subscriptions begin with.
pub const SUBSCRIPTIONS: &str = "WHS#";
/// An event: the outbox entry, the timeline of its entity and the audit trail in one.
pub fn event(id: &EventId) -> Key {
    Key::new(format!("EVT#{id}"), "A")
}
/// The partition of a store's events of a day.
pub fn events_on(store: &StoreId, day: Timestamp) -> String {
    format!("STO#{store}#EVT#{}", day.day())
}
/// The partition of a store's deliveries of a day; for an app's own subscription, the app's.
pub fn deliveries_on(scope: &str, day: Timestamp) -> String {
    format!("{scope}#DLV#{}", day.day())
}
/// The partition of a subscription's deliveries of a day.
pub fn deliveries_to(subscription: &SubscriptionId, day: Timestamp) -> String {
    format!("WHS#{subscription}#DLV#{}", day.day())
}
/// A store's events of a day.
pub fn events_of_day(store: &StoreId, at: Timestamp, id: &EventId) -> IndexKey {
    gsi1(events_on(store, at), format!("{at}#{id}"))
}
/// The events of a timeline: about an entity, and about what belongs to it.
pub fn timeline(scope: &str, subject: &str, at: Timestamp, id: &EventId) -> IndexKey {
    gsi2(format!("{scope}#ENT#{subject}"), format!("{at}#{id}"))
}
/// A delivery.
pub fn delivery(id: &DeliveryId) -> Key {
    Key::new(format!("DLV#{id}"), "A")
}
/// An attempt at a delivery.
pub fn attempt(id: &DeliveryId, number: u32) -> Key {
    Key::new(format!("DLV#{id}"), format!("ATT#{number:04}"))
}
/// What sort keys of attempts begin with.
pub const ATTEMPTS: &str = "ATT#";
/// A store's deliveries of a day; for an app's own subscription, the app's.
pub fn deliveries_of_day(scope: &str, at: Timestamp, id: &DeliveryId) -> IndexKey {
    gsi1(deliveries_on(scope, at), format!("{at}#{id}"))
}
/// A subscription's deliveries of a day, by status.
pub fn deliveries_of_subscription(
    subscription: &SubscriptionId,
    created: Timestamp,
    status: &str,
    id: &DeliveryId,
) -> IndexKey {
    gsi2(deliveries_to(subscription, created), format!("{status}#{created}#{id}"))
}
/// The partition of a lane: a subscription's unfinished deliveries about one entity, in order.
pub fn lane(subscription: &SubscriptionId, entity: &str) -> String {
    format!("WHS#{subscription}#ENT#{entity}")
}
/// A delivery's place in its lane.
pub fn lane_place(subscription: &SubscriptionId, entity: &str, order: &str) -> Key {
    Key::new(lane(subscription, entity), order)
}
/// The pace of a subscription with a rate.
pub fn delivery_pace(subscription: &SubscriptionId) -> Key {
    Key::new(format!("WHS#{subscription}"), "PACE")
}
/// Counters of an app and a UTC day, on one of 16 shards: a busy app must not be one hot item.
pub fn app_usage(app: &AppId, at: Timestamp, shard: char) -> Key {
    Key::new(app_usage_of(app), format!("{}#{shard}", at.day()))
}
/// The partition of an app's counters, by day: a dashboard's range is one query.
pub fn app_usage_of(app: &AppId) -> String {
    format!("MET#APP#{app}")
}
/// Counters of a subject and an hour.
pub fn usage(subject: &str, at: Timestamp) -> Key {
    let hour: String = at.to_string().chars().skip(11).take(2).collect();
    Key::new(format!("MET#{subject}#{}", at.day()), hour)
}

// The catalogue: a product and its variants are one query; what a checkout needs of a variant lies
// with its stock, so that a cart is one batch.

/// A product.
pub fn product(store: &StoreId, id: &ProductId) -> Key {
    Key::new(format!("STO#{store}#PRD#{id}"), "A")
}
/// A variant, in its product's partition.
pub fn variant(store: &StoreId, product: &ProductId, id: &VariantId) -> Key {
    Key::new(format!("STO#{store}#PRD#{product}"), format!("{VARIANTS}{id}"))
}
/// What sort keys of variants begin with: what begins with the product's own is the product and
/// its variants, without its reviews.
pub const VARIANTS: &str = "A#VAR#";
/// What a change of a product, which made it this version, has left to do.
pub fn product_remainder(store: &StoreId, product: &ProductId, version: u64) -> Key {
    Key::new(format!("STO#{store}#PRD#{product}"), format!("RST#{version:010}"))
}
/// A store's products, by creation.
pub fn products_of_store(store: &StoreId, created: Timestamp, id: &ProductId) -> IndexKey {
    gsi1(format!("STO#{store}#PRD"), format!("{created}#{id}"))
}
/// A store's products of a status, by creation: a change of a product never moves it within a walk.
pub fn products_by_status(
    store: &StoreId,
    status: &str,
    created: Timestamp,
    id: &ProductId,
) -> IndexKey {
    gsi2(products_with_status(store, status), format!("{created}#{id}"))
}
/// The partition of a store's products of a status.
pub fn products_with_status(store: &StoreId, status: &str) -> String {
    format!("STO#{store}#PRD#{status}")
}
/// What a store's product pages choose the products beside a product from.
pub fn shelf(store: &StoreId) -> Key {
    Key::new(format!("SHF#{store}"), "A")
}
/// The one product of a handle.
pub fn unique_product_handle(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("UQ#{store}#HDL#{handle}"), "U")
}
/// The one variant of a SKU.
pub fn unique_sku(store: &StoreId, sku: &str) -> Key {
    Key::new(format!("UQ#{store}#SKU#{sku}"), "U")
}
/// What a checkout needs of a variant: beside its stock levels.
pub fn sellable(store: &StoreId, variant: &VariantId) -> Key {
    Key::new(format!("STO#{store}#INV#{variant}"), "A")
}
/// A variant's stock at a location.
pub fn level(store: &StoreId, variant: &VariantId, location: &LocationId) -> Key {
    Key::new(format!("STO#{store}#INV#{variant}"), format!("LVL#{location}"))
}
/// What sort keys of stock levels begin with.
pub const LEVELS: &str = "LVL#";
/// A location's stock levels, by variant.
pub fn levels_of_location(store: &StoreId, location: &LocationId, variant: &VariantId) -> IndexKey {
    gsi1(format!("STO#{store}#LOC#{location}"), variant.as_str())
}
/// A movement of stock: the ledger of a level.
pub fn movement(
    store: &StoreId,
    variant: &VariantId,
    location: &LocationId,
    id: &MovementId,
) -> Key {
    Key::new(format!("STO#{store}#INV#{variant}"), format!("MOV#{location}#{id}"))
}
/// What sort keys of movements begin with, before their location.
pub const MOVEMENTS: &str = "MOV#";
/// A stock location.
pub fn location(store: &StoreId, id: &LocationId) -> Key {
    Key::new(format!("STO#{store}"), format!("LOC#{id}"))
}
/// What sort keys of locations begin with.
pub const LOCATIONS: &str = "LOC#";
/// A collection.
pub fn collection(store: &StoreId, id: &CollectionId) -> Key {
    Key::new(format!("STO#{store}#COL#{id}"), "A")
}
/// The products of a manual collection, in their order.
pub fn collection_members(store: &StoreId, id: &CollectionId) -> Key {
    Key::new(format!("STO#{store}#COL#{id}"), "MBR")
}
/// A store's collections, by creation.
pub fn collections_of_store(store: &StoreId, created: Timestamp, id: &CollectionId) -> IndexKey {
    gsi1(collections_in(store), format!("{created}#{id}"))
}
/// The partition of a store's collections.
pub fn collections_in(store: &StoreId) -> String {
    format!("STO#{store}#COL")
}
/// The one collection of a handle.
pub fn unique_collection_handle(store: &StoreId, handle: &str) -> Key {
    Key::new(format!("UQ#{store}#COLHDL#{handle}"), "U")
}
/// A category.
pub fn category(store: &StoreId, id: &CategoryId) -> Key {
    Key::new(format!("STO#{store}"), format!("{CATEGORIES}{id}"))
}
/// What serializes changes of the tree of a store's categories.
pub fn category_tree(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "CTR#CAT")
}
/// What is left to do about a deleted category.
pub fn category_emptying(store: &StoreId, id: &CategoryId) -> Key {
    Key::new(format!("STO#{store}#CATDEL#{id}"), "A")
}
/// What sort keys of categories begin with.
pub const CATEGORIES: &str = "CAT#";

// Gift cards.

/// A gift card.
pub fn gift_card(store: &StoreId, id: &GiftCardId) -> Key {
    Key::new(format!("STO#{store}#GFT#{id}"), "A")
}
/// A movement of a gift card's balance.
pub fn gift_card_entry(store: &StoreId, card: &GiftCardId, id: &GiftCardEntryId) -> Key {
    Key::new(format!("STO#{store}#GFT#{card}"), format!("TXN#{id}"))
}
/// What sort keys of gift-card entries begin with.
pub const GIFT_CARD_ENTRIES: &str = "TXN#";
/// A store's gift cards, by time.
pub fn gift_cards_of_store(store: &StoreId, created: Timestamp, id: &GiftCardId) -> IndexKey {
    gsi1(format!("STO#{store}#GFT"), format!("{created}#{id}"))
}
/// The one gift card of a code, by the code's HMAC.
pub fn unique_gift_card_code(store: &StoreId, hmac: &str) -> Key {
    Key::new(format!("UQ#{store}#GCC#{hmac}"), "U")
}

// Customers: a customer, their addresses and their wishlist are one query.

/// A customer.
pub fn customer(store: &StoreId, id: &CustomerId) -> Key {
    Key::new(format!("STO#{store}#CUS#{id}"), "A")
}
/// A store's customers, by time.
pub fn customers_of_store(store: &StoreId, created: Timestamp, id: &CustomerId) -> IndexKey {
    gsi1(format!("STO#{store}#CUS"), format!("{created}#{id}"))
}
/// An address.
pub fn address(store: &StoreId, customer: &CustomerId, id: &AddressId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("ADR#{id}"))
}
/// What sort keys of addresses begin with.
pub const ADDRESSES: &str = "ADR#";
/// A wish.
pub fn wish(store: &StoreId, customer: &CustomerId, product: &ProductId, variant: &str) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("WSH#{product}#{variant}"))
}
/// What sort keys of wishes begin with.
pub const WISHES: &str = "WSH#";
/// The one customer of an e-mail address, on a store.
pub fn unique_customer_email(store: &StoreId, normalized: &str) -> Key {
    Key::new(format!("UQ#{store}#CEM#{normalized}"), "U")
}
/// A customer's session: in the customer's partition, as a merchant's is.
pub fn customer_session(store: &StoreId, customer: &CustomerId, id: &CustomerSessionId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("SES#{id}"))
}

// Orders: the order page is one query.

/// An order.
pub fn order(store: &StoreId, id: &OrderId) -> Key {
    Key::new(format!("STO#{store}#ORD#{id}"), "A")
}
/// A store's orders, by creation.
pub fn orders_of_store(store: &StoreId, created: Timestamp, id: &OrderId) -> IndexKey {
    gsi1(format!("STO#{store}#ORD"), format!("{created}#{id}"))
}
/// A store's open orders that wait for no money, in the index of work to do: keys alone.
pub fn open_orders_of_store(store: &StoreId, created: Timestamp, id: &OrderId) -> IndexKey {
    let place = Key::new(format!("STO#{store}#OPEN"), format!("{created}#{id}"));
    (Index::Gsi3, place)
}
/// A customer's orders, by creation.
pub fn orders_of_customer(
    store: &StoreId,
    customer: &CustomerId,
    created: Timestamp,
    id: &OrderId,
) -> IndexKey {
    gsi2(format!("STO#{store}#CUS#{customer}#ORD"), format!("{created}#{id}"))
}
/// A fulfilment of an order.
pub fn fulfillment(store: &StoreId, order: &OrderId, id: &FulfillmentId) -> Key {
    Key::new(format!("STO#{store}#ORD#{order}"), format!("FUL#{id}"))
}
/// A refund of an order.
pub fn refund(store: &StoreId, order: &OrderId, id: &RefundId) -> Key {
    Key::new(format!("STO#{store}#ORD#{order}"), format!("REF#{id}"))
}
/// A payment of an order.
pub fn payment(store: &StoreId, order: &OrderId, id: &PaymentId) -> Key {
    Key::new(format!("STO#{store}#ORD#{order}"), format!("PAY#{id}"))
}
/// A store's payments, by time.
pub fn payments_of_store(store: &StoreId, created: Timestamp, id: &PaymentId) -> IndexKey {
    gsi1(format!("STO#{store}#PAY"), format!("{created}#{id}"))
}
/// A store's payments that its account with a provider is still needed for, by time.
pub fn payments_open_with(
    store: &StoreId,
    provider: &str,
    created: Timestamp,
    id: &PaymentId,
) -> IndexKey {
    gsi2(format!("STO#{store}#PPR#{provider}#OPEN"), format!("{created}#{id}"))
}
/// Where a store's payment lies: its id alone does not say which order it is of.
pub fn payment_place(store: &StoreId, id: &PaymentId) -> Key {
    Key::new(format!("UQ#{store}#PAY#{id}"), "U")
}
/// Which order has this number.
pub fn numbered_order(store: &StoreId, serial: u64) -> Key {
    Key::new(format!("UQ#{store}#ORN#{serial}"), "U")
}
/// The counter of a store's order numbers.
pub fn order_counter(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "CTR#ORD")
}
/// The one payment of a provider's reference.
pub fn provider_reference(provider: &str, reference: &str) -> Key {
    Key::new(format!("UQ#PRF#{provider}#{reference}"), "U")
}
/// A provider's event, so that it is handled once.
pub fn provider_event(provider: &str, event: &str) -> Key {
    Key::new(format!("PEV#{provider}#{event}"), "U")
}
/// A store's account with a payment provider.
pub fn payment_provider(store: &StoreId, provider: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("PPR#{provider}"))
}
/// What sort keys of provider accounts begin with.
pub const PAYMENT_PROVIDERS: &str = "PPR#";

// What customers write, and what stores show.

/// A form submission.
pub fn form_submission(store: &StoreId, id: &FormSubmissionId) -> Key {
    Key::new(format!("STO#{store}"), format!("FRM#{id}"))
}
/// What sort keys of form submissions begin with.
pub const FORM_SUBMISSIONS: &str = "FRM#";
/// Form submissions of a status, by time.
pub fn form_submissions_by_status(
    store: &StoreId,
    status: &str,
    at: Timestamp,
    id: &FormSubmissionId,
) -> IndexKey {
    gsi1(format!("STO#{store}#FRM#{status}"), format!("{at}#{id}"))
}
/// What sort keys of product reviews begin with.
pub const PRODUCT_REVIEWS: &str = "REV#";
/// A product review; its key allows one per purchase line, or one per customer without one.
pub fn product_review(
    store: &StoreId,
    product: &ProductId,
    customer: &CustomerId,
    line: &str,
) -> Key {
    Key::new(format!("STO#{store}#PRD#{product}"), format!("REV#{customer}#{line}"))
}
/// Reviews of a status on a store, by time.
pub fn reviews_by_status(store: &StoreId, status: &str, at: Timestamp, id: &ReviewId) -> IndexKey {
    gsi1(format!("STO#{store}#REV#{status}"), format!("{at}#{id}"))
}
/// The approved reviews of a product, by time.
pub fn approved_reviews_of_product(
    store: &StoreId,
    product: &ProductId,
    at: Timestamp,
    id: &ReviewId,
) -> IndexKey {
    gsi1(format!("STO#{store}#PRD#{product}#REV"), format!("{at}#{id}"))
}
/// A review, found by its id; and all reviews of a store, because ids sort by time.
pub fn review_by_id(store: &StoreId, id: &ReviewId) -> IndexKey {
    gsi2(format!("STO#{store}#REVID"), id.as_str())
}
/// Media.
pub fn media(store: &StoreId, id: &MediaId) -> Key {
    Key::new(format!("STO#{store}"), format!("MED#{id}"))
}
/// What sort keys of media begin with.
pub const MEDIA: &str = "MED#";
/// Content-addressed bytes: their description.
pub fn blob(sha256: &str) -> Key {
    Key::new(format!("BLB#{sha256}"), "A")
}
/// Content-addressed bytes: a chunk, of those that one upload wrote.
pub fn blob_chunk(sha256: &str, upload: &str, number: u32) -> Key {
    Key::new(format!("BLB#{sha256}"), format!("CHK#{upload}#{number:03}"))
}

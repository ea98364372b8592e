//! Keys of sales: orders, payments, gift cards.

use primitives::clock::Timestamp;
use table::item::Key;

use super::{IndexKey, list};
use crate::id::{
    CartId, CustomerId, DiscountId, DisputeId, FulfillmentId, GiftCardEntryId, GiftCardId, OrderId,
    PaymentId, RefundId, StoreId,
};

// Gift cards.

/// A gift card.
pub fn gift_card(store: &StoreId, id: &GiftCardId) -> Key {
    Key::new(format!("STO#{store}#GFT#{id}"), "A")
}
/// A movement of a gift card's balance.
pub fn gift_card_entry(store: &StoreId, card: &GiftCardId, id: &GiftCardEntryId) -> Key {
    Key::new(format!("STO#{store}#GFT#{card}"), format!("TXN#{id}"))
}
/// The prefix of gift-card entries' sort keys.
pub const GIFT_CARD_ENTRIES: &str = "TXN#";
/// A store's gift cards, by time.
pub fn gift_cards_of_store(store: &StoreId, created: Timestamp, id: &GiftCardId) -> IndexKey {
    list::gift_cards_of_store(store).entry(format!("{created}#{id}"))
}
/// The uniqueness item of a gift card's code, by the code's HMAC.
pub fn unique_gift_card_code(store: &StoreId, hmac: &str) -> Key {
    Key::new(format!("UQ#{store}#GCC#{hmac}"), "U")
}

// Carts.

/// A cart.
pub fn cart(store: &StoreId, id: &CartId) -> Key {
    Key::new(format!("STO#{store}{CARTS}{id}"), "A")
}
/// What stands between a store and a cart in a cart's partition key.
pub const CARTS: &str = "#CRT#";
/// The lookup item of a customer's cart.
pub fn customer_cart(store: &StoreId, customer: &CustomerId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), "CRT")
}
/// A guest's carts at a store. `guest` is as in [`orders_of_guest`].
pub fn carts_of_guest(guest: &str, id: &CartId) -> IndexKey {
    list::carts_of_guest(guest).entry(id.as_str())
}

// Orders: the order page is one query.

/// An order.
pub fn order(store: &StoreId, id: &OrderId) -> Key {
    Key::new(format!("STO#{store}#ORD#{id}"), "A")
}
/// A store's orders, by creation.
pub fn orders_of_store(store: &StoreId, created: Timestamp, id: &OrderId) -> IndexKey {
    list::orders_of_store(store).entry(format!("{created}#{id}"))
}
/// A store's open orders that await no payment, in the index of due work: keys alone.
pub fn open_orders_of_store(store: &StoreId, created: Timestamp, id: &OrderId) -> IndexKey {
    list::open_orders_of_store(store).entry(format!("{created}#{id}"))
}
/// A store's own texts for a mail.
pub fn notification_texts(store: &StoreId, kind: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("{NOTIFICATION_TEXTS}{kind}"))
}
/// The prefix of the sort keys of such texts.
pub const NOTIFICATION_TEXTS: &str = "NTF#";
/// A customer's orders, by creation.
pub fn orders_of_customer(
    store: &StoreId,
    customer: &CustomerId,
    created: Timestamp,
    id: &OrderId,
) -> IndexKey {
    list::orders_of_customer(store, customer).entry(format!("{created}#{id}"))
}
/// A guest's orders at a store, in the order of creation. `guest` is the store's identifier of the guest's
/// address, unrelated to that of any other store.
pub fn orders_of_guest(guest: &str, id: &OrderId) -> IndexKey {
    list::orders_of_guest(guest).entry(id.as_str())
}
/// A guest of a store: in a partition of their own, so that none is written by several guests.
pub fn guest(store: &StoreId, guest: &str) -> Key {
    Key::new(format!("STO#{store}#GST#{guest}"), "A")
}
/// A store's guests, by their first order.
pub fn guests_of_store(store: &StoreId, first_order: Timestamp, guest: &str) -> IndexKey {
    list::guests_of_store(store).entry(format!("{first_order}#{guest}"))
}
/// The pending transfer of a guest's orders to the customer who has proven the address.
pub fn guest_orders(store: &StoreId, customer: &CustomerId, guest: &str) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("JOI#{guest}"))
}
/// The prefix of the sort keys of such transfers.
pub const GUEST_ORDERS: &str = "JOI#";
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
/// The prefix of the sort keys of an order's payments.
pub const PAYMENTS: &str = "PAY#";
/// A store's payments, by time.
pub fn payments_of_store(store: &StoreId, created: Timestamp, id: &PaymentId) -> IndexKey {
    list::payments_of_store(store).entry(format!("{created}#{id}"))
}
/// A store's payments that still need its account with a provider, by time.
pub fn payments_open_with(
    store: &StoreId,
    provider: &str,
    created: Timestamp,
    id: &PaymentId,
) -> IndexKey {
    list::payments_open_with(store, provider).entry(format!("{created}#{id}"))
}
/// A dispute of a payment.
pub fn dispute(store: &StoreId, id: &DisputeId) -> Key {
    Key::new(format!("STO#{store}#DSP#{id}"), "A")
}
/// Evidence for a dispute that is on its way to the provider.
pub fn dispute_evidence(store: &StoreId, id: &DisputeId) -> Key {
    Key::new(format!("STO#{store}#DSP#{id}"), "EVI")
}
/// A store's disputes, by time.
pub fn disputes_of_store(store: &StoreId, created: Timestamp, id: &DisputeId) -> IndexKey {
    list::disputes_of_store(store).entry(format!("{created}#{id}"))
}
/// A store's disputes of this status, by time.
pub fn disputes_of_status(
    store: &StoreId,
    status: &str,
    created: Timestamp,
    id: &DisputeId,
) -> IndexKey {
    list::disputes_of_status(store, status).entry(format!("{created}#{id}"))
}
/// The counter of a store's order numbers.
pub fn order_counter(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "CTR#ORD")
}
/// The uniqueness item of a provider's reference: one payment for each.
pub fn provider_reference(provider: &str, reference: &str) -> Key {
    Key::new(format!("UQ#PRF#{provider}#{reference}"), "U")
}
/// The marker of a provider's event, so that it is handled once.
pub fn provider_event(provider: &str, event: &str) -> Key {
    Key::new(format!("PEV#{provider}#{event}"), "U")
}
/// A store's account with a payment provider.
pub fn payment_provider(store: &StoreId, provider: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("PPR#{provider}"))
}
/// The prefix of the sort keys of provider accounts.
pub const PAYMENT_PROVIDERS: &str = "PPR#";

// Shipping, taxes and discounts.

/// A store's shipping zones.
pub fn shipping_zones(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "SHZ")
}
/// A store's tax rates for one country.
pub fn tax_rates(store: &StoreId, country: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("TAX#{country}"))
}
/// The prefix of the sort keys of tax rates.
pub const TAX_RATES: &str = "TAX#";
/// A store's automatic discounts that have not ended.
pub fn automatic_discounts(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "DSC")
}
/// A discount.
pub fn discount(store: &StoreId, id: &DiscountId) -> Key {
    Key::new(format!("STO#{store}#DSC#{id}"), "A")
}
/// A store's discounts, by time.
pub fn discounts_of_store(store: &StoreId, created: Timestamp, id: &DiscountId) -> IndexKey {
    list::discounts_of_store(store).entry(format!("{created}#{id}"))
}
/// A sharded counter of the orders that use a discount.
pub fn discount_uses(store: &StoreId, id: &DiscountId, shard: u64) -> Key {
    Key::new(format!("STO#{store}#DSC#{id}"), format!("USE#{shard}"))
}
/// The prefix of the sort keys of these counters.
pub const DISCOUNT_USES: &str = "USE#";
/// The counter of one customer's orders that use a discount.
pub fn discount_uses_by(store: &StoreId, id: &DiscountId, who: &str) -> Key {
    Key::new(format!("STO#{store}#DSC#{id}"), format!("BY#{who}"))
}
/// The uniqueness item of a discount's code.
pub fn unique_discount_code(store: &StoreId, code: &str) -> Key {
    Key::new(format!("UQ#{store}#DSC#{code}"), "U")
}

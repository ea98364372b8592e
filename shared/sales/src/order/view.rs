//! The representation of an order in responses and events for the merchant.

use std::collections::BTreeMap;

use core_types::fields::{Currency, Email, Locale, TaxNumber};
use core_types::id::{
    CustomerId, GiftCardId, LocationId, OrderId, OrderItemId, PaymentId, ProductId, StoreId,
    VariantId,
};
use core_types::money::Money;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Allocation, DiscountAllocation, FinancialStatus, FulfillmentStatus, GiftCardUse, Order,
    OrderContact, OrderDiscountView, OrderItem, OrderPayment, OrderStatus, ShippingLine, Totals,
};
use crate::payment::CaptureMethod;
use crate::payment::manual_method::ChosenMethod;
use crate::tax::{LineTax, TaxLocation};

core_types::view! {
    /// An order.
    OrderView of order: Order {
        /// The id: `ord_` and 32 hexadecimal digits.
        id: OrderId,
        /// The store.
        store_id: StoreId,
        /// The order number that people use: the store's prefix and a growing number.
        number: String,
        /// The customer, if the shopper has an account.
        customer_id: Option<CustomerId>,
        /// The address that confirmations are sent to.
        email: Option<Email>,
        /// The language of mails to the shopper; the store's if none.
        locale: Option<Locale>,
        /// The contact details that the shopper gave.
        contact: Option<OrderContact>,
        /// The status.
        status: OrderStatus,
        /// Whether fulfilment is on hold.
        on_hold: bool,
        /// The payment status.
        financial_status: FinancialStatus,
        /// The fulfilment status.
        fulfillment_status: FulfillmentStatus,
        /// The lines: at most 40; those of one variant have different properties.
        items: Vec<OrderItemView> = order.items.iter().map(OrderItemView::from).collect(),
        /// The amounts of what is sold, from the subtotal to the amount due. Units that were cancelled or returned
        /// before they were paid are not in them.
        totals: Totals,
        /// The place whose tax rates apply; null if the buyer pays no tax.
        taxed_at: Option<TaxLocation>,
        /// Whether its tax is that of an earlier shipping address, because the address changed after the
        /// order was paid.
        tax_is_outdated: bool = order.other_tax_place().is_some(),
        /// The chosen shipping rate.
        shipping_line: Option<ShippingLine>,
        /// The discounts.
        discounts: Vec<OrderDiscountView> = order.discounts.iter().map(OrderDiscountView::from).collect(),
        /// The gift cards that pay for it.
        gift_cards: Vec<GiftCardUseView> = order.gift_cards.iter().map(GiftCardUseView::from).collect(),
        /// The payments that were authorized or captured.
        payments: Vec<OrderPaymentView> = order.payments.iter().map(OrderPaymentView::from).collect(),
        /// The amount captured so far, from gift cards and payments.
        captured_total: Money = order.captured.clone(),
        /// The amount refunded so far, pending refunds included.
        refunded_total: Money = order.refunded.clone(),
        /// The amount that disputes hold or have withdrawn, and that was not refunded.
        disputed_total: Money = order.disputed(),
        /// The amount that can still be refunded: captured, less refunded and disputed.
        refundable: Money = order.refundable(),
        /// The amount left to pay.
        outstanding: Money = order.outstanding(),
        /// The currency of all amounts.
        currency: Currency,
        /// The shipping address.
        shipping_address: Option<PostalAddress>,
        /// The billing address.
        billing_address: Option<PostalAddress>,
        /// The buyer's tax registration number, such as a VAT or GST number.
        tax_number: Option<TaxNumber>,
        /// The store's tax registration number at placement.
        store_tax_number: Option<TaxNumber>,
        /// A note of the shopper or the merchant.
        note: Option<String>,
        /// The merchant's tags.
        tags: Vec<String>,
        /// Key-value pairs of merchants and apps. They are not returned to the shopper.
        metadata: BTreeMap<String, String>,
        /// The source: `storefront`, or a name that the creator gave.
        source: String,
        /// The payment provider that the shopper chose at checkout.
        payment_provider: Option<String>,
        /// The manual payment method that the shopper chose.
        payment_method: Option<ChosenMethod>,
        /// The instructions of a manual payment, as the shopper was given them.
        payment_instructions: Option<String>,
        /// The capture method at that provider, if the order sets one.
        capture_method: Option<CaptureMethod>,
        /// When it expires unless it is paid; none if it cannot expire.
        expires_at: Option<Timestamp>,
        /// When the stock that a draft order reserves is released; null if it reserves none, or without a
        /// limit.
        stock_held_until: Option<Timestamp>,
        /// The cancellation reason.
        cancel_reason: Option<String>,
        /// When it was cancelled or expired.
        cancelled_at: Option<Timestamp>,
        /// When it was closed.
        closed_at: Option<Timestamp>,
        /// The actions that its status allows now.
        allowed_actions: Vec<&'static str> = order.allowed_actions(),
        /// When it was placed.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

core_types::view! {
    /// A line of an order.
    OrderItemView of item: OrderItem {
        /// The id: `itm_` and 32 hexadecimal digits.
        id: OrderItemId,
        /// The variant.
        variant_id: VariantId,
        /// The product.
        product_id: ProductId,
        /// The product's title.
        title: String,
        /// The variant's title.
        variant_title: Option<String>,
        /// The variant's SKU.
        sku: Option<String>,
        /// The URL of the first image.
        image_url: Option<String>,
        /// The units ordered.
        quantity: u32,
        /// The units that were cancelled or returned before they were paid. The line's amounts are without them.
        unsold: u32,
        /// The price of one unit.
        price: Money,
        /// The price times the units sold: `quantity` less `unsold`.
        subtotal: Money,
        /// The discount on the line.
        discount: Money,
        /// The part of each discount.
        discounts: Vec<DiscountAllocation>,
        /// The tax on the line.
        tax: Money,
        /// The tax by rate.
        tax_lines: Vec<LineTax>,
        /// The subtotal less the discount, plus tax unless prices include it.
        total: Money,
        /// The units that were fulfilled.
        fulfilled: u32,
        /// The units that are still to be fulfilled.
        remaining: u32 = item.remaining(),
        /// The units that were refunded.
        refunded: u32,
        /// The units that were cancelled.
        cancelled: u32,
        /// The units that were fulfilled and returned.
        returned: u32,
        /// The units that were put back into stock.
        restocked: u32 = item.restocked(),
        /// The first location that its stock is taken from; none if the variant's stock is not tracked.
        location_id: Option<LocationId>,
        /// All locations that its stock is taken from; none if the variant's stock is not tracked.
        allocations: Vec<AllocationView> = item.allocations().into_iter().map(AllocationView::from).collect(),
        /// The units that were not in stock when the order was placed, of a variant that is sold beyond its stock.
        /// They are owed by the first of these locations.
        backordered: u32,
        /// Whether the variant's stock is tracked.
        tracked: bool,
        /// Whether it needs shipping.
        requires_shipping: bool,
        /// Properties by which its units differ from others of the variant, such as the text of an engraving.
        properties: BTreeMap<String, String>,
        /// Key-value pairs of merchants and apps, and those that the shopper gave.
        metadata: BTreeMap<String, String>,
    }
}

/// The units of a line that are taken from one location.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AllocationView {
    /// The location and the state of its units.
    #[serde(flatten)]
    pub allocation: Allocation,
    /// The units that are still to be fulfilled.
    pub remaining: u32,
}

impl From<Allocation> for AllocationView {
    fn from(allocation: Allocation) -> Self {
        Self { remaining: allocation.remaining(), allocation }
    }
}

core_types::view! {
    /// A gift card that pays for an order.
    GiftCardUseView of card: GiftCardUse {
        /// The gift card.
        gift_card_id: GiftCardId = card.card_id.clone(),
        /// The last characters of its code.
        last_characters: String,
        /// The amount that it pays.
        amount: Money,
        /// The amount refunded to it.
        refunded: Money,
    }
}

core_types::view! {
    /// The part of a payment in an order.
    OrderPaymentView of payment: OrderPayment {
        /// The payment.
        payment_id: PaymentId,
        /// The payment provider.
        provider: String,
        /// The authorized amount.
        authorized: Money,
        /// The captured amount.
        captured: Money,
        /// The amount refunded through it, pending refunds included.
        refunded: Money,
        /// The amount that disputes hold or have withdrawn, and that was not refunded.
        disputed: Money = payment.disputed(),
        /// Whether the authorization was voided.
        voided: bool,
    }
}

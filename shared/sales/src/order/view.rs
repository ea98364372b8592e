//! An order as the API and its events show it: everything but the token's digest.

use std::collections::BTreeMap;

use core_types::fields::{Currency, Email, Locale};
use core_types::id::{
    CustomerId, GiftCardId, LocationId, OrderId, OrderItemId, PaymentId, ProductId, StoreId,
    VariantId,
};
use core_types::money::Money;
use primitives::clock::Timestamp;
use identity::address::PostalAddress;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Allocation, DiscountAllocation, FinancialStatus, FulfillmentStatus, GiftCardUse, Order,
    OrderContact, OrderDiscountView, OrderItem, OrderPayment, OrderStatus, ShippingLine, Totals,
};
use crate::payment::CaptureMethod;
use crate::tax::LineTax;

core_types::view! {
    /// An order.
    OrderView of order: Order {
        /// `ord_` and 32 hexadecimal digits.
        id: OrderId,
        /// The store that it belongs to.
        store_id: StoreId,
        /// What people call it.
        number: String,
        /// The customer, when they have an account.
        customer_id: Option<CustomerId>,
        /// Where confirmations go.
        email: Option<Email>,
        /// The language in which its shopper is written to; the store's unless it says.
        locale: Option<Locale>,
        /// Whom it is for, in the shopper's words.
        contact: Option<OrderContact>,
        /// Where it is in its life.
        status: OrderStatus,
        /// Whether it is kept from being fulfilled.
        on_hold: bool,
        /// What has become of its money.
        financial_status: FinancialStatus,
        /// How much of it has left.
        fulfillment_status: FulfillmentStatus,
        /// At most 40; no two of one variant.
        items: Vec<OrderItemView> = order.items.iter().map(OrderItemView::from).collect(),
        /// Its amounts, from the subtotal to what is due.
        totals: Totals,
        /// How it is sent, when that was chosen.
        shipping_line: Option<ShippingLine>,
        /// What is taken off.
        discounts: Vec<OrderDiscountView> = order.discounts.iter().map(OrderDiscountView::from).collect(),
        /// The gift cards that pay for it.
        gift_cards: Vec<GiftCardUseView> = order.gift_cards.iter().map(GiftCardUseView::from).collect(),
        /// The payments that were authorized or taken.
        payments: Vec<OrderPaymentView> = order.payments.iter().map(OrderPaymentView::from).collect(),
        /// Taken so far, from gift cards and payments.
        captured_total: Money = order.captured.clone(),
        /// Gone back so far, or on its way back.
        refunded_total: Money = order.refunded.clone(),
        /// What disputes hold of the rest, or have taken.
        disputed_total: Money = order.disputed(),
        /// What could still go back: captured, less refunded and disputed.
        refundable: Money = order.refundable(),
        /// What is left to pay.
        outstanding: Money = order.outstanding(),
        /// The currency of all its amounts.
        currency: Currency,
        /// Where it goes.
        shipping_address: Option<PostalAddress>,
        /// Who is billed.
        billing_address: Option<PostalAddress>,
        /// In the shopper's or the merchant's words.
        note: Option<String>,
        /// Labels of the merchant's.
        tags: Vec<String>,
        /// What apps and merchants keep with it; its shopper is not shown it.
        metadata: BTreeMap<String, String>,
        /// Where it was made.
        source: String,
        /// The payment provider that the shopper chose at checkout.
        payment_provider: Option<String>,
        /// When that provider is to take the money, if the order says.
        capture_method: Option<CaptureMethod>,
        /// When it expires unless it is paid.
        expires_at: Option<Timestamp>,
        /// Why it was cancelled.
        cancel_reason: Option<String>,
        /// When it was cancelled or expired.
        cancelled_at: Option<Timestamp>,
        /// When it was closed.
        closed_at: Option<Timestamp>,
        /// The actions that its state allows now.
        allowed_actions: Vec<&'static str> = order.allowed_actions(),
        /// When it was placed.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}

core_types::view! {
    /// A line.
    OrderItemView of item: OrderItem {
        /// `itm_` and 32 hexadecimal digits.
        id: OrderItemId,
        /// The id of what is sold.
        variant_id: VariantId,
        /// Its product.
        product_id: ProductId,
        /// The product's title.
        title: String,
        /// The variant's title.
        variant_title: Option<String>,
        /// The variant's SKU.
        sku: Option<String>,
        /// The first image.
        image_url: Option<String>,
        /// Units ordered.
        quantity: u32,
        /// The price of one.
        price: Money,
        /// Price times quantity.
        subtotal: Money,
        /// Taken off it.
        discount: Money,
        /// By which discounts.
        discounts: Vec<DiscountAllocation>,
        /// Tax on it.
        tax: Money,
        /// By which rates.
        tax_lines: Vec<LineTax>,
        /// Subtotal less discount, plus tax unless prices hold it already.
        total: Money,
        /// Units that have left.
        fulfilled: u32,
        /// Units that have yet to leave.
        remaining: u32 = item.remaining(),
        /// Units that money went back for.
        refunded: u32,
        /// Units that will not leave.
        cancelled: u32,
        /// Units that left and came back.
        returned: u32,
        /// Units that went back into stock.
        restocked: u32 = item.restocked(),
        /// The first location that its stock is taken from.
        location_id: Option<LocationId>,
        /// Every location that its stock is taken from; none when the variant's stock is not
        /// counted.
        allocations: Vec<AllocationView> = item.allocations().into_iter().map(AllocationView::from).collect(),
        /// Whether the variant's stock is counted.
        tracked: bool,
        /// Whether it has to be sent.
        requires_shipping: bool,
        /// What apps and merchants keep with it, and what its shopper said of it.
        metadata: BTreeMap<String, String>,
    }
}

/// Units of a line that are taken from one location.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AllocationView {
    /// The location, and what became of its units.
    #[serde(flatten)]
    pub allocation: Allocation,
    /// Units that have yet to leave.
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
        /// The card.
        gift_card_id: GiftCardId = card.card_id.clone(),
        /// The end of its code.
        last_characters: String,
        /// Taken from it.
        amount: Money,
        /// Gone back to it.
        refunded: Money,
    }
}

core_types::view! {
    /// What a payment has done for an order.
    OrderPaymentView of payment: OrderPayment {
        /// The id of one of the order's payments.
        payment_id: PaymentId,
        /// Its provider.
        provider: String,
        /// Authorized.
        authorized: Money,
        /// Taken.
        captured: Money,
        /// Gone back, or on its way back.
        refunded: Money,
        /// What disputes hold of the rest, or have taken.
        disputed: Money = payment.disputed(),
        /// Whether the authorization was given up.
        voided: bool,
    }
}

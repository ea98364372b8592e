//! An order as the API and its events show it: everything but the token's digest.

use gateway::clock::Timestamp;
use ground::fields::{Currency, Email};
use ground::id::{
    CustomerId, GiftCardId, LocationId, OrderId, OrderItemId, PaymentId, ProductId, StoreId,
    VariantId,
};
use ground::money::Money;
use identity::address::PostalAddress;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Allocation, Contact, FinancialStatus, FulfillmentStatus, GiftCardUse, Order, OrderItem,
    OrderPayment, OrderStatus, Totals,
};
use crate::payment::CaptureMethod;

/// An order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrderView {
    /// The id.
    pub id: OrderId,
    /// The store.
    pub store_id: StoreId,
    /// What people call it.
    pub number: String,
    /// The customer, when they have an account.
    pub customer_id: Option<CustomerId>,
    /// Where confirmations go.
    pub email: Option<Email>,
    /// Whom it is for, in the shopper's words.
    pub contact: Option<Contact>,
    /// Where it is in its life.
    pub status: OrderStatus,
    /// Whether it is kept from being fulfilled.
    pub on_hold: bool,
    /// What has become of its money.
    pub financial_status: FinancialStatus,
    /// How much of it has left.
    pub fulfillment_status: FulfillmentStatus,
    /// The lines.
    pub items: Vec<OrderItemView>,
    /// What it comes to.
    pub totals: Totals,
    /// The gift cards that pay for it.
    pub gift_cards: Vec<GiftCardUseView>,
    /// The payments that were promised or taken.
    pub payments: Vec<OrderPaymentView>,
    /// Taken so far, from gift cards and payments.
    pub captured_total: Money,
    /// Gone back so far, or on its way back.
    pub refunded_total: Money,
    /// What could still go back.
    pub refundable: Money,
    /// What is left to pay.
    pub outstanding: Money,
    /// The currency of all its amounts.
    pub currency: Currency,
    /// Where it goes.
    pub shipping_address: Option<PostalAddress>,
    /// Who is billed.
    pub billing_address: Option<PostalAddress>,
    /// In the shopper's or the merchant's words.
    pub note: Option<String>,
    /// Labels of the merchant's.
    pub tags: Vec<String>,
    /// Where it was made.
    pub source: String,
    /// The payment provider that the shopper chose at checkout.
    pub payment_provider: Option<String>,
    /// When that provider is to take the money, if the order says.
    pub capture_method: Option<CaptureMethod>,
    /// When it expires unless it is paid.
    pub expires_at: Option<Timestamp>,
    /// Why it was called off.
    pub cancel_reason: Option<String>,
    /// When it was called off or expired.
    pub cancelled_at: Option<Timestamp>,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// What can be done with it now.
    pub allowed_actions: Vec<&'static str>,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

/// A line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrderItemView {
    /// The id.
    pub id: OrderItemId,
    /// The variant.
    pub variant_id: VariantId,
    /// Its product.
    pub product_id: ProductId,
    /// The product's title.
    pub title: String,
    /// The variant's title.
    pub variant_title: Option<String>,
    /// The variant's SKU.
    pub sku: Option<String>,
    /// The first image.
    pub image_url: Option<String>,
    /// Units ordered.
    pub quantity: u32,
    /// The price of one.
    pub price: Money,
    /// Price times quantity.
    pub subtotal: Money,
    /// Taken off it.
    pub discount: Money,
    /// Tax on it.
    pub tax: Money,
    /// Subtotal less discount plus tax.
    pub total: Money,
    /// Units that have left.
    pub fulfilled: u32,
    /// Units that have yet to leave.
    pub remaining: u32,
    /// Units that money went back for.
    pub refunded: u32,
    /// Units that will not leave.
    pub cancelled: u32,
    /// Units that left and came back.
    pub returned: u32,
    /// Units that went back into stock.
    pub restocked: u32,
    /// The first location that its stock is taken from.
    pub location_id: Option<LocationId>,
    /// Every location that its stock is taken from; none when the variant's stock is not counted.
    pub allocations: Vec<AllocationView>,
    /// Whether the variant's stock is counted.
    pub tracked: bool,
    /// Whether it has to be sent.
    pub requires_shipping: bool,
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

/// A gift card that pays for an order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GiftCardUseView {
    /// The card.
    pub gift_card_id: GiftCardId,
    /// The end of its code.
    pub last_characters: String,
    /// Taken from it.
    pub amount: Money,
    /// Gone back to it.
    pub refunded: Money,
}

/// What a payment has done for an order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrderPaymentView {
    /// The payment.
    pub payment_id: PaymentId,
    /// Its provider.
    pub provider: String,
    /// Promised.
    pub authorized: Money,
    /// Taken.
    pub captured: Money,
    /// Gone back, or on its way back.
    pub refunded: Money,
    /// Whether the promise was given up.
    pub voided: bool,
}

impl From<&Order> for OrderView {
    fn from(order: &Order) -> Self {
        Self {
            id: order.id.clone(),
            store_id: order.store_id.clone(),
            number: order.number.clone(),
            customer_id: order.customer_id.clone(),
            email: order.email.clone(),
            contact: order.contact.clone(),
            status: order.status,
            on_hold: order.on_hold,
            financial_status: order.financial_status,
            fulfillment_status: order.fulfillment_status,
            items: order.items.iter().map(OrderItemView::from).collect(),
            totals: order.totals.clone(),
            gift_cards: order.gift_cards.iter().map(GiftCardUseView::from).collect(),
            payments: order.payments.iter().map(OrderPaymentView::from).collect(),
            captured_total: order.captured.clone(),
            refunded_total: order.refunded.clone(),
            refundable: order.refundable(),
            outstanding: order.outstanding(),
            currency: order.currency.clone(),
            shipping_address: order.shipping_address.clone(),
            billing_address: order.billing_address.clone(),
            note: order.note.clone(),
            tags: order.tags.clone(),
            source: order.source.clone(),
            payment_provider: order.payment_provider.clone(),
            capture_method: order.capture_method,
            expires_at: order.expires_at,
            cancel_reason: order.cancel_reason.clone(),
            cancelled_at: order.cancelled_at,
            closed_at: order.closed_at,
            allowed_actions: order.allowed_actions(),
            created_at: order.created_at,
            updated_at: order.updated_at,
            version: order.version,
        }
    }
}

impl From<&OrderItem> for OrderItemView {
    fn from(item: &OrderItem) -> Self {
        Self {
            id: item.id.clone(),
            variant_id: item.variant_id.clone(),
            product_id: item.product_id.clone(),
            title: item.title.clone(),
            variant_title: item.variant_title.clone(),
            sku: item.sku.clone(),
            image_url: item.image_url.clone(),
            quantity: item.quantity,
            price: item.price.clone(),
            subtotal: item.subtotal.clone(),
            discount: item.discount.clone(),
            tax: item.tax.clone(),
            total: item.total.clone(),
            fulfilled: item.fulfilled,
            remaining: item.remaining(),
            refunded: item.refunded,
            cancelled: item.cancelled,
            returned: item.returned,
            restocked: item.restocked(),
            location_id: item.location_id.clone(),
            allocations: item.allocations().into_iter().map(AllocationView::from).collect(),
            tracked: item.tracked,
            requires_shipping: item.requires_shipping,
        }
    }
}

impl From<&GiftCardUse> for GiftCardUseView {
    fn from(card: &GiftCardUse) -> Self {
        Self {
            gift_card_id: card.card_id.clone(),
            last_characters: card.last_characters.clone(),
            amount: card.amount.clone(),
            refunded: card.refunded.clone(),
        }
    }
}

impl From<&OrderPayment> for OrderPaymentView {
    fn from(payment: &OrderPayment) -> Self {
        Self {
            payment_id: payment.payment_id.clone(),
            provider: payment.provider.clone(),
            authorized: payment.authorized.clone(),
            captured: payment.captured.clone(),
            refunded: payment.refunded.clone(),
            voided: payment.voided,
        }
    }
}

//! An order as the person who placed it sees it: without what the store keeps to itself.

use commerce::address::PostalAddress;
use commerce::fields::{Currency, Email};
use commerce::id::{OrderId, OrderItemId, ProductId, VariantId};
use commerce::money::Money;
use commerce::order::{FinancialStatus, FulfillmentStatus, Order, OrderItem, OrderStatus, Totals};
use gateway::clock::Timestamp;
use serde::Serialize;

/// An order.
#[derive(Debug, Serialize)]
pub(crate) struct ShopperOrder {
    id: OrderId,
    /// What people call it.
    number: String,
    email: Option<Email>,
    status: OrderStatus,
    financial_status: FinancialStatus,
    fulfillment_status: FulfillmentStatus,
    items: Vec<ShopperLine>,
    totals: Totals,
    gift_cards: Vec<ShopperGiftCard>,
    captured_total: Money,
    refunded_total: Money,
    /// What is left to pay.
    outstanding: Money,
    currency: Currency,
    shipping_address: Option<PostalAddress>,
    billing_address: Option<PostalAddress>,
    /// When it expires unless it is paid.
    expires_at: Option<Timestamp>,
    cancelled_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: u64,
}

/// A line.
#[derive(Debug, Serialize)]
struct ShopperLine {
    /// What a review of a purchase names.
    id: OrderItemId,
    product_id: ProductId,
    variant_id: VariantId,
    title: String,
    variant_title: Option<String>,
    sku: Option<String>,
    image_url: Option<String>,
    quantity: u32,
    price: Money,
    subtotal: Money,
    discount: Money,
    tax: Money,
    total: Money,
    /// Units that have left.
    fulfilled: u32,
    /// Units that money went back for.
    refunded: u32,
}

/// A gift card that pays for the order.
#[derive(Debug, Serialize)]
struct ShopperGiftCard {
    last_characters: String,
    amount: Money,
    refunded: Money,
}

impl From<&Order> for ShopperOrder {
    fn from(order: &Order) -> Self {
        let cards = order.gift_cards.iter().map(|card| ShopperGiftCard {
            last_characters: card.last_characters.clone(),
            amount: card.amount.clone(),
            refunded: card.refunded.clone(),
        });
        Self {
            id: order.id.clone(),
            number: order.number.clone(),
            email: order.email.clone(),
            status: order.status,
            financial_status: order.financial_status,
            fulfillment_status: order.fulfillment_status,
            items: order.items.iter().map(ShopperLine::from).collect(),
            totals: order.totals.clone(),
            gift_cards: cards.collect(),
            captured_total: order.captured.clone(),
            refunded_total: order.refunded.clone(),
            outstanding: order.outstanding(),
            currency: order.currency.clone(),
            shipping_address: order.shipping_address.clone(),
            billing_address: order.billing_address.clone(),
            expires_at: order.expires_at,
            cancelled_at: order.cancelled_at,
            created_at: order.created_at,
            updated_at: order.updated_at,
            version: order.version,
        }
    }
}

impl From<&OrderItem> for ShopperLine {
    fn from(item: &OrderItem) -> Self {
        Self {
            id: item.id.clone(),
            product_id: item.product_id.clone(),
            variant_id: item.variant_id.clone(),
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
            refunded: item.refunded,
        }
    }
}

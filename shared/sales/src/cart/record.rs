//! A cart in an export of a person's data: what is stored, without prices.

use std::collections::BTreeMap;

use core_types::fields::{Email, Locale, TaxNumber};
use core_types::id::{CartId, CustomerId, OrderId, ShippingRateId, VariantId};
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use serde::Serialize;

use super::{Cart, CartGiftCard, CartItem, CartPayment, CartStatus};
use crate::discount::DiscountCode;
use crate::order::OrderContact;

/// A line of a cart, as it is stored.
#[derive(Debug, Clone, Serialize)]
pub struct CartRecordLine {
    variant_id: VariantId,
    quantity: u32,
    properties: BTreeMap<String, String>,
    metadata: BTreeMap<String, String>,
}

impl From<&CartItem> for CartRecordLine {
    fn from(line: &CartItem) -> Self {
        Self {
            variant_id: line.variant_id.clone(),
            quantity: line.quantity,
            properties: line.properties.clone(),
            metadata: line.metadata.clone(),
        }
    }
}

/// A cart, as it is stored.
#[derive(Debug, Clone, Serialize)]
pub struct CartRecord {
    id: CartId,
    customer_id: Option<CustomerId>,
    status: CartStatus,
    lines: Vec<CartRecordLine>,
    discount_codes: Vec<DiscountCode>,
    gift_cards: Vec<CartGiftCard>,
    email: Option<Email>,
    contact: Option<OrderContact>,
    accepts_marketing: Option<bool>,
    locale: Option<Locale>,
    shipping_address: Option<PostalAddress>,
    billing_address: Option<PostalAddress>,
    shipping_rate_id: Option<ShippingRateId>,
    payment: Option<CartPayment>,
    tax_number: Option<TaxNumber>,
    note: Option<String>,
    metadata: BTreeMap<String, String>,
    order_id: Option<OrderId>,
    created_at: Timestamp,
    updated_at: Timestamp,
    expires_at: Timestamp,
}

impl From<&Cart> for CartRecord {
    fn from(cart: &Cart) -> Self {
        let buyer = cart.buyer.clone();
        Self {
            id: cart.id.clone(),
            customer_id: cart.customer_id.clone(),
            status: cart.status,
            lines: cart.lines.iter().map(CartRecordLine::from).collect(),
            discount_codes: cart.discount_codes.clone(),
            gift_cards: cart.gift_cards.clone(),
            email: buyer.email,
            contact: buyer.contact,
            accepts_marketing: buyer.accepts_marketing,
            locale: buyer.locale,
            shipping_address: buyer.shipping_address,
            billing_address: buyer.billing_address,
            shipping_rate_id: buyer.shipping_rate_id,
            payment: buyer.payment,
            tax_number: buyer.tax_number,
            note: buyer.note,
            metadata: buyer.metadata,
            order_id: cart.order_id.clone(),
            created_at: cart.created_at,
            updated_at: cart.updated_at,
            expires_at: cart.expires_at,
        }
    }
}

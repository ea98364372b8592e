//! The response about a cart: its lines and totals, its faults, and what can be done next.

mod faults;

use std::collections::BTreeMap;

use core_types::fields::{Currency, Email, Locale, TaxNumber};
use core_types::id::{
    CartId, CartLineId, CustomerId, OrderId, ProductId, ShippingRateId, VariantId,
};
use core_types::money::Money;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Cart, CartGiftCard, CartItem, CartPayment, CartStatus};
use crate::discount::DiscountCode;
use crate::order::pricing::{PricedLine, Quote};
use crate::order::{DiscountAllocation, OrderContact, OrderDiscountView, ShippingLine, Totals};
use crate::tax::LineTax;
use crate::workflows::place_order::PricedCart;

pub use faults::CartFault;
use faults::faults_of;

primitives::string_enum! {
    /// The next step that a cart allows.
    CartAction {
        /// Change it, or its lines.
        Update = "update",
        /// Delete it.
        Delete = "delete",
        /// Order it: nothing is missing, and no fault blocks it.
        Checkout = "checkout",
    }
}

/// The amounts of a line that can be priced.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CartLineAmounts {
    /// The product.
    pub product_id: ProductId,
    /// The product's title.
    pub title: String,
    /// The variant's title.
    pub variant_title: String,
    /// The variant's SKU.
    pub sku: Option<String>,
    /// The URL of the variant's image, or else of the product's first.
    pub image_url: Option<String>,
    /// Whether that many are available now.
    pub available: bool,
    /// Whether it needs shipping.
    pub requires_shipping: bool,
    /// The price of one unit.
    pub price: Money,
    /// The price times the quantity.
    pub subtotal: Money,
    /// The discount on the line.
    pub discount: Money,
    /// The part of each discount.
    pub discounts: Vec<DiscountAllocation>,
    /// The tax on the line.
    pub tax: Money,
    /// The tax by rate.
    pub tax_lines: Vec<LineTax>,
    /// The subtotal less the discount, plus tax unless prices include it.
    pub total: Money,
}

impl From<&PricedLine> for CartLineAmounts {
    fn from(line: &PricedLine) -> Self {
        let sellable = &line.sellable;
        Self {
            product_id: sellable.product_id.clone(),
            title: sellable.product_title.clone(),
            variant_title: sellable.variant_title.clone(),
            sku: sellable.sku.clone(),
            image_url: sellable.image_url.clone(),
            available: line.is_available,
            requires_shipping: sellable.requires_shipping,
            price: sellable.price.clone(),
            subtotal: line.subtotal.clone(),
            discount: line.discount.clone(),
            discounts: line.discounts.clone(),
            tax: line.tax.clone(),
            tax_lines: line.tax_lines.clone(),
            total: line.total.clone(),
        }
    }
}

/// A line of a cart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CartLineView {
    /// The id. It stays while the line has this variant and these properties.
    pub id: CartLineId,
    /// The variant.
    pub variant_id: VariantId,
    /// The number of units.
    pub quantity: u32,
    /// Properties by which these units differ from others of the variant.
    pub properties: BTreeMap<String, String>,
    /// Key-value pairs of the line.
    pub metadata: BTreeMap<String, String>,
    /// What is sold, and its amounts; null if the store does not sell it any more.
    pub merchandise: Option<CartLineAmounts>,
}

/// A gift card of a cart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CartGiftCardView {
    /// The gift card, as it is named to remove it.
    #[serde(flatten)]
    pub card: CartGiftCard,
    /// The amount that it pays now; null if it pays nothing.
    pub amount: Option<Money>,
}

/// A cart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Cart")]
pub struct CartView {
    /// The id: `crt_` and 32 hexadecimal digits. It gives no access by itself.
    pub id: CartId,
    /// The status.
    pub status: CartStatus,
    /// The customer whose cart it is; null for a guest's.
    pub customer_id: Option<CustomerId>,
    /// The lines: at most 40. None once it is converted: its order has them.
    pub lines: Vec<CartLineView>,
    /// The amounts of the lines that can be priced, from the subtotal to the amount due: those of the order. Null
    /// once it is converted.
    pub totals: Option<Totals>,
    /// The chosen shipping rate with its price.
    pub shipping_line: Option<ShippingLine>,
    /// The discounts that apply, with the amount of each.
    pub discounts: Vec<OrderDiscountView>,
    /// The discount codes. A fault says of each that does not apply why.
    pub discount_codes: Vec<DiscountCode>,
    /// The gift cards.
    pub gift_cards: Vec<CartGiftCardView>,
    /// The address that confirmations are sent to; that of the signed-in customer if null.
    pub email: Option<Email>,
    /// The name and telephone number.
    pub contact: Option<OrderContact>,
    /// Whether the buyer accepts marketing, as they said here; null if they did not.
    pub accepts_marketing: Option<bool>,
    /// The language of mails.
    pub locale: Option<Locale>,
    /// The shipping address.
    pub shipping_address: Option<PostalAddress>,
    /// The billing address.
    pub billing_address: Option<PostalAddress>,
    /// The chosen shipping rate.
    pub shipping_rate_id: Option<ShippingRateId>,
    /// The chosen payment provider and method.
    pub payment: Option<CartPayment>,
    /// The tax registration number.
    pub tax_number: Option<TaxNumber>,
    /// A note to the merchant.
    pub note: Option<String>,
    /// Metadata of the order.
    pub metadata: BTreeMap<String, String>,
    /// What is wrong with it now, each with a pointer into this response.
    pub faults: Vec<CartFault>,
    /// Pointers to what its order needs and the cart has not yet.
    pub missing: Vec<String>,
    /// What can be done next. Without `checkout`, `missing` and `faults` say why.
    pub allowed_actions: Vec<CartAction>,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The number of decimal digits in an amount of the currency: 0, 2 or 3.
    pub currency_exponent: u16,
    /// The order that it has become.
    pub order_id: Option<OrderId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it expires unless it is changed: 30 days after its last change.
    pub expires_at: Timestamp,
    /// The version, for `If-Match`.
    pub version: u64,
}

impl CartView {
    /// The response about a cart, priced now; an empty or a converted one is not priced.
    pub fn of(cart: &Cart, priced: Option<&PricedCart>) -> Self {
        let quote = priced.map(|priced| &priced.quote);
        let (faults, missing) = faults_of(cart, priced);
        let totals =
            || quote.map_or_else(|| Totals::zero(&cart.currency), |one| one.totals.clone());
        Self {
            id: cart.id.clone(),
            status: cart.status,
            customer_id: cart.customer_id.clone(),
            lines: lines(cart, quote),
            totals: cart.order_id.is_none().then(totals),
            shipping_line: quote.and_then(|quote| quote.shipping.clone()),
            discounts: quote.iter().flat_map(|quote| &quote.discounts).map(Into::into).collect(),
            discount_codes: cart.discount_codes.clone(),
            gift_cards: gift_cards(cart, quote),
            email: cart.buyer.email.clone(),
            contact: cart.buyer.contact.clone(),
            accepts_marketing: cart.buyer.accepts_marketing,
            locale: cart.buyer.locale.clone(),
            shipping_address: cart.buyer.shipping_address.clone(),
            billing_address: cart.buyer.billing_address.clone(),
            shipping_rate_id: cart.buyer.shipping_rate_id.clone(),
            payment: cart.buyer.payment.clone(),
            tax_number: cart.buyer.tax_number.clone(),
            note: cart.buyer.note.clone(),
            metadata: cart.buyer.metadata.clone(),
            allowed_actions: allowed_actions(cart, &faults, &missing),
            faults,
            missing,
            currency: cart.currency.clone(),
            currency_exponent: cart.currency.exponent(),
            order_id: cart.order_id.clone(),
            created_at: cart.created_at,
            updated_at: cart.updated_at,
            expires_at: cart.expires_at,
            version: cart.version,
        }
    }
}

fn lines(cart: &Cart, quote: Option<&Quote>) -> Vec<CartLineView> {
    let of = |(position, line): (usize, &CartItem)| {
        let mut priced = quote.iter().flat_map(|quote| &quote.lines);
        let priced = priced.find(|priced| priced.line.position == position);
        CartLineView {
            id: line.id(&cart.id),
            variant_id: line.variant_id.clone(),
            quantity: line.quantity,
            properties: line.properties.clone(),
            metadata: line.metadata.clone(),
            merchandise: priced.map(CartLineAmounts::from),
        }
    };
    cart.lines.iter().enumerate().map(of).collect()
}

fn gift_cards(cart: &Cart, quote: Option<&Quote>) -> Vec<CartGiftCardView> {
    let of = |card: &CartGiftCard| {
        let mut paying = quote.iter().flat_map(|quote| &quote.cards);
        let pays = paying.find(|(known, _)| known.id == card.id);
        CartGiftCardView { card: card.clone(), amount: pays.map(|(_, amount)| amount.clone()) }
    };
    cart.gift_cards.iter().map(of).collect()
}

fn allowed_actions(cart: &Cart, faults: &[CartFault], missing: &[String]) -> Vec<CartAction> {
    if cart.order_id.is_some() {
        return Vec::new();
    }
    let can_order = missing.is_empty() && faults.iter().all(|fault| !fault.blocks_checkout);
    let order = can_order.then_some(CartAction::Checkout);
    [CartAction::Update, CartAction::Delete].into_iter().chain(order).collect()
}

/// A line of a cart in an event.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CartSummaryLine {
    /// The variant.
    pub variant_id: VariantId,
    /// The number of units.
    pub quantity: u32,
}

/// A cart in an event: it names nobody but its customer, by id.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CartSummary {
    /// The id.
    pub id: CartId,
    /// The customer whose cart it is.
    pub customer_id: Option<CustomerId>,
    /// The status.
    pub status: CartStatus,
    /// The lines.
    pub lines: Vec<CartSummaryLine>,
    /// The currency.
    pub currency: Currency,
    /// The order that it has become.
    pub order_id: Option<OrderId>,
    /// When it was found to be left, since its last change.
    pub abandoned_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The version.
    pub version: u64,
}

impl CartSummary {
    /// A cart with these lines.
    pub fn of(cart: &Cart, lines: &[CartItem]) -> Self {
        let line = |line: &CartItem| CartSummaryLine {
            variant_id: line.variant_id.clone(),
            quantity: line.quantity,
        };
        Self {
            id: cart.id.clone(),
            customer_id: cart.customer_id.clone(),
            status: cart.status,
            lines: lines.iter().map(line).collect(),
            currency: cart.currency.clone(),
            order_id: cart.order_id.clone(),
            abandoned_at: cart.abandoned_at,
            created_at: cart.created_at,
            updated_at: cart.updated_at,
            version: cart.version,
        }
    }
}

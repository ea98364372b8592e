//! A priced cart: what it demands, and how a dry run shows it.

use core_types::id::VariantId;
use core_types::money::Money;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{PricedLine, Quote};
use crate::discount::Discount;
use crate::order::{DiscountAllocation, OrderDiscountView, ShippingLine, Totals};
use crate::shipping::ShippingRateKind;
use crate::tax::LineTax;

impl Quote {
    /// # Errors
    /// `insufficient_stock`, naming the lines.
    pub fn ensure_stock(&self) -> Result<(), Problem> {
        let short: Vec<&PricedLine> = self.lines.iter().filter(|line| !line.is_available).collect();
        if short.is_empty() { Ok(()) } else { Err(insufficient_stock(&short)) }
    }

    /// # Errors
    /// `price_changed`, with the totals as they are.
    pub fn ensure_total(&self, expected: Option<&Money>) -> Result<(), Problem> {
        match expected {
            Some(expected) if *expected != self.totals.total => {
                let totals = serde_json::to_value(&self.totals).unwrap_or_default();
                Err(Code::PriceChanged.with("totals", totals))
            }
            _ => Ok(()),
        }
    }

    /// Whether anything of it has to be sent.
    pub fn requires_shipping(&self) -> bool {
        self.lines.iter().any(|line| line.sellable.requires_shipping)
    }

    /// Whether it needs an address: it is sent, and not fetched.
    pub fn needs_address(&self) -> bool {
        let kind = self.shipping.as_ref().map(|line| line.service.kind);
        self.requires_shipping() && kind != Some(ShippingRateKind::Pickup)
    }

    /// What a dry run says: the total, and of each line whether it can be had, never how
    /// many there are.
    pub fn view(&self) -> QuoteView {
        QuoteView {
            totals: self.totals.clone(),
            availability: self.lines.iter().map(LineAvailability::from).collect(),
            shipping_line: self.shipping.clone(),
            discounts: self.discounts.iter().map(OrderDiscountView::from).collect(),
        }
    }
}

/// What a cart would come to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "OrderQuote")]
pub struct QuoteView {
    /// Its amounts, from the subtotal to what is due.
    pub totals: Totals,
    /// Of each line, whether it can be had, and the total.
    pub availability: Vec<LineAvailability>,
    /// How it would be sent, when that is chosen.
    pub shipping_line: Option<ShippingLine>,
    /// The discounts that it would have.
    pub discounts: Vec<OrderDiscountView>,
}

impl From<&(Discount, Money)> for OrderDiscountView {
    fn from((discount, amount): &(Discount, Money)) -> Self {
        Self {
            discount_id: discount.id.clone(),
            title: discount.title.clone(),
            code: discount.code.clone(),
            kind: discount.value.kind(),
            amount: amount.clone(),
        }
    }
}

/// Whether a line can be had, and at which price.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LineAvailability {
    /// The id of what is sold.
    pub variant_id: VariantId,
    /// The product's title.
    pub title: String,
    /// The variant's title.
    pub variant_title: String,
    /// Units asked for.
    pub quantity: u32,
    /// Whether so many can be had now.
    pub available: bool,
    /// The price of one.
    pub price: Money,
    /// Price times quantity.
    pub subtotal: Money,
    /// Taken off it.
    pub discount: Money,
    /// By which discounts.
    pub discounts: Vec<DiscountAllocation>,
    /// Tax on it.
    pub tax: Money,
    /// By which rates.
    pub tax_lines: Vec<LineTax>,
    /// Subtotal less discount, plus tax unless prices hold it already.
    pub total: Money,
}

impl From<&PricedLine> for LineAvailability {
    fn from(line: &PricedLine) -> Self {
        Self {
            variant_id: line.sellable.variant_id.clone(),
            title: line.sellable.product_title.clone(),
            variant_title: line.sellable.variant_title.clone(),
            quantity: line.line.quantity,
            available: line.is_available,
            price: line.sellable.price.clone(),
            subtotal: line.subtotal.clone(),
            discount: line.discount.clone(),
            discounts: line.discounts.clone(),
            tax: line.tax.clone(),
            tax_lines: line.tax_lines.clone(),
            total: line.total.clone(),
        }
    }
}

/// `insufficient_stock`, naming these lines by position, variant and quantity.
pub fn insufficient_stock(lines: &[&PricedLine]) -> Problem {
    let items: Vec<Value> = lines
        .iter()
        .map(|line| {
            json!({
                "pointer": format!("/items/{}", line.line.position),
                "variant_id": line.sellable.variant_id,
                "requested": line.line.quantity,
            })
        })
        .collect();
    Code::InsufficientStock.with("items", items)
}

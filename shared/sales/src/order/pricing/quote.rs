//! A priced cart: its lines and totals, its checks, and its representation in the response of a dry run.

use std::collections::BTreeMap;

use catalogue::inventory::Level;
use catalogue::product::Sellable;
use core_types::id::VariantId;
use core_types::money::Money;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::taxes::TaxRules;
use crate::discount::Discount;
use crate::gift_card::GiftCard;
use crate::order::cart::CartLine;
use crate::order::item::Units;
use crate::order::{DiscountAllocation, OrderDiscountView, ShippingLine, Totals};
use crate::shipping::{self, Parcel, ShippingRate, ShippingRateKind, ShippingZone};
use crate::tax::{LineTax, TaxLocation};

/// A line of a cart at the store's price and stock.
#[derive(Debug, Clone)]
pub struct PricedLine {
    /// The requested line.
    pub line: CartLine,
    /// The variant.
    pub sellable: Sellable,
    /// The price of one unit before the store's tax was deducted from it.
    pub list_price: Option<Money>,
    /// The price times the quantity.
    pub subtotal: Money,
    /// The units by location; none if its stock is not tracked or insufficient.
    pub units: Vec<Units>,
    /// The stock of the variant by location, as far as it was read.
    pub levels: Vec<Level>,
    /// The units that are not there, of a variant that is sold beyond its stock.
    pub backordered: u32,
    /// Whether that many units are available now.
    pub is_available: bool,
    /// Whether it may be sold beyond its stock.
    pub oversells: bool,
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

/// A priced cart.
#[derive(Debug, Clone)]
pub struct Quote {
    /// The lines: at most 40; those of one variant have different properties.
    pub lines: Vec<PricedLine>,
    /// The weight and value of the goods to ship; none if the total is out of the range of money.
    pub parcel: Option<Parcel>,
    /// The chosen shipping rate.
    pub shipping: Option<ShippingLine>,
    /// The discounts, with the amount that each saves.
    pub discounts: Vec<(Discount, Money)>,
    /// The gift cards, with the amount that each pays.
    pub cards: Vec<(GiftCard, Money)>,
    /// The amounts, from the subtotal to the amount due.
    pub totals: Totals,
    /// The place of taxation; none if the buyer is exempt.
    pub taxed_at: Option<TaxLocation>,
}

impl Quote {
    /// Requires that every line is available.
    ///
    /// # Errors
    /// `insufficient_stock`, naming the lines.
    pub fn ensure_stock(&self) -> Result<(), Problem> {
        let short: Vec<&PricedLine> = self.lines.iter().filter(|line| !line.is_available).collect();
        if short.is_empty() { Ok(()) } else { Err(insufficient_stock(&short)) }
    }

    /// Requires that the total is the expected one.
    ///
    /// # Errors
    /// `price_changed`, with the current totals.
    pub fn ensure_total(&self, expected: Option<&Money>) -> Result<(), Problem> {
        match expected {
            Some(expected) if *expected != self.totals.total => {
                let totals = serde_json::to_value(&self.totals).unwrap_or_default();
                Err(Code::PriceChanged.with("totals", totals))
            }
            _ => Ok(()),
        }
    }

    /// The rates of a zone that are available for the cart. Each has its price at the place where the cart was
    /// priced, without a tax that the buyer does not pay.
    pub fn offered<'a>(
        &self,
        zone: &'a ShippingZone,
        taxes: &TaxRules,
    ) -> Vec<(&'a ShippingRate, Money)> {
        let listed = self.parcel.iter().flat_map(|parcel| shipping::offered(zone, parcel));
        listed.map(|(rate, price)| (rate, taxes.net_shipping(price, rate, &self.lines))).collect()
    }

    /// Whether the price of any goods loses the store's tax.
    pub fn is_net(&self, taxes: &TaxRules) -> bool {
        taxes.deducts(None, &self.lines)
    }

    /// Whether any line needs shipping.
    pub fn requires_shipping(&self) -> bool {
        self.lines.iter().any(|line| line.sellable.requires_shipping)
    }

    /// Whether it needs a shipping address: it is shipped and not picked up.
    pub fn needs_address(&self) -> bool {
        let kind = self.shipping.as_ref().map(|line| line.service.kind);
        self.requires_shipping() && kind != Some(ShippingRateKind::Pickup)
    }

    /// The response of a dry run. It says of each line whether it is available, but never how many units
    /// there are.
    pub fn view(&self) -> QuoteView {
        QuoteView {
            totals: self.totals.clone(),
            availability: self.lines.iter().map(LineAvailability::from).collect(),
            shipping_line: self.shipping.clone(),
            discounts: self.discounts.iter().map(OrderDiscountView::from).collect(),
        }
    }
}

/// The price of a cart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "OrderQuote")]
pub struct QuoteView {
    /// The amounts, from the subtotal to the amount due.
    pub totals: Totals,
    /// The availability and price of each line.
    pub availability: Vec<LineAvailability>,
    /// The chosen shipping rate.
    pub shipping_line: Option<ShippingLine>,
    /// The discounts that apply.
    pub discounts: Vec<OrderDiscountView>,
}

impl From<&(Discount, Money)> for OrderDiscountView {
    fn from((discount, amount): &(Discount, Money)) -> Self {
        Self {
            discount_id: discount.id.clone(),
            title: discount.title.clone(),
            code: discount.code.clone(),
            kind: discount.value.kind(),
            class: discount.class(),
            amount: amount.clone(),
        }
    }
}

/// The availability and price of a line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LineAvailability {
    /// The variant.
    pub variant_id: VariantId,
    /// The product's title.
    pub title: String,
    /// The variant's title.
    pub variant_title: String,
    /// Properties by which the units differ from others of the variant.
    pub properties: BTreeMap<String, String>,
    /// The units requested.
    pub quantity: u32,
    /// Whether that many are available now.
    pub available: bool,
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

impl From<&PricedLine> for LineAvailability {
    fn from(line: &PricedLine) -> Self {
        Self {
            variant_id: line.sellable.variant_id.clone(),
            title: line.sellable.product_title.clone(),
            variant_title: line.sellable.variant_title.clone(),
            properties: line.line.properties.clone(),
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

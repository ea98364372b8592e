//! Prices the lines and the shipping of an order again, by other tax rules and with the same discounts.

use core_types::fields::Currency;
use core_types::money::Money;

use super::quote::PricedLine;
use super::rules::Rules;
use super::sums::{shipping_line, totals};
use super::taxes::TaxedAmount;
use crate::order::{DiscountAllocation, ShippingLine, Totals};
use crate::shipping::ShippingRate;

/// The shipping and the totals of an order that was taxed again, before gift cards.
#[derive(Debug)]
pub struct Retaxed {
    /// The shipping.
    pub shipping: Option<ShippingLine>,
    /// The totals.
    pub totals: Totals,
}

/// Taxes lines and shipping again. The lines have their list prices; a discount keeps its share of a price from
/// which the store's tax is deducted, or no longer. None if an amount is out of the range of money.
pub fn retax(
    lines: &mut [PricedLine],
    shipping: Option<(&ShippingLine, &ShippingRate)>,
    rules: &Rules,
    currency: &Currency,
) -> Option<Retaxed> {
    let rate = shipping.map(|(_, rate)| rate);
    for line in lines.iter_mut() {
        let before = line.subtotal.clone();
        line.subtotal = line.sellable.price.times(line.line.quantity)?;
        line.deduct_tax(rules, rate)?;
        line.discounts = DiscountAllocation::scaled(&line.discounts, &before, &line.subtotal);
        line.set_total(rules, rate)?;
    }
    let shipped: Option<(ShippingLine, TaxedAmount)> = match shipping {
        Some((before, rate)) => {
            let price = rules.taxes.net_shipping(rate.price.clone(), rate, lines);
            // Shipping is discounted as a whole or not at all.
            let free_by = before.discounts.first().map(|part| part.discount_id.clone());
            let (line, taxed) = shipping_line(rate, price, free_by.as_ref(), rules, lines)?;
            Some((line.listed_at(rate.price.clone()), taxed))
        }
        None => None,
    };
    let subtotal = Money::sum(lines.iter().map(|line| &line.subtotal), currency)?;
    let parts = shipped.as_ref().map(|(line, taxed)| (line, taxed));
    let totals = totals(lines, subtotal, parts, rules, currency)?;
    Some(Retaxed { shipping: shipped.map(|(line, _)| line), totals })
}

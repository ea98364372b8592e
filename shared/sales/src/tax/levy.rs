//! Which rates apply, and the tax by them.

use std::collections::BTreeMap;

use core_types::fields::{Currency, TaxClass};
use core_types::id::TaxRateId;
use core_types::money::Money;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jurisdiction::Specificity;
use super::{Percentage, TaxLocation, TaxRate};

/// The rates of goods of a class at a place.
///
/// The narrowest jurisdiction that has rates for the goods replaces the wider ones, unless its rates combine
/// with them. In each jurisdiction they are those of the class, or those for all goods if the class has none.
pub fn applicable<'a>(
    rates: &'a [TaxRate],
    place: &TaxLocation,
    class: Option<&TaxClass>,
) -> Vec<&'a TaxRate> {
    let mut levels: BTreeMap<Specificity, Vec<&TaxRate>> = BTreeMap::new();
    for rate in rates.iter().filter(|rate| rate.covers(place)) {
        levels.entry(rate.specificity()).or_default().push(rate);
    }
    let mut found: Vec<&TaxRate> = Vec::new();
    for level in levels.into_values().rev() {
        let of_class = |wanted: Option<&TaxClass>| {
            let rates = level.iter().filter(move |rate| rate.tax_class.as_ref() == wanted);
            rates.copied().collect::<Vec<_>>()
        };
        let own = class.map(|class| of_class(Some(class))).filter(|own| !own.is_empty());
        let mut own = own.unwrap_or_else(|| of_class(None));
        if own.is_empty() {
            continue;
        }
        let combines = own.iter().all(|rate| rate.combines);
        // The country's rate comes first, as on an invoice.
        own.append(&mut found);
        found = own;
        if !combines {
            break;
        }
    }
    found
}

/// The tax on a line, or on shipping, by one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineTax {
    /// The rate.
    pub tax_rate_id: TaxRateId,
    /// The name of the rate.
    pub name: String,
    /// The percentage.
    #[serde(flatten)]
    pub percentage: Percentage,
    /// The amount of tax.
    pub amount: Money,
}

impl LineTax {
    /// The tax on the part of what it is levied on that goes from `start` to `end` of `whole`: the difference of
    /// what is levied up to each, half up. So the parts of a division add up to it.
    pub(crate) fn part(&self, (start, end, whole): (i64, i64, i64)) -> Self {
        let up_to = |end: i64| share(&self.amount, end, whole).amount;
        let amount = up_to(end).saturating_sub(up_to(start));
        let currency = self.amount.currency.clone();
        Self { amount: Money { amount, currency }, ..self.clone() }
    }
}

/// The tax on an order by one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaxLine {
    /// The rate.
    pub tax_rate_id: TaxRateId,
    /// The name of the rate.
    pub name: String,
    /// The percentage.
    #[serde(flatten)]
    pub percentage: Percentage,
    /// The taxed amount, without tax.
    pub taxable: Money,
    /// The amount of tax.
    pub amount: Money,
}

/// The tax on an amount by each of these rates, half up. If the amount includes tax, the tax is extracted:
/// `amount × rate ÷ (1 + all rates)`, so that equal rates have equal amounts, and the price without tax is the
/// rest.
pub fn levy(amount: &Money, rates: &[&TaxRate], is_included: bool) -> Vec<LineTax> {
    let line = |rate: &&TaxRate| LineTax {
        tax_rate_id: rate.id.clone(),
        name: rate.name.clone(),
        percentage: rate.percentage,
        amount: Money::zero(&amount.currency),
    };
    let lines: Vec<LineTax> = rates.iter().map(line).collect();
    levy_again(amount, &lines, is_included)
}

/// The tax on another amount by the rates of these lines ([`levy`]).
pub(crate) fn levy_again(amount: &Money, lines: &[LineTax], is_included: bool) -> Vec<LineTax> {
    let parts = |line: &LineTax| line.percentage.parts();
    let together = lines.iter().map(parts).fold(0_i64, i64::saturating_add);
    let whole = Percentage::ONE_HUNDRED.saturating_add(if is_included { together } else { 0 });
    let mut left = amount.clone();
    let levied = |line: &LineTax| {
        let mut tax = share(amount, parts(line), whole);
        if is_included {
            // Rounded parts of a few units may come to more than the price.
            tax = tax.min(&left);
            left = left.minus(&tax).unwrap_or_else(|| Money::zero(&amount.currency));
        }
        LineTax { amount: tax, ..line.clone() }
    };
    lines.iter().map(levied).collect()
}

/// The fraction `parts / whole` of an amount, half up, capped at the range of `i64`.
pub(crate) fn share(amount: &Money, parts: i64, whole: i64) -> Money {
    let (amount_of, parts, whole) =
        (i128::from(amount.amount), i128::from(parts), i128::from(whole));
    let doubled = amount_of.saturating_mul(parts).saturating_mul(2).saturating_add(whole);
    let share = doubled.checked_div(whole.saturating_mul(2)).unwrap_or(0);
    Money { amount: i64::try_from(share).unwrap_or(i64::MAX), currency: amount.currency.clone() }
}

/// The sum of these taxes; none if it is out of range.
pub fn sum<'a>(lines: impl IntoIterator<Item = &'a LineTax>, currency: &Currency) -> Option<Money> {
    Money::sum(lines.into_iter().map(|line| &line.amount), currency)
}

/// Totals of the tax on these amounts, each without tax, by rate, in the order of their first appearance.
pub fn by_rate<'a>(taxed: impl IntoIterator<Item = (Money, &'a [LineTax])>) -> Vec<TaxLine> {
    let mut totals: Vec<TaxLine> = Vec::new();
    for (taxable, lines) in taxed {
        for line in lines {
            match totals.iter_mut().find(|known| known.tax_rate_id == line.tax_rate_id) {
                Some(known) => {
                    known.taxable = more(&known.taxable, &taxable);
                    known.amount = more(&known.amount, &line.amount);
                }
                None => totals.push(TaxLine {
                    tax_rate_id: line.tax_rate_id.clone(),
                    name: line.name.clone(),
                    percentage: line.percentage,
                    taxable: taxable.clone(),
                    amount: line.amount.clone(),
                }),
            }
        }
    }
    totals
}

/// An amount without tax, and the tax on it by rate.
type NetAndTax<'a> = (Money, &'a [LineTax]);

/// Totals by rate in which one amount has replaced another. A rate by which nothing is taxed any more is left out.
pub(crate) fn replaced(
    totals: &[TaxLine],
    before: &NetAndTax<'_>,
    after: &NetAndTax<'_>,
) -> Vec<TaxLine> {
    let less = |from: &Money, part: &Money| {
        from.minus(part).unwrap_or_else(|| Money::zero(&from.currency))
    };
    let change = |total: &TaxLine| {
        let of_rate = |lines: &[LineTax]| {
            lines.iter().find(|line| line.tax_rate_id == total.tax_rate_id).cloned()
        };
        let mut total = total.clone();
        if let Some(line) = of_rate(before.1) {
            total.taxable = less(&total.taxable, &before.0);
            total.amount = less(&total.amount, &line.amount);
        }
        if let Some(line) = of_rate(after.1) {
            total.taxable = more(&total.taxable, &after.0);
            total.amount = more(&total.amount, &line.amount);
        }
        total
    };
    let is_levied = |total: &TaxLine| !total.taxable.is_zero() || !total.amount.is_zero();
    totals.iter().map(change).filter(is_levied).collect()
}

/// The taxes of the parts of one amount, by rate.
pub(crate) fn merged<'a>(parts: impl IntoIterator<Item = &'a LineTax>) -> Vec<LineTax> {
    let mut merged: Vec<LineTax> = Vec::new();
    for part in parts {
        match merged.iter_mut().find(|known| known.tax_rate_id == part.tax_rate_id) {
            Some(known) => known.amount = more(&known.amount, &part.amount),
            None => merged.push(part.clone()),
        }
    }
    merged
}

fn more(known: &Money, more: &Money) -> Money {
    known.plus(more).unwrap_or_else(|| known.clone())
}

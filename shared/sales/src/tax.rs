//! Tax: rates by country, region and tax class, and the tax of a line (docs/commerce.md §2).
//!
//! The rates of a country are one [`Document`](crate::document::Document), so that a checkout reads only
//! those of its destination. Several rates of one place add up, and none is levied on another's tax. The tax
//! of a line is computed after its discounts, with one rounding, half up, in minor units. Where prices
//! include tax, it is extracted from them, not added.

#[cfg(test)]
mod tests;

use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::fields::{Country, Currency, TaxClass};
use core_types::id::{StoreId, TaxRateId};
use core_types::key;
use core_types::money::Money;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Key;

use crate::document::{self, Entry};

/// The most rates of one country (our choice): enough for some forty regions with a few classes each.
pub const MAX_RATES: usize = 200;
/// 100 % in basis points.
pub const WHOLE: i64 = 10_000;

core_types::topics! {
    TAX_RATE_CREATED = "tax_rate.created", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate was made.";
    TAX_RATE_UPDATED = "tax_rate.updated", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate changed.";
    TAX_RATE_DELETED = "tax_rate.deleted", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate was removed.";
}

/// The location by which tax and shipping are determined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaxLocation {
    /// The country, in ISO 3166-1.
    pub country: Country,
    /// The region, in ISO 3166-2 without the country, for countries that use them.
    pub region: Option<String>,
    /// The postal code.
    pub postal_code: Option<String>,
}

/// A tax rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaxRate {
    /// The id: `txr_` and 32 hexadecimal digits.
    pub id: TaxRateId,
    /// The store.
    pub store_id: StoreId,
    /// The name on invoices.
    pub name: String,
    /// The country where it is levied.
    pub country: Country,
    /// The region that it is limited to; the whole country if none.
    pub region: Option<String>,
    /// The tax class that it is limited to; if none, all goods whose class has no rate of its own there.
    pub tax_class: Option<TaxClass>,
    /// The rate in hundredths of a percent: 1900 is 19 %.
    pub basis_points: i64,
    /// Whether it is levied on shipping, too.
    pub on_shipping: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Entry for TaxRate {
    const KIND: &'static str = "tax_rates";
    type View = TaxRateView;

    fn document(&self) -> Key {
        key::tax_rates(&self.store_id, self.country.as_str())
    }

    fn event_subject(&self) -> EventSubject<'_> {
        document::about(&self.store_id, self.id.as_str(), self.version)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

impl TaxRate {
    fn is_levied_at(&self, place: &TaxLocation) -> bool {
        let here = |region: &String| place.is_in(region);
        self.country == place.country && self.region.as_ref().is_none_or(here)
    }
}

impl TaxLocation {
    /// Whether it is in this region, ignoring case: the regions of some countries are free text.
    pub fn is_in(&self, region: &str) -> bool {
        self.region.as_ref().is_some_and(|own| own.to_lowercase() == region.to_lowercase())
    }
}

impl From<&PostalAddress> for TaxLocation {
    fn from(address: &PostalAddress) -> Self {
        Self {
            country: address.country.clone(),
            region: address.region.clone(),
            postal_code: address.postal_code.clone(),
        }
    }
}

/// The rates of goods of a class at a place: those of the class, or those for all goods if the class has none
/// there.
pub fn on_goods<'a>(
    rates: &'a [TaxRate],
    place: &TaxLocation,
    class: Option<&TaxClass>,
) -> Vec<&'a TaxRate> {
    let here = || rates.iter().filter(|rate| rate.is_levied_at(place));
    let own: Vec<_> =
        here().filter(|rate| class.is_some() && rate.tax_class.as_ref() == class).collect();
    if own.is_empty() { here().filter(|rate| rate.tax_class.is_none()).collect() } else { own }
}

/// The rates of shipping to a place.
pub fn on_shipping<'a>(rates: &'a [TaxRate], place: &TaxLocation) -> Vec<&'a TaxRate> {
    rates.iter().filter(|rate| rate.is_levied_at(place) && rate.on_shipping).collect()
}

/// The tax on a line, or on shipping, by one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineTax {
    /// The rate.
    pub tax_rate_id: TaxRateId,
    /// The name of the rate.
    pub name: String,
    /// The rate in hundredths of a percent: 1900 is 19 %.
    pub basis_points: i64,
    /// The amount of tax.
    pub amount: Money,
}

/// The tax on an order by one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaxLine {
    /// The rate.
    pub tax_rate_id: TaxRateId,
    /// The name of the rate.
    pub name: String,
    /// The rate in hundredths of a percent: 1900 is 19 %.
    pub basis_points: i64,
    /// The taxed amount, without tax.
    pub taxable: Money,
    /// The amount of tax.
    pub amount: Money,
}

/// The tax on an amount by these rates. It is computed once for their sum, half up, and allocated to them by
/// the largest remainder. If the amount includes tax, the tax is extracted: `amount × rate ÷ (1 + rate)`.
pub fn levy(amount: &Money, rates: &[&TaxRate], is_included: bool) -> Vec<LineTax> {
    let points: Vec<i64> = rates.iter().map(|rate| rate.basis_points).collect();
    let together = points.iter().copied().fold(0_i64, i64::saturating_add);
    let whole = if is_included { WHOLE.saturating_add(together) } else { WHOLE };
    let tax = share(amount, together, whole);
    // A rate of 0 gets 0, even if all rates are 0.
    let parts = tax.allocate(&points);
    let line = |(rate, amount): (&&TaxRate, Money)| LineTax {
        tax_rate_id: rate.id.clone(),
        name: rate.name.clone(),
        basis_points: rate.basis_points,
        amount,
    };
    rates.iter().zip(parts).map(line).collect()
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
                    let more =
                        |known: &Money, more: &Money| known.plus(more).unwrap_or(known.clone());
                    known.taxable = more(&known.taxable, &taxable);
                    known.amount = more(&known.amount, &line.amount);
                }
                None => totals.push(TaxLine {
                    tax_rate_id: line.tax_rate_id.clone(),
                    name: line.name.clone(),
                    basis_points: line.basis_points,
                    taxable: taxable.clone(),
                    amount: line.amount.clone(),
                }),
            }
        }
    }
    totals
}

core_types::view! {
    /// A tax rate.
    TaxRateView of rate: TaxRate {
        /// The id: `txr_` and 32 hexadecimal digits.
        id: TaxRateId,
        /// The store.
        store_id: StoreId,
        /// The name on invoices.
        name: String,
        /// The country where it is levied.
        country: Country,
        /// The region that it is limited to; the whole country if none.
        region: Option<String>,
        /// The tax class that it is limited to; if none, all goods whose class has no rate of its own there.
        tax_class: Option<TaxClass>,
        /// The rate in hundredths of a percent: 1900 is 19 %.
        basis_points: i64,
        /// Whether it is levied on shipping, too.
        on_shipping: bool,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version for `If-Match`. Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

impl Example for TaxRateView {
    fn example() -> Self {
        Self {
            id: TaxRateId::derive(&["example"]),
            store_id: StoreId::derive(&["example"]),
            name: "GST".into(),
            country: sample("IN"),
            region: None,
            tax_class: None,
            basis_points: 1_800,
            on_shipping: true,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

//! Tax: rates by country, region and class of goods, and what a line owes by them
//! (docs/commerce.md §2).
//!
//! The rates of a country are one [`Document`], so that a checkout reads those of its destination and no
//! others. Several rates of one place add up, and none is levied on another. Tax is computed over a
//! line as it is left by its discounts, once, half up, in minor units; where prices hold their tax
//! already it is taken out of them, never added.

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

/// Rates of one country (our choice): each of some forty regions with a few classes.
pub const MAX_RATES: usize = 200;
/// The whole, in basis points.
pub const WHOLE: i64 = 10_000;

core_types::topics! {
    TAX_RATE_CREATED = "tax_rate.created", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate was made.";
    TAX_RATE_UPDATED = "tax_rate.updated", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate changed.";
    TAX_RATE_DELETED = "tax_rate.deleted", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate was removed.";
}

/// Where something is taxed and sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaxLocation {
    /// ISO 3166-1.
    pub country: Country,
    /// ISO 3166-2 without the country, where the country has them.
    pub region: Option<String>,
    /// The postal code.
    pub postal_code: Option<String>,
}

/// A tax rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaxRate {
    /// `txr_` and 32 hexadecimal digits.
    pub id: TaxRateId,
    /// The store that levies it.
    pub store_id: StoreId,
    /// What invoices call it.
    pub name: String,
    /// Where it is levied.
    pub country: Country,
    /// In this region alone; in the whole country when there is none.
    pub region: Option<String>,
    /// On goods of this class alone; when there is none, on all that have no rate of their own there.
    pub tax_class: Option<TaxClass>,
    /// Hundredths of a percent: 1900 is 19 %.
    pub basis_points: i64,
    /// Whether it is levied on shipping, too.
    pub on_shipping: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
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
    /// Whether it is in this region, however that is capitalized: of some countries regions are
    /// written as people write them.
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

/// The rates that goods of a class are taxed by at a place: those of the class, or, when it has none
/// there, those for all goods.
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

/// The rates that shipping is taxed by at a place.
pub fn on_shipping<'a>(rates: &'a [TaxRate], place: &TaxLocation) -> Vec<&'a TaxRate> {
    rates.iter().filter(|rate| rate.is_levied_at(place) && rate.on_shipping).collect()
}

/// Tax on a line, or on the shipping, by one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineTax {
    /// The rate.
    pub tax_rate_id: TaxRateId,
    /// What it was called.
    pub name: String,
    /// Hundredths of a percent: 1900 is 19 %.
    pub basis_points: i64,
    /// The tax.
    pub amount: Money,
}

/// Tax on an order by one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaxLine {
    /// The rate.
    pub tax_rate_id: TaxRateId,
    /// What it was called.
    pub name: String,
    /// Hundredths of a percent: 1900 is 19 %.
    pub basis_points: i64,
    /// What it was levied on, without tax.
    pub taxable: Money,
    /// The tax.
    pub amount: Money,
}

/// What is owed on an amount by these rates together: computed once, half up, and divided among them
/// by the largest remainder. Where the amount holds its tax already, the tax is taken out of it:
/// `amount × rate ÷ (1 + rate)`.
pub fn levy(amount: &Money, rates: &[&TaxRate], is_included: bool) -> Vec<LineTax> {
    let points: Vec<i64> = rates.iter().map(|rate| rate.basis_points).collect();
    let together = points.iter().copied().fold(0_i64, i64::saturating_add);
    let whole = if is_included { WHOLE.saturating_add(together) } else { WHOLE };
    let tax = share(amount, together, whole);
    // Rates of nothing get nothing, also where all of them are.
    let parts = tax.allocate(&points);
    let line = |(rate, amount): (&&TaxRate, Money)| LineTax {
        tax_rate_id: rate.id.clone(),
        name: rate.name.clone(),
        basis_points: rate.basis_points,
        amount,
    };
    rates.iter().zip(parts).map(line).collect()
}

/// So many parts of `whole` of an amount, half up, and never more than the range of money.
pub(crate) fn share(amount: &Money, parts: i64, whole: i64) -> Money {
    let (amount_of, parts, whole) =
        (i128::from(amount.amount), i128::from(parts), i128::from(whole));
    let doubled = amount_of.saturating_mul(parts).saturating_mul(2).saturating_add(whole);
    let share = doubled.checked_div(whole.saturating_mul(2)).unwrap_or(0);
    Money { amount: i64::try_from(share).unwrap_or(i64::MAX), currency: amount.currency.clone() }
}

/// What these come to.
pub fn sum<'a>(lines: impl IntoIterator<Item = &'a LineTax>, currency: &Currency) -> Option<Money> {
    Money::sum(lines.into_iter().map(|line| &line.amount), currency)
}

/// The tax on these amounts, each without tax, by rate: in the order in which the rates come first.
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
        /// `txr_` and 32 hexadecimal digits.
        id: TaxRateId,
        /// The store that levies it.
        store_id: StoreId,
        /// What invoices call it.
        name: String,
        /// Where it is levied.
        country: Country,
        /// In this region alone; in the whole country when there is none.
        region: Option<String>,
        /// On goods of this class alone; when there is none, on all that have no rate of their own
        /// there.
        tax_class: Option<TaxClass>,
        /// Hundredths of a percent: 1900 is 19 %.
        basis_points: i64,
        /// Whether it is levied on shipping, too.
        on_shipping: bool,
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
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

//! Tax: rates by jurisdiction and tax class, and the tax of a line (docs/commerce.md §2).
//!
//! The rates of a country are one [`PricingDocument`](crate::pricing_document::PricingDocument), so that a
//! checkout reads only those of its destination. A narrower jurisdiction replaces a wider one, unless its rates
//! combine with it. None is levied on another's tax. The tax of a line is computed after its discounts, by each
//! rate, rounded half up in minor units. Where prices include tax, it is extracted from them, not added.

mod jurisdiction;
mod levy;
mod percentage;
#[cfg(test)]
mod tests;

use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::fields::{Country, TaxClass};
use core_types::id::{StoreId, TaxRateId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Key;

use crate::pricing_document::{self, PricingDocument, PricingEntry};

pub use jurisdiction::{PostalCodes, TaxLocation};
pub use levy::{LineTax, TaxLine, applicable, by_rate, levy, sum};
pub(crate) use levy::{levy_again, merged, replaced, share};
pub use percentage::Percentage;

/// The most rates of one country (our choice): enough for some forty regions with a few classes each.
pub const MAX_RATES: usize = 200;

core_types::topics! {
    TAX_RATE_CREATED = "tax_rate.created", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate was created.";
    TAX_RATE_UPDATED = "tax_rate.updated", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate changed.";
    TAX_RATE_DELETED = "tax_rate.deleted", "tax_rate", Some("read_taxes"), TaxRateView,
        "A tax rate was deleted.";
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
    /// The tax class to which it is limited; null for all goods whose class has no rate in this jurisdiction.
    pub tax_class: Option<TaxClass>,
    /// The postal codes that it is limited to; all if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postal_codes: Option<PostalCodes>,
    /// The percentage.
    #[serde(flatten)]
    pub percentage: Percentage,
    /// Whether it is levied in addition to the rates of the wider jurisdiction, instead of replacing them.
    #[serde(default, rename = "combines")]
    pub combines: bool,
    /// Whether it is levied on the shipping of its goods, too.
    pub on_shipping: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl PricingEntry for TaxRate {
    const KIND: &'static str = "tax_rates";
    type View = TaxRateView;

    fn document_key(&self) -> Key {
        key::tax_rates(&self.store_id, self.country.as_str())
    }

    fn event_subject(&self) -> EventSubject<'_> {
        pricing_document::subject_of(&self.store_id, self.id.as_str(), self.version)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// # Errors
    /// `tax_rate_exists`, `tax_rate_limit`.
    fn ensure_fits(&self, document: &PricingDocument<Self>) -> Result<(), Problem> {
        let others = || document.others(self.id.as_str());
        if let Some(same) = others().find(|other| other.repeats(self)) {
            return Err(Code::TaxRateExists.with("tax_rate_id", same.id.to_string()));
        }
        if others().count() < MAX_RATES {
            Ok(())
        } else {
            Err(Code::TaxRateLimit.with("limit", MAX_RATES))
        }
    }
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
        /// The tax class to which it is limited; null for all goods whose class has no rate in this
        /// jurisdiction.
        tax_class: Option<TaxClass>,
        /// The postal codes that it is limited to; all if none.
        postal_codes: Option<PostalCodes>,
        /// The percentage.
        #[serde(flatten)]
        percentage: Percentage,
        /// Whether it is levied in addition to the rates of the wider jurisdiction, instead of replacing them.
        #[serde(rename = "combines")]
        combines: bool,
        /// Whether it is levied on the shipping of its goods, too.
        on_shipping: bool,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
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
            postal_codes: None,
            percentage: sample("18"),
            combines: false,
            on_shipping: true,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

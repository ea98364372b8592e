//! Licences: a theme that costs something is paid for once by each store that uses it.
//!
//! A free theme needs none. A licence is for one store, does not end by itself, and ends when its
//! payment is refunded: then the theme cannot be installed anew, and what is installed stays.

use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

primitives::string_enum! {
    /// Why a licence ended.
    LicenseEnd {
        /// Its payment went back.
        Refunded = "refunded",
        /// An operator took it away.
        Revoked = "revoked",
    }
}

/// From when to when a licence holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LicenseTerm")]
pub struct Term {
    /// When the payment was proven.
    pub granted_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<LicenseEnd>,
}

impl Term {
    /// A licence that begins now.
    pub const fn granted(now: Timestamp) -> Self {
        Self { granted_at: now, ended_at: None, end: None }
    }

    /// Whether it holds.
    pub const fn is_active(&self) -> bool {
        self.ended_at.is_none()
    }

    /// The licence, ended; what ended before stays as it is.
    #[must_use]
    pub fn ended(&self, end: LicenseEnd, now: Timestamp) -> Self {
        if self.is_active() {
            Self { ended_at: Some(now), end: Some(end), ..self.clone() }
        } else {
            self.clone()
        }
    }
}

/// What a store may do with a theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entitlement {
    /// It costs nothing.
    Free,
    /// It was paid for.
    Licensed,
    /// It has to be paid for before it is installed.
    LicenseRequired,
}

impl Entitlement {
    /// What a theme of this price is to a store with this licence.
    pub fn of(price: Option<&Money>, term: Option<&Term>) -> Self {
        match (price.filter(|price| !price.is_zero()), term) {
            (None, _) => Self::Free,
            (Some(_), Some(term)) if term.is_active() => Self::Licensed,
            (Some(_), _) => Self::LicenseRequired,
        }
    }

    /// Whether the theme can be installed.
    pub const fn may_install(self) -> bool {
        !matches!(self, Self::LicenseRequired)
    }

    /// Whether there is something to buy.
    pub const fn may_purchase(self) -> bool {
        matches!(self, Self::LicenseRequired)
    }
}

/// Whether what was paid is the price: the same amount of the same currency, not less and not more.
pub fn is_settled_by(price: &Money, paid: &Money) -> bool {
    price == paid
}

#[cfg(test)]
mod tests {
    use core_types::fields::Currency;
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn a_theme_that_costs_something_is_installed_with_a_licence_that_holds() {
        let inr = Currency::from_text("INR").unwrap();
        let usd = Currency::from_text("USD").unwrap();
        let price = Money::new(4_900, &inr).unwrap();
        let now = Timestamp::from_millis(1);
        let term = Term::granted(now);
        let later = Timestamp::from_millis(2);
        let refunded = term.ended(LicenseEnd::Refunded, later);
        let of = |term: Option<&Term>| Entitlement::of(Some(&price), term);
        assert_eq!(of(None), Entitlement::LicenseRequired);
        assert_eq!(of(Some(&term)), Entitlement::Licensed);
        assert_eq!(of(Some(&refunded)), Entitlement::LicenseRequired);
        assert_eq!(Entitlement::of(None, None), Entitlement::Free);
        assert_eq!(Entitlement::of(Some(&Money::zero(&inr)), None), Entitlement::Free);
        let again = refunded.ended(LicenseEnd::Revoked, Timestamp::from_millis(3));
        assert_eq!(again, refunded, "it ends once");
        assert!(is_settled_by(&price, &price));
        for paid in [Money::new(4_899, &inr), Money::new(4_901, &inr), Money::new(4_900, &usd)] {
            assert!(!is_settled_by(&price, &paid.unwrap()));
        }
    }
}

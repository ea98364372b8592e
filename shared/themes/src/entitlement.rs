//! Licences: each store pays once for a paid theme that it uses.
//!
//! A free theme needs none. A licence is for one store and does not expire. It ends when its payment is
//! refunded: then the theme cannot be installed again, but an installed one stays.

use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

primitives::string_enum! {
    /// The reason why a licence ended.
    LicenseEnd {
        /// Its payment was refunded.
        Refunded = "refunded",
        /// An operator revoked it.
        Revoked = "revoked",
    }
}

/// The period in which a licence is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LicenseTerm")]
pub struct Term {
    /// When the payment was verified.
    pub granted_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The reason of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<LicenseEnd>,
}

impl Term {
    /// Begins a licence now.
    pub const fn granted(now: Timestamp) -> Self {
        Self { granted_at: now, ended_at: None, end: None }
    }

    /// Whether it has not ended.
    pub const fn is_active(&self) -> bool {
        self.ended_at.is_none()
    }

    /// Returns the term as ended. One that has ended before is unchanged.
    #[must_use]
    pub fn ended(&self, end: LicenseEnd, now: Timestamp) -> Self {
        if self.is_active() {
            Self { ended_at: Some(now), end: Some(end), ..self.clone() }
        } else {
            self.clone()
        }
    }
}

/// The right of a store to install a theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entitlement {
    /// The theme is free.
    Free,
    /// The theme was paid for.
    Licensed,
    /// The theme must be paid for before it is installed.
    LicenseRequired,
}

impl Entitlement {
    /// The entitlement of a store with this licence to a theme of this price.
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

    /// Whether the store can purchase a licence.
    pub const fn may_purchase(self) -> bool {
        matches!(self, Self::LicenseRequired)
    }
}

/// Whether the amount paid is exactly the price, in the same currency.
pub fn is_paid_in_full(price: &Money, paid: &Money) -> bool {
    price == paid
}

#[cfg(test)]
mod tests {
    use core_types::fields::Currency;
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn a_paid_theme_is_installed_with_an_active_licence() {
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
        assert!(is_paid_in_full(&price, &price));
        for paid in [Money::new(4_899, &inr), Money::new(4_901, &inr), Money::new(4_900, &usd)] {
            assert!(!is_paid_in_full(&price, &paid.unwrap()));
        }
    }
}

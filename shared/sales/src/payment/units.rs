//! The units in which providers count amounts, where they differ from ISO 4217, and their minimum amounts.

use core_types::fields::Currency;
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::problem::{Code, Problem};

/// The unit in which a provider counts a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProviderUnits {
    /// The minor unit of ISO 4217.
    Iso,
    /// Thousandths whose last digit is 0, because cards have only two decimals.
    Tens,
    /// Hundredths, although the currency has no minor unit.
    Hundredths,
    /// Major units, although the currency has hundredths.
    Whole,
    /// The currency is not supported.
    None,
}

impl ProviderUnits {
    /// Stripe's unit (<https://docs.stripe.com/currencies>).
    pub(super) fn of_stripe(currency: &Currency) -> Self {
        match currency.as_str() {
            "ISK" | "UGX" => Self::Hundredths,
            "MGA" => Self::Whole,
            _ => Self::of_decimals(currency),
        }
    }

    /// Razorpay's unit (<https://razorpay.com/docs/payments/international-payments>). It does not document
    /// how it counts the ariary, whose unit has five parts.
    pub(super) fn of_razorpay(currency: &Currency) -> Self {
        match currency.as_str() {
            "MGA" => Self::None,
            _ => Self::of_decimals(currency),
        }
    }

    fn of_decimals(currency: &Currency) -> Self {
        if currency.exponent() == 3 { Self::Tens } else { Self::Iso }
    }

    /// The minor units between two amounts that it can express.
    const fn step(self) -> i64 {
        match self {
            Self::Iso | Self::Hundredths | Self::None => 1,
            Self::Tens => 10,
            Self::Whole => 100,
        }
    }

    /// Converts an amount to the provider's unit; none if it cannot be expressed in it.
    pub(super) fn count(self, amount: &Money) -> Option<i64> {
        let amount = amount.amount;
        let is_multiple = |of: i64| amount.checked_rem(of) == Some(0);
        match self {
            Self::Iso => Some(amount),
            Self::Tens => is_multiple(10).then_some(amount),
            Self::Hundredths => amount.checked_mul(100),
            Self::Whole if is_multiple(100) => amount.checked_div(100),
            Self::Whole | Self::None => None,
        }
    }

    /// Converts the provider's number to minor units; none if it cannot be expressed in them.
    pub(super) fn read(self, counted: i64) -> Option<i64> {
        match self {
            Self::Iso | Self::Tens | Self::None => Some(counted),
            Self::Hundredths => {
                (counted.checked_rem(100) == Some(0)).then(|| counted.checked_div(100)).flatten()
            }
            Self::Whole => counted.checked_mul(100),
        }
    }
}

fn units(provider: ProviderName, currency: &Currency) -> ProviderUnits {
    match provider {
        ProviderName::Manual => ProviderUnits::Iso,
        ProviderName::Razorpay => ProviderUnits::of_razorpay(currency),
        ProviderName::Stripe => ProviderUnits::of_stripe(currency),
    }
}

/// Whether the amount can be expressed in the provider's unit.
pub fn can_count(provider: ProviderName, amount: &Money) -> bool {
    units(provider, &amount.currency).count(amount).is_some()
}

/// Requires that the amount can be expressed in the provider's unit.
///
/// # Errors
/// `amount_not_supported`; with the `step` between two amounts that can be, and the `nearest` ones.
pub fn ensure_countable(provider: ProviderName, amount: &Money) -> Result<(), Problem> {
    if can_count(provider, amount) {
        return Ok(());
    }
    let problem = Code::AmountNotSupported.with("provider", provider.as_str());
    let step = step(provider, &amount.currency);
    let rest = amount.amount.checked_rem(step).unwrap_or(0);
    if rest == 0 {
        return Err(problem);
    }
    let of = |amount_of: i64| Money::new(amount_of, &amount.currency);
    let below = of(amount.amount.saturating_sub(rest)).filter(|below| !below.is_zero());
    let above = of(amount.amount.saturating_sub(rest).saturating_add(step));
    let nearest: Vec<Money> = below.into_iter().chain(above).collect();
    let to_json = |value: &Vec<Money>| serde_json::to_value(value).unwrap_or_default();
    let problem = problem.with("nearest", to_json(&nearest));
    Err(match of(step).and_then(|step| serde_json::to_value(step).ok()) {
        Some(step) => problem.with("step", step),
        None => problem,
    })
}

/// The minor units between two amounts that the provider can express: 10 for the dinar at Stripe, 1 for most
/// currencies.
pub fn step(provider: ProviderName, currency: &Currency) -> i64 {
    units(provider, currency).step()
}

/// Whether the provider accepts this amount as a payment, rounded to [`step`]: it supports the currency, and the
/// amount is not below its documented minimum.
pub fn can_take(provider: ProviderName, amount: &Money) -> bool {
    let currency = amount.currency.as_str();
    let least = match provider {
        ProviderName::Manual => 1,
        ProviderName::Razorpay => minimum_of_razorpay(currency),
        ProviderName::Stripe => minimum_of_stripe(currency),
    };
    let amount = amount.rounded_to(step(provider, &amount.currency));
    least <= amount.amount && can_count(provider, &amount)
}

/// Razorpay's minimum: one rupee (<https://razorpay.com/docs/api/orders/create>). It documents no other.
fn minimum_of_razorpay(currency: &str) -> i64 {
    if currency == "INR" { 100 } else { 1 }
}

/// The minimums of <https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>, in minor units,
/// for settlement in the same currency. Other currencies have none there.
fn minimum_of_stripe(currency: &str) -> i64 {
    match currency {
        "USD" | "AUD" | "BRL" | "CAD" | "CHF" | "EUR" | "INR" | "JPY" | "NZD" | "SGD" => 50,
        "GBP" => 30,
        "BGN" => 100,
        "AED" | "MYR" | "PLN" | "RON" => 200,
        "DKK" => 250,
        "NOK" | "SEK" => 300,
        "HKD" => 400,
        "MXN" | "THB" => 1_000,
        "CZK" => 1_500,
        "HUF" => 17_500,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    fn money(amount: i64, code: &str) -> Money {
        Money::new(amount, &Currency::from_text(code).unwrap()).unwrap()
    }

    #[test]
    fn the_minimum_of_each_provider_is_accepted_and_no_less() {
        use ProviderName::{Manual, Razorpay, Stripe};
        for (provider, code, least) in [
            (Razorpay, "INR", 100),
            (Stripe, "INR", 50),
            (Stripe, "USD", 50),
            (Stripe, "GBP", 30),
            (Stripe, "JPY", 50),
            (Stripe, "HUF", 17_500),
            (Stripe, "KWD", 5),
            (Manual, "INR", 1),
        ] {
            assert!(can_take(provider, &money(least, code)), "{provider} {code}");
            assert!(!can_take(provider, &money(least - 1, code)), "{provider} {code}");
        }
    }

    #[test]
    fn amounts_are_converted_to_the_providers_unit_and_back() {
        let cases = [
            (12_345, "INR", Some(12_345), Some(12_345)),
            (500, "JPY", Some(500), Some(500)),
            (500, "ISK", Some(50_000), Some(500)),
            (500, "UGX", Some(50_000), Some(500)),
            (1_000, "MGA", Some(10), None),
            (1_020, "MGA", None, None),
            (1_230, "KWD", Some(1_230), Some(1_230)),
            (1_234, "KWD", None, None),
        ];
        for (amount, code, stripe, razorpay) in cases {
            let amount = money(amount, code);
            let counted = ProviderUnits::of_stripe(&amount.currency).count(&amount);
            assert_eq!(counted, stripe, "{code}");
            let back = counted
                .and_then(|counted| ProviderUnits::of_stripe(&amount.currency).read(counted));
            assert_eq!(back, stripe.map(|_| amount.amount), "{code}");
            assert_eq!(
                ProviderUnits::of_razorpay(&amount.currency).count(&amount),
                razorpay,
                "{code}"
            );
        }
        assert_eq!(ProviderUnits::Hundredths.read(150), None, "there is no half crown");
    }
}

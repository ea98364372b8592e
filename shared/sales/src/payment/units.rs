//! How providers count money, where that differs from ISO 4217, and the least that they take.

use core_types::money::Money;
use core_types::provider::ProviderName;

/// How a provider counts a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProviderUnits {
    /// As ISO 4217 does.
    Iso,
    /// In thousandths, of which the last digit is 0: cards know but two decimals.
    Tens,
    /// In hundredths, although the currency has no minor unit.
    Hundredths,
    /// In whole ones, although the currency has hundredths.
    Whole,
    /// Not at all.
    None,
}

impl ProviderUnits {
    /// Stripe's way (<https://docs.stripe.com/currencies>).
    pub(super) fn of_stripe(amount: &Money) -> Self {
        match amount.currency.as_str() {
            "ISK" | "UGX" => Self::Hundredths,
            "MGA" => Self::Whole,
            _ => Self::by_decimals(amount),
        }
    }

    /// Razorpay's way (<https://razorpay.com/docs/payments/international-payments>). It does not
    /// say how it counts the one currency whose unit has five parts.
    pub(super) fn of_razorpay(amount: &Money) -> Self {
        match amount.currency.as_str() {
            "MGA" => Self::None,
            _ => Self::by_decimals(amount),
        }
    }

    fn by_decimals(amount: &Money) -> Self {
        if amount.exponent() == 3 { Self::Tens } else { Self::Iso }
    }

    /// The amount as the provider counts it; none when it cannot be counted so.
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

    /// What the provider has counted, in minor units; none when there is no such amount.
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

/// Whether the provider can count this amount: in some currencies it takes no odd ones.
pub fn can_count(provider: ProviderName, amount: &Money) -> bool {
    let units = match provider {
        ProviderName::Manual => ProviderUnits::Iso,
        ProviderName::Razorpay => ProviderUnits::of_razorpay(amount),
        ProviderName::Stripe => ProviderUnits::of_stripe(amount),
    };
    units.count(amount).is_some()
}

/// Whether the provider takes this amount as a payment: one that it can count, and no less than the
/// least that it says it takes of the currency.
pub fn can_take(provider: ProviderName, amount: &Money) -> bool {
    let currency = amount.currency.as_str();
    let least = match provider {
        ProviderName::Manual => 1,
        ProviderName::Razorpay => least_of_razorpay(currency),
        ProviderName::Stripe => least_of_stripe(currency),
    };
    least <= amount.amount && can_count(provider, amount)
}

/// One rupee (<https://razorpay.com/docs/api/orders/create>); it names no other least amount.
fn least_of_razorpay(currency: &str) -> i64 {
    if currency == "INR" { 100 } else { 1 }
}

/// The least amounts of <https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>, in
/// minor units. They are those of settlement in the same currency; it names none of the others.
fn least_of_stripe(currency: &str) -> i64 {
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
    use core_types::fields::Currency;

    fn money(amount: i64, code: &str) -> Money {
        Money::new(amount, &Currency::from_text(code).unwrap()).unwrap()
    }

    #[test]
    fn the_least_of_each_provider_is_taken_and_not_one_less() {
        use ProviderName::{Manual, Razorpay, Stripe};
        for (provider, code, least) in [
            (Razorpay, "INR", 100),
            (Stripe, "INR", 50),
            (Stripe, "USD", 50),
            (Stripe, "GBP", 30),
            (Stripe, "JPY", 50),
            (Stripe, "HUF", 17_500),
            (Stripe, "KWD", 10),
            (Manual, "INR", 1),
        ] {
            assert!(can_take(provider, &money(least, code)), "{provider} {code}");
            assert!(!can_take(provider, &money(least - 1, code)), "{provider} {code}");
        }
    }

    #[test]
    fn an_amount_is_counted_as_the_provider_does_and_read_back() {
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
            let counted = ProviderUnits::of_stripe(&amount).count(&amount);
            assert_eq!(counted, stripe, "{code}");
            let back = counted.and_then(|counted| ProviderUnits::of_stripe(&amount).read(counted));
            assert_eq!(back, stripe.map(|_| amount.amount), "{code}");
            assert_eq!(ProviderUnits::of_razorpay(&amount).count(&amount), razorpay, "{code}");
        }
        assert_eq!(ProviderUnits::Hundredths.read(150), None, "there is no half crown");
    }
}

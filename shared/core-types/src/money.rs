//! Money: integer minor units and a currency, with checked arithmetic (docs/conventions.md §12).
//!
//! An amount is never negative and never a float. Amounts of an order are allocated to its lines by largest
//! remainder, so that the lines add up to the total.

use primitives::fields::{FromText, Violation};
use primitives::input::request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::Currency;

/// The largest amount, in minor units.
pub const MAX_AMOUNT: i64 = 99_999_999_999;
/// 100 % in basis points.
pub const ONE_HUNDRED_PERCENT_BPS: i64 = 10_000;

/// An amount in a currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = written_out)]
pub struct Money {
    /// Minor units: 129900 is 1,299.00 INR.
    pub amount: i64,
    /// ISO 4217.
    pub currency: Currency,
}

/// A difference of two amounts, which may be negative.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = written_out)]
pub struct MoneyDifference {
    /// Minor units; negative if the amount is less.
    pub amount: i64,
    /// ISO 4217.
    pub currency: Currency,
}

impl MoneyDifference {
    /// No difference, in this currency.
    pub fn zero(currency: &Currency) -> Self {
        Self { amount: 0, currency: currency.clone() }
    }

    /// The difference from `before` to `after`, in the currency of `after`.
    pub fn between(before: &Money, after: &Money) -> Self {
        let amount = after.amount.saturating_sub(before.amount);
        Self { amount, currency: after.currency.clone() }
    }

    /// The sum of both differences.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let amount = self.amount.saturating_add(other.amount);
        Self { amount, currency: self.currency.clone() }
    }
}

/// Adds the `formatted` member, which is present on request (docs/conventions.md §12).
fn written_out(schema: &mut schemars::Schema) {
    let formatted = serde_json::json!({
        "type": "string",
        "description": "The amount in the language of `X-Service-Locale`; absent without it.",
    });
    if let Some(properties) = schema.get_mut("properties").and_then(|all| all.as_object_mut()) {
        properties.insert("formatted".to_owned(), formatted);
    }
}

/// An amount of money in a request, not yet compared with the store's currency.
#[request]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoneyInput {
    /// Minor units.
    pub amount: primitives::fields::Int<0, MAX_AMOUNT>,
    /// ISO 4217.
    pub currency: Currency,
    /// Ignored, so that an amount of a response can be sent in a request.
    pub formatted: Option<String>,
}

/// The schema of a positive [`MoneyInput`], for `#[schemars(schema_with = …)]`.
pub fn positive(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let currency = generator.subschema_for::<Currency>();
    schemars::json_schema!({
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "minimum": 1, "maximum": MAX_AMOUNT, "description": "In minor units."},
            "currency": currency,
            "formatted": {"type": ["string", "null"], "description": "Ignored."},
        },
        "required": ["amount", "currency"],
        "additionalProperties": false,
    })
}

impl MoneyInput {
    /// The amount, if it is in this currency.
    ///
    /// # Errors
    /// `currency_mismatch`.
    pub fn in_currency(&self, currency: &Currency) -> Result<Money, Violation> {
        if self.currency == *currency {
            Ok(Money { amount: self.amount.0, currency: self.currency.clone() })
        } else {
            let detail = format!("Must be in the store's currency, {currency}.");
            Err(Violation::new("currency_mismatch", detail))
        }
    }
}

impl Currency {
    /// The number of decimals: 0, 2 or 3 (ISO 4217).
    pub fn exponent(&self) -> u16 {
        primitives::currency::exponent(self.as_str())
    }
}

impl Money {
    /// Zero in this currency.
    pub fn zero(currency: &Currency) -> Self {
        Self { amount: 0, currency: currency.clone() }
    }

    /// This amount in this currency; none when it is out of range.
    pub fn new(amount: i64, currency: &Currency) -> Option<Self> {
        (0..=MAX_AMOUNT).contains(&amount).then(|| Self { amount, currency: currency.clone() })
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.amount == 0
    }

    /// The sum; none when it is out of range or the currencies differ.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.combine(other, i64::checked_add)
    }

    /// The difference; none when it would be negative or the currencies differ.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.combine(other, i64::checked_sub)
    }

    fn combine(&self, other: &Self, how: fn(i64, i64) -> Option<i64>) -> Option<Self> {
        (self.currency == other.currency).then_some(())?;
        Self::new(how(self.amount, other.amount)?, &self.currency)
    }

    /// This amount times `quantity`; none when it is out of range.
    pub fn times(&self, quantity: u32) -> Option<Self> {
        Self::new(self.amount.checked_mul(i64::from(quantity))?, &self.currency)
    }

    /// The nearest multiple of `step` minor units; half of a step is rounded up.
    #[must_use]
    pub fn rounded_to(&self, step: i64) -> Self {
        let half = step.checked_div(2).unwrap_or(0);
        let raised = self.amount.saturating_add(half);
        let rest = raised.checked_rem(step).unwrap_or(half);
        Self {
            amount: raised.saturating_sub(rest).min(MAX_AMOUNT),
            currency: self.currency.clone(),
        }
    }

    /// The smaller of the two.
    #[must_use]
    pub fn min(&self, other: &Self) -> Self {
        if other.amount < self.amount { other.clone() } else { self.clone() }
    }

    /// Splits this amount into parts that are proportional to `weights` and add up to it. Each part is
    /// rounded down, and the rest goes, unit by unit, to the largest remainders; the first of equal ones
    /// wins. Weights that are all zero count as equal.
    pub fn allocate(&self, weights: &[i64]) -> Vec<Self> {
        let equal = vec![1; weights.len()];
        let weights =
            if weights.iter().all(|weight| *weight <= 0) { equal.as_slice() } else { weights };
        let whole: i128 = weights.iter().map(|weight| i128::from((*weight).max(0))).sum();
        let share = |weight: &i64| {
            let product = i128::from(self.amount).saturating_mul(i128::from((*weight).max(0)));
            (product.checked_div(whole).unwrap_or(0), product.checked_rem(whole).unwrap_or(0))
        };
        let shares: Vec<(i128, i128)> = weights.iter().map(share).collect();
        let given: i128 = shares.iter().map(|(part, _)| part).sum();
        let left = usize::try_from(i128::from(self.amount).saturating_sub(given)).unwrap_or(0);
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(shares.get(*index).map(|share| share.1)));
        let lucky: std::collections::HashSet<usize> = order.into_iter().take(left).collect();
        let part = |(index, (part, _)): (usize, &(i128, i128))| {
            let extra = i64::from(lucky.contains(&index));
            let amount = i64::try_from(*part).unwrap_or(0).saturating_add(extra);
            Self { amount, currency: self.currency.clone() }
        };
        shares.iter().enumerate().map(part).collect()
    }

    /// The number of decimals of the currency: 0, 2 or 3.
    pub fn exponent(&self) -> u16 {
        self.currency.exponent()
    }

    /// The amount in major units, for people and providers: `1299.00`.
    pub fn decimal(&self) -> String {
        let digits = usize::from(self.exponent());
        let text = format!("{:0width$}", self.amount, width = digits.saturating_add(1));
        let (major, minor) = text.split_at(text.len().saturating_sub(digits));
        if digits == 0 { text } else { format!("{major}.{minor}") }
    }

    /// The sum of these in this currency; none when it is out of range.
    pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Self>, currency: &Currency) -> Option<Self> {
        parts.into_iter().try_fold(Self::zero(currency), |sum, part| sum.plus(part))
    }
}

/// An amount of money for a sample.
pub fn sample(amount: i64) -> Money {
    let currency = Currency::from_text("INR").unwrap_or_else(|_| unreachable!("INR is a currency"));
    Money { amount, currency }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(amount: i64, code: &str) -> Money {
        Money::new(amount, &Currency::from_text(code).unwrap()).unwrap()
    }

    #[test]
    fn amounts_never_leave_their_range_or_currency() {
        assert_eq!(money(1, "INR").minus(&money(2, "INR")), None);
        assert_eq!(money(1, "INR").plus(&money(2, "USD")), None);
        assert_eq!(money(MAX_AMOUNT, "INR").plus(&money(1, "INR")), None);
        assert_eq!(money(MAX_AMOUNT, "INR").times(u32::MAX), None);
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let amounts = |parts: Vec<Money>| parts.iter().map(|part| part.amount).collect::<Vec<_>>();
        assert_eq!(amounts(money(100, "USD").allocate(&[1, 1, 1])), [34, 33, 33]);
        assert_eq!(amounts(money(5, "JPY").allocate(&[3, 7])), [2, 3]);
        assert_eq!(amounts(money(7, "USD").allocate(&[0, 0])), [4, 3]);
        assert!(money(7, "USD").allocate(&[]).is_empty());
    }

    #[test]
    fn decimals_follow_the_currency() {
        assert_eq!(money(129_900, "INR").decimal(), "1299.00");
        assert_eq!(money(5, "INR").decimal(), "0.05");
        assert_eq!(money(5, "JPY").decimal(), "5");
        assert_eq!(money(1_234, "KWD").decimal(), "1.234");
    }

    #[test]
    fn an_amount_in_another_currency_is_rejected() {
        let input = MoneyInput {
            amount: primitives::fields::Int(5),
            currency: Currency::from_text("INR").unwrap(),
            formatted: None,
        };
        let inr = Currency::from_text("INR").unwrap();
        assert_eq!(input.in_currency(&inr).unwrap(), money(5, "INR"));
        let usd = Currency::from_text("USD").unwrap();
        assert_eq!(input.in_currency(&usd).unwrap_err().code, "currency_mismatch");
    }
}

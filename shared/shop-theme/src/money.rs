//! Amounts as themes count them.

use serde_json::Value as Json;

use crate::data::Data;

/// How amounts are written: themes count in hundredths, also of a currency without decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Money {
    /// The decimals of the currency.
    pub(crate) exponent: u32,
}

impl Money {
    pub(crate) fn of(data: &Data) -> Self {
        let stated = data.store.get("currency_exponent").and_then(Json::as_u64);
        let stated = stated.and_then(|exponent| u32::try_from(exponent).ok());
        let known = iso_currency::Currency::from_code(data.currency());
        let known = known.and_then(iso_currency::Currency::exponent).map(u32::from);
        Self { exponent: stated.or(known).unwrap_or(2) }
    }

    /// The factor between the currency's minor unit and the unit of themes.
    fn factor(self) -> i64 {
        10_i64.pow(2_u32.saturating_sub(self.exponent))
    }

    /// An amount of the API (`{amount, currency}`) in the unit of themes.
    pub(crate) fn cents(self, amount: &Json) -> i64 {
        self.of_minor(amount.get("amount").and_then(Json::as_i64).unwrap_or_default())
    }

    /// An amount in the currency's minor unit in the unit of themes.
    pub(crate) fn of_minor(self, minor: i64) -> i64 {
        minor.saturating_mul(self.factor())
    }

    /// An amount in the unit of themes in the currency's minor unit.
    pub(crate) fn minor(self, cents: i64) -> i64 {
        cents.checked_div(self.factor()).unwrap_or(cents)
    }

    /// How many units of themes are one of the currency, and the decimals that are shown.
    pub(crate) fn units(self) -> (i64, usize) {
        let shown = usize::try_from(self.exponent).unwrap_or(2);
        (10_i64.saturating_pow(self.exponent.max(2)), shown)
    }
}

/// The symbol of a currency.
pub(crate) fn symbol(code: &str) -> String {
    let known = iso_currency::Currency::from_code(code);
    known.map(|currency| currency.symbol().symbol).unwrap_or_default()
}

/// A format or an amount with the code of its currency, unless that is its symbol.
pub(crate) fn with_code(code: &str, text: String) -> String {
    if text.contains(code) { text } else { format!("{text} {code}") }
}

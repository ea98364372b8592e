//! Formatted amounts of money in JSON answers, on request by `X-Service-Locale` (docs/conventions.md §12).
//!
//! An amount is recognized by its shape, `{"amount": 129900, "currency": "INR"}`, and gets a third member,
//! `formatted`, by the Unicode CLDR. Without the header nothing is formatted: handlers' answers and stored
//! ones have no such member.

use std::collections::HashMap;

use axum::body::Body;
use axum::response::Response;
use fixed_decimal::Decimal;
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt;
use icu_decimal::options::DecimalFormatterOptions;
use icu_decimal::{DecimalFormatter, DecimalFormatterPreferences};
use icu_experimental::dimension::currency::CurrencyType;
use icu_experimental::dimension::currency::formatter::{
    CurrencyFormatter, CurrencyFormatterPreferences,
};
use icu_experimental::dimension::currency::options::CurrencyFormatterOptions;
use icu_locale_core::Locale;
use serde_json::Value;

use crate::answer;
use primitives::currency::exponent;
use primitives::problem::{Code, Problem};

/// The header with the language of formatted amounts.
const HEADER: &str = "x-service-locale";
/// The longest language tag that is read (our choice).
const LONGEST: usize = 35;

/// The language in which a request wants amounts formatted, if any.
///
/// # Errors
/// `invalid_header`.
pub(crate) fn wanted(headers: &HeaderMap) -> Result<Option<Locale>, Problem> {
    let mut given = headers.get_all(HEADER).iter();
    let Some(text) = given.next() else { return Ok(None) };
    let rejected =
        || Code::InvalidHeader.detail("X-Service-Locale must be one language tag, like de-AT.");
    if given.next().is_some() || text.len() > LONGEST {
        return Err(rejected());
    }
    let locale = text.to_str().ok().and_then(|text| text.parse().ok());
    locale.map(Some).ok_or_else(rejected)
}

/// Adds `Vary: X-Service-Locale` to a publicly cacheable answer.
pub(crate) fn vary(response: &mut Response) {
    let is_public = |value: &HeaderValue| value.as_bytes().starts_with(b"public");
    if response.headers().get(header::CACHE_CONTROL).is_some_and(is_public) {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("X-Service-Locale"));
    }
}

/// Formats the amounts of a JSON answer.
pub(crate) async fn write_out(locale: &Locale, response: Response) -> Response {
    let is_json = |value: &HeaderValue| value.as_bytes() == b"application/json";
    if !response.headers().get(header::CONTENT_TYPE).is_some_and(is_json) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // The body is in memory: it cannot fail to be read.
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else {
        return Response::from_parts(head, Body::from(bytes));
    };
    Writer::new(locale).write(&mut value);
    let text = serde_json::to_vec(&value).unwrap_or_default();
    head.headers.remove(header::CONTENT_LENGTH);
    answer::retag(&mut head, &text);
    Response::from_parts(head, Body::from(text))
}

/// Formats amounts in one language.
struct Writer<'a> {
    locale: &'a Locale,
    /// The styles of the currencies so far; none for an unknown code.
    known: HashMap<String, Option<Style>>,
}

/// The style of a currency's amounts.
enum Style {
    /// The CLDR's format.
    Whole(CurrencyFormatter<DecimalFormatter>),
    /// The text before and after the number, which has all of its decimals: the CLDR leaves out decimals that
    /// are no longer in use.
    Around(String, DecimalFormatter, String),
}

impl<'a> Writer<'a> {
    fn new(locale: &'a Locale) -> Self {
        Self { locale, known: HashMap::new() }
    }

    fn write(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.write(item)),
            Value::Object(members) => {
                let amount = members.get("amount").and_then(Value::as_i64);
                let currency = members.get("currency").and_then(Value::as_str);
                let is_money = members.len() == 2;
                match (amount, currency) {
                    (Some(amount), Some(currency)) if is_money && amount >= 0 => {
                        if let Some(text) = self.formatted(amount, currency) {
                            members.insert("formatted".to_owned(), Value::String(text));
                        }
                    }
                    _ => members.values_mut().for_each(|member| self.write(member)),
                }
            }
            _ => {}
        }
    }

    /// Formats an amount in minor units; none for an invalid currency.
    fn formatted(&mut self, amount: i64, currency: &str) -> Option<String> {
        if !self.known.contains_key(currency) {
            let style = Style::of(self.locale, currency);
            self.known.insert(currency.to_owned(), style);
        }
        let style = self.known.get(currency)?.as_ref()?;
        let exponent = i16::try_from(exponent(currency)).ok()?;
        let mut decimal = Decimal::from(amount);
        decimal.multiply_pow10(exponent.saturating_neg());
        Some(style.write(&decimal))
    }
}

impl Style {
    fn of(locale: &Locale, currency: &str) -> Option<Self> {
        let kind = CurrencyType::try_from_str(currency).ok()?;
        let preferences = CurrencyFormatterPreferences::from(locale);
        let formatter = CurrencyFormatter::try_new_symbol(
            preferences,
            kind,
            CurrencyFormatterOptions::default(),
        )
        .ok()?;
        let zero = formatter.format_fixed_decimal(&Decimal::from(0)).to_string();
        let is_digit = |(_, c): &(usize, char)| c.is_numeric();
        let digits = zero.chars().filter(|c| c.is_numeric()).count();
        if digits == usize::from(exponent(currency)).saturating_add(1) {
            return Some(Self::Whole(formatter));
        }
        let (first, _) = zero.char_indices().find(is_digit)?;
        let (last, end) = zero.char_indices().rfind(is_digit)?;
        let (before, after) =
            (zero.get(..first)?, zero.get(last.saturating_add(end.len_utf8())..)?);
        let preferences = DecimalFormatterPreferences::from(locale);
        let plain =
            DecimalFormatter::try_new(preferences, DecimalFormatterOptions::default()).ok()?;
        Some(Self::Around(before.to_owned(), plain, after.to_owned()))
    }

    fn write(&self, decimal: &Decimal) -> String {
        match self {
            Self::Whole(formatter) => formatter.format_fixed_decimal(decimal).to_string(),
            Self::Around(before, plain, after) => {
                format!("{before}{}{after}", plain.format(decimal))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_written_as_they_are_read_and_never_rounded() {
        for (locale, currency, amount, expected) in [
            ("en", "INR", 129_900, "\u{20b9}1,299.00"),
            ("en-IN", "INR", 12_990_000, "\u{20b9}1,29,900.00"),
            ("de", "EUR", 129_900, "1.299,00\u{a0}\u{20ac}"),
            ("ja", "JPY", 1_299, "\u{ffe5}1,299"),
            ("en", "KWD", 1_299_005, "KWD\u{a0}1,299.005"),
            // Whose minor units nobody uses any more.
            ("en", "IQD", 1_299_005, "IQD\u{a0}1,299.005"),
            ("en", "AFN", 129_950, "AFN\u{a0}1,299.50"),
            ("sr", "AFN", 0, "0,00\u{a0}AFN"),
            (
                "ar-EG",
                "EGP",
                5,
                "\u{200f}\u{660}\u{66b}\u{660}\u{665}\u{a0}\u{62c}.\u{645}.\u{200f}",
            ),
            // A language that is not known is read as nobody's.
            ("xx", "USD", 500, "US$\u{a0}5.00"),
        ] {
            let locale: Locale = locale.parse().unwrap();
            let found = Writer::new(&locale).formatted(amount, currency);
            assert_eq!(found.as_deref(), Some(expected), "{locale} {currency}");
        }
    }

    #[test]
    fn amounts_are_recognized_by_shape_at_any_depth() {
        let mut value = json!({
            "data": [{"price": {"amount": 5, "currency": "INR"}, "amount": 3, "title": "A"}],
            "amount": 1, "currency": "EUR", "more": {"amount": 1, "currency": "INR", "by": "hand"},
            "odd": [{"amount": -1, "currency": "INR"}, {"amount": 1, "currency": "of no kind"}],
        });
        let untouched = value.clone();
        Writer::new(&"en".parse().unwrap()).write(&mut value);
        assert_eq!(value["data"][0]["price"]["formatted"], "\u{20b9}0.05");
        value["data"][0]["price"].as_object_mut().unwrap().remove("formatted");
        assert_eq!(value, untouched);
    }

    #[test]
    fn a_request_names_one_language() {
        let named = |all: &[&str]| {
            let mut headers = HeaderMap::new();
            for one in all {
                headers.append(HEADER, HeaderValue::from_str(one).unwrap());
            }
            wanted(&headers).map(|locale| locale.map(|locale| locale.to_string()))
        };
        assert_eq!(named(&[]).unwrap(), None);
        assert_eq!(named(&["de-at"]).unwrap().as_deref(), Some("de-AT"));
        for all in [&["de", "fr"][..], &["de, fr"], &[""], &["german language"], &["*"]] {
            assert_eq!(named(all).unwrap_err().code, Code::InvalidHeader, "{all:?}");
        }
    }
}

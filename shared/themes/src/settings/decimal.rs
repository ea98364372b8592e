//! Exact decimal numbers of settings, in millionths.

use serde_json::Number;

/// The maximum number of decimals.
const DIGITS: usize = 6;
/// The largest number, in millionths.
const MAX: i128 = 1_000_000_000_000_000_000;

/// Converts a number to millionths; none if it has more decimals or is too large.
pub(crate) fn millionths(number: &Number) -> Option<i128> {
    let text = number.to_string();
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.as_str()),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > DIGITS {
        return None;
    }
    let digits: i128 = format!("{whole}{fraction:0<DIGITS$}").parse().ok()?;
    let scaled = if negative { digits.checked_neg()? } else { digits };
    (scaled.checked_abs()? <= MAX).then_some(scaled)
}

/// Returns the canonical form of a number: `1` for `1.0`.
pub(crate) fn normal(number: &Number) -> Number {
    let whole = millionths(number)
        .filter(|scaled| scaled.checked_rem(1_000_000) == Some(0))
        .and_then(|scaled| scaled.checked_div(1_000_000));
    whole.and_then(|whole| i64::try_from(whole).ok()).map_or_else(|| number.clone(), Number::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_exact_or_rejected() {
        let of = |value: serde_json::Value| millionths(value.as_number().unwrap());
        assert_eq!(of(json!(1)), Some(1_000_000));
        assert_eq!(of(json!(-0.1)), Some(-100_000));
        assert_eq!(of(json!(1.25)), Some(1_250_000));
        assert_eq!(of(json!(0.000_000_1)), None);
        assert_eq!(of(json!(1e300)), None);
        assert_eq!(of(json!(u64::MAX)), None);
        assert_eq!(normal(json!(4.0).as_number().unwrap()), Number::from(4));
    }
}

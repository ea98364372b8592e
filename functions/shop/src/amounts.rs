//! How a language writes amounts of a currency (Unicode CLDR), for the templates of themes. The API writes the amounts of
//! the platform's own pages by the same data.

use fixed_decimal::Decimal;
use icu_decimal::options::DecimalFormatterOptions;
use icu_decimal::{DecimalFormatter, DecimalFormatterPreferences};
use icu_experimental::dimension::currency::CurrencyType;
use icu_experimental::dimension::currency::formatter::{
    CurrencyFormatter, CurrencyFormatterPreferences,
};
use icu_experimental::dimension::currency::options::CurrencyFormatterOptions;
use icu_locale_core::Locale;
use shop_theme::AmountStyle;

/// The style of a currency's amounts in a language; none for a currency or a language that is no tag of one.
pub(crate) fn style(locale: &str, currency: &str) -> Option<AmountStyle> {
    let locale: Locale = locale.parse().ok()?;
    let kind = CurrencyType::try_from_str(currency).ok()?;
    let preferences = CurrencyFormatterPreferences::from(&locale);
    let options = CurrencyFormatterOptions::default();
    let money = CurrencyFormatter::try_new_symbol(preferences, kind, options).ok()?;
    let preferences = DecimalFormatterPreferences::from(&locale);
    let options = DecimalFormatterOptions::default();
    let plain = DecimalFormatter::try_new(preferences, options).ok()?;
    let zero = money.format_fixed_decimal(&Decimal::from(0)).to_string();
    let (before, number, after) = around(&zero)?;
    let mut part = Decimal::from(5);
    part.multiply_pow10(-1);
    // A currency whose decimals are not used any more is written without them: the number's own separator stands in.
    let decimal = between(number).or_else(|| between(&plain.format(&part).to_string()));
    let whole = plain.format(&Decimal::from(12_345_678)).to_string();
    let sizes: Vec<usize> =
        whole.split(|c: char| !c.is_numeric()).map(|group| group.chars().count()).collect();
    let (last, other) = match sizes.as_slice() {
        [.., other, last] if sizes.len() > 2 => (*last, *other),
        [.., last] => (*last, *last),
        [] => return None,
    };
    let has_groups = |number: i32| between(&plain.format(&Decimal::from(number)).to_string());
    Some(AmountStyle {
        before: before.to_owned(),
        after: after.to_owned(),
        decimal: decimal.unwrap_or_else(|| ".".to_owned()),
        group: between(&whole).unwrap_or_default(),
        sizes: (last, other),
        least: if has_groups(1_234).is_some() { 4 } else { 5 },
        zero: number.chars().next()?,
    })
}

/// A text before, in and behind the number that it has.
fn around(text: &str) -> Option<(&str, &str, &str)> {
    let is_digit = |(_, c): &(usize, char)| c.is_numeric();
    let (first, _) = text.char_indices().find(is_digit)?;
    let (last, digit) = text.char_indices().rfind(is_digit)?;
    let end = last.saturating_add(digit.len_utf8());
    Some((text.get(..first)?, text.get(first..end)?, text.get(end..)?))
}

/// What stands between the first two runs of digits, if there are two.
fn between(number: &str) -> Option<String> {
    let (_, number, _) = around(number)?;
    let separator = number.chars().skip_while(|c| c.is_numeric()).take_while(|c| !c.is_numeric());
    Some(separator.collect()).filter(|text: &String| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_that_of_the_language() {
        for (locale, currency, before, decimal, group, after, sizes, least) in [
            ("en-US", "USD", "$", ".", ",", "", (3, 3), 4),
            ("en-IN", "INR", "\u{20b9}", ".", ",", "", (3, 2), 4),
            ("de", "EUR", "", ",", ".", "\u{a0}\u{20ac}", (3, 3), 4),
            ("fr", "EUR", "", ",", "\u{202f}", "\u{a0}\u{20ac}", (3, 3), 4),
            ("es", "EUR", "", ",", ".", "\u{a0}\u{20ac}", (3, 3), 5),
            ("hi", "INR", "\u{20b9}", ".", ",", "", (3, 2), 4),
            ("en", "IQD", "IQD\u{a0}", ".", ",", "", (3, 3), 4),
        ] {
            let found = style(locale, currency).unwrap();
            let wanted = AmountStyle {
                before: before.to_owned(),
                after: after.to_owned(),
                decimal: decimal.to_owned(),
                group: group.to_owned(),
                sizes,
                least,
                zero: '0',
            };
            assert_eq!(found, wanted, "{locale} {currency}");
        }
        assert_eq!(style("ja", "JPY").unwrap().before, "\u{ffe5}");
        assert_eq!(style("ar-EG", "EGP").unwrap().zero, '\u{660}');
        assert!(style("german language", "EUR").is_none());
    }
}

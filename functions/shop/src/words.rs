//! The words of the platform's own pages of a shop, in the store's language. A language lacks no word: a file without one
//! does not compile. Names in braces are filled in.

mod de;
mod en;
mod es;
mod fr;
mod hi;
mod ja;
mod rejection;
mod wording;

use core_types::fields::Locale;
use serde_json::Value;

use crate::values::text;

pub(crate) use wording::{AccountWords, PhraseWords, Words};

const LANGUAGES: [&Words; 6] = [&en::EN, &de::DE, &fr::FR, &es::ES, &ja::JA, &hi::HI];

impl Words {
    /// The words for readers of this locale; English where its language has none.
    pub(crate) fn of(locale: &Locale) -> &'static Self {
        let language = locale.as_str().split('-').next().unwrap_or_default();
        let found = LANGUAGES.into_iter().find(|it| it.language.eq_ignore_ascii_case(language));
        found.unwrap_or(&en::EN)
    }

    /// The words in English.
    pub(crate) fn english() -> &'static Self {
        &en::EN
    }

    /// So many days, or from so many to so many.
    pub(crate) fn days(&self, min: Option<u64>, max: u64) -> String {
        // One is singular in most of these languages, nothing in French and Hindi as well (CLDR).
        let is_one = max == 1 || (max == 0 && matches!(self.language, "fr" | "hi"));
        let text = if is_one { self.days_one } else { self.days_other };
        let count = match min.filter(|min| *min != max) {
            Some(min) => format!("{min}–{max}"),
            None => max.to_string(),
        };
        fill(text, &[("count", &count)])
    }

    /// A day of `2026-11-27…`, as readers of the language write it.
    pub(crate) fn date(&self, time: &str) -> String {
        let mut parts = time.get(..10).unwrap_or_default().splitn(3, '-');
        let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next())
        else {
            return time.to_owned();
        };
        let place = month.parse::<usize>().ok().and_then(|month| month.checked_sub(1));
        let month = place.and_then(|place| self.months.split(' ').nth(place)).unwrap_or(month);
        let day = day.trim_start_matches('0');
        fill(self.date_format, &[("day", day), ("month", month), ("year", year)])
    }

    /// A time of `2026-11-27T14:05…`.
    pub(crate) fn time(&self, time: &str) -> String {
        format!("{} {} UTC", self.date(time), time.get(11..16).unwrap_or_default())
    }
}

impl Words {
    /// What shoppers call the payment status of an order.
    pub(crate) fn financial_status<'a>(&self, status: &'a str) -> &'a str {
        match status {
            "pending" | "failed" => self.accounts.unpaid,
            "processing" => self.accounts.in_payment,
            "paid" | "authorized" => self.paid,
            "partially_paid" => self.partly_paid,
            "partially_refunded" => self.partly_refunded,
            "refunded" => self.refunded,
            "voided" | "expired" => self.cancelled,
            other => other,
        }
    }

    /// What shoppers call the fulfilment status of an order.
    pub(crate) fn fulfillment_status<'a>(&self, status: &'a str) -> &'a str {
        match status {
            "unfulfilled" => self.accounts.unshipped,
            "partially_fulfilled" => self.accounts.partly_shipped,
            "fulfilled" => self.shipped,
            "not_required" => self.cancelled,
            other => other,
        }
    }
}

/// What shoppers call a payment method.
pub(crate) fn method_name<'a>(method: &'a Value, words: &Words) -> &'a str {
    match (text(method, "name"), text(method, "provider")) {
        ("", "stripe") => words.by_stripe,
        ("", "razorpay") => words.by_razorpay,
        ("", "manual") => words.by_arrangement,
        ("", other) => other,
        (name, _) => name,
    }
}

/// A text with its placeholders filled in. What is filled in is not searched for more of them.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        filled.push_str(before);
        let value = values.iter().find(|(known, _)| *known == name);
        filled.push_str(value.map_or("", |(_, value)| value));
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use primitives::fields::FromText;

    use super::*;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        let opened = text.split('{').skip(1);
        opened.map(|rest| rest.split('}').next().unwrap_or_default()).collect()
    }

    #[test]
    fn every_language_has_every_word_with_its_placeholders() {
        let english = en::EN.all();
        for words in LANGUAGES {
            for ((name, text), (_, original)) in words.all().into_iter().zip(&english) {
                assert!(!text.trim().is_empty(), "{} {name}", words.language);
                assert_eq!(placeholders(text), placeholders(original), "{} {name}", words.language);
            }
            assert_eq!(words.months.split(' ').count(), 12, "{}", words.language);
        }
    }

    #[test]
    fn other_languages_are_translated() {
        let english = en::EN.all();
        for words in LANGUAGES.into_iter().skip(1) {
            let all = words.all().into_iter().zip(&english);
            let alike = all.filter(|((_, text), (_, original))| text == original).count();
            assert!(alike < 12, "{}: {alike} words are English", words.language);
        }
    }

    #[test]
    fn days_and_dates_are_written_as_the_language_does() {
        let of = |locale: &str| Words::of(&Locale::from_text(locale).unwrap());
        for (locale, one, several, date) in [
            ("en-IN", "1 day", "3–5 days", "7 November 2026"),
            ("de-AT", "1 Tag", "3–5 Tage", "7. November 2026"),
            ("fr", "1 jour", "3–5 jours", "7 novembre 2026"),
            ("es-MX", "1 día", "3–5 días", "7 de noviembre de 2026"),
            ("ja", "1日", "3–5日", "2026年11月7日"),
            ("hi-IN", "1 दिन", "3–5 दिन", "7 नवंबर 2026"),
            ("sv", "1 day", "3–5 days", "7 November 2026"),
        ] {
            let words = of(locale);
            assert_eq!(words.days(Some(1), 1), one);
            assert_eq!(words.days(Some(3), 5), several);
            assert_eq!(words.date("2026-11-07T12:00:00Z"), date);
        }
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        assert_eq!(fill("{a} und {b}{c}", &[("a", "{b}"), ("b", "2")]), "{b} und 2");
        assert_eq!(fill("ohne } und {", &[]), "ohne } und {");
    }
}

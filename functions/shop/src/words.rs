//! The words of the platform's own pages of a shop, in the store's language. A language lacks no word: a file without one
//! does not compile. Names in braces are filled in.

mod de;
mod en;
mod es;
mod fr;
mod hi;
mod ja;
mod regions;
mod rejection;
mod wording;

use catalogue::policy::PolicyHandle;
use core_types::fields::{Locale, TimeZone};
use jiff::Zoned;
use primitives::clock::Timestamp;
use serde_json::Value;

use crate::values::{text, with};

pub(crate) use wording::{AccountWords, PhraseWords, Words};

pub(crate) const LANGUAGES: [&Words; 6] = [&en::EN, &de::DE, &fr::FR, &es::ES, &ja::JA, &hi::HI];

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

    /// The day of a time (RFC 3339) in a time zone, as readers of the language write it.
    pub(crate) fn date(&self, time: &str, zone: &TimeZone) -> String {
        Timestamp::parse(time).map_or_else(|| time.to_owned(), |at| self.day(&zone.local(at)))
    }

    /// The day and the time of day.
    pub(crate) fn time(&self, time: &str, zone: &TimeZone) -> String {
        let Some(at) = Timestamp::parse(time) else { return time.to_owned() };
        let at = zone.local(at);
        format!("{} {}", self.day(&at), at.strftime("%H:%M %Z"))
    }

    fn day(&self, at: &Zoned) -> String {
        let month = usize::try_from(at.month()).ok().and_then(|month| month.checked_sub(1));
        let month = month.and_then(|month| self.months.split(' ').nth(month)).unwrap_or_default();
        let (day, year) = (at.day().to_string(), at.year().to_string());
        fill(self.date_format, &[("day", &day), ("month", month), ("year", &year)])
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

    /// The statuses of orders, and what shoppers call them.
    pub(crate) fn statuses(&self) -> [(&'static str, &'static str); 14] {
        const ALL: [&str; 14] = [
            "pending",
            "failed",
            "processing",
            "paid",
            "authorized",
            "partially_paid",
            "partially_refunded",
            "refunded",
            "voided",
            "expired",
            "unfulfilled",
            "partially_fulfilled",
            "fulfilled",
            "not_required",
        ];
        // None is both.
        ALL.map(|status| match self.financial_status(status) {
            same if same == status => (status, self.fulfillment_status(status)),
            label => (status, label),
        })
    }

    /// The title of a policy: the API's own one is English, and a merchant's is left as it is.
    pub(crate) fn policy_title<'a>(&self, handle: &str, title: &'a str) -> &'a str {
        let Some(policy) = PolicyHandle::ALL.iter().find(|it| it.as_str() == handle) else {
            return title;
        };
        if title != policy.title() {
            return title;
        }
        match policy {
            PolicyHandle::Refund => self.pages.refund_policy,
            PolicyHandle::Privacy => self.pages.privacy_policy,
            PolicyHandle::Terms => self.pages.terms_of_service,
            PolicyHandle::Shipping => self.pages.shipping_policy,
            PolicyHandle::Contact => self.pages.contact_information,
        }
    }

    /// A policy with its title in the language.
    pub(crate) fn with_title(&self, policy: Value) -> Value {
        let title = self.policy_title(text(&policy, "handle"), text(&policy, "title")).to_owned();
        with(policy, "title", title)
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
        let kolkata = TimeZone::from_text("Asia/Kolkata").unwrap();
        let time = of("de").time("2026-11-06T18:34:00.000Z", &kolkata);
        assert_eq!(time, "7. November 2026 00:04 IST");
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
            assert_eq!(words.date("2026-11-06T18:30:00Z", &kolkata), date);
        }
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        assert_eq!(fill("{a} und {b}{c}", &[("a", "{b}"), ("b", "2")]), "{b} und 2");
        assert_eq!(fill("ohne } und {", &[]), "ohne } und {");
    }
}

//! Codes of standards: countries, currencies, languages and time zones.

use primitives::clock::Timestamp;
use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

text_type! {
    /// A country: ISO 3166-1 alpha-2, or `XK` for Kosovo.
    #[schemars(extend("pattern" = "^[A-Z]{2}$"))]
    Country
}

/// All officially assigned codes of ISO 3166-1 alpha-2, and `XK`: ISO leaves it to users, and Unicode (CLDR),
/// libaddressinput and carriers use it for Kosovo.
const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ \
BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ \
DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT \
GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY \
KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX \
MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS \
RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN \
TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";

impl FromText for Country {
    const EXPECTS: &'static str = "a country code";

    fn from_text(text: &str) -> Result<Self, Violation> {
        if text.len() == 2 && COUNTRIES.split_whitespace().any(|code| code == text) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be a two-letter country code (ISO 3166-1) like `IN`.";
            Err(Violation::new("invalid_country", detail))
        }
    }
}

text_type! {
    /// A currency: ISO 4217.
    #[schemars(extend("pattern" = "^[A-Z]{3}$"))]
    Currency
}

impl FromText for Currency {
    const EXPECTS: &'static str = "a currency code";

    fn from_text(text: &str) -> Result<Self, Violation> {
        // Codes without minor units in the table (metals, funds, test codes) are no currencies of prices.
        let known = iso_currency::Currency::from_code(text);
        if known.is_some_and(|currency| currency.exponent().is_some_and(|digits| digits <= 3)) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be a currency code (ISO 4217) like `INR`.";
            Err(Violation::new("unsupported_currency", detail))
        }
    }
}

text_type! {
    /// A language tag (RFC 5646): language, and optionally script and region.
    #[schemars(extend("pattern" = "^[A-Za-z]{2,3}(-([A-Za-z]{2}|[A-Za-z]{4}|[0-9]{3})){0,2}$"))]
    Locale
}

/// English, the default.
impl Default for Locale {
    fn default() -> Self {
        Self("en".to_owned())
    }
}

impl FromText for Locale {
    const EXPECTS: &'static str = "a language tag";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let mut parts = text.split('-');
        let letters = |part: &str| part.bytes().all(|b| b.is_ascii_alphabetic());
        let language = parts.next().is_some_and(|p| (2..=3).contains(&p.len()) && letters(p));
        let rest = parts.clone().count() <= 2
            && parts.all(|p| (letters(p) && matches!(p.len(), 2 | 4)) || is_numeric_region(p));
        if language && rest {
            Ok(Self(text.to_owned()))
        } else {
            Err(Violation::new("invalid_locale", "Must be a language tag like `en` or `pt-BR`."))
        }
    }
}

fn is_numeric_region(part: &str) -> bool {
    part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit())
}

text_type! {
    /// A time zone of the IANA database, by name: `Asia/Kolkata`.
    #[schemars(extend("pattern" = "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$", "maxLength" = 64))]
    TimeZone
}

impl TimeZone {
    /// The day of an instant, as `2027-12-31`; in UTC if the zone is unknown.
    pub fn day(&self, at: Timestamp) -> String {
        self.local(at).date().to_string()
    }

    /// The local time of an instant; in UTC if the zone is unknown.
    pub fn local(&self, at: Timestamp) -> jiff::Zoned {
        let zone = jiff::tz::TimeZone::get(&self.0).unwrap_or(jiff::tz::TimeZone::UTC);
        let at = jiff::Timestamp::from_millisecond(at.millis());
        at.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(zone)
    }
}

/// UTC, the default.
impl Default for TimeZone {
    fn default() -> Self {
        Self("UTC".to_owned())
    }
}

impl FromText for TimeZone {
    const EXPECTS: &'static str = "a time zone name";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let found = jiff::tz::TimeZone::get(text.trim()).ok();
        // The name as the database spells it.
        let name =
            found.as_ref().filter(|zone| !zone.is_unknown()).and_then(|zone| zone.iana_name());
        name.map(|name| Self(name.to_owned())).ok_or_else(|| {
            Violation::new(
                "invalid_timezone",
                "Must be a name of the tz database like `Europe/Paris`.",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standards() {
        assert_eq!(COUNTRIES.split_whitespace().count(), 249 + 1);
        assert!(Country::from_text("XK").is_ok());
        assert!(Country::from_text("IN").is_ok() && Country::from_text("in").is_err());
        assert!(Currency::from_text("JPY").is_ok() && Currency::from_text("XAU").is_err());
        assert!(Locale::from_text("zh-Hant-TW").is_ok() && Locale::from_text("english").is_err());
    }

    #[test]
    fn a_day_is_that_of_the_time_zone() {
        let at = Timestamp::parse("2027-01-01T00:30:00Z").unwrap();
        for (zone, day) in [
            ("UTC", "2027-01-01"),
            ("America/New_York", "2026-12-31"),
            ("Asia/Kolkata", "2027-01-01"),
        ] {
            assert_eq!(TimeZone::from_text(zone).unwrap().day(at), day, "{zone}");
        }
    }

    #[test]
    fn time_zones_are_those_of_the_database() {
        for (text, name) in
            [("Asia/Kolkata", "Asia/Kolkata"), ("europe/paris", "Europe/Paris"), ("utc", "UTC")]
        {
            assert_eq!(TimeZone::from_text(text).unwrap().as_str(), name);
        }
        for bad in ["", "IST", "Europe/Pariss", "Etc/Unknown", "Europe", "+05:30"] {
            assert_eq!(TimeZone::from_text(bad).unwrap_err().code, "invalid_timezone", "{bad}");
        }
    }
}

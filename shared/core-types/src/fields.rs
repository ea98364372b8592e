//! Field types that several nouns share, parsed from requests.

mod line;
mod metadata;

use primitives::clock::Timestamp;
use primitives::fields::{FromText, Text, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fold::{in_usual_width, latin_ascii};

pub use handle::{Handle, Slug};
pub use hs_code::HsCode;
pub use line::{DisplayName, Line, PersonName, StoreName, is_format, misleads};
pub use link_template::LinkTemplate;
pub use metadata::{MAX_METADATA, Metadata, MetadataFilter};
pub use tax_number::TaxNumber;

/// Implements the common parts of text types: parsing, schema (with the `schemars` attributes of the type),
/// stored form.
macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident) => {
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            JsonSchema)]
        #[serde(transparent)]
        $(#[$doc])*
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        primitives::text_field!($name);
    };
}

mod handle;
mod hs_code;
mod link_template;
mod tax_number;

text_type! {
    /// An e-mail address as entered, without surrounding blanks.
    #[schemars(extend("format" = "email", "maxLength" = 254))]
    Email
}

impl Email {
    /// The address in lower case, which identifies an account. RFC 5321 lets local parts differ by case; no
    /// provider in use does.
    pub fn normalized(&self) -> String {
        self.0.to_lowercase()
    }

    /// The address for logs and strangers: `a***@example.com`.
    pub fn masked(&self) -> String {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or((&self.0, ""));
        format!("{}***@{domain}", local.chars().take(1).collect::<String>())
    }
}

impl FromText for Email {
    const EXPECTS: &'static str = "an e-mail address";

    fn from_text(text: &str) -> Result<Self, Violation> {
        use email_address::{EmailAddress, Options};
        let text = text.trim();
        let options =
            Options::default().with_required_tld().without_display_text().without_domain_literal();
        let valid = text.len() <= 254
            && text.is_ascii()
            && !text.contains('"')
            && EmailAddress::parse_with_options(text, options).is_ok();
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(Violation::new("invalid_email", "Must be an e-mail address."))
        }
    }
}

text_type! {
    /// A subdomain: the storefront's address below the platform's domain.
    #[schemars(extend("pattern" = LABEL_IN_ANY_CASE, "minLength" = 3, "maxLength" = 63))]
    Subdomain
}

/// Subdomains that no store may take: literal segments of routes, and names that could pass for the
/// platform's own.
const RESERVED_SUBDOMAINS: &[&str] = &[
    "admin",
    "api",
    "app",
    "apps",
    "assets",
    "auth",
    "billing",
    "blog",
    "cdn",
    "checkout",
    "customer",
    "dashboard",
    "dev",
    "docs",
    "ftp",
    "help",
    "internal",
    "localhost",
    "login",
    "lookup",
    "mail",
    "operations",
    "partners",
    "payments",
    "root",
    "secure",
    "service",
    "shop",
    "static",
    "status",
    "store",
    "stores",
    "support",
    "test",
    "themes",
    "webhooks",
    "www",
];

impl FromText for Subdomain {
    const EXPECTS: &'static str = "a subdomain";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let text = text.trim().to_ascii_lowercase();
        if !is_label(&text, 3, 63) {
            return Err(Violation::new(
                "invalid_subdomain",
                "Must be 3 to 63 letters, digits and inner hyphens (RFC 1035 §2.3.1).",
            ));
        }
        if RESERVED_SUBDOMAINS.contains(&text.as_str()) || text.starts_with("xn--") {
            return Err(Violation::new("subdomain_reserved", "This subdomain is reserved."));
        }
        Ok(Self(text))
    }
}

/// A regular expression for the labels of [`is_label`].
const LABEL: &str = "^(xn--[a-z0-9-]*[a-z0-9]|[a-z0-9]+(-[a-z0-9]+)*)$";
/// A regular expression for a subdomain before it is converted to lower case.
const LABEL_IN_ANY_CASE: &str = "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$";

/// Whether it has only lower-case letters, digits and single inner hyphens; `xn--` may begin it.
fn is_label(text: &str, min: usize, max: usize) -> bool {
    (min..=max).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !text.starts_with('-')
        && !text.ends_with('-')
        && (text.starts_with("xn--") || !text.contains("--"))
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
        let zone = jiff::tz::TimeZone::get(&self.0).unwrap_or(jiff::tz::TimeZone::UTC);
        let at = jiff::Timestamp::from_millisecond(at.millis());
        zone.to_datetime(at.unwrap_or(jiff::Timestamp::UNIX_EPOCH)).date().to_string()
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

text_type! {
    /// A telephone number as it is written, in any notation: `+91 22 5550 1234`, `030/1234567`, `1-800-FLOWERS`,
    /// `(212) 555-0100 ext. 7`.
    #[schemars(extend("minLength" = 5, "maxLength" = 50))]
    Phone
}

impl FromText for Phone {
    const EXPECTS: &'static str = "a telephone number";

    fn from_text(text: &str) -> Result<Self, Violation> {
        // Spreadsheets mark with an apostrophe what is no number to them.
        let text = Text::<0, 50>::from_text(text.trim().trim_start_matches('\''))?;
        let text = String::from(text);
        let usual = in_usual_width(&text);
        let digits = usual.bytes().filter(u8::is_ascii_digit).count();
        let letters = usual.bytes().filter(u8::is_ascii_alphabetic).count();
        let is_written = usual.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || c.is_whitespace()
                || " +-./\\()[],;:~*#=".contains(c)
                || latin_ascii(c) == Some("-")
        });
        let is_vanity = digits >= 4 && digits.saturating_add(letters) >= 10;
        let is_number = digits <= 25 && (digits >= 5 || is_vanity);
        if is_written && is_number && letters <= 16 {
            Ok(Self(text))
        } else {
            let detail = "Must be a telephone number like `+91 22 5550 1234` or `030/1234567`.";
            Err(Violation::new("invalid_phone", detail))
        }
    }
}

text_type! {
    /// A telephone number in E.164 (ITU): `+912255501234`.
    #[schemars(rename = "E164Number", extend("pattern" = "^[+][1-9][0-9]{1,14}$"))]
    E164
}

impl FromText for E164 {
    const EXPECTS: &'static str = "a telephone number in E.164";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let digits = text.strip_prefix('+').unwrap_or_default();
        let is_number = (2..=15).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !digits.starts_with('0');
        let violation = || {
            Violation::new(
                "invalid_phone",
                "Must be a telephone number with its country code (E.164), like `+912255501234`.",
            )
        };
        is_number.then(|| Self(text.to_owned())).ok_or_else(violation)
    }
}

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
    /// The beginning of postal codes. A blank at its end says that a part of the code ends there: `NG1 ` does not
    /// cover `NG10 1AA`.
    #[schemars(extend("maxLength" = 20))]
    PostalPrefix
}

impl FromText for PostalPrefix {
    const EXPECTS: &'static str = "the beginning of a postal code";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let text = text.trim_start();
        if !text.contains(char::is_alphanumeric) {
            let detail = "A prefix must have at least one letter or digit of A to Z and 0 to 9.";
            return Err(Violation::new("invalid_postal_code", detail));
        }
        let ends_part = text.ends_with(char::is_whitespace);
        let prefix = String::from(Text::<1, 20>::from_text(text)?);
        Ok(Self(if ends_part { prefix + " " } else { prefix }))
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
    /// An `https` URL for a browser; the service itself never fetches it.
    #[schemars(extend("pattern" = "^https?://[^\\s\\\\@/?#]+", "maxLength" = 2_048))]
    WebUrl
}

impl FromText for WebUrl {
    const EXPECTS: &'static str = "an https URL";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let clean =
            text.len() <= 2_048 && text.bytes().all(|b| b > 0x20 && b != b'\\' && b != 0x7f);
        let parsed = url::Url::parse(text).ok().filter(|url| {
            let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
            let scheme = url.scheme() == "https" || (url.scheme() == "http" && loopback);
            scheme
                && url.host_str().is_some_and(|host| !host.is_empty())
                && url.username().is_empty()
                && url.password().is_none()
        });
        if clean && parsed.is_some() {
            Ok(Self(text.to_owned()))
        } else {
            Err(Violation::new("invalid_url", "Must be an https URL; http only for loopback."))
        }
    }
}

text_type! {
    /// The tax class of goods, named by the merchant: `books`, `food`. 1 to 50 lower-case letters, digits,
    /// `-` and `_`, the first a letter or a digit.
    #[schemars(extend("pattern" = "^[a-z0-9][a-z0-9_-]{0,49}$"))]
    TaxClass
}

impl FromText for TaxClass {
    const EXPECTS: &'static str = "a tax class";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let is_word = text.chars().all(word) && !text.starts_with(['-', '_']);
        if is_word && (1..=50).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be 1 to 50 lower-case letters, digits, `-` and `_`.";
            Err(Violation::new("invalid_tax_class", detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emails_are_validated_and_compared_without_case() {
        for good in ["a@b.co", "First.Last+tag@Sub.Example.com"] {
            assert!(Email::from_text(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a",
            "a@b",
            "@b.co",
            "a@b..co",
            "a b@c.co",
            "\"a\"@b.co",
            "A <a@b.co>",
            "a@[127.0.0.1]",
        ] {
            assert!(Email::from_text(bad).is_err(), "{bad}");
        }
        assert_eq!(Email::from_text("Ann@Example.com").unwrap().normalized(), "ann@example.com");
        assert_eq!(Email::from_text("ann@example.com").unwrap().masked(), "a***@example.com");
    }

    #[test]
    fn subdomains_reject_what_would_break_a_route_or_mislead() {
        for bad in [
            "",
            "ab",
            "-abc",
            "abc-",
            "a/b",
            "a#b",
            "lookup",
            "customer",
            "xn--80ak6aa92e",
            "a--b",
            "é12",
        ] {
            assert!(Subdomain::from_text(bad).is_err(), "{bad}");
        }
        assert_eq!(Subdomain::from_text(" My-Shop ").unwrap().as_str(), "my-shop");
    }

    #[test]
    fn codes_are_those_of_the_standards() {
        assert_eq!(COUNTRIES.split_whitespace().count(), 249 + 1);
        assert!(Country::from_text("XK").is_ok());
        assert!(Country::from_text("IN").is_ok() && Country::from_text("in").is_err());
        assert!(Currency::from_text("JPY").is_ok() && Currency::from_text("XAU").is_err());
        assert!(Locale::from_text("zh-Hant-TW").is_ok() && Locale::from_text("english").is_err());
    }

    #[test]
    fn telephone_numbers_are_taken_in_any_notation() {
        for good in [
            "+91 (22) 5550-1234",
            "030/1234567",
            "030 / 12 34 56",
            "1-800-FLOWERS",
            "(212) 555-0100 ext. 7",
            "Tel. 030 1234567",
            "＋４９ ３０ １２３４５６７",
            "٠١٠٠١٢٣٤٥٦٧",
            "06.12.34.56.78",
            "+49\u{a0}30\u{2011}1234567",
        ] {
            assert_eq!(Phone::from_text(good).unwrap().as_str(), good);
        }
        assert_eq!(Phone::from_text("'+4930123456").unwrap().as_str(), "+4930123456");
        for bad in ["", "12", "no number", "a@b.co", "+", "030<1234567>", &"1".repeat(30)] {
            assert_eq!(Phone::from_text(bad).unwrap_err().code, "invalid_phone", "{bad}");
        }
        assert!(E164::from_text("+493012345").is_ok());
        assert!(E164::from_text("+0301234567").is_err() && E164::from_text("4930").is_err());
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

    #[test]
    fn tax_classes_are_words() {
        for good in ["books", "food-7", "a"] {
            assert_eq!(TaxClass::from_text(good).unwrap().as_str(), good);
        }
        for bad in ["", "Books", "a b", "-a", &"a".repeat(51)] {
            assert_eq!(TaxClass::from_text(bad).unwrap_err().code, "invalid_tax_class", "{bad}");
        }
    }
}

//! Field types that several nouns share, parsed from requests.

mod line;
mod metadata;

use primitives::fields::{FromText, Text, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use code::{Country, Currency, Locale, TimeZone};
pub use contact::{E164, Email, Phone};
pub use handle::{Handle, Slug};
pub use hs_code::HsCode;
pub use line::{DisplayName, Line, PersonName, StoreName, is_format, misleads};
pub use link_template::{CartLinkTemplate, LinkTemplate};
pub use metadata::{MAX_METADATA, Metadata, MetadataFilter};
pub use subdomain::Subdomain;
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

mod code;
mod contact;
mod handle;
mod hs_code;
mod link_template;
mod subdomain;
mod tax_number;

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
            let scheme =
                url.scheme() == "https" || (url.scheme() == "http" && egress::is_loopback(url));
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
    fn tax_classes_are_words() {
        for good in ["books", "food-7", "a"] {
            assert_eq!(TaxClass::from_text(good).unwrap().as_str(), good);
        }
        for bad in ["", "Books", "a b", "-a", &"a".repeat(51)] {
            assert_eq!(TaxClass::from_text(bad).unwrap_err().code, "invalid_tax_class", "{bad}");
        }
    }
}

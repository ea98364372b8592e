//! Host names of custom domains.

use std::fmt;

use primitives::fields::{FromText, Violation};
use serde::{Deserialize, Serialize};

/// The maximum length of a host: the name of its TXT record is longer, and has at most 253 characters
/// (RFC 1035 §2.3.4).
const MAX_LENGTH: usize = 230;

/// A normalized host: IDNA (UTS 46), lower case, no trailing dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Host(String);

impl Host {
    /// Parses a host, of any domain; none for an IP address or an invalid name.
    pub fn of(text: &str) -> Option<Self> {
        // The library would decode percent signs and parse numbers as addresses.
        if text.is_empty() || text.len() > MAX_LENGTH || text.contains(['%', '/', ':', '@', ' ']) {
            return None;
        }
        let Ok(url::Host::Domain(name)) = url::Host::parse(text) else { return None };
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let fits = name.len() <= MAX_LENGTH && name.contains('.') && name.split('.').all(is_label);
        fits.then_some(Self(name))
    }

    /// The host as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The registered domain: the public suffix and the label before it. None if the host is a public
    /// suffix itself, or has no known one, as internal names (RFC 6761).
    pub fn registrable(&self) -> Option<&str> {
        let domain = psl::domain(self.0.as_bytes())?;
        let known = domain.suffix().is_known();
        known.then(|| psl::domain_str(&self.0)).flatten()
    }

    /// Whether it is in the same registered domain as another host.
    pub fn shares_registrable_domain(&self, other: &Self) -> bool {
        self == other || self.registrable().is_some_and(|own| other.registrable() == Some(own))
    }
}

impl FromText for Host {
    const EXPECTS: &'static str = "a host";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let rejected = || {
            let detail = "Must be a host below a registered domain, like `shop.example.com`.";
            Violation::new("invalid_host", detail)
        };
        let host = Self::of(text.trim().trim_end_matches('.')).ok_or_else(rejected)?;
        if host.registrable().is_some() { Ok(host) } else { Err(rejected()) }
    }
}

primitives::text_field!(Host);
primitives::string_schema!(Host: {"maxLength": 230});

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_normalized_by_idna() {
        for (text, host) in [
            ("Shop.Example.com", "shop.example.com"),
            (" example.com. ", "example.com"),
            ("www.bücher.example.co.uk", "www.xn--bcher-kva.example.co.uk"),
            ("XN--BCHER-KVA.de", "xn--bcher-kva.de"),
            ("例え.jp", "xn--r8jz45g.jp"),
            ("me.github.io", "me.github.io"),
        ] {
            assert_eq!(
                Host::from_text(text).map(|host| host.to_string()),
                Ok(host.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn addresses_suffixes_and_unregistered_names_are_rejected() {
        let long = format!("{}.example.com", "a.".repeat(120));
        for text in [
            "",
            ".",
            "com",
            "co.uk",
            "github.io",
            "localhost",
            "shop.localhost",
            "shop.internal",
            "127.0.0.1",
            "0x7f.1",
            "2130706433",
            "[::1]",
            "1.2.3",
            "a_b.example.com",
            "-a.example.com",
            "a..example.com",
            "example.com:443",
            "https://example.com",
            "example.com/x",
            "a%2eexample.com",
            "user@example.com",
            "*.example.com",
            &long,
        ] {
            assert!(Host::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_of_one_registered_domain_are_akin() {
        let host = |text: &str| Host::of(text).unwrap();
        assert!(host("shop.example.com").shares_registrable_domain(&host("api.example.com")));
        assert!(!host("a.example.co.uk").shares_registrable_domain(&host("a.example2.co.uk")));
        assert!(!host("me.github.io").shares_registrable_domain(&host("you.github.io")));
    }
}

//! Subdomains of storefronts, and the labels that subdomains and handles are made of.

use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
pub(super) const LABEL: &str = "^(xn--[a-z0-9-]*[a-z0-9]|[a-z0-9]+(-[a-z0-9]+)*)$";
/// A regular expression for a subdomain before it is converted to lower case.
const LABEL_IN_ANY_CASE: &str = "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$";

/// Whether it has only lower-case letters, digits and single inner hyphens; `xn--` may begin it.
pub(super) fn is_label(text: &str, min: usize, max: usize) -> bool {
    (min..=max).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !text.starts_with('-')
        && !text.ends_with('-')
        && (text.starts_with("xn--") || !text.contains("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomains_that_break_a_route_or_mislead_are_rejected() {
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
}

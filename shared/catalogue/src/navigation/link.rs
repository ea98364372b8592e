//! Targets of menu items: references to resources, and URLs.

use core_types::fields::Handle;
use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most bytes of a URL.
pub(super) const MAX_URL: usize = 1_024;

/// A menu item's reference: the handle or the id of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Reference(String);

impl Reference {
    /// The handle or the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an id.
    pub fn is_id(&self) -> bool {
        is_id(&self.0)
    }
}

impl FromText for Reference {
    const EXPECTS: &'static str = "a handle or an id";

    fn from_text(text: &str) -> Result<Self, Violation> {
        if is_id(text) {
            return Ok(Self(text.to_owned()));
        }
        let invalid =
            |_| Violation::new("invalid_reference", "Must be the handle or the id of a resource.");
        Handle::from_text(text).map(|handle| Self(handle.into())).map_err(invalid)
    }
}

/// Whether a text has the form of an id of any kind: a prefix and 32 hex digits.
fn is_id(text: &str) -> bool {
    text.split_once('_').is_some_and(|(prefix, digits)| {
        prefix.len() == 3
            && prefix.bytes().all(|b| b.is_ascii_lowercase())
            && digits.len() == 32
            && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// The URL of a link: `http`, `https`, `mailto` or `tel`, or a path of the storefront. Other schemes
/// could run a script on a shopper's page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LinkUrl(String);

impl FromText for LinkUrl {
    const EXPECTS: &'static str = "a URL or a path";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let text = text.trim();
        // Browsers remove or replace some of these characters before they parse the scheme.
        let clean = text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '\\');
        if text.len() > MAX_URL {
            return Err(Violation::new("too_long", format!("Must have at most {MAX_URL} bytes.")));
        }
        if clean && (is_local_path(text) || is_link(text)) {
            return Ok(Self(text.to_owned()));
        }
        let detail = "Must be an http, https, mailto or tel URL, or a path that begins with `/`.";
        Err(Violation::new("invalid_url", detail))
    }
}

/// Whether it is a path like `/sale`, and not `//example.com`, which is another host.
fn is_local_path(text: &str) -> bool {
    text.starts_with('/') && !text.starts_with("//")
}

fn is_link(text: &str) -> bool {
    let Ok(url) = url::Url::parse(text) else { return false };
    match url.scheme() {
        // `http:example.com` parses too, because browsers correct it; the full form is required.
        "http" | "https" => {
            text.split_once("://")
                .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case(url.scheme()))
                && url.host_str().is_some_and(|host| !host.is_empty())
                && url.username().is_empty()
                && url.password().is_none()
        }
        "mailto" => url.path().contains('@'),
        "tel" => url.path().chars().any(|c| c.is_ascii_digit()),
        _ => false,
    }
}

primitives::text_field!(Reference, LinkUrl);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_with_scripts_or_misleading_hosts_are_rejected() {
        for good in [
            "/",
            "/sale?x=1#top",
            "https://example.com",
            "HTTP://example.com/a",
            "mailto:a@b.co",
            "tel:+912255501234",
        ] {
            assert!(LinkUrl::from_text(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "sale",
            "//example.com",
            "/\\example.com",
            "javascript:alert(1)",
            "JavaScript:1",
            "java\tscript:1",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "http:x",
            "https://",
            "https://user@example.com",
            "https://exa mple.com",
            "mailto:nobody",
            "tel:",
        ] {
            assert!(LinkUrl::from_text(bad).is_err(), "{bad}");
        }
        assert!(LinkUrl::from_text(&format!("/{}", "x".repeat(MAX_URL))).is_err());
    }

    #[test]
    fn references_are_handles_or_ids() {
        for (given, stored) in [
            ("summer-sale", "summer-sale"),
            ("Café", "café"),
            ("prd_0198c0ffee0000000000000000000001", "prd_0198c0ffee0000000000000000000001"),
        ] {
            assert_eq!(Reference::from_text(given).unwrap().as_str(), stored);
        }
        for bad in ["", "a b", "a/b", "prd_1", "PRD_0198c0ffee0000000000000000000001"] {
            assert!(Reference::from_text(bad).is_err(), "{bad}");
        }
    }
}

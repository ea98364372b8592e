//! Policy pages: a store's legal texts, written by the merchant.

use std::collections::HashSet;

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::StoreId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::fields::{FromText, Violation};
use serde::{Deserialize, Serialize};
use table::item::Item;

core_types::topics! {
    POLICY_UPDATED = "policy.updated", "policy", Some("read_content"), PolicySummary,
        "A policy page was created or changed; fetch its text.";
}

/// The most bytes of a policy's text, both before and after sanitizing (our choice).
pub const MAX_BODY: usize = 64 * 1024;

primitives::string_enum! {
    /// The handle, which says which policy it is.
    PolicyHandle {
        /// The refund policy.
        Refund = "refund",
        /// The privacy policy.
        Privacy = "privacy",
        /// The terms of service.
        Terms = "terms",
        /// The shipping policy.
        Shipping = "shipping",
        /// The merchant's contact information.
        Contact = "contact",
    }
}

impl PolicyHandle {
    /// The default title of the page.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Refund => "Refund policy",
            Self::Privacy => "Privacy policy",
            Self::Terms => "Terms of service",
            Self::Shipping => "Shipping policy",
            Self::Contact => "Contact information",
        }
    }
}

/// Sanitized HTML, safe to embed in a page unchanged: no scripts, styles, frames, forms or event handlers,
/// and links to `http`, `https`, `mailto` and `tel` only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SafeHtml(String);

impl SafeHtml {
    /// The HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromText for SafeHtml {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let too_long =
            || Violation::new("too_long", format!("Must have at most {MAX_BODY} bytes."));
        if text.len() > MAX_BODY {
            return Err(too_long());
        }
        let safe = sanitize(text.trim());
        // Escaping can make it longer.
        if safe.len() > MAX_BODY { Err(too_long()) } else { Ok(Self(safe)) }
    }
}

primitives::text_field!(SafeHtml);
primitives::string_schema!(SafeHtml);

fn sanitize(html: &str) -> String {
    ammonia::Builder::default()
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel"]))
        .link_rel(Some("noopener noreferrer nofollow"))
        .clean(html)
        .to_string()
}

/// A policy page of a store.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "policy", key = key::policy(&self.store_id, self.handle.as_str()))]
pub struct Policy {
    /// Part of the key.
    pub store_id: StoreId,
    /// The handle, which says which policy it is.
    pub handle: PolicyHandle,
    /// The title of the page.
    pub title: String,
    /// The text.
    pub body_html: SafeHtml,
    /// Whether it is published.
    pub published: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

/// The content of a policy.
#[derive(Debug, Clone)]
pub struct PolicyText {
    /// The title of the page; [`PolicyHandle::title`] by default.
    pub title: Option<String>,
    /// The text.
    pub body_html: SafeHtml,
    /// Whether it is published.
    pub published: bool,
}

impl Policy {
    /// A policy that does not exist yet: version 0.
    pub fn blank(store: &StoreId, handle: PolicyHandle, now: Timestamp) -> Self {
        Self {
            store_id: store.clone(),
            handle,
            title: handle.title().to_owned(),
            body_html: SafeHtml(String::new()),
            published: false,
            created_at: now,
            updated_at: now,
            version: 0,
        }
    }

    /// The policy at its next version, with this content.
    #[must_use]
    pub fn with(&self, wording: PolicyText, now: Timestamp) -> Self {
        Self {
            title: wording.title.unwrap_or_else(|| self.handle.title().to_owned()),
            body_html: wording.body_html,
            published: wording.published,
            updated_at: now,
            version: self.version.saturating_add(1),
            ..self.clone()
        }
    }
}

core_types::view! {
    /// A policy without its text, which can be too long for an event.
    PolicySummary of policy: Policy {
        /// The handle, which identifies the policy within the store.
        id: PolicyHandle = policy.handle,
        /// The handle, which says which policy it is.
        handle: PolicyHandle,
        /// The title of the page.
        title: String,
        /// Whether it is published.
        published: bool,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

core_types::view! {
    /// A policy with its text.
    PolicyView of policy: Policy {
        /// The policy without its text.
        #[serde(flatten)]
        summary: PolicySummary = policy.into(),
        /// The text, sanitized: safe to embed in a page unchanged.
        body_html: SafeHtml,
    }
}

impl Example for PolicySummary {
    fn example() -> Self {
        Self {
            id: PolicyHandle::Refund,
            handle: PolicyHandle::Refund,
            title: PolicyHandle::Refund.title().into(),
            published: true,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe(html: &str) -> String {
        SafeHtml::from_text(html).unwrap().0
    }

    #[test]
    fn text_and_its_structure_stay() {
        let html =
            "<h2>Returns</h2><p>Within <strong>30 days</strong>.</p><ul><li>Unused</li></ul>";
        assert_eq!(safe(html), html);
        assert_eq!(safe("  R&D <3  "), "R&amp;D &lt;3");
    }

    #[test]
    fn active_content_is_removed() {
        for (html, expected) in [
            ("<script>alert(1)</script>a", "a"),
            ("<p onclick=\"x()\" style=\"color:red\" class=\"c\">a</p>", "<p>a</p>"),
            ("<iframe src=\"https://example.com\"></iframe>a", "a"),
            ("<form action=\"/x\"><input name=\"card\"></form>a", "a"),
            ("<svg><script>alert(1)</script></svg>a", "a"),
            ("<img src=\"x\" onerror=\"x()\">", "<img src=\"x\">"),
            ("<style>p{}</style><!-- note -->a", "a"),
        ] {
            assert_eq!(safe(html), expected, "{html}");
        }
        for scheme in ["javascript:x", "data:text/html,x", "vbscript:x", "java&#9;script:x"] {
            let cleaned = safe(&format!("<a href=\"{scheme}\">a</a>"));
            assert_eq!(cleaned, "<a rel=\"noopener noreferrer nofollow\">a</a>", "{scheme}");
        }
        let link = safe("<a href=\"https://example.com\" target=\"_blank\">a</a>");
        assert!(
            link.contains("href=\"https://example.com\"") && !link.contains("target"),
            "{link}"
        );
    }

    #[test]
    fn sanitizing_is_idempotent() {
        for html in
            ["<p>a & b</p>", "<a href=\"https://example.com\">x", "<b><i>x</b></i>", "&lt;p>"]
        {
            let once = safe(html);
            assert_eq!(safe(&once), once);
        }
    }

    #[test]
    fn the_limit_holds_before_and_after_cleaning() {
        assert!(SafeHtml::from_text(&"a".repeat(MAX_BODY)).is_ok());
        let codes = ["a".repeat(MAX_BODY + 1), "&".repeat(MAX_BODY), "<".repeat(MAX_BODY / 2)];
        for text in codes {
            assert_eq!(SafeHtml::from_text(&text).unwrap_err().code, "too_long");
        }
    }

    #[test]
    fn the_title_of_a_policy_follows_from_its_handle_by_default() {
        let now = Timestamp::from_millis(0);
        let blank = Policy::blank(&StoreId::mint(now), PolicyHandle::Refund, now);
        let wording = |title: Option<&str>| PolicyText {
            title: title.map(str::to_owned),
            body_html: SafeHtml("<p>a</p>".into()),
            published: true,
        };
        let first = blank.with(wording(Some("Returns")), now);
        let second = first.with(wording(None), now);
        assert_eq!((first.title.as_str(), first.version), ("Returns", 1));
        assert_eq!((second.title.as_str(), second.version), ("Refund policy", 2));
    }
}

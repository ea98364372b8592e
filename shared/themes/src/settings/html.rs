//! Sanitizes the HTML of settings.
//!
//! `ammonia` parses it as a browser does (HTML Living Standard §13.2), closes open elements where a browser
//! would, and removes everything that is not allowed.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;

/// The schemes that a link may have.
pub(super) const SCHEMES: &[&str] = &["http", "https", "mailto", "tel"];
const INLINE: &[&str] = &["a", "b", "br", "em", "i", "s", "span", "strong", "sub", "sup", "u"];
const BLOCKS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "ul"];

static LINE: LazyLock<Builder<'static>> = LazyLock::new(|| text(INLINE.iter()));
static RICH: LazyLock<Builder<'static>> = LazyLock::new(|| text(INLINE.iter().chain(BLOCKS)));
static FREE: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = common();
    builder.add_generic_attributes(["class", "id"]);
    builder.add_tags(["section", "button", "picture", "video", "source"]);
    builder.add_tag_attributes("video", ["src", "poster", "controls", "muted", "loop"]);
    builder.add_tag_attributes("source", ["src", "type", "media"]);
    builder.id_prefix(Some("content-"));
    builder
});

fn common<'a>() -> Builder<'a> {
    let mut builder = Builder::default();
    builder.url_schemes(SCHEMES.iter().copied().collect()).link_rel(Some("noopener noreferrer"));
    builder
}

fn text(tags: impl Iterator<Item = &'static &'static str>) -> Builder<'static> {
    let mut builder = common();
    let link: HashSet<&str> = HashSet::from(["href", "title"]);
    builder
        .tags(tags.copied().collect())
        .tag_attributes(HashMap::from([("a", link)]))
        .generic_attributes(HashSet::new());
    builder
}

/// Sanitizes one line: allows emphasis and links.
pub(super) fn inline(html: &str) -> String {
    LINE.clean(html).to_string()
}

/// Sanitizes rich text: also allows paragraphs, headings and lists.
pub(super) fn rich(html: &str) -> String {
    RICH.clean(html).to_string()
}

/// Sanitizes general HTML: removes everything that runs, as scripts, styles, frames, forms, SVG and event
/// handlers.
pub(super) fn free(html: &str) -> String {
    FREE.clean(html).to_string()
}

/// Schemes of URLs that could be hidden from [`is_reduced`] by references.
const OTHER_SCHEMES: [&str; 6] = ["javascript", "data", "vbscript", "file", "ftp", "blob"];

/// Whether sanitizing has removed a tag, an attribute or a URL. What is only written differently, as an apostrophe or an end
/// tag that was missing, is the same text to its author.
pub(super) fn is_reduced(given: &str, safe: &str) -> bool {
    if given == safe {
        return false;
    }
    let (given_lower, safe_lower) = (given.to_ascii_lowercase(), safe.to_ascii_lowercase());
    let tags = tags(&given_lower);
    if !tags.is_subset(&self::tags(&safe_lower)) {
        return true;
    }
    // The same parser with everything allowed that the text could have.
    let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=' | '"' | '\'');
    let words = given_lower.split(is_end).filter(|word| !word.is_empty());
    let attributes = words.clone().filter(|word| *word != "rel").collect();
    let schemes = words.filter_map(|word| word.split_once(':').map(|(scheme, _)| scheme));
    let mut lax = common();
    lax.tags(tags)
        .clean_content_tags(HashSet::new())
        .tag_attributes(HashMap::new())
        .generic_attributes(attributes)
        .add_url_schemes(schemes.chain(OTHER_SCHEMES));
    lax.clean(given).to_string() != safe
}

/// The names of the tags of a text in lower case.
fn tags(lower: &str) -> HashSet<&str> {
    let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>');
    let names = lower.split('<').skip(1).filter_map(|rest| rest.split(is_end).next());
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_differently_is_not_reduced() {
        for same in [
            "<p>You'll receive it\u{a0}in 1–4 days & more.</p>",
            "<p>© 2023, <a href=\"/\" title=\"/\">Store name</a></p>",
            "<p><a title='A' href='https://example.com/?a=1&b=2'>x</a></p>",
            "<p>a <b>b <i>c</b></p>",
            "<P>a<p>b",
            "a < b",
        ] {
            assert!(!is_reduced(same, &rich(same)), "{same} → {}", rich(same));
        }
        for reduced in [
            "<p><a href=\"/\" target=\"_blank\">a</a></p>",
            "<p onclick=\"x()\">a</p>",
            "<p>a<script>alert(1)</script></p>",
            "<p><a href=\"javascript:x()\">a</a></p>",
            "<p><a href=\"java&#9;script:x()\">a</a></p>",
            "<p><a href=\"odd:x\">a</a></p>",
            "<div>a</div>",
            "<svg onload=\"x()\"><circle/></svg>a",
            "<td>a</td>",
            "<p style=\"color:red\">a</p>",
        ] {
            assert!(is_reduced(reduced, &rich(reduced)), "{reduced} → {}", rich(reduced));
        }
    }

    #[test]
    fn scripts_are_removed_from_every_kind_of_html() {
        const BAD: &[&str] = &[
            "<script",
            "alert",
            "onerror",
            "onload",
            "onplay",
            "javascript:",
            "data:",
            "<svg",
            "<math",
            "style=",
            "<iframe",
            "<form",
            "formaction",
        ];
        let hostile = [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<svg onload=alert(1)><script>alert(1)</script></svg>",
            "<math><mi xlink:href=\"javascript:alert(1)\">x</mi></math>",
            "<a href=\"java&#9;script:alert(1)\">x</a>",
            "<a href=\" JavaScript:alert(1)\">x</a>",
            "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
            "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>",
            "<p style=\"background:url(javascript:alert(1))\">x</p>",
            "<form action=\"javascript:alert(1)\"><button formaction=\"javascript:alert(1)\">x",
            "<video src=\"javascript:alert(1)\" onplay=\"alert(1)\"></video>",
        ];
        for html in hostile {
            for clean in [inline(html), rich(html), free(html)] {
                let lower = clean.to_lowercase();
                for bad in BAD {
                    assert!(!lower.contains(bad), "{html} → {clean}");
                }
            }
        }
    }

    #[test]
    fn each_kind_allows_its_tags_and_closes_open_ones() {
        let html = "<h2>A <em>b</h2><div class=\"x\"><p>c";
        assert_eq!(inline(html), "A <em>b</em><em>c</em>");
        assert_eq!(rich(html), "<h2>A <em>b</em></h2><p><em>c</em></p>");
        assert_eq!(free(html), "<h2>A <em>b</em></h2><div class=\"x\"><p><em>c</em></p></div>");
    }

    #[test]
    fn sanitizing_is_idempotent() {
        for html in
            ["<p>a & b</p>", "<a href=\"/pages/x\">x", "<b><i>x</b></i>", "&lt;p>", "<p id=x>a"]
        {
            for clean in [inline, rich] {
                let once = clean(html);
                assert_eq!(clean(&once), once);
            }
        }
    }
}

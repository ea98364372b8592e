//! `<shopify-account>`, the element by which themes lead to the account: a link around what they put into it.

use crate::shop::Shop;

/// How the start tag of the element begins.
const START: &str = "<shopify-account";
/// The most elements of a page that become links without a script: the markup is longer than the element.
const MOST: usize = 8;
/// The link where no script runs: the markup of a shadow tree, which browsers apply by themselves.
const SHADOW: &str = include_str!("shared/account.html");
/// What is shown where the theme has nothing to be seen.
const ICON: &str = include_str!("shared/account-icon.svg");

/// The script that defines the element; empty on a page without one.
pub(crate) fn script(shop: &Shop, page: &str) -> String {
    if shop.data.is_scriptless || !page.contains(START) {
        return String::new();
    }
    format!(
        "<script src=\"{}\" data-href=\"{}\" data-label=\"{}\" defer></script>",
        shop.to("/shared/account.js"),
        href(shop),
        label(shop)
    )
}

/// The page with the link in each element, where no script defines it.
pub(crate) fn without_script(shop: &Shop, page: String) -> String {
    if !shop.data.is_scriptless || !page.contains(START) {
        return page;
    }
    let avatar =
        if shop.data.customer.is_null() { "signed-out-avatar" } else { "signed-in-avatar" };
    let shadow = SHADOW.trim_end().replace("{href}", &href(shop)).replace("{avatar}", avatar);
    let shadow = shadow.replace("{label}", &label(shop));
    let mut parts = page.splitn(MOST.saturating_add(1), START);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (tag, content) = part.split_at(end_of_tag(part));
        let inner = content.split("</shopify-account").next().unwrap_or_default();
        let has_picture = inner.contains("<svg") || inner.contains("<img");
        let plain = if has_picture { "<slot></slot>" } else { ICON.trim_end() };
        for part in [START, tag, &shadow.replacen("{plain}", plain, 1), content] {
            whole.push_str(part);
        }
    }
    whole
}

fn href(shop: &Shop) -> String {
    shop.to(if shop.data.customer.is_null() { "/account/login" } else { "/account" })
}

fn label(shop: &Shop) -> String {
    liquid::escape(shop.data.labels.titles.account.into()).into_owned()
}

/// Where a tag ends, from within it.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '>') => return at.saturating_add(1),
            (None, '"' | '\'') => quote = Some(c),
            _ => {}
        }
    }
    text.len()
}

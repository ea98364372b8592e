//! URLs of a store's own pages, with placeholders for a mail's values.

use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WebUrl;

/// The longest template, in bytes.
const MAX: usize = 1_000;
const ORDER_ID: &str = "{order_id}";
const CART_ID: &str = "{cart_id}";
const TOKEN: &str = "{token}";

text_type! {
    /// An `https` URL of the store's own with `{order_id}` and `{token}` in its path, query or fragment, for
    /// an order's id and the token that gives access to it. ASCII.
    #[schemars(extend(
        "pattern" = "^https?://[^\\s\\\\@/?#{}]+[/?#].*$", "maxLength" = MAX
    ))]
    LinkTemplate
}

impl LinkTemplate {
    /// The page of an order in the shop of this origin.
    pub fn of_shop(origin: &str) -> Self {
        Self(format!("{origin}/orders/{ORDER_ID}?token={TOKEN}"))
    }

    /// The URL with an order's id and a token; neither needs percent-encoding.
    pub fn filled(&self, order: &str, token: &str) -> String {
        self.0.replace(ORDER_ID, order).replace(TOKEN, token)
    }
}

impl FromText for LinkTemplate {
    const EXPECTS: &'static str = "an https URL with `{order_id}` and `{token}`";

    fn from_text(text: &str) -> Result<Self, Violation> {
        validate(text, ORDER_ID)?;
        Ok(Self(text.to_owned()))
    }
}

text_type! {
    /// An `https` URL of the store's own with `{cart_id}` in its path, query or fragment, and `{token}` in its
    /// fragment, which no server sees: for a cart's id and the token that gives access to it. ASCII.
    #[schemars(extend(
        "pattern" = "^https?://[^\\s\\\\@/?#{}]+[/?#].*$", "maxLength" = MAX
    ))]
    CartLinkTemplate
}

impl CartLinkTemplate {
    /// The URL with a cart's id and a token; neither needs percent-encoding.
    pub fn filled(&self, cart: &str, token: &str) -> String {
        self.0.replace(CART_ID, cart).replace(TOKEN, token)
    }
}

impl FromText for CartLinkTemplate {
    const EXPECTS: &'static str = "an https URL with `{cart_id}`, and `{token}` in its fragment";

    fn from_text(text: &str) -> Result<Self, Violation> {
        validate(text, CART_ID)?;
        let before = text.split_once('#').map_or(text, |(before, _)| before);
        if before.contains(TOKEN) {
            let detail = "`{token}` must be in the fragment, after `#`.";
            return Err(Violation::new("token_not_in_fragment", detail));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Validates a URL with the placeholders `id` and `{token}`.
fn validate(text: &str, id: &str) -> Result<(), Violation> {
    let rest = text.replace(id, "").replace(TOKEN, "");
    if rest.contains(['{', '}']) {
        let detail = format!("The only placeholders are `{id}` and `{{token}}`.");
        return Err(Violation::new("unknown_placeholder", detail));
    }
    // No filled-in value may change the host.
    let authority = text.split_once("://").map_or("", |(_, rest)| rest);
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    let is_fixed = authority.get(..end).is_some_and(|host| !host.contains('{'));
    let fits = text.len() <= MAX && text.is_ascii() && is_fixed;
    let filled = text.replace(id, "ord_0").replace(TOKEN, "0");
    if !fits || WebUrl::from_text(&filled).is_err() {
        let detail = "Must be an https URL in ASCII whose host has no placeholder.";
        return Err(Violation::new("invalid_url", detail));
    }
    if !(text.contains(id) && text.contains(TOKEN)) {
        let detail = format!("Must have both `{id}` and `{{token}}`.");
        return Err(Violation::new("placeholder_missing", detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_takes_an_orders_id_and_its_token() {
        for (template, filled) in [
            ("https://shop.example/o/{order_id}?token={token}", "https://shop.example/o/O?token=T"),
            ("https://shop.example/#{token}/{order_id}", "https://shop.example/#T/O"),
            ("https://shop.example:8443?{order_id}&{token}", "https://shop.example:8443?O&T"),
        ] {
            assert_eq!(LinkTemplate::from_text(template).unwrap().filled("O", "T"), filled);
        }
    }

    #[test]
    fn a_template_that_leads_elsewhere_or_lacks_a_placeholder_is_rejected() {
        let code = |text: &str| LinkTemplate::from_text(text).unwrap_err().code;
        for text in [
            "http://shop.example/{order_id}/{token}",
            "https://{token}.example/{order_id}",
            "https://shop.example:{order_id}/{token}",
            "https://u:p@shop.example/{order_id}/{token}",
            "https://shop.example/ {order_id}/{token}",
            "https://shop.ex\u{e4}mple/{order_id}/{token}",
            "javascript:{order_id}{token}",
            "{order_id}{token}",
        ] {
            assert_eq!(code(text), "invalid_url", "{text}");
        }
        for text in ["https://a.example/{order_id}/{token}/{email}", "https://a.example/{order_id"]
        {
            assert_eq!(code(text), "unknown_placeholder", "{text}");
        }
        for text in
            ["https://a.example/{order_id}", "https://a.example/{token}", "https://a.example"]
        {
            assert_eq!(code(text), "placeholder_missing", "{text}");
        }
        let long = format!("https://a.example/{{order_id}}/{{token}}/{}", "x".repeat(MAX));
        assert_eq!(code(&long), "invalid_url");
    }

    #[test]
    fn a_carts_token_is_in_the_fragment() {
        let page = CartLinkTemplate::from_text("https://shop.example/cart/{cart_id}#{token}");
        assert_eq!(page.unwrap().filled("C", "T"), "https://shop.example/cart/C#T");
        let code = |text: &str| CartLinkTemplate::from_text(text).unwrap_err().code;
        let in_query = code("https://shop.example/?{cart_id}&{token}#x");
        assert_eq!(in_query, "token_not_in_fragment");
        assert_eq!(code("https://shop.example/{order_id}#{token}"), "unknown_placeholder");
    }
}

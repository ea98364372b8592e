//! Order tokens in mails: the reader may view, pay and cancel the order.
//!
//! The token of a checkout is returned once, and only its digest is stored. A mail is written later, so its
//! token is derived from the order, its address and a key, and is stored nowhere. A link mailed to an
//! earlier address stops working when the address changes.

use std::fmt;

use core_types::fields::LinkTemplate;
use crypto::seal;
use crypto::seal::MacKey;

use super::Order;

/// A token that a request presents for an order, with the key that tokens in mails are derived with.
pub struct PresentedToken {
    text: String,
    links: MacKey,
}

impl fmt::Debug for PresentedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PresentedToken")
    }
}

impl PresentedToken {
    /// A token as the request sent it.
    pub fn new(text: &str, links: MacKey) -> Self {
        Self { text: text.to_owned(), links }
    }

    /// Whether the token is valid for this order. Digests are compared, not tokens, so the comparison's
    /// timing reveals nothing about the token.
    pub fn opens(&self, order: &Order) -> bool {
        let digest = seal::digest(&self.text);
        let mailed = order.link_token(&self.links).map(|token| seal::digest(&token));
        order.order_token_digest.as_ref() == Some(&digest) || mailed.as_ref() == Some(&digest)
    }
}

impl Order {
    /// The token in mails to the order's address; none without an address.
    fn link_token(&self, links: &MacKey) -> Option<String> {
        let address = self.email.as_ref()?.normalized();
        Some(links.token(format!("{}\n{}\n{address}", self.store_id, self.id).as_bytes()))
    }

    /// The link to the store's page of this order, for a mail to its address.
    pub fn link(&self, page: &LinkTemplate, links: &MacKey) -> Option<String> {
        Some(page.filled(self.id.as_str(), &self.link_token(links)?))
    }
}

#[cfg(test)]
mod tests {
    use core_types::fields::Email;
    use primitives::fields::FromText;

    use super::*;
    use crate::order::tests::order;

    #[test]
    fn a_mailed_token_opens_its_order_at_its_address_only() {
        let key = MacKey::generate();
        let copy = || MacKey::from_base64(&key.reveal()).unwrap();
        let one = order();
        let at = |address: &str| Order {
            email: Some(Email::from_text(address).unwrap()),
            order_token_digest: Some(seal::digest("came with it")),
            ..one.clone()
        };
        let ann = at("ann@example.com");
        let token = ann.link_token(&key).unwrap();
        let digest = |token: &str| PresentedToken::new(token, copy());
        assert!(digest(&token).opens(&ann) && digest("came with it").opens(&ann));
        assert!(digest(&token).opens(&at("Ann@Example.com")), "one mailbox");
        assert!(!digest(&token).opens(&at("bob@example.com")), "another mailbox");
        assert!(!PresentedToken::new(&token, MacKey::generate()).opens(&ann), "another key");
        assert!(!digest("").opens(&ann) && !digest("").opens(&Order { email: None, ..order() }));
        let page = LinkTemplate::from_text("https://shop.example/{order_id}?t={token}").unwrap();
        let link = ann.link(&page, &key).unwrap();
        assert_eq!(link, format!("https://shop.example/{}?t={token}", ann.id));
        assert_eq!(Order { email: None, ..order() }.link(&page, &key), None);
    }
}

//! Who may read and change a cart: the customer whose cart it is, and the bearer of its token.
//!
//! A guest's cart has a token, returned once and stored as its digest. A customer's cart has none, because
//! their session opens it; the link in a mail has a token that is derived from the cart, its address and a key,
//! and is stored nowhere.

use std::fmt;

use core_types::fields::CartLinkTemplate;
use core_types::id::CustomerId;
use crypto::seal;
use crypto::seal::MacKey;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::Cart;

/// A token that a request presents for a cart, with the key that tokens in mails are derived with.
pub struct PresentedCartToken {
    text: String,
    links: MacKey,
}

impl fmt::Debug for PresentedCartToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PresentedCartToken")
    }
}

impl PresentedCartToken {
    /// A token as the request sent it.
    pub fn new(text: &str, links: MacKey) -> Self {
        Self { text: text.to_owned(), links }
    }

    /// Whether the token is valid for this cart. Digests are compared, so the comparison's timing reveals
    /// nothing about the token.
    fn opens(&self, cart: &Cart) -> bool {
        let digest = seal::digest(&self.text);
        let mailed = cart.link_token(&self.links).map(|token| seal::digest(&token));
        cart.token_digest.as_ref() == Some(&digest) || mailed.as_ref() == Some(&digest)
    }
}

impl Cart {
    /// Ensures that a request may read and change the cart: its customer's, or one with its token.
    ///
    /// # Errors
    /// `not_found`, also for a cart that has expired.
    pub fn ensure_shown_to(
        &self,
        customer: Option<&CustomerId>,
        token: Option<&PresentedCartToken>,
        now: Timestamp,
    ) -> Result<(), Problem> {
        let is_theirs = customer.is_some() && self.customer_id.as_ref() == customer;
        let is_shown = is_theirs || token.is_some_and(|token| token.opens(self));
        if is_shown && self.is_retained(now) { Ok(()) } else { Err(Code::NotFound.into()) }
    }

    /// The token in a mail to its customer.
    fn link_token(&self, links: &MacKey) -> Option<String> {
        let customer = self.customer_id.as_ref()?;
        Some(links.token(format!("cart\n{}\n{}\n{customer}", self.store_id, self.id).as_bytes()))
    }

    /// The link to the store's page of this cart, for a mail to the address of its customer.
    pub fn link(&self, page: &CartLinkTemplate, links: &MacKey) -> Option<String> {
        Some(page.filled(self.id.as_str(), &self.link_token(links)?))
    }
}

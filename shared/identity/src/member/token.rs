//! The token of an invitation: mailed once, and kept as its digest.

use core_types::id::StoreId;
use primitives::id;
use crypto::seal;

/// Digits of the store that a token names.
const NAME: usize = 32;
/// Characters of what only the mail says: 192 bits. With the name they fit a line of a mail.
const SECRET: usize = 32;

/// A token as somebody presented it: it names its store, and proves nothing yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedInvitation {
    /// The store that it says it is of.
    pub store_id: StoreId,
    /// SHA-256 of the token.
    pub digest: String,
}

impl UnverifiedInvitation {
    /// Reads a token.
    pub fn parse(token: &str) -> Option<Self> {
        let (name, secret) = token.split_at_checked(NAME)?;
        let store = format!("{}{name}", StoreId::PREFIX);
        (secret.len() == SECRET && id::is_well_formed(StoreId::PREFIX, &store)).then_some(())?;
        Some(Self { store_id: StoreId::parse(&store)?, digest: seal::digest(token) })
    }
}

/// A new token of a store's, which is mailed and kept nowhere, and its digest.
pub(super) fn draw(store: &StoreId) -> (String, String) {
    let secret: String = seal::random_secret().chars().take(SECRET).collect();
    let token = format!("{}{secret}", store.digits());
    let digest = seal::digest(&token);
    (token, digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_store_and_nothing_else_is_one() {
        let store = StoreId::derive(&["s"]);
        let (token, digest) = draw(&store);
        let read = UnverifiedInvitation::parse(&token);
        assert_eq!(read, Some(UnverifiedInvitation { store_id: store, digest }));
        assert_eq!(token.len(), NAME + SECRET);
        let longer = format!("{token}a");
        let odd = token.replacen(|c: char| c.is_ascii_hexdigit(), "X", 1);
        for other in ["", "a", &token[1..], &longer, &odd, &"ä".repeat(32)] {
            assert_eq!(UnverifiedInvitation::parse(other), None, "{other}");
        }
    }
}

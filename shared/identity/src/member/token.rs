//! The token of an invitation: mailed once, and stored as its digest.

use core_types::id::StoreId;
use crypto::seal;
use primitives::id;

/// The number of digits of the store's id in a token.
const STORE_DIGITS: usize = 32;
/// The length of the secret in characters: 192 bits. Together with the store's digits it fits on a line
/// of a mail.
const SECRET_LENGTH: usize = 32;

/// A parsed token: it names its store, and proves nothing yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedInvitation {
    /// The store that it names.
    pub store_id: StoreId,
    /// SHA-256 of the token.
    pub digest: String,
}

impl UnverifiedInvitation {
    /// Parses a token.
    pub fn parse(token: &str) -> Option<Self> {
        let (digits, secret) = token.split_at_checked(STORE_DIGITS)?;
        let store = format!("{}{digits}", StoreId::PREFIX);
        let is_valid = secret.len() == SECRET_LENGTH && id::is_well_formed(StoreId::PREFIX, &store);
        is_valid.then_some(())?;
        Some(Self { store_id: StoreId::parse(&store)?, digest: seal::digest(token) })
    }
}

/// Creates a token of a store, which is mailed and not stored, and its digest.
pub(super) fn draw(store: &StoreId) -> (String, String) {
    let secret: String = seal::random_secret().chars().take(SECRET_LENGTH).collect();
    let token = format!("{}{secret}", store.digits());
    let digest = seal::digest(&token);
    (token, digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_store_and_malformed_ones_are_rejected() {
        let store = StoreId::derive(&["s"]);
        let (token, digest) = draw(&store);
        let read = UnverifiedInvitation::parse(&token);
        assert_eq!(read, Some(UnverifiedInvitation { store_id: store, digest }));
        assert_eq!(token.len(), STORE_DIGITS + SECRET_LENGTH);
        let longer = format!("{token}a");
        let odd = token.replacen(|c: char| c.is_ascii_hexdigit(), "X", 1);
        for other in ["", "a", &token[1..], &longer, &odd, &"ä".repeat(32)] {
            assert_eq!(UnverifiedInvitation::parse(other), None, "{other}");
        }
    }
}

//! Ids of a provider's objects.

use crypto::seal;

/// Creates an id of a prefix and random letters: a shop may still have ids of an earlier server.
pub(crate) fn mint(prefix: &str, length: usize) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh";
    let letter = |byte: u8| LETTERS.get(usize::from(byte & 31)).copied().map_or('A', char::from);
    prefix.chars().chain(seal::random_bytes::<32>().map(letter).into_iter().take(length)).collect()
}

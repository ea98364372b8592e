//! Cryptography: access tokens, password hashes, signatures of webhooks and links, and seals of values at rest.
//! The primitives are those of maintained crates. These modules choose parameters and formats.

pub mod password;
pub mod seal;
pub mod signature;
pub mod token;

//! The OAuth endpoints: token, token exchange, revocation, introspection, keys and metadata (RFC 6749, 7009,
//! 7662, 8414, 8693, 9700). Errors are those of RFC 6749 §5.2.

mod client;
mod code;
mod documents;
mod exchange;
mod issue;
mod refresh;
mod response;
mod token;
mod tokens;

pub use documents::{jwks, metadata, well_known, well_known_below};
pub use exchange::{exchange, mint_embedded};
pub use token::token;
pub use tokens::{introspect, revoke};

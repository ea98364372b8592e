//! The prefix of a store's order numbers.

use primitives::fields::{FromText, Violation};

/// The prefix of order numbers: `BB-` makes the order `BB-1001`. May be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPrefix(String);

impl FromText for OrderPrefix {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let clean = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '-' | '_');
        if text.len() <= 10 && text.chars().all(clean) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be at most 10 letters, digits, `#`, `-` and `_`.";
            Err(Violation::new("invalid_order_prefix", detail))
        }
    }
}

impl From<OrderPrefix> for String {
    fn from(prefix: OrderPrefix) -> Self {
        prefix.0
    }
}

primitives::text_field!(OrderPrefix);
primitives::string_schema!(OrderPrefix: {"pattern": "^[A-Za-z0-9#_-]{0,10}$"});

/// The order prefix of a new store.
pub(super) const FIRST_ORDER_PREFIX: &str = "#";

//! The codes of discounts, and the limit of wrong codes from a client.

use core_types::id::{DiscountId, StoreId};
use core_types::key;
use crypto::seal;
use identity::throttle::Ceiling;
use primitives::clock::MINUTE;
use primitives::fields::{FromText, Violation};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use table::ReadConsistency;
use table::item::Item;

/// The most wrong codes from one client at one store: as many as of gift cards.
const TRIES: Ceiling = Ceiling { of: "discount_code", max: 5, window: MINUTE };

/// A discount code: 1 to 50 letters, digits, `-` and `_`. Case is ignored: it is stored in capitals.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = r"^\s*[A-Za-z0-9_-]{1,50}\s*$"))]
pub struct DiscountCode(String);

impl DiscountCode {
    /// The code, in capitals.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromText for DiscountCode {
    const EXPECTS: &'static str = "a discount code";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let code = text.trim();
        let known = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if (1..=50).contains(&code.len()) && code.chars().all(known) {
            Ok(Self(code.to_ascii_uppercase()))
        } else {
            let detail = "Must be 1 to 50 letters, digits, `-` and `_`.";
            Err(Violation::new("invalid_code", detail))
        }
    }
}

primitives::text_field!(DiscountCode);

/// The item that makes a code unique in its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "unique_discount_code")]
#[item(key = key::unique_discount_code(&self.store_id, self.code.as_str()))]
pub struct UniqueDiscountCode {
    /// The store.
    pub store_id: StoreId,
    /// The code.
    pub code: DiscountCode,
    /// The discount that has the code.
    pub discount_id: DiscountId,
    /// Always 1.
    pub version: u64,
}

fn digest_of(store: &StoreId, client_prefix: &str) -> String {
    seal::digest(&format!("{store}\n{client_prefix}"))
}

/// Ensures that a client in the network `client_prefix` may try another code. It counts nothing.
///
/// # Errors
/// `too_many_attempts`; 503.
pub async fn ensure_try(
    services: &Services,
    store: &StoreId,
    client_prefix: &str,
    consistency: ReadConsistency,
) -> Result<(), Problem> {
    TRIES.ensure_as(services, &digest_of(store, client_prefix), consistency).await
}

/// Counts a wrong code from a client in the network `client_prefix`.
///
/// # Errors
/// `too_many_attempts`; 503.
pub async fn count_try(
    services: &Services,
    store: &StoreId,
    client_prefix: &str,
) -> Result<(), Problem> {
    TRIES.count_attempt(services, &digest_of(store, client_prefix), |write| write).await
}

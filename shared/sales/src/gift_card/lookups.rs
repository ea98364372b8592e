//! How often a client may try a code out: five times in any minute.
//!
//! Asking for a balance counts before the code is looked at, right or wrong. Paying with a code
//! counts when it is wrong; but whoever has used their tries up is refused before any code is
//! looked at, or else the refusal would tell the wrong codes from the right ones.

use gateway::app::App;
use gateway::clock::MINUTE;
use gateway::problem::Problem;
use gateway::seal;
use ground::id::StoreId;
use identity::throttle::Ceiling;

/// Look-ups of a client at a store.
const LOOKUPS: Ceiling = Ceiling { of: "gift_card", most: 5, window: MINUTE };

/// Demands that whoever is in the network `client_prefix` may look up another code, and counts
/// nothing.
///
/// # Errors
/// `too_many_attempts`; 503.
pub async fn demand_lookup(app: &App, store: &StoreId, client_prefix: &str) -> Result<(), Problem> {
    LOOKUPS.demand(app, &digest_of(store, client_prefix)).await
}

fn digest_of(store: &StoreId, client_prefix: &str) -> String {
    seal::digest(&format!("{store}\n{client_prefix}"))
}

/// Counts a look-up by whoever is in the network `client_prefix`.
///
/// # Errors
/// `too_many_attempts`; 503 when it cannot be counted: codes are money.
pub async fn count_lookup(app: &App, store: &StoreId, client_prefix: &str) -> Result<(), Problem> {
    LOOKUPS.take(app, &digest_of(store, client_prefix), |write| write).await
}

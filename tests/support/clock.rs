//! Durations and moments, as the clock of a [`crate::Gateway`] counts them.

use std::time::Duration;

pub use primitives::clock::{DAY, HOUR, MINUTE, Timestamp};

/// How long a process may use a cached store.
pub const STORE_CACHE: Duration = identity::storefront::CACHE_TIME;
/// How long a page of a storefront is answered from the response cache.
pub const RESPONSE_CACHE: Duration = gateway::response_cache::LIFE;

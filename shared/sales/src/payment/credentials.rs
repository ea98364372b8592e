//! What a store and its payment provider know each other by.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What authenticates a store to its provider, and the provider to the store.
#[derive(Clone, Serialize, Deserialize)]
pub struct ProviderCredentials {
    /// The public key: `rzp_…`, `pk_…`.
    pub key_id: String,
    /// The secret key.
    pub secret: String,
    /// What webhooks are signed with.
    pub webhook_secret: Option<String>,
}

impl fmt::Debug for ProviderCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderCredentials").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

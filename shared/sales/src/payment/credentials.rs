//! The credentials of a store's account with a payment provider.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The keys that authenticate the store to its provider, and the provider's webhooks to the store.
#[derive(Clone, Serialize, Deserialize)]
pub struct ProviderCredentials {
    /// The public key: `rzp_…`, `pk_…`.
    pub key_id: String,
    /// The secret key.
    pub secret: String,
    /// The signing secret of webhooks.
    pub webhook_secret: Option<String>,
}

impl fmt::Debug for ProviderCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderCredentials").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

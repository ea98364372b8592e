//! Secrets: read at first use, kept for five minutes, and the last good value kept when Secrets
//! Manager fails.
//!
//! There are two: the *signing keys*, which only the app-store function may read, and the
//! *shared keys* (public JWKS, data key, cursor key), which every function reads.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_secretsmanager::Client;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, MINUTE, Timestamp};
use crate::problem::Problem;
use crate::seal::{MacKey, SealKey};
use crate::token::{KeySet, PublicKeys};

/// How long a value is used before it is read again.
const FRESH: Duration = MINUTE.saturating_mul(5);

/// The shared keys as they are stored: one JSON secret.
#[derive(Serialize, Deserialize)]
pub struct StoredKeys {
    /// The public half of the signing keys, as a JWK Set.
    pub jwks: serde_json::Value,
    /// Base64 of the 32-byte data key: what is sealed at rest.
    pub data_key: String,
    /// Base64 of the 32-byte key that authenticates cursors.
    pub cursor_key: String,
}

impl StoredKeys {
    /// Fresh keys beside these signing keys.
    pub fn generate(signing: &KeySet) -> Self {
        Self {
            jwks: signing.jwks(),
            data_key: SealKey::generate().reveal(),
            cursor_key: MacKey::generate().reveal(),
        }
    }
}

/// The shared keys, ready for use.
#[derive(Debug)]
pub struct Keys {
    /// Verifies app tokens.
    pub public: PublicKeys,
    /// The public keys as they are published.
    pub jwks: serde_json::Value,
    /// Seals what is kept at rest.
    pub seal: SealKey,
    /// Authenticates cursors.
    pub cursor: MacKey,
}

/// The secrets. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    clock: Clock,
    signing_id: String,
    shared_id: String,
    signing: Cached<KeySet>,
    shared: Cached<Keys>,
}

#[derive(Debug)]
struct Cached<T>(Mutex<Option<(Timestamp, Arc<T>)>>);

impl<T> Cached<T> {
    fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn get(&self) -> Option<(Timestamp, Arc<T>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, now: Timestamp, value: &Arc<T>) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some((now, Arc::clone(value)));
    }
}

impl Secrets {
    /// Secrets by these ids (names or ARNs).
    pub fn new(client: Client, clock: Clock, signing_id: String, shared_id: String) -> Self {
        let (signing, shared) = (Cached::new(), Cached::new());
        Self(Arc::new(Inner { client, clock, signing_id, shared_id, signing, shared }))
    }

    /// The shared keys.
    pub async fn keys(&self) -> Result<Arc<Keys>, Problem> {
        let inner = &self.0;
        self.cached(&inner.shared, &inner.shared_id, |text| {
            let stored: StoredKeys = serde_json::from_str(text).map_err(|e| e.to_string())?;
            Ok(Keys {
                public: PublicKeys::from_jwks(&stored.jwks).map_err(|e| e.to_string())?,
                jwks: stored.jwks,
                seal: SealKey::from_base64(&stored.data_key).map_err(|e| e.to_string())?,
                cursor: MacKey::from_base64(&stored.cursor_key).map_err(|e| e.to_string())?,
            })
        })
        .await
    }

    /// The signing keys: only functions that mint app tokens may read them.
    pub async fn signing_keys(&self) -> Result<Arc<KeySet>, Problem> {
        let inner = &self.0;
        self.cached(&inner.signing, &inner.signing_id, |text| {
            KeySet::from_secret(text).map_err(|e| e.to_string())
        })
        .await
    }

    async fn cached<T>(
        &self,
        cache: &Cached<T>,
        id: &str,
        load: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Arc<T>, Problem> {
        let now = self.0.clock.now();
        let known = cache.get();
        if let Some((read_at, value)) = &known
            && now < read_at.plus(FRESH)
        {
            return Ok(Arc::clone(value));
        }
        let loaded = match self.read(id).await {
            Ok(text) => load(&text).map_err(|cause| format!("secret {id}: {cause}")),
            Err(cause) => Err(cause),
        };
        match (loaded, known) {
            (Ok(value), _) => {
                let value = Arc::new(value);
                cache.set(now, &value);
                Ok(value)
            }
            (Err(cause), Some((_, last_good))) => {
                tracing::warn!(cause, "using the last good value of a secret");
                cache.set(now, &last_good);
                Ok(last_good)
            }
            (Err(cause), None) => Err(Problem::unavailable(cause)),
        }
    }

    async fn read(&self, id: &str) -> Result<String, String> {
        let answer = self.0.client.get_secret_value().secret_id(id).send().await;
        let answer = answer.map_err(|error| crate::table::unavailable(&error).to_string())?;
        answer.secret_string.ok_or_else(|| format!("secret {id} has no text"))
    }
}

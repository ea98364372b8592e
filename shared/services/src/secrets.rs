//! Secrets: one for each use, so that a function can read only those that it needs. Each is read at first
//! use and cached for five minutes; its last valid value is used while Secrets Manager fails.
//!
//! | secret | what it opens | read by |
//! |---|---|---|
//! | signing keys | signs app tokens | who issues them |
//! | receipt keys | signs receipts and reports | who issues those |
//! | shared keys | the public halves; cursors, kept answers, preview tokens, cookies of protected shops | who serves requests |
//! | mail key | mails on their way; the tokens of orders in them | who writes or sends them, or shows orders to shoppers |
//! | MFA key | secrets of second factors | who signs merchants in |
//! | payment key | credentials of payment providers | who calls the providers |
//! | webhook key | secrets and headers of webhook subscriptions | who makes or signs with them |
//! | gift-card key | finds a gift card by its code | who issues or takes them |
//! | mail server | URL of the mail server, with its password | who sends mail |

pub mod documents;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_secretsmanager::Client;
use futures_util::FutureExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::documents::{StoredKey, StoredKeys};
use crate::config::Config;
use crypto::seal::{MacKey, SealKey, SteadyKey};
use crypto::token::{KeySet, PublicKeys};
use primitives::clock::{Clock, MINUTE, Timestamp};
use primitives::problem::Problem;

/// The time for which a value is used before it is read again.
const FRESH: Duration = MINUTE.saturating_mul(5);

/// The shared keys, ready for use.
#[derive(Debug)]
pub struct Keys {
    /// Verifies app tokens. It does not contain the receipt keys.
    pub public: PublicKeys,
    /// Every public key in published form: those of app tokens, then those of receipts.
    pub jwks: serde_json::Value,
    /// Seals stored responses.
    pub request_key: SealKey,
    /// Seals cursors, under a key that is derived from the other.
    pub pages: SteadyKey,
    /// Signs preview tokens, under a key that is derived from the same.
    pub previews: MacKey,
    /// Signs links to files, under a key that is derived from the same.
    pub downloads: MacKey,
    /// Signs the cookies of visitors who know a shop's password, under a key that is derived from the same.
    pub shops: MacKey,
}

/// The mail server, and its credentials.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MailServer {
    /// `smtp://` or `smtps://`, with user and password.
    url: String,
}

/// The secrets. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    clock: Clock,
    config: Arc<Config>,
    signing: Cached<KeySet>,
    receipts: Cached<KeySet>,
    shared: Cached<Keys>,
    mail: Cached<SealKey>,
    mfa: Cached<SealKey>,
    payments: Cached<SealKey>,
    webhooks: Cached<SealKey>,
    gift_cards: Cached<MacKey>,
    mail_server: Cached<String>,
}

#[derive(Debug)]
struct Cached<T>(Mutex<Option<(Timestamp, Arc<T>)>>);

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Cached<T> {
    fn get(&self) -> Option<(Timestamp, Arc<T>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, now: Timestamp, value: &Arc<T>) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some((now, Arc::clone(value)));
    }
}

impl Secrets {
    /// The secrets with the ids of the settings.
    pub fn new(client: Client, clock: Clock, config: Arc<Config>) -> Self {
        Self(Arc::new(Inner {
            client,
            clock,
            config,
            signing: Cached::default(),
            receipts: Cached::default(),
            shared: Cached::default(),
            mail: Cached::default(),
            mfa: Cached::default(),
            payments: Cached::default(),
            webhooks: Cached::default(),
            gift_cards: Cached::default(),
            mail_server: Cached::default(),
        }))
    }

    /// The keys of functions that serve requests: signing, request and MAC keys.
    ///
    /// # Errors
    /// 503, as for every other secret.
    pub async fn keys(&self) -> Result<Arc<Keys>, Problem> {
        let Inner { shared, config, .. } = &*self.0;
        self.cached(shared, &config.secrets.shared, |text| {
            let stored: StoredKeys = json(text)?;
            let request_key =
                SealKey::from_base64(&stored.request_key).map_err(|e| e.to_string())?;
            Ok(Keys {
                public: stored.token_keys().map_err(|e| e.to_string())?,
                jwks: stored.published(),
                pages: SteadyKey::derive(&request_key, "cursors of pages, AES-256-GCM-SIV"),
                previews: MacKey::derive(&request_key, "preview tokens, HMAC-SHA256"),
                downloads: MacKey::derive(&request_key, "links to files, HMAC-SHA256"),
                shops: MacKey::derive(&request_key, "passwords of shops, HMAC-SHA256"),
                request_key,
            })
        })
        .await
    }

    /// Signs app tokens.
    pub async fn signing_keys(&self) -> Result<Arc<KeySet>, Problem> {
        let Inner { signing, config, .. } = &*self.0;
        self.cached(signing, &config.secrets.signing, key_set).await
    }

    /// Signs receipts and reports, never app tokens.
    pub async fn receipt_keys(&self) -> Result<Arc<KeySet>, Problem> {
        let Inner { receipts, config, .. } = &*self.0;
        self.cached(receipts, &config.secrets.receipts, key_set).await
    }

    /// Seals stored mails.
    pub async fn mail_key(&self) -> Result<Arc<SealKey>, Problem> {
        let Inner { mail, config, .. } = &*self.0;
        self.cached(mail, &config.secrets.mail, seal_key).await
    }

    /// Computes the tokens of orders in mails, under a key that is derived from that of mails: functions
    /// that write mails compute them, functions that return orders verify them.
    ///
    /// # Errors
    /// 503.
    pub async fn order_link_key(&self) -> Result<MacKey, Problem> {
        let mails = self.mail_key().await?;
        Ok(MacKey::derive(&mails, "tokens of orders in mails, HMAC-SHA256"))
    }

    /// Seals the secrets of second factors.
    pub async fn mfa_key(&self) -> Result<Arc<SealKey>, Problem> {
        let Inner { mfa, config, .. } = &*self.0;
        self.cached(mfa, &config.secrets.mfa, seal_key).await
    }

    /// Seals the credentials of payment providers, and their evidence.
    pub async fn payment_key(&self) -> Result<Arc<SealKey>, Problem> {
        let Inner { payments, config, .. } = &*self.0;
        self.cached(payments, &config.secrets.payments, seal_key).await
    }

    /// Seals the signing secrets and headers of webhook subscriptions.
    pub async fn webhook_key(&self) -> Result<Arc<SealKey>, Problem> {
        let Inner { webhooks, config, .. } = &*self.0;
        self.cached(webhooks, &config.secrets.webhooks, seal_key).await
    }

    /// Hashes the codes by which gift cards are found.
    pub async fn gift_card_key(&self) -> Result<Arc<MacKey>, Problem> {
        let Inner { gift_cards, config, .. } = &*self.0;
        self.cached(gift_cards, &config.secrets.gift_cards, |text| {
            MacKey::from_base64(&json::<StoredKey>(text)?.key).map_err(|e| e.to_string())
        })
        .await
    }

    /// The URL of the mail server, `smtp://` or `smtps://`, with user and password.
    pub async fn mail_server(&self) -> Result<Arc<String>, Problem> {
        let Inner { mail_server, config, .. } = &*self.0;
        self.cached(mail_server, &config.secrets.mail_server, |text| {
            Ok(json::<MailServer>(text)?.url)
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
                tracing::warn!(cause, "secret could not be read; its last value is used");
                cache.set(now, &last_good);
                Ok(last_good)
            }
            (Err(cause), None) => Err(Problem::unavailable(cause)),
        }
    }

    async fn read(&self, id: &str) -> Result<String, String> {
        let answer = self.0.client.get_secret_value().secret_id(id).send().boxed().await;
        let answer = answer.map_err(|error| table::unavailable(&error).to_string())?;
        answer.secret_string.ok_or_else(|| format!("secret {id} has no text"))
    }
}

/// Parses the document of a secret. The error does not quote its content.
fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("not the expected JSON, at line {line}, column {column}")
    })
}

fn key_set(text: &str) -> Result<KeySet, String> {
    KeySet::from_secret(text).map_err(|error| error.to_string())
}

fn seal_key(text: &str) -> Result<SealKey, String> {
    SealKey::from_base64(&json::<StoredKey>(text)?.key).map_err(|error| error.to_string())
}

//! A store's account with a payment provider: credentials that are written and never read back.

use core_types::id::StoreId;
use core_types::key;
use core_types::provider::ProviderName;
use crypto::seal::SealKey;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::Condition;
use table::item::{Item, Key};

use super::connected::Connected;
use super::credentials::ProviderCredentials;
use super::manual::Manual;
use super::razorpay::Razorpay;
use super::stripe::Stripe;
use super::{CaptureMethod, Mode};

/// A store's account with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderAccount {
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// Whether money moves.
    pub mode: Mode,
    /// When money is taken.
    pub capture_method: CaptureMethod,
    /// Whether customers may pay with it.
    pub enabled: bool,
    /// What customers are told: where to transfer to.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The public key.
    #[serde(default)]
    pub key_id: Option<String>,
    /// The last four characters of the secret key.
    #[serde(default)]
    pub last4: Option<String>,
    /// Whether webhooks can be verified.
    #[serde(default)]
    pub has_webhook_secret: bool,
    /// The credentials, sealed.
    #[serde(default)]
    pub sealed_credentials: Option<String>,
    /// When the provider last accepted the credentials.
    #[serde(default)]
    pub verified_at: Option<Timestamp>,
    /// When the merchant gave it up: nobody sees it any more, and what was paid with it can still
    /// be refunded.
    #[serde(default)]
    pub disconnected_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for ProviderAccount {
    const KIND: &'static str = "payment_provider";
    fn key(&self) -> Key {
        key::payment_provider(&self.store_id, self.provider.as_str())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// What sealed credentials are bound to: they open for no other store and no other provider.
fn context(store: &StoreId, provider: ProviderName) -> String {
    format!("{store}/{provider}/credentials")
}

impl ProviderAccount {
    /// Cash and bank transfer, which every store takes unless it says otherwise: version 0, not
    /// in the table.
    pub fn manual(store: &Store) -> Self {
        Self { enabled: true, ..Self::blank(store, ProviderName::Manual) }
    }

    /// An account that nothing was said about: version 0, not in the table.
    pub fn blank(store: &Store, provider: ProviderName) -> Self {
        let cash = provider == ProviderName::Manual;
        Self {
            store_id: store.id.clone(),
            provider,
            mode: if cash { Mode::Live } else { Mode::Test },
            capture_method: if cash { CaptureMethod::Manual } else { CaptureMethod::Automatic },
            enabled: false,
            instructions: None,
            key_id: None,
            last4: None,
            has_webhook_secret: false,
            sealed_credentials: None,
            verified_at: None,
            disconnected_at: None,
            created_at: store.created_at,
            updated_at: store.created_at,
            version: 0,
        }
    }

    /// Whether it is connected by what is said next.
    pub fn is_new(&self) -> bool {
        let lacks_keys = self.sealed_credentials.is_none();
        self.version == 0 || (lacks_keys && self.provider != ProviderName::Manual)
    }

    /// Whether it is in the table as it is here: who begins a payment with it and who gives it up
    /// cannot both succeed.
    pub fn stands(&self) -> Condition {
        Condition::is_at(self.version)
    }

    /// The account, for customers to pay with or not.
    #[must_use]
    pub fn switched(self, enabled: bool, now: Timestamp) -> Self {
        Self { enabled, updated_at: now, version: self.version.saturating_add(1), ..self }
    }

    /// The account as given up. Its credentials stay, sealed: payments that were made with it are
    /// refunded, and their webhooks verified, as before.
    #[must_use]
    pub fn disconnected(self, now: Timestamp) -> Self {
        Self { disconnected_at: Some(now), ..self.switched(false, now) }
    }

    /// The account with these credentials, sealed.
    #[must_use]
    pub fn with_credentials(mut self, key: &SealKey, credentials: &ProviderCredentials) -> Self {
        let text = serde_json::to_vec(credentials).unwrap_or_default();
        let tail = credentials.secret.chars().count().saturating_sub(4);
        self.sealed_credentials =
            Some(key.seal(&text, context(&self.store_id, self.provider).as_bytes()));
        self.key_id = Some(credentials.key_id.clone());
        self.last4 = Some(credentials.secret.chars().skip(tail).collect());
        self.has_webhook_secret = credentials.webhook_secret.is_some();
        self
    }

    /// The credentials; none when there are none, or when they do not open.
    pub fn credentials(&self, key: &SealKey) -> Option<ProviderCredentials> {
        let sealed = self.sealed_credentials.as_deref()?;
        let context = context(&self.store_id, self.provider);
        serde_json::from_slice(&key.open(sealed, context.as_bytes()).ok()?).ok()
    }

    /// The provider, ready to be called.
    ///
    /// # Errors
    /// `provider_not_connected`.
    pub fn connect(&self, key: &SealKey) -> Result<Connected, Problem> {
        let capture_method = self.capture_method;
        let credentials =
            || self.credentials(key).ok_or_else(|| Problem::from(Code::ProviderNotConnected));
        Ok(match self.provider {
            ProviderName::Manual => {
                Connected::Manual(Manual { instructions: self.instructions.clone() })
            }
            ProviderName::Razorpay => {
                Connected::Razorpay(Razorpay { credentials: credentials()?, capture_method })
            }
            ProviderName::Stripe => {
                Connected::Stripe(Stripe { credentials: credentials()?, capture_method })
            }
        })
    }
}

/// What is shown of credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MaskedCredentials {
    /// The public key.
    pub key_id: String,
    /// The last four characters of the secret key.
    pub last4: String,
    /// Whether webhooks can be verified.
    pub has_webhook_secret: bool,
}

/// An account as the merchant sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderAccountView {
    /// The provider's name: a store has one account with each.
    pub id: ProviderName,
    /// `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// Whether money moves.
    pub mode: Mode,
    /// When money is taken.
    pub capture_method: CaptureMethod,
    /// Whether customers may pay with it.
    pub enabled: bool,
    /// What customers are told.
    pub instructions: Option<String>,
    /// What is shown of the credentials; none for `manual`, or when there are none.
    pub credentials: Option<MaskedCredentials>,
    /// Where the provider is to send its webhooks.
    pub webhook_url: Option<String>,
    /// When the provider last accepted the credentials.
    pub verified_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes; 0 while nothing was ever said.
    pub version: u64,
}

impl ProviderAccountView {
    /// The account, with the address that the provider is told.
    pub fn of(account: &ProviderAccount, store: &Store, base_url: &str) -> Self {
        let provider = account.provider;
        let masked = account.key_id.clone().zip(account.last4.clone());
        let webhook_url = (provider != ProviderName::Manual).then(|| {
            let shop = store.subdomain.as_str();
            format!("{base_url}/v1/storefront/{shop}/payments/{provider}/webhook")
        });
        Self {
            id: provider,
            provider,
            mode: account.mode,
            capture_method: account.capture_method,
            enabled: account.enabled,
            instructions: account.instructions.clone(),
            credentials: masked.map(|(key_id, last4)| MaskedCredentials {
                key_id,
                last4,
                has_webhook_secret: account.has_webhook_secret,
            }),
            webhook_url,
            verified_at: account.verified_at,
            created_at: account.created_at,
            updated_at: account.updated_at,
            version: account.version,
        }
    }
}

core_types::view! {
    /// A way to pay, as a customer sees it.
    #[schemars(rename = "PaymentMethod")]
    MethodView of account: ProviderAccount {
        /// The provider's name: a store has one account with each.
        id: ProviderName = account.provider,
        /// `manual`, `razorpay` or `stripe`.
        provider: ProviderName,
        /// Whether money moves.
        mode: Mode,
        /// When money is taken.
        capture_method: CaptureMethod,
        /// The public key that the provider's script takes.
        key_id: Option<String>,
        /// What customers are told.
        instructions: Option<String>,
        /// When the account was connected.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

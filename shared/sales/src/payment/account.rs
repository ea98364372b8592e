//! A store's account with a payment provider. Its credentials are write-only in the API.

use core_types::fields::Handle;
use core_types::id::{PaymentId, StoreId};
use core_types::key;
use core_types::provider::ProviderName;
use crypto::seal::SealKey;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::Condition;
use table::item::Item;

use super::credentials::ProviderCredentials;
use super::manual::Manual;
use super::manual_method::ManualMethod;
use super::provider_client::ProviderClient;
use super::razorpay::Razorpay;
use super::stripe::Stripe;
use super::{Capabilities, CaptureMethod, Mode, NewPayment};

/// A store's account with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "payment_provider")]
#[item(key = key::payment_provider(&self.store_id, self.provider.as_str()))]
pub struct ProviderAccount {
    /// The store.
    pub store_id: StoreId,
    /// The payment provider: `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// Test or live.
    pub mode: Mode,
    /// The capture method.
    pub capture_method: CaptureMethod,
    /// Whether customers can pay with it.
    pub enabled: bool,
    /// The instructions for customers, such as the account for a bank transfer.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The manual payment methods; only `manual` has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<ManualMethod>,
    /// The public key.
    #[serde(default)]
    pub key_id: Option<String>,
    /// The last four characters of the secret key.
    #[serde(default)]
    pub last4: Option<String>,
    /// Whether webhooks can be verified.
    #[serde(default)]
    pub has_webhook_secret: bool,
    /// The sealed credentials.
    #[serde(default)]
    pub sealed_credentials: Option<String>,
    /// When the provider last accepted the credentials.
    #[serde(default)]
    pub verified_at: Option<Timestamp>,
    /// When the merchant disconnected it. It is no longer returned, but its payments can still be refunded.
    #[serde(default)]
    pub disconnected_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

/// The context of sealed credentials: they do not open for another store or provider.
fn context(store: &StoreId, provider: ProviderName) -> String {
    format!("{store}/{provider}/credentials")
}

impl ProviderAccount {
    /// Derives the id of the `nth` payment of an order through this account, so that concurrent requests create
    /// the same payment, at the provider too. The parameters of the provider's request are part of it,
    /// because a provider rejects different parameters with the same idempotency key.
    pub fn payment_id(&self, input: &NewPayment, nth: usize) -> PaymentId {
        let words = [
            self.provider.as_str(),
            self.mode.as_str(),
            self.capture_method.as_str(),
            self.key_id.as_deref().unwrap_or_default(),
            &input.amount.amount.to_string(),
            &nth.to_string(),
        ];
        PaymentId::of_order(&input.order_id, &words)
    }

    /// The default account for cash and bank transfer, which every store has until it changes it: version 0,
    /// not stored.
    pub fn manual(store: &Store) -> Self {
        Self { enabled: true, ..Self::blank(store, ProviderName::Manual) }
    }

    /// An account with default settings: version 0, not stored.
    pub fn blank(store: &Store, provider: ProviderName) -> Self {
        let is_online = Capabilities::of(provider).is_online;
        Self {
            store_id: store.id.clone(),
            provider,
            mode: if is_online { Mode::Test } else { Mode::Live },
            capture_method: if is_online {
                CaptureMethod::Automatic
            } else {
                CaptureMethod::Manual
            },
            enabled: false,
            instructions: None,
            methods: Vec::new(),
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

    /// Whether the next change connects it.
    pub fn is_new(&self) -> bool {
        let lacks_keys = self.sealed_credentials.is_none();
        self.version == 0 || (lacks_keys && Capabilities::of(self.provider).is_online)
    }

    /// The condition that the stored account has this version, so that of a new payment with it and its
    /// disconnection only one succeeds.
    pub fn version_condition(&self) -> Condition {
        Condition::is_at(self.version)
    }

    /// Enables or disables the account.
    #[must_use]
    pub fn switched(self, enabled: bool, now: Timestamp) -> Self {
        Self { enabled, updated_at: now, version: self.version.saturating_add(1), ..self }
    }

    /// Disconnects the account. Its sealed credentials stay: its payments can still be refunded, and its
    /// webhooks verified.
    #[must_use]
    pub fn disconnected(self, now: Timestamp) -> Self {
        Self { disconnected_at: Some(now), ..self.switched(false, now) }
    }

    /// Sets the credentials, sealed.
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

    /// The opened credentials; none if it has none or they do not open.
    pub fn credentials(&self, key: &SealKey) -> Option<ProviderCredentials> {
        let sealed = self.sealed_credentials.as_deref()?;
        let context = context(&self.store_id, self.provider);
        serde_json::from_slice(&key.open(sealed, context.as_bytes()).ok()?).ok()
    }

    /// The provider with the credentials, ready for calls.
    ///
    /// # Errors
    /// `provider_not_connected`.
    pub fn connect(&self, key: &SealKey) -> Result<ProviderClient, Problem> {
        let capture_method = self.capture_method;
        let credentials =
            || self.credentials(key).ok_or_else(|| Problem::from(Code::ProviderNotConnected));
        Ok(match self.provider {
            ProviderName::Manual => {
                ProviderClient::Manual(Manual { instructions: self.instructions.clone() })
            }
            ProviderName::Razorpay => {
                ProviderClient::Razorpay(Razorpay { credentials: credentials()?, capture_method })
            }
            ProviderName::Stripe => {
                ProviderClient::Stripe(Stripe { credentials: credentials()?, capture_method })
            }
        })
    }
}

/// The representation of credentials in responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MaskedCredentials {
    /// The public key.
    pub key_id: String,
    /// The last four characters of the secret key.
    pub last4: String,
    /// Whether webhooks can be verified.
    pub has_webhook_secret: bool,
}

/// A store's account with a payment provider, for the merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderAccountView {
    /// The provider's name, because a store has one account with each.
    pub id: ProviderName,
    /// The payment provider: `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// Test or live.
    pub mode: Mode,
    /// The capture method.
    pub capture_method: CaptureMethod,
    /// Whether customers can pay with it.
    pub enabled: bool,
    /// The instructions for customers.
    pub instructions: Option<String>,
    /// The manual payment methods that customers choose from; only `manual` has any.
    pub methods: Vec<ManualMethod>,
    /// The masked credentials; none for `manual`, or if none are set.
    pub credentials: Option<MaskedCredentials>,
    /// The URL that the provider has to send its webhooks to; none for `manual`.
    pub webhook_url: Option<String>,
    /// When the provider last accepted the credentials.
    pub verified_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The version for `If-Match`; 0 until it is first saved.
    pub version: u64,
}

impl ProviderAccountView {
    /// The account with its webhook URL.
    pub fn of(account: &ProviderAccount, store: &Store, base_url: &str) -> Self {
        let provider = account.provider;
        let masked = account.key_id.clone().zip(account.last4.clone());
        let webhook_url = Capabilities::of(provider).is_online.then(|| {
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
            methods: account.methods.clone(),
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

/// A payment method of a store, for the customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PaymentMethod")]
pub struct MethodView {
    /// The provider's name, with the id of a manual method: `stripe`, `manual:bank-transfer`.
    pub id: String,
    /// The payment provider: `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// The manual method to choose at checkout; null for a provider without methods.
    pub method: Option<Handle>,
    /// The name of the manual method.
    pub name: Option<String>,
    /// Test or live.
    pub mode: Mode,
    /// The capture method.
    pub capture_method: CaptureMethod,
    /// The public key, for the provider's script.
    pub key_id: Option<String>,
    /// The instructions for customers.
    pub instructions: Option<String>,
    /// When the account was connected.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl MethodView {
    /// The methods of an account: its manual methods that customers can choose, or else the account itself.
    pub fn all_of(account: &ProviderAccount) -> Vec<Self> {
        let methods: Vec<Self> =
            account.offered_methods().map(|method| Self::of(account, Some(method))).collect();
        if methods.is_empty() { vec![Self::of(account, None)] } else { methods }
    }

    fn of(account: &ProviderAccount, method: Option<&ManualMethod>) -> Self {
        let provider = account.provider;
        let instructions =
            method.map_or(&account.instructions, |method| &method.instructions).clone();
        Self {
            id: method.map_or_else(
                || provider.to_string(),
                |method| format!("{provider}:{}", method.id.as_str()),
            ),
            provider,
            method: method.map(|method| method.id.clone()),
            name: method.map(|method| method.name.clone()),
            mode: account.mode,
            capture_method: account.capture_method,
            key_id: account.key_id.clone(),
            instructions,
            created_at: account.created_at,
            updated_at: account.updated_at,
            version: account.version,
        }
    }
}

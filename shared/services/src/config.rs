//! The settings, read from the environment once. Nothing else reads the environment.

use std::collections::BTreeSet;

use primitives::setting::{NamedSettings, RequiredSetting};

use crate::queue::QueueName;
use egress::Policy;

/// The settings of a function. A setting that the function was not given cannot be used: [`RequiredSetting`].
#[derive(Debug)]
pub struct Config {
    /// The table's name.
    pub table: RequiredSetting<String>,
    /// The settings that domain crates name: the URLs of queues.
    pub(crate) named: NamedSettings,
    /// The secrets.
    pub secrets: SecretIds,
    /// The base URL under which clients reach the API, without a slash at its end: the `iss` of
    /// tokens and the target of the bridge.
    pub base_url: RequiredSetting<String>,
    /// The domain below which every store has a shop at its subdomain: `shops.example.com`.
    pub shop_domain: RequiredSetting<String>,
    /// Origins that may call merchant routes from a browser.
    pub admin_origins: RequiredSetting<Vec<String>>,
    /// E-mail addresses whose accounts are platform operators once they are proven.
    pub operators: RequiredSetting<Vec<String>>,
    /// Whether failover drills and load tests may run on the canary store.
    pub drills_allowed: RequiredSetting<bool>,
    /// Development mode: answers have `Server-Timing`.
    pub development: bool,
    /// Whether published apps may run on loopback, by `http` as well: in a local system, where developer and merchants
    /// are on one machine. Never in a deployment: an address of loopback is another machine for everyone.
    pub loopback_apps: bool,
    /// Whether `X-Forwarded-For` is trusted: only behind a proxy that writes it. Never in a Lambda, where API
    /// Gateway names the client.
    pub trust_proxy: bool,
    /// The destinations that outgoing requests may reach.
    pub egress: Policy,
    /// The sender of mails.
    pub mail_from: RequiredSetting<String>,
    /// The transport of mails.
    pub mail: MailConfig,
    /// The base URLs of payment providers.
    pub payment_base_urls: PaymentBaseUrls,
    /// The build, for `GET /health`.
    pub commit: String,
    /// The AWS region.
    pub region: String,
}

/// The ids of the secrets, as names or ARNs; a function has those that it reads. Their uses:
/// [`crate::secrets`].
#[derive(Debug)]
#[expect(missing_docs, reason = "named as the secrets are")]
pub struct SecretIds {
    pub signing: RequiredSetting<String>,
    pub receipts: RequiredSetting<String>,
    pub shared: RequiredSetting<String>,
    pub mail: RequiredSetting<String>,
    pub mfa: RequiredSetting<String>,
    pub payments: RequiredSetting<String>,
    pub webhooks: RequiredSetting<String>,
    pub gift_cards: RequiredSetting<String>,
    pub mail_server: RequiredSetting<String>,
}

/// The transport of mails: the mail server that a secret names, or a directory.
#[derive(Debug, Clone, Default)]
pub struct MailConfig {
    /// The directory in which mails are stored as files instead: local systems.
    pub directory: Option<std::path::PathBuf>,
    /// Whether mails are also printed: local systems.
    pub print: bool,
}

/// The base URLs of payment providers, without a slash at the end, and the deadline of their calls.
#[derive(Debug, Clone)]
pub struct PaymentBaseUrls {
    /// Razorpay's API.
    pub razorpay: String,
    /// Stripe's API.
    pub stripe: String,
    /// Time for one call, from the resolver to the last byte. Our choice: two calls fit into what
    /// API Gateway gives a request.
    pub deadline: std::time::Duration,
}

impl Default for PaymentBaseUrls {
    fn default() -> Self {
        Self {
            razorpay: "https://api.razorpay.com".to_owned(),
            stripe: "https://api.stripe.com".to_owned(),
            deadline: std::time::Duration::from_secs(10),
        }
    }
}

impl PaymentBaseUrls {
    /// Reads them from the environment; empty where it has none.
    #[expect(clippy::disallowed_methods, reason = "this module alone reads the environment")]
    pub fn from_env() -> Self {
        let url =
            |name: &str| std::env::var(name).unwrap_or_default().trim_end_matches('/').to_owned();
        let deadline = Self::default().deadline;
        Self { razorpay: url("RAZORPAY_BASE_URL"), stripe: url("STRIPE_BASE_URL"), deadline }
    }

    /// These, with empty ones taken from `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        let either = |this: String, other| if this.is_empty() { other } else { this };
        Self {
            razorpay: either(self.razorpay, others.razorpay),
            stripe: either(self.stripe, others.stripe),
            deadline: self.deadline,
        }
    }
}

impl Config {
    /// Reads the environment.
    #[expect(clippy::disallowed_methods, reason = "this module alone reads the environment")]
    pub fn from_env() -> Self {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads the settings from the values that `given` returns for their names.
    pub fn read(given: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let text = |name: &'static str| RequiredSetting::new(name, given(name));
        let list = |name: &'static str| {
            let items = |text: String| {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(str::to_owned).collect()
            };
            RequiredSetting::new(name, given(name).map(items))
        };
        let url = |text: String| text.trim_end_matches('/').to_owned();
        let development = given("SERVICE_ENVIRONMENT").as_deref() == Some("development");
        Self {
            table: text("TABLE_NAME"),
            secrets: SecretIds {
                signing: text("SIGNING_KEYS_SECRET"),
                receipts: text("RECEIPT_KEYS_SECRET"),
                shared: text("SHARED_KEYS_SECRET"),
                mail: text("MAIL_KEY_SECRET"),
                mfa: text("MFA_KEY_SECRET"),
                payments: text("PAYMENT_KEY_SECRET"),
                webhooks: text("WEBHOOK_KEY_SECRET"),
                gift_cards: text("GIFT_CARD_KEY_SECRET"),
                mail_server: text("MAIL_SERVER_SECRET"),
            },
            base_url: RequiredSetting::new("BASE_URL", given("BASE_URL").map(url)),
            admin_origins: list("ADMIN_ORIGINS"),
            operators: list("OPERATOR_EMAILS"),
            drills_allowed: RequiredSetting::new(
                "DRILLS_ALLOWED",
                given("DRILLS_ALLOWED").map(|text| text == "true"),
            ),
            development,
            loopback_apps: false,
            trust_proxy: false,
            egress: if development { Policy::development() } else { Policy::strict() },
            mail_from: text("MAIL_FROM"),
            shop_domain: text("SHOP_DOMAIN"),
            mail: MailConfig::default(),
            payment_base_urls: PaymentBaseUrls::from_env().or(PaymentBaseUrls::default()),
            commit: option_env!("SERVICE_COMMIT").unwrap_or("unknown").to_owned(),
            region: given("AWS_REGION").unwrap_or_default(),
            named: NamedSettings::new(given),
        }
    }

    /// The URL of a queue.
    pub fn queue_url(&self, name: QueueName) -> RequiredSetting<String> {
        self.named.get(name.0)
    }

    /// The variables whose values have been used so far.
    pub fn used(&self) -> BTreeSet<&'static str> {
        let Self { secrets, .. } = self;
        let texts = [
            &self.table,
            &self.base_url,
            &self.mail_from,
            &self.shop_domain,
            &secrets.signing,
            &secrets.receipts,
            &secrets.shared,
            &secrets.mail,
            &secrets.mfa,
            &secrets.payments,
            &secrets.webhooks,
            &secrets.gift_cards,
            &secrets.mail_server,
        ];
        let lists = [&self.admin_origins, &self.operators];
        let texts = texts.into_iter().filter_map(RequiredSetting::used);
        let lists = lists.into_iter().filter_map(RequiredSetting::used);
        let flags = self.drills_allowed.used();
        texts.chain(lists).chain(flags).chain(self.named.used()).collect()
    }
}

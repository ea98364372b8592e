//! An [`App`] over in-process emulators and a settable clock: for `local`, tests and benches.
//!
//! Missing resources of a deployment (table, queues, secrets, settings) are created at the start, so that a
//! local system starts on an empty or an existing data directory.

pub mod aws;
mod browsers;
mod error;
pub mod faults;
pub mod forgeries;
pub mod guard;
mod intercept;
mod remote;
mod resources;
mod shadow;
mod stream;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::SharedInterceptor;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::{ReconnectMode, RetryConfig};
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;

pub use browsers::is_private_host;
pub use error::AnyError;
pub use remote::Elsewhere;
pub use shadow::Shadow;
pub use stream::{StreamRecords, Unhandled};
pub use table::{TTL_ATTRIBUTE, table_definition};

use aws::{EmulatorError, Emulators, Place, Ports};
use egress::{Egress, Policy};
use faults::Faults;
use gateway::app::App;
use gateway::response_cache::ResponseCache;
use guard::Guard;
use primitives::clock::Clock;
use remote::RemoteTable;
use resources::{Queues, create_secrets};
use services::Endpoints;
use services::config::{Config, MailConfig, PaymentBaseUrls};
use services::secrets::documents;

/// The table's name.
pub const TABLE: &str = "commerce";
/// The queue of webhook deliveries.
pub const WEBHOOK_QUEUE: &str = "webhooks";
/// The queue of webhook deliveries to slow receivers.
pub const SLOW_WEBHOOK_QUEUE: &str = "slow-webhooks";
/// The queue of mails.
pub const MAIL_QUEUE: &str = "mail";
/// The queue of due work.
pub const DUE_QUEUE: &str = "due";
/// The queue of long work.
pub const RUNNER_QUEUE: &str = "runner";
/// The prefix of the name of every secret, which is the stack's name in a deployment.
pub const SECRETS: &str = "service/";
/// The secrets: the name in the template, and the name of the document.
const SECRET_NAMES: [(&str, &str); 9] = [
    ("SigningKeys", documents::SIGNING_KEYS),
    ("ReceiptKeys", documents::RECEIPT_KEYS),
    ("SharedKeys", documents::SHARED_KEYS),
    ("MailKey", documents::MAIL_SEALING_KEY),
    ("MfaKey", documents::MFA_KEY),
    ("PaymentKey", documents::PROVIDER_CREDENTIALS_KEY),
    ("WebhookKey", documents::WEBHOOK_KEY),
    ("GiftCardKey", documents::GIFT_CARD_KEY),
    ("MailServer", documents::MAIL_SERVER),
];
/// Every environment variable whose value is a reference: the environment of [`Embedded::app`].
const EVERYTHING: [(&str, &str); 21] = [
    ("TABLE_NAME", "Table"),
    ("WEBHOOK_QUEUE_URL", "WebhookQueue"),
    ("SLOW_WEBHOOK_QUEUE_URL", "SlowWebhookQueue"),
    ("MAIL_QUEUE_URL", "MailQueue"),
    ("DUE_QUEUE_URL", "DueQueue"),
    ("RUNNER_QUEUE_URL", "RunnerQueue"),
    ("SIGNING_KEYS_SECRET", "SigningKeys"),
    ("RECEIPT_KEYS_SECRET", "ReceiptKeys"),
    ("SHARED_KEYS_SECRET", "SharedKeys"),
    ("MAIL_KEY_SECRET", "MailKey"),
    ("MFA_KEY_SECRET", "MfaKey"),
    ("PAYMENT_KEY_SECRET", "PaymentKey"),
    ("WEBHOOK_KEY_SECRET", "WebhookKey"),
    ("GIFT_CARD_KEY_SECRET", "GiftCardKey"),
    ("MAIL_SERVER_SECRET", "MailServer"),
    ("BASE_URL", "BaseUrl"),
    ("SHOP_DOMAIN", "ShopDomain"),
    ("ADMIN_ORIGINS", "AdminOrigins"),
    ("OPERATOR_EMAILS", "OperatorEmails"),
    ("MAIL_FROM", "MailFrom"),
    ("DRILLS_ALLOWED", "AllowDrills"),
];
/// The visibility timeout of queues without one of their own: six times the time limit of a function of 30
/// seconds, as the template has it (docs/platform.md §2).
const VISIBILITY: Duration = Duration::from_mins(3);

/// The options of an embedded system.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory; without one everything is in memory.
    pub data: Option<PathBuf>,
    /// A data directory that what is in memory is a copy of at first.
    pub copied_from: Option<PathBuf>,
    /// The ports of the emulators; 0 for any free one.
    pub ports: Ports,
    /// The changes that the table's stream records, each as `INSERT` of a kind of item; all of them if none
    /// are named. What nobody reads costs as much to write as the item itself.
    pub recorded: Option<BTreeSet<(String, String)>>,
    /// The base URL of the API, without a slash at the end.
    pub base_url: String,
    /// The domain below which every store has a shop.
    pub shop_domain: String,
    /// Origins that may call merchant routes from a browser.
    pub admin_origins: Vec<String>,
    /// E-mail addresses whose accounts are platform operators.
    pub operators: Vec<String>,
    /// The client for requests to other hosts.
    pub egress: Egress,
    /// The clock.
    pub clock: Clock,
    /// Whether published apps may run on loopback.
    pub loopback_apps: bool,
    /// Whether the client's address is taken from `X-Forwarded-For`.
    pub trust_proxy: bool,
    /// The delivery of mails.
    pub mail: MailConfig,
    /// The sender of mails.
    pub mail_from: String,
    /// The mail server, if mails go to no directory: `smtp://` or `smtps://`.
    pub mail_server: Option<String>,
    /// The base URLs of the payment providers.
    pub payment_base_urls: PaymentBaseUrls,
    /// The visibility timeout of received messages.
    pub visibility: Duration,
    /// Whether failover drills and load tests may run.
    pub drills_allowed: bool,
    /// Faults that are drawn at random between the functions and their table.
    pub faults: Option<faults::Plan>,
    /// Faults that a test plans, instead of drawn ones.
    pub planned: Option<Faults>,
    /// The services that run elsewhere, and are not emulated.
    pub elsewhere: Elsewhere,
    /// The engine that every call of the table goes to as well.
    pub shadow: Option<Shadow>,
}

impl Options {
    fn place(&self) -> Place<'_> {
        match (&self.data, &self.copied_from) {
            (Some(directory), _) => Place::Directory(directory),
            (None, Some(directory)) => Place::CopyOf(directory),
            (None, None) => Place::Memory,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data: None,
            copied_from: None,
            ports: Ports::default(),
            recorded: None,
            base_url: "http://127.0.0.1:3000".to_owned(),
            shop_domain: "localhost".to_owned(),
            admin_origins: Vec::new(),
            operators: Vec::new(),
            egress: Egress::new(Policy::development()),
            clock: Clock::default(),
            loopback_apps: false,
            trust_proxy: false,
            mail: MailConfig::default(),
            mail_from: String::new(),
            mail_server: None,
            payment_base_urls: PaymentBaseUrls::default(),
            visibility: VISIBILITY,
            drills_allowed: true,
            faults: None,
            planned: None,
            elsewhere: Elsewhere::default(),
            shadow: None,
        }
    }
}

/// An [`App`] and the emulators under it.
pub struct Embedded {
    app: App,
    resources: BTreeMap<&'static str, String>,
    parameters: BTreeMap<&'static str, String>,
    settings: Settings,
    emulators: Emulators,
    /// The table, unless it is emulated.
    remote: Option<RemoteTable>,
    sdk: SdkConfig,
    endpoints: Endpoints,
    /// The faults between the functions and the table.
    faults: Option<Faults>,
}

/// The settings that are not part of a function's environment.
struct Settings {
    clock: Clock,
    egress: Egress,
    loopback_apps: bool,
    trust_proxy: bool,
    mail: MailConfig,
    payment_base_urls: PaymentBaseUrls,
    response_cache: ResponseCache,
    region: String,
}

impl Settings {
    fn app(
        &self,
        environment: BTreeMap<String, String>,
        sdk: &SdkConfig,
        endpoints: &Endpoints,
    ) -> App {
        let mut config = Config::read(move |name| environment.get(name).cloned());
        config.development = true;
        config.loopback_apps = self.loopback_apps;
        config.trust_proxy = self.trust_proxy;
        config.egress = self.egress.policy().clone();
        config.mail = self.mail.clone();
        config.payment_base_urls = self.payment_base_urls.clone();
        config.region.clone_from(&self.region);
        App::new(
            config,
            self.clock.clone(),
            self.egress.clone(),
            sdk,
            endpoints,
            self.response_cache.clone(),
        )
    }
}

impl Embedded {
    /// Starts the emulators, and creates the table, queues and secrets that do not exist, here or elsewhere.
    pub async fn start(options: Options) -> Result<Self, AnyError> {
        let elsewhere = &options.elsewhere;
        let recorded = options.recorded.as_ref();
        let emulators =
            Emulators::start_on(options.place(), options.ports, recorded, elsewhere).await?;
        let emulated = |endpoint: Option<&str>| endpoint.map(str::to_owned);
        let endpoints = Endpoints {
            dynamodb: elsewhere.dynamodb.clone().or(emulated(emulators.dynamodb_endpoint())),
            sqs: elsewhere.sqs.clone().or(emulated(emulators.sqs_endpoint())),
            secrets_manager: elsewhere.secrets.clone().or(emulated(emulators.secrets_endpoint())),
            guard: None,
        };
        let mut sdk = patient_sdk(emulators.http_client(), elsewhere);
        if let Some(shadow) = &options.shadow {
            remote::create_table(&sdk, &shadow.endpoint, TABLE).await?;
            let client = shadow::before(shadow, &emulators.http_client());
            sdk = sdk.into_builder().http_client(client).build();
        }
        let remote = if let Some(endpoint) = &elsewhere.dynamodb {
            Some(RemoteTable::open(&sdk, endpoint, TABLE, elsewhere.is_shared).await?)
        } else {
            emulators.create_table(&table_definition(TABLE))?;
            None
        };
        let make =
            Queues { emulators: &emulators, sdk: &sdk, elsewhere, visibility: options.visibility };
        let webhooks = make.queue(WEBHOOK_QUEUE).await?;
        let slow = make.queue(SLOW_WEBHOOK_QUEUE).await?;
        let mail = make.queue(MAIL_QUEUE).await?;
        let due = make.queue(DUE_QUEUE).await?;
        let runner = make.queue(RUNNER_QUEUE).await?;
        let region = elsewhere.region().to_owned();
        create_secrets(&sdk, &endpoints, options.mail_server.as_deref()).await?;
        let mut resources = BTreeMap::from([
            ("Table", TABLE.to_owned()),
            ("WebhookQueue", webhooks.url),
            ("WebhookDeadLetters", webhooks.dead_letter_url),
            ("SlowWebhookQueue", slow.url),
            ("SlowWebhookDeadLetters", slow.dead_letter_url),
            ("MailQueue", mail.url),
            ("MailDeadLetters", mail.dead_letter_url),
            ("DueQueue", due.url),
            ("DueDeadLetters", due.dead_letter_url),
            ("RunnerQueue", runner.url),
            ("RunnerDeadLetters", runner.dead_letter_url),
        ]);
        resources.extend(SECRET_NAMES.map(|(name, secret)| (name, format!("{SECRETS}{secret}"))));
        let parameters = BTreeMap::from([
            ("BaseUrl", options.base_url),
            ("ShopDomain", options.shop_domain),
            ("AdminOrigins", options.admin_origins.join(",")),
            ("OperatorEmails", options.operators.join(",")),
            ("MailFrom", options.mail_from),
            ("AllowDrills", options.drills_allowed.to_string()),
        ]);
        let settings = Settings {
            clock: options.clock,
            egress: options.egress,
            loopback_apps: options.loopback_apps,
            trust_proxy: options.trust_proxy,
            mail: options.mail,
            payment_base_urls: options.payment_base_urls,
            response_cache: ResponseCache::default(),
            region,
        };
        let everything = EVERYTHING.iter().filter_map(|(variable, reference)| {
            let value = resources.get(reference).or_else(|| parameters.get(reference))?;
            Some(((*variable).to_owned(), value.clone()))
        });
        let app = settings.app(everything.collect(), &sdk, &endpoints);
        let faults = options.planned.or_else(|| options.faults.map(Faults::drawn));
        Ok(Self { app, resources, parameters, settings, emulators, remote, sdk, endpoints, faults })
    }

    /// The values of the template's references: its resources and parameters by their names.
    pub fn references(&self) -> BTreeMap<String, String> {
        let all = self.resources.iter().chain(&self.parameters);
        all.map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    /// The template's names of the resources, by their local names.
    pub fn resource_names(&self) -> BTreeMap<String, String> {
        self.resources.iter().map(|(name, value)| (value.clone(), (*name).to_owned())).collect()
    }

    /// The app of a function: with its environment, and the permissions of its policy.
    pub fn function(&self, environment: &BTreeMap<String, String>, guard: &Guard) -> App {
        let guard = Some(SharedInterceptor::new(guard.clone()));
        let endpoints = Endpoints { guard, ..self.endpoints.clone() };
        self.settings.app(environment.clone(), &self.sdk_with(self.faults.as_ref()), &endpoints)
    }

    /// The faults between the functions and the table, if there are any.
    pub fn faults(&self) -> Option<&Faults> {
        self.faults.as_ref()
    }

    fn sdk_with(&self, faults: Option<&Faults>) -> SdkConfig {
        let Some(faults) = faults else { return self.sdk.clone() };
        let client = self.sdk.http_client().unwrap_or_else(|| self.emulators.http_client());
        let client = faults.before(&client);
        // There are no connections that a failed call could have broken.
        let retry = self.sdk.retry_config().cloned().unwrap_or_else(RetryConfig::standard);
        let retry = retry.with_reconnect_mode(ReconnectMode::ReuseAllConnections);
        self.sdk.clone().into_builder().http_client(client).retry_config(retry).build()
    }

    /// An app with all settings and permissions, for direct access to the table.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// An app like another instance: with caches of its own, and with the functions' faults between it and
    /// the table.
    pub fn app_alongside(&self) -> App {
        self.another(
            &self.sdk_with(self.faults.as_ref()),
            &self.endpoints,
            ResponseCache::default(),
        )
    }

    /// An app like this system's after a restart: with caches of its own, and without faults.
    pub fn app_restarted(&self) -> App {
        self.another(&self.sdk, &self.endpoints, ResponseCache::default())
    }

    /// As [`Self::app_alongside`], with these faults between it and the table.
    pub fn app_over(&self, faults: &Faults) -> App {
        self.another(&self.sdk_with(Some(faults)), &self.endpoints, ResponseCache::default())
    }

    /// An app whose queues cannot be reached: every message that it sends is lost.
    pub fn app_without_queues(&self) -> App {
        let nowhere = Some("http://127.0.0.1:9".to_owned());
        let endpoints = Endpoints { sqs: nowhere, ..self.endpoints.clone() };
        self.another(&self.sdk, &endpoints, self.app.response_cache.clone())
    }

    fn another(&self, sdk: &SdkConfig, endpoints: &Endpoints, cache: ResponseCache) -> App {
        let (config, clock) = (Arc::clone(&self.app.config), self.app.clock.clone());
        App::new(config, clock, self.app.egress.clone(), sdk, endpoints, cache)
    }

    /// The endpoints of the services, wherever they run.
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// The client that calls the services: credentials, region, time limits.
    pub fn sdk(&self) -> &SdkConfig {
        &self.sdk
    }

    /// Reads the records of the table's stream since the last call, the oldest first, at most `limit` of a shard: those
    /// that are `wanted`, by the name of the change and the kind of the new item. Empty when there are no more.
    pub async fn stream_records(
        &self,
        limit: usize,
        wanted: impl Fn(&str, &str) -> bool,
    ) -> Result<StreamRecords, EmulatorError> {
        if let Some(table) = &self.remote {
            return table.stream.records(limit, wanted).await;
        }
        let records = self.emulators.stream_records_of(limit, wanted)?;
        Ok(StreamRecords { records, unhandled: Unhandled::default() })
    }

    /// Deletes the items of an emulated table whose time to live has passed, as other tables do by themselves.
    pub async fn sweep_ttl(&self) -> Result<usize, EmulatorError> {
        match &self.remote {
            Some(_) => Ok(0),
            None => self.emulators.sweep_ttl().await,
        }
    }

    /// The emulators.
    pub fn emulators(&self) -> &Emulators {
        &self.emulators
    }

    /// A client for direct access to the table.
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let mut config = aws_sdk_dynamodb::config::Builder::from(&self.sdk);
        config.set_endpoint_url(self.endpoints.dynamodb.clone());
        aws_sdk_dynamodb::Client::from_conf(config.build())
    }

    /// A client of the queues, for the pollers.
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        let mut config = aws_sdk_sqs::config::Builder::from(&self.sdk);
        config.set_endpoint_url(self.endpoints.sqs.clone());
        aws_sdk_sqs::Client::from_conf(config.build())
    }

    /// A client of the queues of another account, like a subscriber's that polls.
    pub fn sqs_of(&self, account: &str) -> aws_sdk_sqs::Client {
        let mut config = aws_sdk_sqs::config::Builder::from(&self.sdk);
        config.set_endpoint_url(self.endpoints.sqs.clone());
        config =
            config.credentials_provider(Credentials::new(account, "x", None, None, "embedded"));
        aws_sdk_sqs::Client::from_conf(config.build())
    }

    /// Stops the emulators, once running requests have finished.
    pub async fn stop(self) {
        self.emulators.stop().await;
    }
}

/// SDK settings with longer timeouts than a Lambda's: two cores that run a compiler, a database and 200
/// concurrent requests miss a deadline of one second.
fn patient_sdk(http: SharedHttpClient, elsewhere: &Elsewhere) -> SdkConfig {
    let limits = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(5))
        .operation_attempt_timeout(Duration::from_secs(30))
        .operation_timeout(Duration::from_mins(1))
        .build();
    let sdk = services::aws(elsewhere.credentials(), elsewhere.region()).into_builder();
    sdk.timeout_config(limits).http_client(http).build()
}

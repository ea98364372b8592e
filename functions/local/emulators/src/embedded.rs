//! A running system: an [`App`] over the emulators, its clients, and others like it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::SharedInterceptor;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::{ReconnectMode, RetryConfig};
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;

use egress::Egress;
use gateway::app::App;
use gateway::response_cache::ResponseCache;
use primitives::clock::Clock;
use services::Endpoints;
use services::config::{Config, MailConfig, PaymentBaseUrls};

use crate::aws::{EmulatorError, Emulators};
use crate::error::AnyError;
use crate::faults::Faults;
use crate::guard::Guard;
use crate::names::{EVERYTHING, QUEUES, SECRET_NAMES, SECRETS, TABLE};
use crate::options::Options;
use crate::remote::{self, Elsewhere, RemoteTable};
use crate::resources::{Queues, create_secrets};
use crate::shadow;
use crate::stream::{StreamRecords, Unhandled};
use crate::table::table_definition;

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
        let endpoints = endpoints(&emulators, elsewhere);
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
        let region = elsewhere.region().to_owned();
        let make =
            Queues { emulators: &emulators, sdk: &sdk, elsewhere, visibility: options.visibility };
        let resources = resources(&make).await?;
        create_secrets(&sdk, &endpoints, options.mail_server.as_deref()).await?;
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

/// The endpoints of the services, emulated or elsewhere.
fn endpoints(emulators: &Emulators, elsewhere: &Elsewhere) -> Endpoints {
    let emulated = |endpoint: Option<&str>| endpoint.map(str::to_owned);
    Endpoints {
        dynamodb: elsewhere.dynamodb.clone().or(emulated(emulators.dynamodb_endpoint())),
        sqs: elsewhere.sqs.clone().or(emulated(emulators.sqs_endpoint())),
        secrets_manager: elsewhere.secrets.clone().or(emulated(emulators.secrets_endpoint())),
        guard: None,
    }
}

/// Creates the missing queues. Returns what the template's names of resources refer to.
async fn resources(make: &Queues<'_>) -> Result<BTreeMap<&'static str, String>, AnyError> {
    let mut resources = BTreeMap::from([("Table", TABLE.to_owned())]);
    for (queue, name, dead_letters) in QUEUES {
        let made = make.queue(queue).await?;
        resources.extend([(name, made.url), (dead_letters, made.dead_letter_url)]);
    }
    resources.extend(SECRET_NAMES.map(|(name, secret)| (name, format!("{SECRETS}{secret}"))));
    Ok(resources)
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

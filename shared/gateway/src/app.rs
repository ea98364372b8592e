//! What every handler can reach.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::config::{SharedInterceptor, StalledStreamProtectionConfig};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;

use crate::budget::{Admissions, Leases};
use crate::cache::Cache;
use crate::clock::Clock;
use crate::config::Config;
use crate::connector;
use crate::egress::Egress;
use crate::metrics::Metrics;
use crate::queue::foreign::{ForeignQueue, QueueRejection};
use crate::queue::{Queue, QueueName};
use crate::response_cache::ResponseCache;
use crate::secrets::Secrets;
use crate::table::{Conflicts, Table, Throttles};

/// Time to connect to a service of AWS (docs/platform.md §1).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The service as a handler sees it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
#[derive(Debug)]
pub struct Parts {
    /// The settings.
    pub config: Arc<Config>,
    /// The time.
    pub clock: Clock,
    /// All state.
    pub table: Table,
    /// Opens queues: [`App::queue`].
    sqs: aws_sdk_sqs::Client,
    /// The keys.
    pub secrets: Secrets,
    /// Guarded outgoing HTTP.
    pub egress: Egress,
    /// What may be a few seconds old.
    pub cache: Cache,
    /// What is answered again for a moment.
    pub kept: ResponseCache,
    /// What is remembered of callers.
    pub admissions: Admissions,
    /// What is held of budgets.
    pub leases: Leases,
    /// What is counted of what this process does.
    pub metrics: Metrics,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The SDK's settings where they differ from one service to the next.
#[derive(Debug, Clone, Default)]
pub struct Endpoints {
    /// `AWS_ENDPOINT_URL_DYNAMODB`.
    pub dynamodb: Option<String>,
    /// `AWS_ENDPOINT_URL_SQS`.
    pub sqs: Option<String>,
    /// `AWS_ENDPOINT_URL_SECRETS_MANAGER`.
    pub secrets_manager: Option<String>,
    /// What looks at every call before it is made: local systems hold it against the function's
    /// policy.
    pub guard: Option<SharedInterceptor>,
}

impl Endpoints {
    /// The SDK's own variables.
    #[expect(clippy::disallowed_methods, reason = "the SDK's variables, read where it is built")]
    pub fn from_env() -> Self {
        let url = |name: &str| std::env::var(name).ok().filter(|url| !url.is_empty());
        Self {
            dynamodb: url("AWS_ENDPOINT_URL_DYNAMODB"),
            sqs: url("AWS_ENDPOINT_URL_SQS"),
            secrets_manager: url("AWS_ENDPOINT_URL_SECRETS_MANAGER"),
            guard: None,
        }
    }
}

impl App {
    /// The service over these settings; connects to nothing before it is used. Functions of one process
    /// share what is `kept`, so that each sees the others' writes.
    pub fn new(
        config: impl Into<Arc<Config>>,
        clock: Clock,
        egress: Egress,
        aws: &SdkConfig,
        to: &Endpoints,
        kept: ResponseCache,
    ) -> Self {
        let config = config.into();
        let mut dynamodb = aws_sdk_dynamodb::config::Builder::from(aws);
        dynamodb.set_endpoint_url(to.dynamodb.clone());
        dynamodb = dynamodb.retry_classifier(Conflicts);
        dynamodb.push_interceptor(SharedInterceptor::new(Throttles));
        let mut sqs = aws_sdk_sqs::config::Builder::from(aws);
        sqs.set_endpoint_url(to.sqs.clone());
        let mut secrets = aws_sdk_secretsmanager::config::Builder::from(aws);
        secrets.set_endpoint_url(to.secrets_manager.clone());
        if let Some(guard) = &to.guard {
            dynamodb.push_interceptor(guard.clone());
            sqs.push_interceptor(guard.clone());
            secrets.push_interceptor(guard.clone());
        }
        Self(Arc::new(Parts {
            table: Table::new(
                aws_sdk_dynamodb::Client::from_conf(dynamodb.build()),
                config.table.share(),
                kept.clone(),
                clock.clone(),
            ),
            sqs: aws_sdk_sqs::Client::from_conf(sqs.build()),
            secrets: Secrets::new(
                aws_sdk_secretsmanager::Client::from_conf(secrets.build()),
                clock.clone(),
                Arc::clone(&config),
            ),
            egress,
            cache: Cache::default(),
            kept,
            admissions: Admissions::default(),
            leases: Leases::default(),
            metrics: Metrics::default(),
            clock,
            config,
        }))
    }

    /// The queue of this name.
    pub fn queue(&self, name: QueueName) -> Queue {
        Queue::new(self.sqs.clone(), self.config.queue_url(name), self.table.clone())
    }

    /// The queue of another account at this URL, if events may go there; `own` is any queue of the stack.
    ///
    /// # Errors
    /// Why they may not.
    pub fn foreign_queue(&self, url: &str, own: QueueName) -> Result<ForeignQueue, QueueRejection> {
        ForeignQueue::new(self.sqs.clone(), url, self.config.queue_url(own).as_str())
    }

    /// The service in a Lambda: everything from the environment.
    pub fn from_env() -> Self {
        let config = Config::from_env();
        let aws = aws(credentials_from_env(), &config.region);
        let egress = Egress::new(config.egress.clone());
        Self::new(
            config,
            Clock::default(),
            egress,
            &aws,
            &Endpoints::from_env(),
            ResponseCache::default(),
        )
    }
}

/// SDK settings by hand: in a Lambda, region and credentials come from the environment, and
/// `aws-config` would add a megabyte (docs/platform.md §8). Why there are time limits: §1.
pub fn aws(credentials: aws_credential_types::Credentials, region: &str) -> SdkConfig {
    let limits = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(4))
        .build();
    SdkConfig::builder()
        .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
        .region(Region::new(region.to_owned()))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(connector::http_client(CONNECT_TIMEOUT))
        .timeout_config(limits)
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        // For bodies that last: ours are small, and each attempt has its time limit.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .build()
}

/// The credentials a Lambda finds in its environment; they outlive the execution environment.
#[expect(clippy::disallowed_methods, reason = "the SDK's variables, read where it is built")]
fn credentials_from_env() -> aws_credential_types::Credentials {
    let text = |name: &str| std::env::var(name).unwrap_or_default();
    let session = std::env::var("AWS_SESSION_TOKEN").ok().filter(|token| !token.is_empty());
    aws_credential_types::Credentials::new(
        text("AWS_ACCESS_KEY_ID"),
        text("AWS_SECRET_ACCESS_KEY"),
        session,
        None,
        "environment",
    )
}

//! The resources of a function besides HTTP. [`Services`] has all of them, and workflows of domain
//! crates take it as their first argument.
//!
//! [`config`] reads the settings, [`secrets`] the secrets and keys, [`queue`] sends and receives messages.
//! [`cache`] has values that may be a few seconds old, [`metrics`] the counters of the process.

pub mod cache;
pub mod config;
pub mod metrics;
pub mod queue;
pub mod secrets;
pub mod shared_reads;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::config::{SharedInterceptor, StalledStreamProtectionConfig};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;

use egress::{Egress, connector};
use primitives::clock::Clock;
use table::{Conflicts, Invalidate, Table, Throttles};

use cache::Cache;
use config::Config;
use metrics::Metrics;
use queue::foreign::{ForeignQueue, QueueRejection};
use queue::{Queue, QueueName};
use secrets::Secrets;

/// Time to connect to a service of AWS (docs/platform.md §1).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Settings, clock, table, clients, caches and counters of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Services(Arc<Parts>);

/// The parts of [`Services`].
#[derive(Debug)]
pub struct Parts {
    /// The settings.
    pub config: Arc<Config>,
    /// The clock.
    pub clock: Clock,
    /// The DynamoDB table: all state.
    pub table: Table,
    /// The client of the queues that [`Services::queue`] opens.
    sqs: aws_sdk_sqs::Client,
    /// The deployment's secrets and keys.
    pub secrets: Secrets,
    /// Guarded outgoing HTTP.
    pub egress: Egress,
    /// Values that may be a few seconds old.
    pub cache: Cache,
    /// The counters of this process.
    pub metrics: Metrics,
}

impl Deref for Services {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Endpoint overrides of the SDK's clients, one per AWS service.
#[derive(Debug, Clone, Default)]
pub struct Endpoints {
    /// `AWS_ENDPOINT_URL_DYNAMODB`.
    pub dynamodb: Option<String>,
    /// `AWS_ENDPOINT_URL_SQS`.
    pub sqs: Option<String>,
    /// `AWS_ENDPOINT_URL_SECRETS_MANAGER`.
    pub secrets_manager: Option<String>,
    /// An interceptor of every AWS call: local systems check calls against the function's IAM policy.
    pub guard: Option<SharedInterceptor>,
}

impl Endpoints {
    /// Reads the SDK's own variables.
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

impl Services {
    /// Builds the services from these settings; connects lazily. Each write invalidates `cache`.
    pub fn new(
        config: impl Into<Arc<Config>>,
        clock: Clock,
        egress: Egress,
        aws: &SdkConfig,
        to: &Endpoints,
        cache: Arc<dyn Invalidate>,
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
                cache,
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
            metrics: Metrics::default(),
            clock,
            config,
        }))
    }

    /// Opens the queue of this name.
    pub fn queue(&self, name: QueueName) -> Queue {
        Queue::new(self.sqs.clone(), self.config.queue_url(name), self.table.clone())
    }

    /// Opens a queue of another AWS account by URL, if events may be sent to it. `own` is any queue of this
    /// stack.
    ///
    /// # Errors
    /// The reason why events may not be sent to it.
    pub fn foreign_queue(&self, url: &str, own: QueueName) -> Result<ForeignQueue, QueueRejection> {
        ForeignQueue::new(self.sqs.clone(), url, self.config.queue_url(own).as_str())
    }

    /// Builds the services in a Lambda: everything comes from the environment.
    pub fn from_env(cache: Arc<dyn Invalidate>) -> Self {
        let config = Config::from_env();
        let aws = aws(credentials_from_env(), &config.region);
        let egress = Egress::new(config.egress.clone());
        Self::new(config, Clock::default(), egress, &aws, &Endpoints::from_env(), cache)
    }
}

/// Builds the SDK settings by hand. In a Lambda, region and credentials come from the environment, and
/// `aws-config` would add a megabyte (docs/platform.md §8). §1 gives the reason for the time limits.
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
        // It guards long-lasting bodies: ours are small, and each attempt has its time limit.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .build()
}

/// Reads the credentials from a Lambda's environment; they outlive the execution environment.
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

#[cfg(test)]
mod tests;

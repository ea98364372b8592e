//! Queues of other AWS accounts, for consumers that prefer to poll for events.
//!
//! A queue is named by its URL, and validated by the URL alone: `https://sqs.<region>.amazonaws.com/`, an
//! account, a name. It must belong to another account than the stack's own. Within one account, IAM lets a
//! role send to a queue without a policy, so that whoever names one of ours would write to it. Another
//! account's queue accepts messages only from principals that its own policy admits (docs/decisions.md
//! §11).

use std::fmt;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::{Builder, Region};
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::send_message::SendMessageError;
use aws_sdk_sqs::types::MessageAttributeValue;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use futures_util::FutureExt;
use serde_json::json;

/// The longest name of a queue, with its `.fifo`.
const MAX_NAME: usize = 80;
/// The suffix of a FIFO queue's name.
const FIFO: &str = ".fifo";
/// The most attributes of a message.
pub const MAX_ATTRIBUTES: usize = 10;

/// Why a queue is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueRejection {
    /// Not the URL of a queue.
    Malformed,
    /// In another partition of AWS, where roles of this one are unknown.
    Partition,
    /// In the account of the stack.
    Own,
}

impl QueueRejection {
    /// The code of the field error.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Malformed | Self::Partition => "invalid_queue_url",
            Self::Own => "own_queue",
        }
    }
}

impl fmt::Display for QueueRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => {
                "Must be the URL of an SQS queue: https://sqs.<region>.amazonaws.com/<account>/<name>."
            }
            Self::Partition => "The queue is in another AWS partition than this service.",
            Self::Own => "The queue must not belong to this service's AWS account.",
        })
    }
}

/// The parts of a queue's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
struct QueueUrl<'a> {
    /// `https://sqs.<region>.amazonaws.com`, or the origin of an emulator.
    origin: &'a str,
    /// The region; none for an emulator.
    region: Option<&'a str>,
    account: &'a str,
    name: &'a str,
}

impl<'a> QueueUrl<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let after_scheme = text.find("://")?.saturating_add(3);
        let slash = text.get(after_scheme..)?.find('/')?.saturating_add(after_scheme);
        let (origin, path) = text.split_at_checked(slash)?;
        let (account, name) = path.strip_prefix('/')?.split_once('/')?;
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        let stem = name.strip_suffix(FIFO).unwrap_or(name);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_named = !stem.is_empty() && name.len() <= MAX_NAME && stem.bytes().all(is_name);
        (is_account && is_named).then_some(Self { origin, region: region(origin), account, name })
    }
}

/// The region of a queue's host, if it is a region of AWS.
fn region(origin: &str) -> Option<&str> {
    let rest = origin.strip_prefix("https://sqs.")?;
    let (region, suffix) = rest.split_once('.')?;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_region = region.contains('-') && region.bytes().all(is_word);
    (is_region && suffix == partition(region).1).then_some(region)
}

/// The partition of a region, and the suffix of its hosts. Credentials of one partition are invalid in
/// another.
fn partition(region: &str) -> (&'static str, &'static str) {
    match region.split('-').next() {
        Some("cn") => ("aws-cn", "amazonaws.com.cn"),
        _ if region.starts_with("us-gov-") => ("aws-us-gov", "amazonaws.com"),
        _ => ("aws", "amazonaws.com"),
    }
}

/// Validates a queue by its URL; `own` is that of any queue of the stack.
fn validate<'a>(text: &'a str, own: &str) -> Result<QueueUrl<'a>, QueueRejection> {
    let queue = QueueUrl::parse(text).ok_or(QueueRejection::Malformed)?;
    let own = QueueUrl::parse(own).ok_or(QueueRejection::Malformed)?;
    match (queue.region, own.region) {
        (Some(one), Some(other)) if partition(one) != partition(other) => {
            return Err(QueueRejection::Partition);
        }
        (Some(_), Some(_)) => {}
        // An emulator has all of its queues at one origin.
        (None, None) if queue.origin == own.origin => {}
        _ => return Err(QueueRejection::Malformed),
    }
    if queue.account == own.account { Err(QueueRejection::Own) } else { Ok(queue) }
}

/// A queue of another account, whose URL was validated.
#[derive(Debug, Clone)]
pub struct ForeignQueue {
    client: Client,
    url: String,
    region: Option<String>,
    is_fifo: bool,
}

/// A message for a queue of another account.
#[derive(Debug, Clone)]
pub struct ForeignMessage {
    /// Its body, byte by byte.
    pub body: String,
    /// Its attributes by name, at most [`MAX_ATTRIBUTES`].
    pub attributes: Vec<(String, String)>,
    /// The message group, within which a FIFO queue preserves the order.
    pub group_id: String,
    /// The deduplication id: a FIFO queue accepts it once within five minutes.
    pub deduplication_id: String,
}

/// The answer of a queue, good or bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The message's id as JSON, or the code and the text of the rejection.
    pub body: String,
}

/// The failure of sending a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueError {
    /// The class of the failure.
    pub class: &'static str,
    /// The answer, if there was one.
    pub answer: Option<QueueAnswer>,
}

impl QueueError {
    fn unanswered(class: &'static str) -> Self {
        Self { class, answer: None }
    }
}

/// Whether the queue of this URL is a FIFO queue, which SQS names by a suffix.
pub fn is_fifo(url: &str) -> bool {
    url.ends_with(FIFO)
}

/// Whether SQS accepts this text: the characters of XML 1.0. JSON has escapes for the two others.
pub fn is_sendable(text: &str) -> bool {
    !text.contains(['\u{fffe}', '\u{ffff}'])
}

impl ForeignQueue {
    /// The queue of this URL, if events may be sent to it; `own` is the URL of any queue of the stack.
    ///
    /// # Errors
    /// Why not.
    pub fn new(client: Client, text: &str, own: &str) -> Result<Self, QueueRejection> {
        let validated = validate(text, own)?;
        let (region, is_fifo) = (validated.region.map(str::to_owned), is_fifo(validated.name));
        Ok(Self { client, url: text.to_owned(), region, is_fifo })
    }

    /// Sends a message once, within this time. The caller records the outcome, and retries. A message
    /// whose answer is lost may have been accepted.
    ///
    /// # Errors
    /// The class of the failure, with what was answered.
    pub async fn send(
        &self,
        message: ForeignMessage,
        deadline: Duration,
    ) -> Result<QueueAnswer, QueueError> {
        let ForeignMessage { body, attributes, group_id, deduplication_id } = message;
        let mut input = self.client.send_message().queue_url(&self.url).message_body(body);
        for (name, value) in attributes {
            let value = MessageAttributeValue::builder().data_type("String").string_value(value);
            let value = value.build().map_err(|_| QueueError::unanswered("invalid_message"))?;
            input = input.message_attributes(name, value);
        }
        if self.is_fifo {
            input = input.message_group_id(group_id).message_deduplication_id(deduplication_id);
        }
        let limits = TimeoutConfig::builder().operation_timeout(deadline);
        let limits = limits.operation_attempt_timeout(deadline).build();
        let mut here = Builder::new().retry_config(RetryConfig::disabled()).timeout_config(limits);
        // An emulator ignores the region, and without one the client's own stays.
        if let Some(region) = &self.region {
            here.set_region(Some(Region::new(region.clone())));
        }
        let sent = input.customize().config_override(here).send().boxed().await;
        let sent = sent.map_err(|error| rejected(&error))?;
        let body = json!({
            "message_id": sent.message_id,
            "sequence_number": sent.sequence_number,
        });
        Ok(QueueAnswer { status: 200, body: body.to_string() })
    }
}

fn rejected(error: &SdkError<SendMessageError, HttpResponse>) -> QueueError {
    match error {
        SdkError::TimeoutError(_) => QueueError::unanswered("timeout"),
        SdkError::DispatchFailure(failure) if failure.is_timeout() => {
            QueueError::unanswered("timeout")
        }
        SdkError::DispatchFailure(_) => QueueError::unanswered("connect"),
        SdkError::ServiceError(answered) => {
            let status = answered.raw().status().as_u16();
            let code = error.code().unwrap_or("unknown");
            let text = error.message().unwrap_or_default();
            let body = format!("{code}: {text}");
            let answer = Some(QueueAnswer { status, body });
            QueueError { class: class(status, code, text), answer }
        }
        _ => QueueError::unanswered("protocol"),
    }
}

/// The class of a rejection, by its code in SQS, or by its text if it has no code of its own.
fn class(status: u16, code: &str, text: &str) -> &'static str {
    let is = |part: &str| code.contains(part);
    if is("NonExistentQueue") || is("QueueDoesNotExist") {
        "queue_not_found"
    } else if is("Throttl") || is("OverLimit") {
        "throttled"
    } else if is("KMS.") || is("Kms") {
        "key_unusable"
    } else if is("AccessDenied") || is("InvalidSecurity") || is("InvalidClientTokenId") {
        "access_denied"
    } else if is("InvalidMessageContents") {
        "invalid_message"
    } else if is("InvalidParameterValue") && text.contains(" bytes") {
        "message_too_large"
    } else if status >= 500 {
        "server_error"
    } else {
        "client_error"
    }
}

#[cfg(test)]
mod tests;

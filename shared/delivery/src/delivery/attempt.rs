//! Attempts: what a receiver answered, and what that means.

use std::time::Duration;

use gateway::clock::Timestamp;
use gateway::egress::SendError;
use gateway::item::{Item, Key};
use ground::id::DeliveryId;
use ground::key;
use serde::{Deserialize, Serialize};

use super::{Delivery, KEPT};

/// What an attempt's result means for its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// 2xx.
    Success,
    /// To be attempted again.
    Failure,
    /// 410: the receiver wants no more of anything.
    Gone,
    /// The URL leads to an address that is refused.
    Blocked,
}

/// An attempt's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// What it means.
    pub verdict: AttemptVerdict,
    /// The answer's status, if there was an answer.
    pub status_code: Option<u16>,
    /// The class of the failure.
    pub error: Option<String>,
    /// What the receiver asked for with `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl AttemptOutcome {
    /// What an answer of this status means; only 2xx is success, a redirect is not.
    pub fn answered(status: u16, retry_after: Option<Duration>) -> Self {
        let (verdict, error) = match status {
            200..=299 => (AttemptVerdict::Success, None),
            300..=399 => (AttemptVerdict::Failure, Some("redirect")),
            410 => (AttemptVerdict::Gone, Some("gone")),
            400..=499 => (AttemptVerdict::Failure, Some("client_error")),
            500..=599 => (AttemptVerdict::Failure, Some("server_error")),
            _ => (AttemptVerdict::Failure, Some("unexpected_status")),
        };
        let error = error.map(str::to_owned);
        Self { verdict, status_code: Some(status), error, retry_after }
    }

    /// A failure of this class without an answer.
    pub fn failed(class: &str) -> Self {
        let error = Some(class.to_owned());
        Self { verdict: AttemptVerdict::Failure, status_code: None, error, retry_after: None }
    }
}

impl From<SendError> for AttemptOutcome {
    fn from(error: SendError) -> Self {
        let verdict = match error {
            SendError::Blocked(_) => AttemptVerdict::Blocked,
            _ => AttemptVerdict::Failure,
        };
        Self { verdict, ..Self::failed(error.class()) }
    }
}

/// One attempt, as it is recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeliveryAttempt {
    /// The delivery that was attempted.
    pub delivery_id: DeliveryId,
    /// Its number, from 1.
    pub number: u32,
    /// Where it went.
    pub url: String,
    /// SHA-256 of the body that was sent, in hex: it outlives the body.
    #[serde(default)]
    pub body_sha256: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The answer's status.
    pub status_code: Option<u16>,
    /// The class of the failure.
    pub error: Option<String>,
    /// The first 16 KB of the answer's body.
    pub response_body: Option<String>,
    /// Whether there was more.
    pub response_truncated: bool,
    /// Always 1: it is written whole, and never replaced under its version.
    pub version: u64,
}

impl Item for DeliveryAttempt {
    const KIND: &'static str = "delivery_attempt";
    fn key(&self) -> Key {
        key::attempt(&self.delivery_id, self.number)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.started_at.plus(KEPT))
    }
}

impl DeliveryAttempt {
    /// The present attempt of a claimed delivery, with its result.
    pub fn of(delivery: &Delivery, url: &str, outcome: &AttemptOutcome, took: Duration) -> Self {
        Self {
            delivery_id: delivery.id.clone(),
            number: delivery.attempt,
            url: url.to_owned(),
            body_sha256: None,
            started_at: delivery.last_attempt_at.unwrap_or(delivery.created_at),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            status_code: outcome.status_code,
            error: outcome.error.clone(),
            response_body: None,
            response_truncated: false,
            version: 1,
        }
    }

    /// The attempt as one that sent this body.
    #[must_use]
    pub fn with_body(self, body: &str) -> Self {
        Self { body_sha256: Some(gateway::seal::digest(body)), ..self }
    }

    /// The attempt with what was read of the answer.
    #[must_use]
    pub fn with_response(mut self, body: &[u8], truncated: bool) -> Self {
        self.response_body = Some(String::from_utf8_lossy(body).into_owned());
        self.response_truncated = truncated;
        self
    }

    /// The attempt that a delivery still holds a lease for, when whoever made it never came back:
    /// the receiver may have got it.
    pub fn lost(delivery: &Delivery, url: &str) -> Self {
        Self::of(delivery, url, &AttemptOutcome::failed("interrupted"), Duration::ZERO)
    }
}

ground::view! {
    /// An attempt as its owner sees it.
    AttemptView of attempt: DeliveryAttempt {
        /// Its number, from 1.
        number: u32,
        /// Where it went.
        url: String,
        /// When it began.
        started_at: Timestamp,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// The answer's status.
        status_code: Option<u16>,
        /// The class of the failure.
        error: Option<String>,
        /// The first 16 KB of the answer's body.
        response_body: Option<String>,
        /// Whether there was more.
        response_truncated: bool,
    }
}

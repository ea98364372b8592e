//! Attempts: what a receiver answered, and what that means.

use std::time::Duration;

use core_types::id::DeliveryId;
use core_types::key;
use egress::SendError;
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

use super::{Delivery, RETENTION};

/// Attempts that a delivery keeps, the latest (our choice): those of five runs.
const MAX_ATTEMPTS: usize = 50;
/// The longest answer, in bytes, that is kept with the attempt (our choice). Each attempt after it
/// writes it again; most who answer anything say less.
const MAX_RESPONSE: usize = 256;

/// What an attempt's result means for its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// 2xx.
    Success,
    /// To be attempted again.
    Failure,
    /// 410: the receiver wants no more of anything.
    Gone,
    /// The URL leads to an address that is rejected.
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

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Its number, from 1.
    pub number: u32,
    /// Where it went.
    pub url: String,
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
    /// Whether what was answered is an item of its own, to be read where it is shown.
    pub is_answer_apart: bool,
}

/// An attempt as its delivery keeps it. Short, because a delivery is written with all of its attempts:
/// one that succeeds at once fits into a kilobyte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAttempt {
    #[serde(rename = "n")]
    number: u32,
    /// None where it is that of the attempt before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(rename = "at")]
    started_at: Timestamp,
    #[serde(rename = "ms")]
    duration_ms: u64,
    #[serde(rename = "status", default, skip_serializing_if = "Option::is_none")]
    status_code: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(rename = "answer", default, skip_serializing_if = "Option::is_none")]
    response_body: Option<String>,
    #[serde(rename = "cut", default, skip_serializing_if = "std::ops::Not::not")]
    response_truncated: bool,
    #[serde(rename = "apart", default, skip_serializing_if = "std::ops::Not::not")]
    is_answer_apart: bool,
}

/// What a receiver answered, when that is longer than a delivery keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The delivery that was attempted.
    pub delivery_id: DeliveryId,
    /// The attempt's number.
    pub number: u32,
    /// The first 16 KB of the answer's body.
    pub body: String,
    /// When the delivery was made.
    pub created_at: Timestamp,
    /// Always 1: it is written whole, and never replaced under its version.
    pub version: u64,
}

impl Item for RecordedAnswer {
    const KIND: &'static str = "delivery_answer";
    fn key(&self) -> Key {
        key::recorded_answer(&self.delivery_id, self.number)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

impl DeliveryAttempt {
    /// The present attempt of a claimed delivery, with its result.
    pub fn of(delivery: &Delivery, url: &str, outcome: &AttemptOutcome, took: Duration) -> Self {
        Self {
            number: delivery.attempt,
            url: url.to_owned(),
            started_at: delivery.last_attempt_at.unwrap_or(delivery.created_at),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            status_code: outcome.status_code,
            error: outcome.error.clone(),
            response_body: None,
            response_truncated: false,
            is_answer_apart: false,
        }
    }

    /// The attempt with what was read of the answer.
    #[must_use]
    pub fn with_response(mut self, body: &[u8], truncated: bool) -> Self {
        let body = String::from_utf8_lossy(body).into_owned();
        self.is_answer_apart = body.len() > MAX_RESPONSE;
        self.response_body = Some(body);
        self.response_truncated = truncated;
        self
    }

    /// The attempt with the answer that was read from beside its delivery.
    #[must_use]
    pub fn with_recorded(self, answer: Option<RecordedAnswer>) -> Self {
        Self { response_body: answer.map(|answer| answer.body).or(self.response_body), ..self }
    }

    /// What goes into an item of its own, of an attempt at this delivery.
    pub fn recorded_answer(&self, delivery: &Delivery) -> Option<RecordedAnswer> {
        let body = self.response_body.clone().filter(|_| self.is_answer_apart)?;
        Some(RecordedAnswer {
            delivery_id: delivery.id.clone(),
            number: self.number,
            body,
            created_at: delivery.created_at,
            version: 1,
        })
    }

    /// The attempt that a delivery still holds a lease for, when whoever made it never came back:
    /// the receiver may have got it.
    pub fn lost(delivery: &Delivery, url: &str) -> Self {
        Self::of(delivery, url, &AttemptOutcome::failed("interrupted"), Duration::ZERO)
    }
}

impl Delivery {
    /// Its attempts, the first first; of those that were recorded apart without what was answered.
    pub fn attempts(&self) -> Vec<DeliveryAttempt> {
        let mut url = String::new();
        let shown = self.attempts.iter().map(|kept| {
            if let Some(new) = &kept.url {
                url.clone_from(new);
            }
            DeliveryAttempt {
                number: kept.number,
                url: url.clone(),
                started_at: kept.started_at,
                duration_ms: kept.duration_ms,
                status_code: kept.status_code,
                error: kept.error.clone(),
                response_body: kept.response_body.clone(),
                response_truncated: kept.response_truncated,
                is_answer_apart: kept.is_answer_apart,
            }
        });
        shown.collect()
    }

    /// The delivery with an attempt more.
    #[must_use]
    pub fn with_attempt(mut self, attempt: &DeliveryAttempt) -> Self {
        let last = self.attempts().pop();
        let is_elsewhere = last.is_none_or(|last| last.url != attempt.url);
        self.attempts.push(StoredAttempt {
            number: attempt.number,
            url: is_elsewhere.then(|| attempt.url.clone()),
            started_at: attempt.started_at,
            duration_ms: attempt.duration_ms,
            status_code: attempt.status_code,
            error: attempt.error.clone(),
            response_body: attempt.response_body.clone().filter(|_| !attempt.is_answer_apart),
            response_truncated: attempt.response_truncated,
            is_answer_apart: attempt.is_answer_apart,
        });
        let over = self.attempts.len().saturating_sub(MAX_ATTEMPTS);
        let first = self.attempts().get(over).map(|first| first.url.clone());
        self.attempts.drain(..over);
        if let Some(kept) = self.attempts.first_mut() {
            kept.url = first;
        }
        self
    }

    /// Its attempts without what was answered to them.
    pub(super) fn without_answers(&self) -> Vec<StoredAttempt> {
        let bare = |kept: &StoredAttempt| StoredAttempt {
            response_body: None,
            is_answer_apart: false,
            ..kept.clone()
        };
        self.attempts.iter().map(bare).collect()
    }
}

core_types::view! {
    /// An attempt of a delivery.
    AttemptView of attempt: DeliveryAttempt {
        /// The number of the attempt, from 1.
        number: u32,
        /// The URL that was posted to, or the URL of the queue.
        url: String,
        /// When it began.
        started_at: Timestamp,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// The HTTP status of the response; `null` without a response.
        status_code: Option<u16>,
        /// The class of the failure, like `timeout`; `null` on success.
        error: Option<String>,
        /// The first 16 KiB of the response body.
        response_body: Option<String>,
        /// Whether the response body was longer.
        response_truncated: bool,
    }
}

//! Attempts: the receiver's answer, and the verdict on it.

use std::time::Duration;

use core_types::id::DeliveryId;
use core_types::key;
use egress::SendError;
use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};
use table::item::Item;

use super::{Delivery, RETENTION};

/// The number of attempts stored with a delivery, the latest ones (our choice): those of five runs.
const MAX_ATTEMPTS: usize = 50;
/// The longest response body, in bytes, that is stored within the delivery (our choice). Each later
/// attempt writes it again; most receivers that answer with a body send less.
const MAX_RESPONSE: usize = 256;

/// The verdict on an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// The receiver answered 2xx.
    Success,
    /// The attempt failed; another may follow.
    Failure,
    /// The receiver answered 410: it wants no more events.
    Gone,
    /// The URL leads to an address that the service does not call.
    Blocked,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// The verdict.
    pub verdict: AttemptVerdict,
    /// The HTTP status of the response; none without a response.
    pub status_code: Option<u16>,
    /// The class of the failure.
    pub error: Option<String>,
    /// The wait that the receiver requested with `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl AttemptOutcome {
    /// The outcome of a response with this status. Only 2xx is success; a redirect is not.
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

    /// A failure of this class, without a response.
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
    /// The URL that was posted to, or the queue's.
    pub url: String,
    /// When it began.
    pub started_at: Timestamp,
    /// The duration, in milliseconds.
    pub duration_ms: u64,
    /// The HTTP status of the response.
    pub status_code: Option<u16>,
    /// The class of the failure.
    pub error: Option<String>,
    /// The first 16 KiB of the response body.
    pub response_body: Option<String>,
    /// Whether the response body was longer.
    pub response_truncated: bool,
    /// Whether the response body is an item of its own, [`OversizedResponse`], which is read where it is
    /// returned.
    pub is_answer_apart: bool,
}

/// An attempt as stored in its delivery. It is short, because each write of a delivery includes all of
/// its attempts: a delivery that succeeds at once fits into a kilobyte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAttempt {
    #[serde(rename = "n")]
    number: u32,
    /// None when equal to the URL of the attempt before.
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

/// A response body that is too long to store within the delivery.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "delivery_answer", key = key::recorded_answer(&self.delivery_id, self.number))]
#[item(forget_at = Some(self.created_at.plus(RETENTION)))]
pub struct OversizedResponse {
    /// The delivery that was attempted.
    pub delivery_id: DeliveryId,
    /// The attempt's number.
    pub number: u32,
    /// The first 16 KiB of the response body.
    pub body: String,
    /// When the delivery was created.
    pub created_at: Timestamp,
    /// Always 1: the item is written whole, and never replaced by version.
    pub version: u64,
}

impl DeliveryAttempt {
    /// The current attempt of a claimed delivery, with its outcome.
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

    /// The attempt with the response body, as far as it was read.
    #[must_use]
    pub fn with_response(mut self, body: &[u8], truncated: bool) -> Self {
        let body = String::from_utf8_lossy(body).into_owned();
        self.is_answer_apart = body.len() > MAX_RESPONSE;
        self.response_body = Some(body);
        self.response_truncated = truncated;
        self
    }

    /// The attempt with its response body from the separate item, if there is one.
    #[must_use]
    pub fn with_recorded(self, answer: Option<OversizedResponse>) -> Self {
        Self { response_body: answer.map(|answer| answer.body).or(self.response_body), ..self }
    }

    /// The separate item for the response body of this attempt; none when the body is stored within the
    /// delivery.
    pub fn recorded_answer(&self, delivery: &Delivery) -> Option<OversizedResponse> {
        let body = self.response_body.clone().filter(|_| self.is_answer_apart)?;
        Some(OversizedResponse {
            delivery_id: delivery.id.clone(),
            number: self.number,
            body,
            created_at: delivery.created_at,
            version: 1,
        })
    }

    /// The attempt whose lease has ended without a recorded outcome. The receiver may have got the event.
    pub fn lease_expired(delivery: &Delivery, url: &str) -> Self {
        Self::of(delivery, url, &AttemptOutcome::failed("interrupted"), Duration::ZERO)
    }
}

impl Delivery {
    /// Its stored attempts in order. Response bodies of separate items are not included.
    pub fn attempts(&self) -> Vec<DeliveryAttempt> {
        let mut url = String::new();
        let attempts = self.attempts.iter().map(|stored| {
            if let Some(new) = &stored.url {
                url.clone_from(new);
            }
            DeliveryAttempt {
                number: stored.number,
                url: url.clone(),
                started_at: stored.started_at,
                duration_ms: stored.duration_ms,
                status_code: stored.status_code,
                error: stored.error.clone(),
                response_body: stored.response_body.clone(),
                response_truncated: stored.response_truncated,
                is_answer_apart: stored.is_answer_apart,
            }
        });
        attempts.collect()
    }

    /// The delivery with this attempt appended.
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
        if let Some(stored) = self.attempts.first_mut() {
            stored.url = first;
        }
        self
    }

    /// Its stored attempts without their response bodies.
    pub(super) fn without_answers(&self) -> Vec<StoredAttempt> {
        let bare = |stored: &StoredAttempt| StoredAttempt {
            response_body: None,
            is_answer_apart: false,
            ..stored.clone()
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
        /// The duration, in milliseconds.
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

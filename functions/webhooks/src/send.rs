//! The second step: one signed POST, or one signed message.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use core_types::event::Event;
use core_types::id::StoreId;
use crypto::seal::SealKey;
use delivery::delivery::{
    AttemptOutcome, AttemptVerdict, DeliveryAttempt, QUEUE, headers, message_attributes,
};
use delivery::subscription::{DestinationKind, SigningKeys, Subscription};
use egress::{Destination, Outgoing, SendError};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use primitives::clock::Timestamp;
use services::Services;
use services::queue::foreign::{ForeignMessage, QueueError};
use table::canary::FaultKind;

use crate::begin::Job;

/// The largest part of a response body that is read and recorded, in bytes (docs/conventions.md §10).
const MAX_ANSWER: usize = 16 * 1_024;

/// The error class of an attempt that could not be signed: our fault, not the receiver's.
pub(crate) const UNSEALABLE: &str = "signing";

/// A sent attempt and its outcome.
pub(crate) struct SentAttempt {
    pub(crate) outcome: AttemptOutcome,
    pub(crate) took: Duration,
    pub(crate) attempt: DeliveryAttempt,
}

/// A response: its outcome, and the part of its body that was read.
struct Received {
    outcome: AttemptOutcome,
    answer: Option<(Bytes, bool)>,
}

impl From<AttemptOutcome> for Received {
    fn from(outcome: AttemptOutcome) -> Self {
        Self { outcome, answer: None }
    }
}

/// Signs the event's frozen body, and sends exactly those bytes to the destination.
pub(crate) async fn send(services: &Services, job: &Job, seal: &SealKey) -> SentAttempt {
    let began = services.clock.now();
    let sent = match job.subscription.destination {
        DestinationKind::Https => post(services, job, seal, began).await,
        DestinationKind::Sqs => push(services, job, seal, began).await,
    };
    let took = began.until(services.clock.now());
    let Received { outcome, answer } = sent.unwrap_or_else(Received::from);
    let mut attempt = DeliveryAttempt::of(&job.delivery, &job.subscription.url, &outcome, took);
    if let Some((body, is_truncated)) = answer {
        attempt = attempt.with_response(&body, is_truncated);
    }
    SentAttempt { outcome, took, attempt }
}

async fn post(
    services: &Services,
    job: &Job,
    seal: &SealKey,
    now: Timestamp,
) -> Result<Received, AttemptOutcome> {
    let Job { delivery, event, subscription, speed, .. } = job;
    let is_canarys = delivery.store_id.as_ref().is_some_and(StoreId::is_canary);
    if is_canarys && services.table.injects(FaultKind::ReceiverDown).await {
        return Err(AttemptOutcome::from(SendError::Connect));
    }
    let destination = Destination::parse(&subscription.url, services.egress.policy())
        .map_err(|rejection| AttemptOutcome::from(SendError::Blocked(rejection)))?;
    let (keys, custom) = opened(subscription, seal, now)?;
    let request = Outgoing {
        method: Method::POST,
        destination,
        headers: header_map(headers(event, delivery, &keys, &custom, now)),
        body: Bytes::copy_from_slice(event.body.as_bytes()),
        deadline: speed.deadline(),
        max_body: MAX_ANSWER,
    };
    let answer = services.egress.send_pooled(request).await.map_err(AttemptOutcome::from)?;
    let wait = retry_after(&answer.headers, services.clock.now());
    let outcome = AttemptOutcome::answered(answer.status, wait);
    Ok(Received { outcome, answer: Some((answer.body, answer.truncated)) })
}

/// Sends the event as a queue message: the body, and the headers as attributes. The reply of SQS is
/// recorded like a response.
async fn push(
    services: &Services,
    job: &Job,
    seal: &SealKey,
    now: Timestamp,
) -> Result<Received, AttemptOutcome> {
    let Job { delivery, event, subscription, speed, .. } = job;
    let queue =
        services.foreign_queue(&subscription.url, QUEUE).map_err(|rejection| AttemptOutcome {
            verdict: AttemptVerdict::Blocked,
            ..AttemptOutcome::failed(rejection.code())
        })?;
    let (keys, custom) = opened(subscription, seal, now)?;
    let body = job.body().into_owned();
    let sent = Event { body, ..Event::clone(event) };
    let message = ForeignMessage {
        attributes: message_attributes(headers(&sent, delivery, &keys, &custom, now)),
        body: sent.body,
        group_id: sent.entity_id,
        deduplication_id: sent.id.to_string(),
    };
    let (outcome, answer) = match queue.send(message, speed.deadline()).await {
        Ok(answer) => (AttemptOutcome::answered(answer.status, None), Some(answer)),
        Err(QueueError { class, answer }) => {
            let status_code = answer.as_ref().map(|answer| answer.status);
            (AttemptOutcome { status_code, ..AttemptOutcome::failed(class) }, answer)
        }
    };
    Ok(Received { outcome, answer: answer.map(|answer| (Bytes::from(answer.body), false)) })
}

/// Opens the signing secrets and the custom headers.
fn opened(
    subscription: &Subscription,
    seal: &SealKey,
    now: Timestamp,
) -> Result<(SigningKeys, BTreeMap<String, String>), AttemptOutcome> {
    let opened = subscription.signing_keys(seal, now).zip(subscription.custom_headers(seal));
    opened.ok_or_else(|| {
        tracing::error!(
            subscription = subscription.id.as_str(),
            "signing secret or headers of a subscription could not be unsealed"
        );
        AttemptOutcome::failed(UNSEALABLE)
    })
}

/// The headers as the connection needs them. Ours are always well formed; custom ones were validated when
/// they were set.
fn header_map(pairs: Vec<(String, String)>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in pairs {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            map.insert(name, value);
        }
    }
    map
}

/// `Retry-After`: seconds, or a date (RFC 9110 §10.2.3).
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Timestamp::parse_http_date(text).map(|at| now.until(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::parse("1994-11-06T08:49:00Z").unwrap();
        let read = |text: &'static str| {
            let headers =
                HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static(text))]);
            retry_after(&headers, now)
        };
        assert_eq!(read("120"), Some(primitives::clock::MINUTE.saturating_mul(2)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(37)));
        assert_eq!(read("Sun, 06 Nov 1994 08:48:00 GMT"), Some(Duration::ZERO));
        assert_eq!((read("soon"), read("-1"), read("1.5")), (None, None, None));
    }
}

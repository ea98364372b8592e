//! The second step: one signed POST.

use std::time::Duration;

use bytes::Bytes;
use delivery::delivery::{AttemptOutcome, DeliveryAttempt, headers};
use gateway::app::App;
use gateway::canary::FaultKind;
use gateway::clock::Timestamp;
use gateway::egress::{Destination, Incoming, Outgoing, SendError};
use gateway::seal::SealKey;
use ground::id::StoreId;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use crate::begin::Job;

/// What is read and recorded of an answer (docs/conventions.md §10).
const MAX_ANSWER: usize = 16 * 1_024;

/// The class of an attempt that could not be signed: our fault, not the receiver's.
pub(crate) const UNSEALABLE: &str = "signing";

/// What came of it.
pub(crate) struct SentAttempt {
    pub(crate) outcome: AttemptOutcome,
    pub(crate) took: Duration,
    pub(crate) attempt: DeliveryAttempt,
}

/// Signs the event's frozen body and posts exactly those bytes.
pub(crate) async fn send(app: &App, job: &Job, seal: &SealKey) -> SentAttempt {
    let began = app.clock.now();
    let answer = post(app, job, seal, began).await;
    let took = began.until(app.clock.now());
    let url = &job.subscription.url;
    match answer {
        Ok(answer) => {
            let now = app.clock.now();
            let outcome =
                AttemptOutcome::answered(answer.status, retry_after(&answer.headers, now));
            let attempt = DeliveryAttempt::of(&job.delivery, url, &outcome, took)
                .with_response(&answer.body, answer.truncated);
            SentAttempt { outcome, took, attempt }
        }
        Err(outcome) => {
            let attempt = DeliveryAttempt::of(&job.delivery, url, &outcome, took);
            SentAttempt { outcome, took, attempt }
        }
    }
}

async fn post(
    app: &App,
    job: &Job,
    seal: &SealKey,
    now: Timestamp,
) -> Result<Incoming, AttemptOutcome> {
    let Job { delivery, event, subscription, speed, .. } = job;
    let is_canarys = delivery.store_id.as_ref().is_some_and(StoreId::is_canary);
    if is_canarys && app.table.injects(FaultKind::ReceiverDown).await {
        return Err(AttemptOutcome::from(SendError::Connect));
    }
    let destination = Destination::parse(&subscription.url, app.egress.policy())
        .map_err(|refusal| AttemptOutcome::from(SendError::Blocked(refusal)))?;
    let opened = subscription.signing_keys(seal, now).zip(subscription.custom_headers(seal));
    let Some((keys, custom)) = opened else {
        tracing::error!(subscription = subscription.id.as_str(), "a secret does not open");
        return Err(AttemptOutcome::failed(UNSEALABLE));
    };
    let request = Outgoing {
        method: Method::POST,
        destination,
        headers: header_map(headers(event, delivery, &keys, &custom, now)),
        body: Bytes::copy_from_slice(event.body.as_bytes()),
        deadline: speed.deadline(),
        max_body: MAX_ANSWER,
    };
    app.egress.send_kept(request).await.map_err(AttemptOutcome::from)
}

/// Headers as the connection takes them. Ours are always well formed; a custom one was judged
/// when it was given.
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
        assert_eq!(read("120"), Some(gateway::clock::MINUTE.saturating_mul(2)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(37)));
        assert_eq!(read("Sun, 06 Nov 1994 08:48:00 GMT"), Some(Duration::ZERO));
        assert_eq!((read("soon"), read("-1"), read("1.5")), (None, None, None));
    }
}

//! Posts webhooks to the registered endpoints, with a few retries. Real providers retry for days; here a
//! person waits.

use std::time::Duration;

use bytes::Bytes;
use egress::{Destination, DestinationRejection as EgressRejection, Egress, Outgoing, Policy};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use primitives::clock::Clock;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use crate::providers::webhook::{Event, Provider, Webhook};

/// The wait before each attempt.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(4)];
/// The time limit of a receiver's response.
const DEADLINE: Duration = Duration::from_secs(10);

/// A webhook endpoint of a provider.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// The provider.
    pub(crate) provider: Provider,
    /// The URL.
    pub(crate) url: String,
    /// The secret that signs the webhooks.
    pub(crate) secret: String,
}

/// The events of one change for one endpoint, in order.
#[derive(Debug)]
pub(crate) struct QueuedEvents {
    pub(crate) endpoint: Endpoint,
    pub(crate) events: Vec<Event>,
}

/// Whether this is a URL of this machine, to which alone webhooks are sent.
pub(crate) fn is_here(url: &str) -> bool {
    Destination::parse(url, &Policy::development()).is_ok_and(|destination| {
        let host = destination.host().trim_matches(['[', ']']);
        let address: Result<std::net::IpAddr, _> = host.parse();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    })
}

/// Posts queued events until the server ends. A slow receiver delays no other.
pub(crate) async fn run(mut queued: UnboundedReceiver<QueuedEvents>, clock: Clock) {
    let egress = Egress::new(Policy::development());
    let mut on_their_way = JoinSet::new();
    while let Some(events) = queued.recv().await {
        on_their_way.spawn(send(events, egress.clone(), clock.clone()));
        while on_their_way.try_join_next().is_some() {}
    }
}

async fn send(events: QueuedEvents, egress: Egress, clock: Clock) {
    let QueuedEvents { endpoint, events } = events;
    for event in events {
        let mut trouble = String::new();
        for pause in PAUSES {
            tokio::time::sleep(pause).await;
            let webhook = event.sign(&endpoint.secret, clock.now());
            match post(&egress, &endpoint.url, &webhook).await {
                Ok(200..=299) => trouble.clear(),
                Ok(status) => trouble = format!("status {status}"),
                Err(cause) => trouble = cause,
            }
            if trouble.is_empty() {
                break;
            }
        }
        if !trouble.is_empty() {
            let (url, event) = (&endpoint.url, &event.id);
            tracing::warn!(
                url,
                event,
                cause = trouble,
                "webhook of an emulated provider not accepted"
            );
        }
    }
}

/// Posts a webhook. Returns the receiver's status.
async fn post(egress: &Egress, url: &str, webhook: &Webhook) -> Result<u16, String> {
    let rejected = |cause: EgressRejection| cause.to_string();
    let destination = Destination::parse(url, egress.policy()).map_err(rejected)?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &webhook.headers {
        let value = HeaderValue::try_from(value).map_err(|cause| cause.to_string())?;
        headers.insert(HeaderName::from_static(name), value);
    }
    let body = Bytes::from(webhook.body.clone());
    let (method, deadline, max_body) = (Method::POST, DEADLINE, 1024);
    let outgoing = Outgoing { method, destination, headers, body, deadline, max_body };
    let answer = egress.send(outgoing).await.map_err(|cause| cause.to_string())?;
    Ok(answer.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhooks_stay_on_this_machine() {
        for url in [
            "http://127.0.0.1:3000/hook",
            "http://localhost:1/",
            "http://[::1]:9/a",
            "http://127.1/",
        ] {
            assert!(is_here(url), "{url}");
        }
        for url in [
            "https://example.com/",
            "http://10.0.0.1/",
            "http://169.254.169.254/",
            "http://localhost.example.com/",
            "http://127.0.0.1@example.com/",
            "ftp://127.0.0.1/",
            "",
        ] {
            assert!(!is_here(url), "{url}");
        }
    }
}

//! The HTTP client that calls the emulators in this process, without loopback.

use std::fmt;
use std::sync::{Arc, Weak};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use axum::body::{Bytes, to_bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::sync::Notify;

use super::queues::{Queues, answer_sqs};
use super::tables::Tables;
use super::vault::{Vault, answer_secrets};
use crate::error::AnyError;

/// The prefix of the operation in `X-Amz-Target`.
pub(super) const TARGET: &str = "DynamoDB_20120810.";

/// The emulators, each with its endpoint; none of those that run elsewhere.
pub(super) struct Services {
    pub(super) dynamodb: Option<(String, Tables)>,
    pub(super) sqs: Option<(String, Arc<Queues>)>,
    pub(super) secrets: Option<(String, Arc<Vault>)>,
    /// Notified after each write of the table.
    pub(super) writes: Arc<Notify>,
}

/// An emulator.
enum Service {
    Tables(Tables),
    Queues(Arc<Queues>),
    Vault(Arc<Vault>),
}

impl Services {
    /// The emulator at this URL.
    fn at(&self, uri: &str) -> Option<Service> {
        let is_at = |endpoint: &str| {
            uri.strip_prefix(endpoint).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some((_, tables)) = self.dynamodb.as_ref().filter(|(endpoint, _)| is_at(endpoint)) {
            return Some(Service::Tables(tables.clone()));
        }
        if let Some((_, queues)) = self.sqs.as_ref().filter(|(endpoint, _)| is_at(endpoint)) {
            return Some(Service::Queues(Arc::clone(queues)));
        }
        let secrets = self.secrets.as_ref().filter(|(endpoint, _)| is_at(endpoint));
        secrets.map(|(_, vault)| Service::Vault(Arc::clone(vault)))
    }
}

pub(super) fn client(services: &Arc<Services>) -> SharedHttpClient {
    let services = Arc::downgrade(services);
    let elsewhere = egress::connector::http_client(std::time::Duration::from_secs(1));
    http_client_fn(move |settings: &HttpConnectorSettings, parts: &RuntimeComponents| {
        let elsewhere = elsewhere.http_connector(settings, parts);
        SharedHttpConnector::new(Connector { services: Weak::clone(&services), elsewhere })
    })
}

struct Connector {
    /// Weak, so that a client does not keep the emulators alive.
    services: Weak<Services>,
    elsewhere: SharedHttpConnector,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let Some(services) = self.services.upgrade() else {
            let cause = ConnectorError::io("the emulators have ended".into());
            return HttpConnectorFuture::ready(Err(cause));
        };
        let Some(service) = services.at(request.uri()) else {
            return self.call_elsewhere(request, &services.writes);
        };
        let (writes, elsewhere) = (Arc::clone(&services.writes), self.elsewhere.clone());
        HttpConnectorFuture::new(async move {
            // A connection would yield to other tasks. Without that, one task would make a hundred calls
            // while the others wait for their first.
            tokio::task::yield_now().await;
            match service {
                Service::Tables(tables) => match answer(&tables, &request, &writes) {
                    Some(response) => Ok(response),
                    None => elsewhere.call(request).await,
                },
                Service::Queues(queues) => {
                    let (headers, body) = parts(request)?;
                    whole(answer_sqs(State(queues), headers, body).await).await
                }
                Service::Vault(vault) => {
                    let (headers, body) = parts(request)?;
                    whole(answer_secrets(State(vault), headers, body).await).await
                }
            }
        })
    }
}

impl Connector {
    fn call_elsewhere(&self, request: HttpRequest, writes: &Arc<Notify>) -> HttpConnectorFuture {
        let is_write = operation(&request).is_some_and(Tables::is_write);
        let called = self.elsewhere.call(request);
        if !is_write {
            return called;
        }
        let writes = Arc::clone(writes);
        HttpConnectorFuture::new(async move {
            let answer = called.await;
            writes.notify_one();
            answer
        })
    }
}

fn answer(tables: &Tables, request: &HttpRequest, writes: &Notify) -> Option<HttpResponse> {
    let answer = tables.answer(operation(request)?, request.body().bytes()?)?;
    if answer.has_written {
        writes.notify_one();
    }
    let status = answer.status.try_into().ok()?;
    Some(HttpResponse::new(status, SdkBody::from(answer.body)))
}

/// The table's operation that a request is of.
fn operation(request: &HttpRequest) -> Option<&str> {
    request.headers().get("x-amz-target")?.strip_prefix(TARGET)
}

/// The headers and the body, as the servers' handlers take them.
fn parts(request: HttpRequest) -> Result<(HeaderMap, Bytes), ConnectorError> {
    let request = request.try_into_http1x().map_err(other)?;
    let body = request.body().bytes().map(Bytes::copy_from_slice).unwrap_or_default();
    Ok((request.into_parts().0.headers, body))
}

/// Converts a response of a server's handler.
async fn whole(response: Response) -> Result<HttpResponse, ConnectorError> {
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.map_err(other)?;
    HttpResponse::try_from(Response::from_parts(parts, SdkBody::from(body))).map_err(other)
}

fn other(cause: impl Into<AnyError>) -> ConnectorError {
    ConnectorError::other(cause.into(), None)
}

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
const TARGET: &str = "DynamoDB_20120810.";

/// The emulators, each with its endpoint.
pub(super) struct Services {
    pub(super) dynamodb: (String, Tables),
    pub(super) sqs: (String, Arc<Queues>),
    pub(super) secrets: (String, Arc<Vault>),
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
        if is_at(&self.dynamodb.0) {
            return Some(Service::Tables(self.dynamodb.1.clone()));
        }
        if is_at(&self.sqs.0) {
            return Some(Service::Queues(Arc::clone(&self.sqs.1)));
        }
        is_at(&self.secrets.0).then(|| Service::Vault(Arc::clone(&self.secrets.1)))
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
            return self.elsewhere.call(request);
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

fn answer(tables: &Tables, request: &HttpRequest, writes: &Notify) -> Option<HttpResponse> {
    let operation = request.headers().get("x-amz-target")?.strip_prefix(TARGET)?;
    let answer = tables.answer(operation, request.body().bytes()?)?;
    if answer.has_written {
        writes.notify_one();
    }
    let status = answer.status.try_into().ok()?;
    Some(HttpResponse::new(status, SdkBody::from(answer.body)))
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

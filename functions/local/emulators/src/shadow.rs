//! A differential check: every call of the table goes to the embedded engine and to another one, one after the other,
//! and what they answer is compared. The caller gets the embedded engine's answer.

mod compare;

use std::fmt;
use std::fs::{OpenOptions, create_dir_all};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::error::AnyError;
use compare::{Answer, differences};

/// The prefix of the operation in `X-Amz-Target`.
const TARGET: &str = "DynamoDB_20120810.";

/// The engine that every call of the table goes to as well.
#[derive(Debug, Clone)]
pub struct Shadow {
    /// Its endpoint. It is called with the credentials of [`crate::Elsewhere`].
    pub endpoint: String,
    /// The directory for the differences: of each process a file, with a line of JSON for each.
    pub notes: PathBuf,
}

/// The calls of one system.
struct Calls {
    shadow: Shadow,
    count: AtomicU64,
    /// Held while a call is made to both engines, so that both get the calls in one order.
    order: Mutex<()>,
}

/// Wraps an HTTP client, so that calls of the table go to the other engine, too.
pub(crate) fn before(shadow: &Shadow, client: &SharedHttpClient) -> SharedHttpClient {
    let (count, order) = (AtomicU64::default(), Mutex::default());
    let calls = Arc::new(Calls { shadow: shadow.clone(), count, order });
    let client = client.clone();
    http_client_fn(move |settings: &HttpConnectorSettings, parts: &RuntimeComponents| {
        let inner = client.http_connector(settings, parts);
        SharedHttpConnector::new(Connector { calls: Arc::clone(&calls), inner })
    })
}

#[derive(Clone)]
struct Connector {
    calls: Arc<Calls>,
    inner: SharedHttpConnector,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target");
        let operation = target.and_then(|target| target.strip_prefix(TARGET)).map(str::to_owned);
        let Some(operation) = operation else { return self.inner.call(request) };
        let connector = self.clone();
        HttpConnectorFuture::new(async move { connector.call_both(&operation, request).await })
    }
}

impl Connector {
    async fn call_both(
        &self,
        operation: &str,
        request: HttpRequest,
    ) -> Result<HttpResponse, ConnectorError> {
        let mut copy = request.try_clone().ok_or_else(|| other("a body that is sent once"))?;
        let input = serde_json::from_slice(request.body().bytes().unwrap_or_default());
        let input: Value = input.map_err(|cause| other(cause.to_string()))?;
        copy.set_uri(self.calls.shadow.endpoint.as_str()).map_err(other)?;
        let (response, answer, shadow) = {
            let _order = self.calls.order.lock().await;
            let (response, answer) = read(self.inner.call(request).await?).await?;
            let (_, shadow) = read(self.inner.call(copy).await?).await?;
            (response, answer, shadow)
        };
        self.calls.note(operation, &input, &answer, &shadow);
        Ok(response)
    }
}

/// Reads a response, and makes it anew.
async fn read(response: HttpResponse) -> Result<(HttpResponse, Answer), ConnectorError> {
    let status = response.status();
    let body = response.into_body().collect().await.map_err(other)?.to_bytes();
    let json = serde_json::from_slice(&body).unwrap_or_default();
    let answer = Answer { status: status.as_u16(), json };
    Ok((HttpResponse::new(status, SdkBody::from(body)), answer))
}

impl Calls {
    /// Writes down how two answers differ.
    fn note(&self, operation: &str, input: &Value, embedded: &Answer, shadow: &Answer) {
        self.count.fetch_add(1, Ordering::Relaxed);
        for kind in differences(operation, input, embedded, shadow) {
            self.write(&json!({
                "operation": operation, "kind": kind, "input": input,
                "embedded": [embedded.status, embedded.json], "shadow": [shadow.status, shadow.json],
            }));
        }
    }

    fn write(&self, line: &Value) {
        let folder = &self.shadow.notes;
        let written = create_dir_all(folder).and_then(|()| {
            let file = folder.join(std::process::id().to_string());
            let mut file = OpenOptions::new().create(true).append(true).open(file)?;
            file.write_all(format!("{line}\n").as_bytes())
        });
        if let Err(cause) = written {
            tracing::error!(%cause, "differences of the engines not written");
        }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.write(&json!({ "calls": self.count.load(Ordering::Relaxed) }));
    }
}

fn other(cause: impl Into<AnyError>) -> ConnectorError {
    ConnectorError::other(cause.into(), None)
}

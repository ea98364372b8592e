//! A differential check: every call of the table goes to the embedded engine and to another one, one after the other,
//! and what they answer is compared. The caller gets the embedded engine's answer.

mod compare;

use std::fs::{OpenOptions, create_dir_all};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_smithy_runtime_api::client::http::{HttpConnector, SharedHttpClient, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::intercept::{Intercept, TableCall, intercepted, other};
use compare::{Answer, differences};

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
    intercepted(&calls, client)
}

impl Intercept for Arc<Calls> {
    async fn answer(
        &self,
        call: TableCall,
        inner: &SharedHttpConnector,
    ) -> Result<HttpResponse, ConnectorError> {
        let mut copy = call.copy()?;
        copy.set_uri(self.shadow.endpoint.as_str()).map_err(other)?;
        let TableCall { operation, input, request } = call;
        let (response, answer, shadow) = {
            let _order = self.order.lock().await;
            let (response, answer) = read(inner.call(request).await?).await?;
            let (_, shadow) = read(inner.call(copy).await?).await?;
            (response, answer, shadow)
        };
        self.note(&operation, &input, &answer, &shadow);
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

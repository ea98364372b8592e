//! The HTTP client that injects faults into the calls of another.

use std::fmt;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt;
use serde_json::Value;

use super::fault::{Call, Fault};
use super::late::{self, Before};
use super::{Faults, answers, pages};
use crate::error::AnyError;

/// The prefix of the operation in `X-Amz-Target`.
const TARGET: &str = "DynamoDB_20120810.";

/// The longest delay of a slow reply (our choice): less than an attempt's timeout.
const SLOW: Duration = Duration::from_millis(250);

impl Faults {
    /// Wraps an HTTP client, so that these faults are injected into its calls.
    pub(crate) fn before(&self, client: &SharedHttpClient) -> SharedHttpClient {
        let (faults, client) = (self.clone(), client.clone());
        http_client_fn(move |settings: &HttpConnectorSettings, parts: &RuntimeComponents| {
            let inner = client.http_connector(settings, parts);
            SharedHttpConnector::new(Connector { faults: faults.clone(), inner })
        })
    }
}

#[derive(Clone)]
struct Connector {
    faults: Faults,
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
        let operation = target.and_then(|target| target.strip_prefix(TARGET));
        let Some(operation) = operation.map(str::to_owned) else { return self.inner.call(request) };
        let connector = self.clone();
        HttpConnectorFuture::new(async move { connector.answer(operation, request).await })
    }
}

/// A call with its parsed input.
pub(super) struct ParsedCall {
    pub(super) operation: String,
    pub(super) input: Value,
    pub(super) request: HttpRequest,
}

impl ParsedCall {
    /// The call with another operation and input.
    pub(super) fn with(
        &self,
        operation: &str,
        input: &Value,
    ) -> Result<HttpRequest, ConnectorError> {
        let copy = self.request.try_clone();
        let mut copy = copy.ok_or_else(|| other("a body that is sent once"))?;
        let body = input.to_string();
        let headers = copy.headers_mut();
        headers.insert("content-length", body.len().to_string());
        headers.insert("x-amz-target", format!("{TARGET}{operation}"));
        *copy.body_mut() = SdkBody::from(body);
        Ok(copy)
    }
}

impl Connector {
    async fn answer(
        &self,
        operation: String,
        request: HttpRequest,
    ) -> Result<HttpResponse, ConnectorError> {
        let input: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default())
            .map_err(|cause| other(cause.to_string()))?;
        let call = Call { operation, may_be_late: late::may_be(&input) };
        let (drawn, detail) = self.faults.next(&call);
        let fault = if self.faults.rejects(&call, &input) { Some(Fault::Invalid) } else { drawn };
        let parsed =
            ParsedCall { operation: call.operation.clone(), input: pages::begun(input), request };
        let before = self.load_before(&call, &parsed).await?;
        let answered = self.inject(fault, detail, &parsed).await;
        if let Some(before) = before {
            self.faults.0.late.note(before);
        }
        answered
    }

    /// Loads the items that a write is about to change, if reads may be stale.
    async fn load_before(
        &self,
        call: &Call,
        parsed: &ParsedCall,
    ) -> Result<Option<Before>, ConnectorError> {
        if !call.is_write() || !self.faults.may_be_stale() {
            return Ok(None);
        }
        let Some(input) = late::what_is_there(&parsed.operation, &parsed.input) else {
            return Ok(None);
        };
        let (_, found) = self.forward(parsed.with("BatchGetItem", &input)?).await?;
        Ok(Some(Before::of(&input, &found)))
    }

    /// Injects a fault into the call.
    async fn inject(
        &self,
        fault: Option<Fault>,
        detail: u64,
        parsed: &ParsedCall,
    ) -> Result<HttpResponse, ConnectorError> {
        let Some(fault) = fault else { return self.execute(parsed).await };
        let (operation, input) = (parsed.operation.as_str(), &parsed.input);
        let rejection = match fault {
            Fault::Throttled => answers::throttled(operation, input, detail),
            Fault::Conflict => answers::conflicting(operation, input, detail),
            Fault::Denied => answers::denied(),
            Fault::Invalid => answers::invalid(operation, input, detail),
            Fault::Leftover => return self.execute_part(detail, parsed).await,
            Fault::Stale | Fault::Short => return self.alter(fault, detail, parsed).await,
            Fault::LostReply | Fault::Slow | Fault::Behind(..) => None,
        };
        self.faults.count(fault);
        if let Some(rejection) = rejection {
            return Ok(rejection);
        }
        if let Fault::Behind(operation, calls) = fault {
            self.faults.until(operation, calls).await;
        }
        let answer = self.execute(parsed).await?;
        match fault {
            Fault::LostReply if detail & 1 == 0 => {
                answers::failed().ok_or_else(|| other("an answer without a status"))
            }
            Fault::LostReply => Err(ConnectorError::io("the connection has ended".into())),
            Fault::Slow => {
                tokio::time::sleep(SLOW.mul_f64(share(detail))).await;
                Ok(answer)
            }
            _ => Ok(answer),
        }
    }

    async fn execute(&self, parsed: &ParsedCall) -> Result<HttpResponse, ConnectorError> {
        self.inner.call(parsed.with(&parsed.operation, &parsed.input)?).await
    }

    /// Executes a part of a batch.
    async fn execute_part(
        &self,
        detail: u64,
        parsed: &ParsedCall,
    ) -> Result<HttpResponse, ConnectorError> {
        let Some((now, later)) = pages::in_part(&parsed.operation, &parsed.input, detail) else {
            return self.execute(parsed).await;
        };
        self.faults.count(Fault::Leftover);
        let (status, mut answer) = self.forward(parsed.with(&parsed.operation, &now)?).await?;
        pages::leave(&parsed.operation, &mut answer, later);
        finished(status, &answer)
    }

    /// Executes the call, and changes its response to a stale or short one, if possible.
    async fn alter(
        &self,
        fault: Fault,
        detail: u64,
        parsed: &ParsedCall,
    ) -> Result<HttpResponse, ConnectorError> {
        let (operation, input) = (parsed.operation.as_str(), &parsed.input);
        let (status, mut answer) = self.forward(parsed.with(operation, input)?).await?;
        let is_changed = status == 200
            && match fault {
                Fault::Stale => self.faults.0.late.show(operation, input, &mut answer),
                _ => pages::cut(input, &mut answer, detail),
            };
        if is_changed {
            self.faults.count(fault);
        }
        finished(status, &answer)
    }

    /// Sends a request to the table, and parses its response.
    async fn forward(&self, request: HttpRequest) -> Result<(u16, Value), ConnectorError> {
        let answer = self.inner.call(request).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await;
        let body = body.map_err(|cause| other(cause.to_string()))?.to_bytes();
        let answer = serde_json::from_slice(&body).map_err(|cause| other(cause.to_string()))?;
        Ok((status, answer))
    }
}

fn finished(status: u16, body: &Value) -> Result<HttpResponse, ConnectorError> {
    answers::answer(status, body).ok_or_else(|| other("an answer without a status"))
}

/// A number between 0.1 and 1.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a wait"
)]
fn share(detail: u64) -> f64 {
    0.1 + 0.9 * ((detail >> 8) % 1_000) as f64 / 1_000.0
}

fn other(cause: impl Into<AnyError>) -> ConnectorError {
    ConnectorError::other(cause.into(), None)
}

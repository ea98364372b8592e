//! The HTTP client that injects faults into the calls of another.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::{HttpConnector, SharedHttpClient, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use http_body_util::BodyExt;
use serde_json::Value;

use super::fault::{Call, Fault};
use super::late::{self, Before};
use super::{Faults, answers, pages};
use crate::intercept::{Intercept, TableCall, intercepted, other};

/// The longest delay of a slow reply (our choice): less than an attempt's timeout.
const SLOW: Duration = Duration::from_millis(250);

impl Faults {
    /// Wraps an HTTP client, so that these faults are injected into its calls.
    pub(crate) fn before(&self, client: &SharedHttpClient) -> SharedHttpClient {
        intercepted(self, client)
    }
}

impl Intercept for Faults {
    async fn answer(
        &self,
        call: TableCall,
        inner: &SharedHttpConnector,
    ) -> Result<HttpResponse, ConnectorError> {
        Connection { faults: self, inner }.answer(call).await
    }
}

/// The connection to the table, with the faults that are injected into it.
struct Connection<'a> {
    faults: &'a Faults,
    inner: &'a SharedHttpConnector,
}

impl Connection<'_> {
    async fn answer(&self, parsed: TableCall) -> Result<HttpResponse, ConnectorError> {
        let may_be_late = late::may_be(&parsed.input);
        let call = Call { operation: parsed.operation.clone(), may_be_late };
        let (drawn, detail) = self.faults.next(&call);
        let is_rejected = self.faults.rejects(&call, &parsed.input);
        let fault = if is_rejected { Some(Fault::Invalid) } else { drawn };
        let parsed = TableCall { input: pages::begun(parsed.input), ..parsed };
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
        parsed: &TableCall,
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
        parsed: &TableCall,
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

    async fn execute(&self, parsed: &TableCall) -> Result<HttpResponse, ConnectorError> {
        self.inner.call(parsed.with(&parsed.operation, &parsed.input)?).await
    }

    /// Executes a part of a batch.
    async fn execute_part(
        &self,
        detail: u64,
        parsed: &TableCall,
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
        parsed: &TableCall,
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

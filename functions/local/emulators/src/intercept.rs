//! The HTTP client of an SDK, around another one: whoever intercepts gets every call of the table, already parsed.

use std::fmt;
use std::future::Future;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use serde_json::Value;

use crate::error::AnyError;

/// The prefix of the operation in `X-Amz-Target`.
const TARGET: &str = "DynamoDB_20120810.";

/// What happens to the calls of the table.
pub(crate) trait Intercept: Clone + Send + Sync + 'static {
    /// Answers a call; `inner` sends it, or another one, to the table.
    ///
    /// # Errors
    /// The connection fails, or is made to.
    fn answer(
        &self,
        call: TableCall,
        inner: &SharedHttpConnector,
    ) -> impl Future<Output = Result<HttpResponse, ConnectorError>> + Send;
}

/// A call with its parsed input.
pub(crate) struct TableCall {
    pub(crate) operation: String,
    pub(crate) input: Value,
    pub(crate) request: HttpRequest,
}

impl TableCall {
    /// The call of this operation, with its input parsed.
    fn of(operation: &str, request: HttpRequest) -> Result<Self, ConnectorError> {
        let body = request.body().bytes().unwrap_or_default();
        let input = serde_json::from_slice(body).map_err(other)?;
        Ok(Self { operation: operation.to_owned(), input, request })
    }

    /// The call as it was sent.
    pub(crate) fn copy(&self) -> Result<HttpRequest, ConnectorError> {
        self.request.try_clone().ok_or_else(|| other("a body that is sent once"))
    }

    /// The call with another operation and input.
    pub(crate) fn with(
        &self,
        operation: &str,
        input: &Value,
    ) -> Result<HttpRequest, ConnectorError> {
        let mut copy = self.copy()?;
        let body = input.to_string();
        let headers = copy.headers_mut();
        headers.insert("content-length", body.len().to_string());
        headers.insert("x-amz-target", format!("{TARGET}{operation}"));
        *copy.body_mut() = SdkBody::from(body);
        Ok(copy)
    }
}

/// Wraps an HTTP client, so that calls of the table are intercepted. Other calls pass unchanged.
pub(crate) fn intercepted<I: Intercept>(by: &I, client: &SharedHttpClient) -> SharedHttpClient {
    let (by, client) = (by.clone(), client.clone());
    http_client_fn(move |settings: &HttpConnectorSettings, parts: &RuntimeComponents| {
        let inner = client.http_connector(settings, parts);
        SharedHttpConnector::new(Connector { by: by.clone(), inner })
    })
}

struct Connector<I> {
    by: I,
    inner: SharedHttpConnector,
}

impl<I> fmt::Debug for Connector<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl<I: Intercept> HttpConnector for Connector<I> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target");
        let operation = target.and_then(|target| target.strip_prefix(TARGET)).map(str::to_owned);
        let Some(operation) = operation else { return self.inner.call(request) };
        let (by, inner) = (self.by.clone(), self.inner.clone());
        HttpConnectorFuture::new(async move {
            by.answer(TableCall::of(&operation, request)?, &inner).await
        })
    }
}

/// An error that no retry mends.
pub(crate) fn other(cause: impl Into<AnyError>) -> ConnectorError {
    ConnectorError::other(cause.into(), None)
}

//! A call of a provider's API, and its result.

use http::StatusCode;
use primitives::clock::Timestamp;
use serde_json::{Value, json};

/// A call, as the provider received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCall {
    /// The method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// The idempotency key: Stripe's `Idempotency-Key`, Razorpay's `X-Refund-Idempotency`.
    pub key: Option<String>,
    /// The body.
    pub body: String,
}

/// A request of an API.
pub(crate) struct ApiRequest<'a> {
    pub(crate) method: &'a str,
    /// The segments of the path.
    pub(crate) path: &'a [&'a str],
    pub(crate) query: &'a str,
    pub(crate) body: &'a str,
    pub(crate) now: Timestamp,
    /// Whether a refund stays pending.
    pub(crate) is_pending: bool,
}

/// A rejection, as the provider returns it.
#[derive(Debug, Clone)]
pub struct ProviderRejection {
    /// The HTTP status.
    pub status: StatusCode,
    /// `{"error": {…}}`.
    pub body: Value,
    /// Whether the request was well-formed, so that its execution began before it was rejected.
    pub was_tried: bool,
}

/// The result of a call.
pub(crate) type ApiResult = Result<Value, ProviderRejection>;

impl ProviderRejection {
    /// Creates a rejection with this error.
    pub(crate) fn new(status: StatusCode, error: &Value) -> Self {
        Self { status, body: json!({ "error": error }), was_tried: true }
    }

    /// The rejection of a malformed request, whose execution did not begin.
    #[must_use]
    pub(crate) fn untried(self) -> Self {
        Self { was_tried: false, ..self }
    }
}

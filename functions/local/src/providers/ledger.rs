//! What both providers have recorded, and the errors that they answer with.

use std::collections::{HashMap, VecDeque};

use crypto::seal;
use http::StatusCode;
use serde_json::{Value, json};

use crate::providers::webhook::Provider;
use crate::providers::webhook_sender::{self, Endpoint, QueuedEvents};
use crate::providers::{razorpay, stripe};

/// Calls that are remembered.
const MAX_CALLS: usize = 10_000;
/// Endpoints of both providers together.
const MAX_ENDPOINTS: usize = 100;

/// What happens to a call instead of what it asks for.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// It is never answered, and not done.
    Hang,
    /// It is done, and never answered.
    DoneButLate,
    /// This status, with an error of this code.
    Reject(u16, &'static str),
    /// It is done; but a refund is only taken in, and stays pending until it is finished.
    Pending,
}

/// A call as the provider got it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCall {
    /// The method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// Stripe's `Idempotency-Key`, Razorpay's `X-Refund-Idempotency`.
    pub key: Option<String>,
    /// The body.
    pub body: String,
}

/// A no, as the provider says it.
#[derive(Debug, Clone)]
pub struct ProviderRejection {
    /// The HTTP status.
    pub status: StatusCode,
    /// `{"error": {…}}`.
    pub body: Value,
    /// Whether the request was well-formed, so that it was looked into before it was rejected.
    pub was_tried: bool,
}

/// What a call comes to.
pub(crate) type ApiResult = Result<Value, ProviderRejection>;

impl ProviderRejection {
    /// A rejection with this error.
    pub(crate) fn new(status: StatusCode, error: &Value) -> Self {
        Self { status, body: json!({ "error": error }), was_tried: true }
    }

    /// The same, of a request that was not even looked into.
    #[must_use]
    pub(crate) fn untried(self) -> Self {
        Self { was_tried: false, ..self }
    }
}

/// All of both providers' state.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) razorpay: razorpay::Razorpay,
    pub(crate) stripe: stripe::Stripe,
    pub(crate) calls: Vec<ProviderCall>,
    pub(crate) troubles: VecDeque<Trouble>,
    /// Calls that came with a key, and their answers.
    answered: HashMap<String, (ProviderCall, ApiResult)>,
    endpoints: Vec<Endpoint>,
}

impl Ledger {
    /// Writes a call down; what gets in its way.
    pub(crate) fn note(&mut self, call: ProviderCall) -> Option<Trouble> {
        if self.calls.len() >= MAX_CALLS {
            self.calls.clear();
        }
        self.calls.push(call);
        self.troubles.pop_front()
    }

    /// Does what a call asks for, once per key. Stripe answers a key with what it said first,
    /// also if that was no; Razorpay remembers what it has done.
    pub(crate) fn once(
        &mut self,
        provider: Provider,
        call: &ProviderCall,
        deed: impl FnOnce(&mut Self) -> ApiResult,
    ) -> ApiResult {
        let Some(key) = &call.key else { return deed(self) };
        let key = format!("{} {key}", provider.as_str());
        if let Some((before, result)) = self.answered.get(&key) {
            return if before == call { result.clone() } else { Err(reused(provider)) };
        }
        let result = deed(self);
        let is_kept = match (&result, provider) {
            (Ok(_), _) => true,
            (Err(rejection), Provider::Stripe) => rejection.was_tried,
            (Err(_), Provider::Razorpay) => false,
        };
        if is_kept {
            self.answered.insert(key, (call.clone(), result.clone()));
        }
        result
    }

    /// Registers an endpoint; its id.
    pub(crate) fn register(&mut self, provider: Provider, url: &str, secret: &str) -> ApiResult {
        let reject = |code: &str, message: &str| {
            let error = json!({"type": "invalid_request_error", "code": code, "message": message});
            Err(ProviderRejection::new(StatusCode::BAD_REQUEST, &error))
        };
        if !webhook_sender::is_here(url) {
            return reject("url_invalid", "Webhooks go to this machine alone.");
        }
        if secret.is_empty() {
            return reject("parameter_missing", "Say what webhooks are signed with.");
        }
        self.endpoints.retain(|known| known.provider != provider || known.url != url);
        if self.endpoints.len() >= MAX_ENDPOINTS {
            return reject("too_many_endpoints", "There are too many endpoints.");
        }
        let (url, secret) = (url.to_owned(), secret.to_owned());
        let answer = json!({"id": mint("we_", 24), "provider": provider.as_str(), "url": url});
        self.endpoints.push(Endpoint { provider, url, secret });
        Ok(answer)
    }

    /// What has happened since the last time, for each endpoint that wants to hear it.
    pub(crate) fn queued(&mut self) -> Vec<QueuedEvents> {
        let events = [
            (Provider::Razorpay, std::mem::take(&mut self.razorpay.events)),
            (Provider::Stripe, std::mem::take(&mut self.stripe.events)),
        ];
        let mut queued = Vec::new();
        for (provider, events) in events.into_iter().filter(|(_, events)| !events.is_empty()) {
            let to = self.endpoints.iter().filter(|endpoint| endpoint.provider == provider);
            queued
                .extend(to.map(|to| QueuedEvents { endpoint: to.clone(), events: events.clone() }));
        }
        queued
    }
}

/// A key that came with another request before.
fn reused(provider: Provider) -> ProviderRejection {
    match provider {
        Provider::Razorpay => razorpay::reject(
            "Different request with the same idempotency key has already been processed.",
            "NA",
        ),
        Provider::Stripe => stripe::reused_key(),
    }
}

/// An id: a prefix and random letters, for a shop may remember those of a server that is gone.
pub(crate) fn mint(prefix: &str, length: usize) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh";
    let letter = |byte: u8| LETTERS.get(usize::from(byte & 31)).copied().map_or('A', char::from);
    prefix.chars().chain(seal::random_bytes::<32>().map(letter).into_iter().take(length)).collect()
}

//! The state of both providers, and their errors.

use std::collections::{HashMap, VecDeque};

use http::StatusCode;
use serde_json::json;

use crate::providers::call::{ApiResult, ProviderCall, ProviderRejection};
use crate::providers::id::mint;
use crate::providers::webhook::Provider;
use crate::providers::webhook_sender::{self, Endpoint, QueuedEvents};
use crate::providers::{razorpay, stripe};

/// Calls that are recorded at most.
const MAX_CALLS: usize = 10_000;
/// Webhook endpoints of both providers at most.
const MAX_ENDPOINTS: usize = 100;

/// A fault that is injected into a call.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// The call is not executed, and gets no response.
    Hang,
    /// The call is executed, and gets no response.
    DoneButLate,
    /// The call is rejected with this status and an error of this code.
    Reject(u16, &'static str),
    /// The call is executed, but a refund stays pending until [`super::Providers::finish_refund`].
    Pending,
}

/// The state of both providers.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) razorpay: razorpay::Razorpay,
    pub(crate) stripe: stripe::Stripe,
    pub(crate) calls: Vec<ProviderCall>,
    pub(crate) troubles: VecDeque<Trouble>,
    /// Calls with an idempotency key, and their results.
    answered: HashMap<String, (ProviderCall, ApiResult)>,
    endpoints: Vec<Endpoint>,
}

impl Ledger {
    /// Records a call. Returns the trouble that is planned for it.
    pub(crate) fn note(&mut self, call: ProviderCall) -> Option<Trouble> {
        if self.calls.len() >= MAX_CALLS {
            self.calls.clear();
        }
        self.calls.push(call);
        self.troubles.pop_front()
    }

    /// Executes a call, once for each idempotency key. Stripe repeats its first result, also a rejection;
    /// Razorpay repeats only a success.
    pub(crate) fn once(
        &mut self,
        provider: Provider,
        call: &ProviderCall,
        execute: impl FnOnce(&mut Self) -> ApiResult,
    ) -> ApiResult {
        let Some(key) = &call.key else { return execute(self) };
        let key = format!("{} {key}", provider.as_str());
        if let Some((before, result)) = self.answered.get(&key) {
            return if before == call { result.clone() } else { Err(reused(provider)) };
        }
        let result = execute(self);
        let is_stored = match (&result, provider) {
            (Ok(_), _) => true,
            (Err(rejection), Provider::Stripe) => rejection.was_tried,
            (Err(_), Provider::Razorpay) => false,
        };
        if is_stored {
            self.answered.insert(key, (call.clone(), result.clone()));
        }
        result
    }

    /// Registers a webhook endpoint. Returns it with its id.
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

    /// Takes the new events, for each endpoint of their provider.
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

/// The rejection of an idempotency key that was used with another request.
fn reused(provider: Provider) -> ProviderRejection {
    match provider {
        Provider::Razorpay => razorpay::reject(
            "Different request with the same idempotency key has already been processed.",
            "NA",
        ),
        Provider::Stripe => stripe::reused_key(),
    }
}

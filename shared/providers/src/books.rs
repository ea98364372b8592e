//! What both providers have written down, and how they say no.

use std::collections::{HashMap, VecDeque};

use gateway::seal;
use http::StatusCode;
use serde_json::{Value, json};

use crate::courier::{self, Endpoint, Letter};
use crate::webhook::Provider;
use crate::{razorpay, stripe};

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
    Refuse(u16, &'static str),
    /// It is done; but a refund is only taken in, and stays pending until somebody settles it.
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
pub struct Refusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// `{"error": {…}}`.
    pub body: Value,
    /// Whether the request was well-formed, so that it was looked into before it was refused.
    pub was_tried: bool,
}

/// What a call comes to.
pub(crate) type Outcome = Result<Value, Refusal>;

impl Refusal {
    /// A refusal with this error.
    pub(crate) fn new(status: StatusCode, error: &Value) -> Self {
        Self { status, body: json!({ "error": error }), was_tried: true }
    }

    /// The same, of a request that was not even looked into.
    #[must_use]
    pub(crate) fn untried(self) -> Self {
        Self { was_tried: false, ..self }
    }
}

/// Everything there is.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) razorpay: razorpay::Ledger,
    pub(crate) stripe: stripe::Ledger,
    pub(crate) calls: Vec<ProviderCall>,
    pub(crate) troubles: VecDeque<Trouble>,
    /// Calls that came with a key, and their answers.
    answered: HashMap<String, (ProviderCall, Outcome)>,
    endpoints: Vec<Endpoint>,
}

impl Books {
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
        deed: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        let Some(key) = &call.key else { return deed(self) };
        let key = format!("{} {key}", provider.as_str());
        if let Some((before, outcome)) = self.answered.get(&key) {
            return if before == call { outcome.clone() } else { Err(reused(provider)) };
        }
        let outcome = deed(self);
        let is_kept = match (&outcome, provider) {
            (Ok(_), _) => true,
            (Err(refusal), Provider::Stripe) => refusal.was_tried,
            (Err(_), Provider::Razorpay) => false,
        };
        if is_kept {
            self.answered.insert(key, (call.clone(), outcome.clone()));
        }
        outcome
    }

    /// Registers an endpoint; its id.
    pub(crate) fn register(&mut self, provider: Provider, url: &str, secret: &str) -> Outcome {
        let refuse = |code: &str, message: &str| {
            let error = json!({"type": "invalid_request_error", "code": code, "message": message});
            Err(Refusal::new(StatusCode::BAD_REQUEST, &error))
        };
        if !courier::is_here(url) {
            return refuse("url_invalid", "Webhooks go to this machine alone.");
        }
        if secret.is_empty() {
            return refuse("parameter_missing", "Say what webhooks are signed with.");
        }
        self.endpoints.retain(|known| known.provider != provider || known.url != url);
        if self.endpoints.len() >= MAX_ENDPOINTS {
            return refuse("too_many_endpoints", "There are too many endpoints.");
        }
        let (url, secret) = (url.to_owned(), secret.to_owned());
        let answer = json!({"id": mint("we_", 24), "provider": provider.as_str(), "url": url});
        self.endpoints.push(Endpoint { provider, url, secret });
        Ok(answer)
    }

    /// What has happened since the last time, for each endpoint that wants to hear it.
    pub(crate) fn letters(&mut self) -> Vec<Letter> {
        let news = [
            (Provider::Razorpay, std::mem::take(&mut self.razorpay.news)),
            (Provider::Stripe, std::mem::take(&mut self.stripe.news)),
        ];
        let mut letters = Vec::new();
        for (provider, events) in news.into_iter().filter(|(_, events)| !events.is_empty()) {
            let to = self.endpoints.iter().filter(|endpoint| endpoint.provider == provider);
            letters.extend(to.map(|to| Letter { endpoint: to.clone(), events: events.clone() }));
        }
        letters
    }
}

/// A key that came with another request before.
fn reused(provider: Provider) -> Refusal {
    match provider {
        Provider::Razorpay => razorpay::refuse(
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

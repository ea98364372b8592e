//! Emulated payment providers: a server with the parts of Razorpay's and Stripe's APIs that a shop needs,
//! after their public documentation (<https://razorpay.com/docs/api>, <https://docs.stripe.com/api>).
//! Everything is in memory, and no money moves.
//!
//! - `/razorpay/v1/…` and `/stripe/v1/…` are the APIs, each of one account.
//! - `/sandbox/…` has the actions of a customer in the provider's script, and of a merchant on its dashboard.
//! - Every change is posted to the registered endpoints by the provider's own signed webhook.
//!
//! A test makes the server slow, failing or rejecting ([`Trouble`]), and inspects the requests that it got
//! ([`ProviderCall`]).

mod call;
mod disputes;
mod id;
mod keys;
mod ledger;
mod pages;
mod razorpay;
mod sandbox;
mod server;
mod stripe;
mod webhook;
mod webhook_sender;

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use primitives::clock::Clock;
use serde_json::Value;
use services::config::PaymentBaseUrls;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinSet;

pub use call::{ProviderCall, ProviderRejection};
pub use disputes::{NewDispute, Verdict};
pub use keys::{RAZORPAY_KEY_ID, RAZORPAY_SECRET, STRIPE_KEY_ID, STRIPE_SECRET, WEBHOOK_SECRET};
pub use ledger::Trouble;
use server::ServerState;
pub use webhook::{Event, Provider, Webhook};
use webhook_sender::QueuedEvents;

/// The options of a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// An address that it listens on in addition to loopback. [`Providers::url`] is always on loopback:
    /// functions send nothing to private addresses (docs/conventions.md §11).
    pub host: Ipv4Addr,
    /// The port; 0 for any free one.
    pub port: u16,
    /// The clock, which Stripe's signatures are dated by.
    pub clock: Clock,
    /// The deadline for [`Providers::base_urls`]: how long a shop waits for a response.
    pub deadline: Duration,
    /// The delay of each response, like that of a distant provider.
    pub latency: Duration,
}

impl Default for Options {
    /// The options of a test: on a free port of loopback, with a short deadline.
    fn default() -> Self {
        let (deadline, latency) = (Duration::from_millis(400), Duration::ZERO);
        Self { host: Ipv4Addr::LOCALHOST, port: 0, clock: Clock::default(), deadline, latency }
    }
}

/// A running server. Dropping it ends it, and loses all data.
pub struct Providers {
    url: String,
    deadline: Duration,
    state: Arc<ServerState>,
    router: Router,
    /// The events that nobody has taken yet, if nothing posts them.
    queued: Option<Mutex<UnboundedReceiver<QueuedEvents>>>,
    _tasks: JoinSet<()>,
}

impl Providers {
    /// Starts a server without data.
    ///
    /// # Errors
    /// The port is in use, or the address is not this machine's.
    pub async fn start(options: Options) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let mut listeners = vec![listener];
        if !options.host.is_loopback() {
            listeners.push(TcpListener::bind((options.host, address.port())).await?);
        }
        let url = format!("http://{address}");
        let (queue, queued) = mpsc::unbounded_channel();
        let state = Arc::new(ServerState::open(options.clock.clone(), options.latency, queue));
        let router = Router::new().fallback(server::receive).with_state(Arc::clone(&state));
        let mut tasks = JoinSet::new();
        tasks.spawn(webhook_sender::run(queued, options.clock));
        for listener in listeners {
            let router = router.clone();
            tasks.spawn(async move {
                if let Err(cause) = axum::serve(listener, router).await {
                    tracing::error!(%cause, "payment provider emulator failed");
                }
            });
        }
        let deadline = options.deadline;
        Ok(Self { url, deadline, state, router, queued: None, _tasks: tasks })
    }

    /// The same without a port: requests come through [`Providers::router`], and events are taken with
    /// [`Providers::take_events`] instead of being posted.
    pub fn in_process(options: Options) -> Self {
        let (queue, queued) = mpsc::unbounded_channel();
        let state = Arc::new(ServerState::open(options.clock, options.latency, queue));
        let router = Router::new().fallback(server::receive).with_state(Arc::clone(&state));
        Self {
            url: format!("http://{}:{}", Ipv4Addr::LOCALHOST, options.port),
            deadline: options.deadline,
            state,
            router,
            queued: Some(Mutex::new(queued)),
            _tasks: JoinSet::new(),
        }
    }

    /// What the server answers its requests with.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The events for registered endpoints since this was last called, the oldest first; none if the server
    /// posts them itself.
    pub fn take_events(&self) -> Vec<Event> {
        let Some(queued) = &self.queued else { return Vec::new() };
        let mut queued = queued.lock().unwrap_or_else(PoisonError::into_inner);
        let each = std::iter::from_fn(|| queued.try_recv().ok());
        each.flat_map(|queued| queued.events).collect()
    }

    /// The base URL of the server, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The settings of a system that reaches both providers here.
    pub fn base_urls(&self) -> PaymentBaseUrls {
        PaymentBaseUrls {
            razorpay: format!("{}/razorpay", self.url),
            stripe: format!("{}/stripe", self.url),
            deadline: self.deadline,
        }
    }

    /// Registers a webhook endpoint of a provider: a URL on loopback, with this secret. A repeated URL
    /// replaces its secret.
    ///
    /// # Errors
    /// A URL of another machine; an empty secret; too many endpoints.
    pub fn register(
        &self,
        provider: Provider,
        url: &str,
        secret: &str,
    ) -> Result<(), ProviderRejection> {
        self.state.act(|ledger, _| ledger.register(provider, url, secret)).map(drop)
    }

    /// Plans troubles for the next calls, one each, in this order.
    pub fn next(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.state.act(|ledger, _| ledger.troubles.extend(troubles));
    }

    /// The calls so far whose path has this ending.
    pub fn calls(&self, ending: &str) -> Vec<ProviderCall> {
        let mut calls = self.state.act(|ledger, _| ledger.calls.clone());
        calls.retain(|call| call.path.ends_with(ending));
        calls
    }

    /// All refunds, the oldest first: Razorpay's, then Stripe's.
    pub fn refunds(&self) -> Vec<Value> {
        self.state.act(|ledger, _| [ledger.razorpay.refunds(), ledger.stripe.refunds()].concat())
    }

    /// All Razorpay payments, then all Stripe intents, as the API returns them, the oldest first.
    pub fn payments(&self) -> Vec<Value> {
        self.state.act(|ledger, _| [ledger.razorpay.payments(), ledger.stripe.intents()].concat())
    }

    /// The customer pays a Razorpay order; `amount` is a wrong amount, which no real provider accepts.
    /// Returns what the script gives the browser.
    ///
    /// # Errors
    /// The order is unknown, or already paid.
    pub fn pay_order(&self, id: &str, amount: Option<i64>) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.pay(id, amount, now))
    }

    /// The customer's attempt to pay a Razorpay order fails. Returns the failed payment.
    ///
    /// # Errors
    /// The order is unknown, or already paid.
    pub fn fail_order(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.fail(id, now))
    }

    /// The customer pays a Razorpay order a second time. The second payment is never captured, and is
    /// refunded automatically. Returns it.
    ///
    /// # Errors
    /// The order is unknown.
    pub fn pay_order_again(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.pay_again(id, now))
    }

    /// An authorized Razorpay payment is refunded automatically, because it was not captured. Returns it.
    ///
    /// # Errors
    /// The payment is unknown, or not authorized.
    pub fn lapse_payment(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.lapse(id, now))
    }

    /// The customer pays a Stripe intent. Returns the intent as the browser sees it.
    ///
    /// # Errors
    /// The intent is unknown, or its status does not allow payment.
    pub fn pay_intent(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.stripe.pay(id, now))
    }

    /// The customer pays by a debit, which is processed from now on. Returns the intent as the browser sees it.
    ///
    /// # Errors
    /// The intent is unknown, or its status does not allow payment.
    pub fn debit_intent(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.stripe.debit(id, now))
    }

    /// The customer's bank pays a debit, or returns it. Returns the intent as the API returns it.
    ///
    /// # Errors
    /// The intent is unknown, or no debit of it is processed.
    pub fn end_debit(&self, id: &str, is_paid: bool) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.stripe.end_debit(id, is_paid, now))
    }

    /// The customer's card is declined. Returns the intent as the API returns it.
    ///
    /// # Errors
    /// The intent is unknown, or its status does not allow payment.
    pub fn decline_intent(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.stripe.decline(id, now))
    }

    /// A pending refund succeeds or fails, or a successful refund is returned by the customer's bank. Returns
    /// the refund.
    ///
    /// # Errors
    /// The refund is unknown, or has failed.
    pub fn finish_refund(&self, id: &str, has_succeeded: bool) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("rfnd") => ledger.razorpay.finish_refund(id, has_succeeded, now),
            _ => ledger.stripe.finish_refund(id, has_succeeded, now),
        })
    }

    /// The merchant refunds a Razorpay payment or a Stripe intent on the provider's dashboard. Returns the
    /// refund.
    ///
    /// # Errors
    /// The payment is unknown, or the amount exceeds the refundable amount.
    pub fn refund_on_dashboard(&self, id: &str, amount: i64) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("pay") => ledger.razorpay.refund_on_dashboard(id, amount, now),
            _ => ledger.stripe.refund_on_dashboard(id, amount, now),
        })
    }

    /// A bank opens a dispute of a Razorpay payment or a Stripe intent. Returns the dispute.
    ///
    /// # Errors
    /// The payment is unknown, or was not captured.
    pub fn open_dispute(&self, id: &str, input: &NewDispute) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("pay") => ledger.razorpay.dispute(id, input, now),
            _ => ledger.stripe.dispute(id, input, now),
        })
    }

    /// A bank decides or continues a dispute. Returns the dispute.
    ///
    /// # Errors
    /// The dispute is unknown, or the provider does not allow the verdict.
    pub fn decide_dispute(&self, id: &str, verdict: Verdict) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("disp") => ledger.razorpay.decide_dispute(id, verdict, now),
            _ => ledger.stripe.decide_dispute(id, verdict, now),
        })
    }

    /// A provider's event about the current state of a dispute; none if there is no such dispute.
    pub fn dispute_event(&self, kind: &'static str, id: &str) -> Option<Event> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("disp") => ledger.razorpay.dispute_event(kind, id, now),
            _ => ledger.stripe.dispute_event(kind, id, now),
        })
    }

    /// Razorpay's event about the current state of a payment; none if there is no such payment.
    pub fn razorpay_event(&self, kind: &'static str, payment: &str) -> Option<Event> {
        self.state.act(|ledger, now| ledger.razorpay.event_about(kind, payment, now))
    }

    /// Stripe's event about the current state of an intent; none if there is no such intent.
    pub fn stripe_event(&self, kind: &'static str, intent: &str) -> Option<Event> {
        self.state.act(|ledger, now| ledger.stripe.event_about(kind, intent, now))
    }
}

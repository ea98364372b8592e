//! Razorpay and Stripe on this machine: a server that speaks as much of both as a shop needs,
//! after their public documentation (<https://razorpay.com/docs/api>,
//! <https://docs.stripe.com/api>). Everything is in memory, and no money moves.
//!
//! - `/razorpay/v1/…` and `/stripe/v1/…` are the APIs, of one account each.
//! - `/sandbox/…` is what a customer does in the provider's script, and a merchant on its
//!   dashboard.
//! - Every change is told to the registered endpoints by the provider's own signed webhook.
//!
//! A test makes the server late, failing and rejecting ([`Trouble`]), and looks at what it was asked
//! ([`ProviderCall`]).

mod disputes;
mod ledger;
mod razorpay;
mod sandbox;
mod server;
mod stripe;
mod webhook;
mod webhook_sender;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use primitives::clock::Clock;
use serde_json::Value;
use services::config::PaymentBaseUrls;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use disputes::{NewDispute, Verdict};
pub use ledger::{ProviderCall, ProviderRejection, Trouble};
use server::ServerState;
pub use webhook::{Event, Provider, Webhook};

/// The keys of the account with Razorpay, as a merchant types them in.
pub const RAZORPAY_KEY_ID: &str = "rzp_test_1DP5mmOlF5G5ag";
/// Razorpay's secret key.
pub const RAZORPAY_SECRET: &str = "thiIsNotTheRealSecret42";
/// The keys of the account with Stripe: those of its documentation.
pub const STRIPE_KEY_ID: &str = "pk_test_TYooMQauvdEDq54NiTphI7jx";
/// Stripe's secret key.
pub const STRIPE_SECRET: &str = "sk_test_4eC39HqLyjWDarjtT1zdp7dc";
/// What webhooks are signed with unless an endpoint has another secret.
pub const WEBHOOK_SECRET: &str = "whsec_from_the_provider_9f2b";

/// How a server differs from another.
#[derive(Debug, Clone)]
pub struct Options {
    /// Another address that it listens on beside loopback, unless this is loopback. [`Providers::url`] is on
    /// loopback always: functions send nothing to private addresses (docs/conventions.md §11).
    pub host: Ipv4Addr,
    /// Its port; 0 takes any free one.
    pub port: u16,
    /// The time: Stripe's signatures are fresh by it.
    pub clock: Clock,
    /// How long a shop is to wait for an answer.
    pub deadline: Duration,
    /// How long each answer takes: a provider is on another continent.
    pub latency: Duration,
}

impl Default for Options {
    /// For one test: on a free port of loopback, with a short deadline.
    fn default() -> Self {
        let (deadline, latency) = (Duration::from_millis(400), Duration::ZERO);
        Self { host: Ipv4Addr::LOCALHOST, port: 0, clock: Clock::default(), deadline, latency }
    }
}

/// The server. Dropping it ends it, and forgets everything.
pub struct Providers {
    url: String,
    deadline: Duration,
    state: Arc<ServerState>,
    _tasks: JoinSet<()>,
}

impl Providers {
    /// Starts a server without a payment, an endpoint or a trouble.
    ///
    /// # Errors
    /// The port is taken, or the address is not this machine's.
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
                    tracing::error!(%cause, "the payment providers ended");
                }
            });
        }
        Ok(Self { url, deadline: options.deadline, state, _tasks: tasks })
    }

    /// Where the server is, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What a system takes to reach both providers here.
    pub fn base_urls(&self) -> PaymentBaseUrls {
        PaymentBaseUrls {
            razorpay: format!("{}/razorpay", self.url),
            stripe: format!("{}/stripe", self.url),
            deadline: self.deadline,
        }
    }

    /// Has a provider's webhooks posted to a URL on loopback, signed with this secret. A URL has
    /// one secret: the last.
    ///
    /// # Errors
    /// A URL of another machine.
    pub fn register(
        &self,
        provider: Provider,
        url: &str,
        secret: &str,
    ) -> Result<(), ProviderRejection> {
        self.state.act(|ledger, _| ledger.register(provider, url, secret)).map(drop)
    }

    /// The next calls get this, one each; then all is well again.
    pub fn next(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.state.act(|ledger, _| ledger.troubles.extend(troubles));
    }

    /// The calls so far whose path ends like this.
    pub fn calls(&self, ending: &str) -> Vec<ProviderCall> {
        let mut calls = self.state.act(|ledger, _| ledger.calls.clone());
        calls.retain(|call| call.path.ends_with(ending));
        calls
    }

    /// The refunds there are, oldest first: Razorpay's, then Stripe's.
    pub fn refunds(&self) -> Vec<Value> {
        self.state.act(|ledger, _| [ledger.razorpay.refunds(), ledger.stripe.refunds()].concat())
    }

    /// Razorpay's payments and Stripe's intents, as the provider sees them, oldest first.
    pub fn payments(&self) -> Vec<Value> {
        self.state.act(|ledger, _| [ledger.razorpay.payments(), ledger.stripe.intents()].concat())
    }

    /// The customer pays a Razorpay order, with another amount if one is given, which no provider
    /// should let them; what its script hands the browser.
    ///
    /// # Errors
    /// Unknown, or paid.
    pub fn pay_order(&self, id: &str, amount: Option<i64>) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.pay(id, amount, now))
    }

    /// The customer's attempt to pay a Razorpay order fails; the payment that came of it.
    ///
    /// # Errors
    /// Unknown, or paid.
    pub fn fail_order(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.fail(id, now))
    }

    /// The customer pays a Razorpay order that they have paid already: the second payment goes back
    /// by itself, and was never captured; the payment.
    ///
    /// # Errors
    /// Unknown.
    pub fn pay_order_again(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.pay_again(id, now))
    }

    /// A Razorpay payment that was authorized and that nobody has captured goes back by itself; the
    /// payment.
    ///
    /// # Errors
    /// Unknown, or not authorized.
    pub fn lapse_payment(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.razorpay.lapse(id, now))
    }

    /// The customer pays a Stripe intent; the intent as the browser sees it.
    ///
    /// # Errors
    /// Unknown, or in no state to be paid.
    pub fn pay_intent(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.stripe.pay(id, now))
    }

    /// The customer's card is declined; the intent as the provider sees it.
    ///
    /// # Errors
    /// Unknown, or in no state to be paid.
    pub fn decline_intent(&self, id: &str) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| ledger.stripe.decline(id, now))
    }

    /// A refund that was taken in comes to its end, or one that had come through comes back from
    /// the customer's bank; the refund.
    ///
    /// # Errors
    /// Unknown, or failed.
    pub fn finish_refund(&self, id: &str, has_succeeded: bool) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("rfnd") => ledger.razorpay.finish_refund(id, has_succeeded, now),
            _ => ledger.stripe.finish_refund(id, has_succeeded, now),
        })
    }

    /// The merchant gives money back on the provider's own dashboard: of a Razorpay payment or a
    /// Stripe intent; the refund.
    ///
    /// # Errors
    /// Unknown, or more than there is.
    pub fn refund_on_dashboard(&self, id: &str, amount: i64) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("pay") => ledger.razorpay.refund_on_dashboard(id, amount, now),
            _ => ledger.stripe.refund_on_dashboard(id, amount, now),
        })
    }

    /// A bank disputes a Razorpay payment or a Stripe intent; the dispute.
    ///
    /// # Errors
    /// Unknown, or nothing was taken.
    pub fn open_dispute(&self, id: &str, input: &NewDispute) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("pay") => ledger.razorpay.dispute(id, input, now),
            _ => ledger.stripe.dispute(id, input, now),
        })
    }

    /// A bank goes on with a dispute; the dispute.
    ///
    /// # Errors
    /// Unknown, or none that this is said to.
    pub fn decide_dispute(&self, id: &str, verdict: Verdict) -> Result<Value, ProviderRejection> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("disp") => ledger.razorpay.decide_dispute(id, verdict, now),
            _ => ledger.stripe.decide_dispute(id, verdict, now),
        })
    }

    /// A provider's event about a dispute as it is now; none when there is no such dispute.
    pub fn dispute_event(&self, kind: &'static str, id: &str) -> Option<Event> {
        self.state.act(|ledger, now| match id.split('_').next() {
            Some("disp") => ledger.razorpay.dispute_event(kind, id, now),
            _ => ledger.stripe.dispute_event(kind, id, now),
        })
    }

    /// Razorpay's event about a payment as it is now; none when there is no such payment.
    pub fn razorpay_event(&self, kind: &'static str, payment: &str) -> Option<Event> {
        self.state.act(|ledger, now| ledger.razorpay.event_about(kind, payment, now))
    }

    /// Stripe's event about an intent as it is now; none when there is no such intent.
    pub fn stripe_event(&self, kind: &'static str, intent: &str) -> Option<Event> {
        self.state.act(|ledger, now| ledger.stripe.event_about(kind, intent, now))
    }
}

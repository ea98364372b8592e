//! What a provider tells by itself, and how it signs it.

use crypto::signature::hmac_sha256_hex;
use primitives::clock::Timestamp;

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Razorpay.
    Razorpay,
    /// Stripe.
    Stripe,
}

impl Provider {
    /// Its name in paths.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Razorpay => "razorpay",
            Self::Stripe => "stripe",
        }
    }
}

/// Something that happened: the same words, however often it is told.
#[derive(Debug, Clone)]
pub struct Event {
    /// Who tells it.
    pub provider: Provider,
    /// What it is known by.
    pub id: String,
    /// What is posted.
    pub body: Vec<u8>,
}

impl Event {
    /// The event, signed with an endpoint's secret at this time.
    pub fn sign(&self, secret: &str, now: Timestamp) -> Webhook {
        match self.provider {
            Provider::Razorpay => Webhook::razorpay(self.body.clone(), &self.id, secret),
            Provider::Stripe => Webhook::stripe(self.body.clone(), now.seconds(), secret),
        }
    }
}

/// A webhook on its way.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The provider's name in paths.
    pub provider: &'static str,
    /// What is signed.
    pub body: Vec<u8>,
    /// The signature, and what goes with it.
    pub headers: Vec<(&'static str, String)>,
}

impl Webhook {
    /// `X-Razorpay-Signature`: hex of the body's HMAC. The id is not covered by it.
    pub fn razorpay(body: Vec<u8>, id: &str, secret: &str) -> Self {
        let signature = hmac_sha256_hex(secret.as_bytes(), &[&body]);
        let id = ("x-razorpay-event-id", id.to_owned());
        let headers = vec![("x-razorpay-signature", signature), id];
        Self { provider: Provider::Razorpay.as_str(), body, headers }
    }

    /// `Stripe-Signature`: hex of the HMAC of time and body, and beside it, as in Stripe's test
    /// mode, one that says nothing.
    pub fn stripe(body: Vec<u8>, seconds: i64, secret: &str) -> Self {
        let time = seconds.to_string();
        let signature = hmac_sha256_hex(secret.as_bytes(), &[time.as_bytes(), b".", &body]);
        let fake = "0".repeat(64);
        let headers = vec![("stripe-signature", format!("t={time},v1={signature},v0={fake}"))];
        Self { provider: Provider::Stripe.as_str(), body, headers }
    }
}

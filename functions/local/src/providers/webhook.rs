//! The events of providers, and the webhooks that sign them.

use crypto::signature::hmac_sha256_hex;
use primitives::clock::Timestamp;

/// A payment provider.
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

/// An event of a provider; every webhook about it has the same body.
#[derive(Debug, Clone)]
pub struct Event {
    /// The provider.
    pub provider: Provider,
    /// The id.
    pub id: String,
    /// The body that is posted.
    pub body: Vec<u8>,
}

impl Event {
    /// Signs the event with an endpoint's secret at this time.
    pub fn sign(&self, secret: &str, now: Timestamp) -> Webhook {
        match self.provider {
            Provider::Razorpay => Webhook::razorpay(self.body.clone(), &self.id, secret),
            Provider::Stripe => Webhook::stripe(self.body.clone(), now.seconds(), secret),
        }
    }
}

/// A signed webhook.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The provider's name in paths.
    pub provider: &'static str,
    /// The signed body.
    pub body: Vec<u8>,
    /// The headers, with the signature.
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

    /// `Stripe-Signature`: hex of the HMAC of time and body, and, as in Stripe's test mode, a fake `v0`
    /// signature.
    pub fn stripe(body: Vec<u8>, seconds: i64, secret: &str) -> Self {
        let time = seconds.to_string();
        let signature = hmac_sha256_hex(secret.as_bytes(), &[time.as_bytes(), b".", &body]);
        let fake = "0".repeat(64);
        let headers = vec![("stripe-signature", format!("t={time},v1={signature},v0={fake}"))];
        Self { provider: Provider::Stripe.as_str(), body, headers }
    }
}

//! What a bank does about a payment.

use serde_json::Value;

/// A dispute that a bank opens.
#[derive(Debug, Clone, Default)]
pub struct NewDispute {
    /// How much, as the provider counts; all of the payment, unless it is said.
    pub amount: Option<i64>,
    /// In which currency, if it is not the payment's.
    pub currency: Option<String>,
    /// Whether the bank only asks: Stripe's early warning, Razorpay's retrieval.
    pub is_inquiry: bool,
}

impl NewDispute {
    /// Of a request's body: `{"amount", "currency", "inquiry"}`, any of them left out.
    pub(crate) fn parse(body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        Self {
            amount: body.get("amount").and_then(Value::as_i64),
            currency: body.get("currency").and_then(Value::as_str).map(str::to_owned),
            is_inquiry: body.get("inquiry").and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

/// What a bank says to a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The merchant keeps the money.
    Win,
    /// The customer gets it.
    Lose,
    /// It comes to nothing.
    Close,
    /// The evidence was not enough: Razorpay's `action_required`.
    AskAgain,
    /// What was an inquiry is a chargeback now.
    Escalate,
}

impl Verdict {
    /// Of a path's last segment.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "win" => Self::Win,
            "lose" => Self::Lose,
            "close" => Self::Close,
            "ask_again" => Self::AskAgain,
            "escalate" => Self::Escalate,
            _ => return None,
        })
    }
}

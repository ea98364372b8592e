//! The disputes of banks.

use serde_json::Value;

/// A dispute that a bank opens.
#[derive(Debug, Clone, Default)]
pub struct NewDispute {
    /// The amount in the provider's units; the whole payment by default.
    pub amount: Option<i64>,
    /// The currency, if it is not the payment's.
    pub currency: Option<String>,
    /// Whether it is an inquiry: Stripe's early warning, Razorpay's retrieval.
    pub is_inquiry: bool,
}

impl NewDispute {
    /// Parses a request's body: `{"amount", "currency", "inquiry"}`, each optional.
    pub(crate) fn parse(body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        Self {
            amount: body.get("amount").and_then(Value::as_i64),
            currency: body.get("currency").and_then(Value::as_str).map(str::to_owned),
            is_inquiry: body.get("inquiry").and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

/// A bank's decision on a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The merchant keeps the money.
    Win,
    /// The customer gets the money.
    Lose,
    /// The dispute is closed without a decision.
    Close,
    /// The evidence was not enough: Razorpay's `action_required`.
    AskAgain,
    /// An inquiry becomes a chargeback.
    Escalate,
}

impl Verdict {
    /// The verdict of a path's last segment.
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

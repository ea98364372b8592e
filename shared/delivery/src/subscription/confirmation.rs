//! Whose queue it is: whoever can read a token out of it and bring it back.
//!
//! A queue's policy says that the service may send, not for whom. So a queue gets nothing but a challenge
//! until the token in it has come back, and again when another queue takes its place. Of a token its digest is
//! kept alone, and a wrong one is counted by the write that rejects it, under the subscription's version:
//! however many come at once, each is counted before the next is looked at.

use std::time::Duration;

use core_types::id::EventId;
use crypto::seal;
use crypto::signature::constant_time_eq;
use http::header;
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use services::queue::foreign::ForeignMessage;

use super::{DisabledReason, SigningKeys, Subscription, SubscriptionStatus};
use crate::delivery::{challenge_headers, message_attributes};

/// How long a token is good for (our choice): until somebody who deploys the consumer has looked.
const GOOD_FOR: Duration = DAY;
/// How long after a challenge another may be sent: a queue may be somebody else's.
const AGAIN_AFTER: Duration = MINUTE;
/// Wrong tokens, after which a challenge is void.
const MOST_WRONG: u32 = 5;
/// What a challenge is called where an event has its name.
pub const CHALLENGE: &str = "webhook_subscription.challenge";

/// A challenge, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// SHA-256 of the token, in hex.
    token_digest: String,
    /// When the challenge was sent.
    pub sent_at: Timestamp,
    /// Until when its token is good.
    pub expires_at: Timestamp,
    /// Wrong tokens that came.
    wrong: u32,
    /// When the right one came.
    pub confirmed_at: Option<Timestamp>,
    /// What the subscription is then.
    pub then: SubscriptionStatus,
}

/// The state of the confirmation of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfirmationView {
    /// When the last challenge was sent.
    pub sent_at: Timestamp,
    /// When its token expires.
    pub expires_at: Timestamp,
    /// When the queue was confirmed; `null` before.
    pub confirmed_at: Option<Timestamp>,
}

impl From<&Confirmation> for ConfirmationView {
    fn from(confirmation: &Confirmation) -> Self {
        let Confirmation { sent_at, expires_at, confirmed_at, .. } = confirmation.clone();
        Self { sent_at, expires_at, confirmed_at }
    }
}

/// What a token came to.
#[derive(Debug, Clone)]
pub enum Confirming {
    /// It had come before.
    Already,
    /// The subscription is confirmed by it.
    Done(Box<Subscription>),
    /// It is wrong, which is counted.
    Wrong(Box<Subscription>),
}

/// A token on its way to a queue.
#[derive(Debug, Clone)]
pub struct Challenge {
    id: EventId,
    token: String,
    sent_at: Timestamp,
    expires_at: Timestamp,
}

impl Challenge {
    /// A fresh one.
    pub fn draw(now: Timestamp) -> Self {
        let token = seal::random_secret();
        Self { id: EventId::mint(now), token, sent_at: now, expires_at: now.plus(GOOD_FOR) }
    }

    /// The message that carries it: in the form of an event's, signed as one, without the custom headers,
    /// which the owner of another's queue is not to see.
    pub fn message(&self, subscription: &Subscription, keys: &SigningKeys) -> ForeignMessage {
        let Self { id, token, sent_at, expires_at } = self;
        let body = json!({
            "id": id,
            "type": CHALLENGE,
            "api_version": core_types::event::API_VERSION,
            "created_at": sent_at,
            "store_id": subscription.store_id,
            "entity": {
                "type": "webhook_subscription",
                "id": subscription.id,
                "version": subscription.version,
            },
            "data": {
                "subscription_id": subscription.id,
                "token": token,
                "expires_at": expires_at,
            },
        })
        .to_string();
        let store = subscription.store_id.as_ref();
        let headers = challenge_headers(id.as_str(), store, &body, keys, *sent_at);
        ForeignMessage {
            attributes: message_attributes(headers),
            body,
            group_id: subscription.id.to_string(),
            deduplication_id: id.to_string(),
        }
    }

    fn confirmation(&self, then: SubscriptionStatus) -> Confirmation {
        Confirmation {
            token_digest: seal::digest(&self.token),
            sent_at: self.sent_at,
            expires_at: self.expires_at,
            wrong: 0,
            confirmed_at: None,
            then,
        }
    }
}

impl Confirmation {
    fn is(&self, token: &str) -> bool {
        constant_time_eq(seal::digest(token).as_bytes(), self.token_digest.as_bytes())
    }

    /// 429, until another challenge may be sent.
    fn too_many(&self, detail: &'static str, now: Timestamp) -> Problem {
        let seconds = now.seconds_until(self.sent_at.plus(AGAIN_AFTER)).max(1);
        Code::TooManyAttempts
            .detail(detail)
            .with("retry_after", seconds)
            .header(header::RETRY_AFTER, &seconds.to_string())
    }
}

impl Subscription {
    /// Whether its events may go where they go: always but to a queue that nobody has shown to be theirs.
    pub fn is_confirmed(&self) -> bool {
        self.status != SubscriptionStatus::Unconfirmed
    }

    /// The subscription once this challenge was sent to its queue: what it was, it is again when the token
    /// comes back.
    #[must_use]
    pub fn to_be_confirmed(&self, challenge: &Challenge) -> Self {
        let then = match (&self.confirmation, self.status) {
            (Some(before), SubscriptionStatus::Unconfirmed) => before.then,
            (_, status) => status,
        };
        let confirmation = Some(challenge.confirmation(then));
        Self { status: SubscriptionStatus::Unconfirmed, confirmation, ..self.clone() }
    }

    /// Whether its queue may be sent another challenge now.
    ///
    /// # Errors
    /// `invalid_state_transition` when there is nothing to confirm; `too_many_attempts` within a minute.
    pub fn may_be_challenged(&self, now: Timestamp) -> Result<(), Problem> {
        let waiting = self.confirmation.as_ref().filter(|_| !self.is_confirmed());
        let Some(confirmation) = waiting else {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        };
        if now < confirmation.sent_at.plus(AGAIN_AFTER) {
            return Err(confirmation.too_many("A challenge was sent within the last minute.", now));
        }
        Ok(())
    }

    /// The subscription on or off as its owner wants it, once it is confirmed.
    #[must_use]
    pub fn once_confirmed(mut self, then: SubscriptionStatus) -> Self {
        if let Some(confirmation) = &mut self.confirmation {
            confirmation.then = then;
        }
        self
    }

    /// What a token that was brought back comes to.
    ///
    /// # Errors
    /// `invalid_state_transition` when there is nothing to confirm; `too_many_attempts` after five wrong
    /// ones; `invalid_or_expired_token`.
    pub fn confirm(&self, token: &str, now: Timestamp) -> Result<Confirming, Problem> {
        let Some(confirmation) = &self.confirmation else {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        };
        if confirmation.confirmed_at.is_some() {
            let again = confirmation.is(token).then_some(Confirming::Already);
            return again.ok_or_else(|| Code::InvalidOrExpiredToken.into());
        }
        if confirmation.wrong >= MOST_WRONG {
            let detail = "Too many wrong tokens; ask for another challenge.";
            return Err(confirmation.too_many(detail, now));
        }
        if confirmation.expires_at <= now {
            return Err(Code::InvalidOrExpiredToken.into());
        }
        let mut after = self.changed(now);
        let mut next = confirmation.clone();
        let is_right = confirmation.is(token);
        if is_right {
            next.confirmed_at = Some(now);
            after.status = next.then;
            let is_kept = |_: &DisabledReason| next.then == SubscriptionStatus::DisabledBySystem;
            after.disabled_reason = after.disabled_reason.filter(is_kept);
        } else {
            next.wrong = next.wrong.saturating_add(1);
        }
        after.confirmation = Some(next);
        let after = Box::new(after);
        Ok(if is_right { Confirming::Done(after) } else { Confirming::Wrong(after) })
    }
}

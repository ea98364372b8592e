//! Challenges of queues: a queue belongs to whoever can read a token from it and return the token.
//!
//! A queue's policy says that the service may send, not for which subscriber. So a queue gets only a
//! challenge until its token has been returned, and again when another queue replaces it. Only the
//! token's digest is stored. A wrong token is counted by the write that rejects it, under the
//! subscription's version: of concurrent ones each is counted before the next is checked.

use std::time::Duration;

use core_types::id::{EventId, StoreId};
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
use crate::delivery::message_attributes;

/// The lifetime of a token (our choice): time for a person who deploys the consumer to read it.
const GOOD_FOR: Duration = DAY;
/// The time between two challenges: a queue may belong to somebody else.
const AGAIN_AFTER: Duration = MINUTE;
/// The number of wrong tokens that voids a challenge.
const MAX_WRONG_CODES: u32 = 5;
/// The type of a challenge, in place of an event's name.
pub const CHALLENGE: &str = "webhook_subscription.challenge";

/// The last challenge of a queue, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueChallenge {
    /// SHA-256 of the token, in hex.
    token_digest: String,
    /// When the challenge was sent.
    pub sent_at: Timestamp,
    /// When its token expires.
    pub expires_at: Timestamp,
    /// The number of wrong tokens returned.
    wrong: u32,
    /// When the right token was returned.
    pub confirmed_at: Option<Timestamp>,
    /// The subscription's status once it is confirmed.
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

impl From<&QueueChallenge> for ConfirmationView {
    fn from(confirmation: &QueueChallenge) -> Self {
        let QueueChallenge { sent_at, expires_at, confirmed_at, .. } = confirmation.clone();
        Self { sent_at, expires_at, confirmed_at }
    }
}

/// The outcome of a returned token.
#[derive(Debug, Clone)]
pub enum ConfirmOutcome {
    /// The subscription was confirmed by it before.
    AlreadyConfirmed,
    /// The token is right: the subscription, confirmed.
    Confirmed(Box<Subscription>),
    /// The token is wrong: the subscription, with the attempt counted.
    WrongToken(Box<Subscription>),
}

/// A token to be sent to a queue.
#[derive(Debug, Clone)]
pub struct Challenge {
    id: EventId,
    token: String,
    sent_at: Timestamp,
    expires_at: Timestamp,
}

impl Challenge {
    /// A challenge with a new random token.
    pub fn draw(now: Timestamp) -> Self {
        let token = seal::random_secret();
        Self { id: EventId::mint(now), token, sent_at: now, expires_at: now.plus(GOOD_FOR) }
    }

    /// The message with the token, in the form of an event's message and signed as one. It has no custom
    /// headers: if the queue belongs to somebody else, they must not see them.
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
        let headers = headers(id.as_str(), store, &body, keys, *sent_at);
        ForeignMessage {
            attributes: message_attributes(headers),
            body,
            group_id: subscription.id.to_string(),
            deduplication_id: id.to_string(),
        }
    }

    fn confirmation(&self, then: SubscriptionStatus) -> QueueChallenge {
        QueueChallenge {
            token_digest: seal::digest(&self.token),
            sent_at: self.sent_at,
            expires_at: self.expires_at,
            wrong: 0,
            confirmed_at: None,
            then,
        }
    }
}

impl QueueChallenge {
    fn is(&self, token: &str) -> bool {
        constant_time_eq(seal::digest(token).as_bytes(), self.token_digest.as_bytes())
    }

    /// 429, with the seconds until another challenge may be sent.
    fn too_many(&self, detail: &'static str, now: Timestamp) -> Problem {
        let seconds = now.seconds_until(self.sent_at.plus(AGAIN_AFTER)).max(1);
        Code::TooManyAttempts
            .detail(detail)
            .with("retry_after", seconds)
            .header(header::RETRY_AFTER, &seconds.to_string())
    }
}

impl Subscription {
    /// Whether its destination is confirmed. A URL always is; a queue is once its token was returned.
    pub fn is_confirmed(&self) -> bool {
        self.status != SubscriptionStatus::Unconfirmed
    }

    /// The unconfirmed subscription after this challenge was sent. Its status before is restored when the
    /// token is returned.
    #[must_use]
    pub fn to_be_confirmed(&self, challenge: &Challenge) -> Self {
        let then = match (&self.confirmation, self.status) {
            (Some(before), SubscriptionStatus::Unconfirmed) => before.then,
            (_, status) => status,
        };
        let confirmation = Some(challenge.confirmation(then));
        Self { status: SubscriptionStatus::Unconfirmed, confirmation, ..self.clone() }
    }

    /// Checks that its queue may be sent another challenge now.
    ///
    /// # Errors
    /// `invalid_state_transition` when there is nothing to confirm; `too_many_attempts` within a minute.
    pub fn ensure_can_be_challenged(&self, now: Timestamp) -> Result<(), Problem> {
        let waiting = self.confirmation.as_ref().filter(|_| !self.is_confirmed());
        let Some(confirmation) = waiting else {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        };
        if now < confirmation.sent_at.plus(AGAIN_AFTER) {
            return Err(
                confirmation.too_many("A challenge was sent within the last minute: wait.", now)
            );
        }
        Ok(())
    }

    /// The subscription with the status that it has once it is confirmed.
    #[must_use]
    pub fn once_confirmed(mut self, then: SubscriptionStatus) -> Self {
        if let Some(confirmation) = &mut self.confirmation {
            confirmation.then = then;
        }
        self
    }

    /// Validates a returned token.
    ///
    /// # Errors
    /// `invalid_state_transition` when there is nothing to confirm; `too_many_attempts` after five wrong
    /// tokens; `invalid_or_expired_token`.
    pub fn confirm(&self, token: &str, now: Timestamp) -> Result<ConfirmOutcome, Problem> {
        let Some(confirmation) = &self.confirmation else {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        };
        if confirmation.confirmed_at.is_some() {
            let again = confirmation.is(token).then_some(ConfirmOutcome::AlreadyConfirmed);
            return again.ok_or_else(|| Code::InvalidOrExpiredToken.into());
        }
        if confirmation.wrong >= MAX_WRONG_CODES {
            let detail = "Too many wrong tokens: request another challenge.";
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
        Ok(if is_right {
            ConfirmOutcome::Confirmed(after)
        } else {
            ConfirmOutcome::WrongToken(after)
        })
    }
}

/// The headers of a challenge: those of an event, without those of a delivery.
fn headers(
    id: &str,
    store: Option<&StoreId>,
    body: &str,
    keys: &SigningKeys,
    now: Timestamp,
) -> Vec<(String, String)> {
    let seconds = now.seconds().to_string();
    let (hmac, signature) = keys.sign(id, now.seconds(), body.as_bytes());
    let mut all = vec![
        ("Content-Type", "application/json"),
        ("User-Agent", "Service-Webhooks/1"),
        ("X-Service-Timestamp", &seconds),
        ("X-Service-Hmac-SHA256", &hmac),
        ("X-Service-Event-Id", id),
        ("X-Service-Event-Type", CHALLENGE),
    ];
    all.extend(store.iter().map(|store| ("X-Service-Store-Id", store.as_str())));
    all.extend([
        ("webhook-id", id),
        ("webhook-timestamp", &seconds),
        ("webhook-signature", &signature),
    ]);
    all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

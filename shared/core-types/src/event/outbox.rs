//! Events in the outbox, and the actions on them.

use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::Event;

primitives::string_enum! {
    /// The status of an event in the outbox.
    OutboxState {
        /// Waiting to be turned into deliveries.
        Pending = "pending",
        /// Turned into deliveries.
        Published = "published",
        /// Could not be turned into deliveries: requeue or discard it.
        Failed = "failed",
        /// Discarded by request.
        Discarded = "discarded",
    }
}

impl Event {
    /// Whether the payload was removed.
    pub fn is_expunged(&self) -> bool {
        self.body.is_empty()
    }

    /// The event without its payload.
    #[must_use]
    pub fn expunged(&self) -> Self {
        Self { body: String::new(), version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The actions that its state allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match self.state {
            OutboxState::Pending => vec!["discard"],
            OutboxState::Failed => vec!["requeue", "discard"],
            OutboxState::Discarded => vec!["requeue"],
            OutboxState::Published => Vec::new(),
        }
    }

    /// The event, pending again: the next sweep publishes it.
    ///
    /// # Errors
    /// `invalid_state_transition`; `payload_expunged`, because there is no payload to send.
    pub fn requeue(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.is_expunged() {
            return Err(Code::PayloadExpunged.into());
        }
        match self.state {
            OutboxState::Failed | OutboxState::Discarded => {
                Ok(self.moved_to(OutboxState::Pending, None, now))
            }
            _ => Err(Problem::state(self.state.as_str(), &self.allowed_actions())),
        }
    }

    /// The event, discarded.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn discard(&self, now: Timestamp) -> Result<Self, Problem> {
        match self.state {
            OutboxState::Pending | OutboxState::Failed => {
                Ok(self.moved_to(OutboxState::Discarded, self.failure.clone(), now))
            }
            _ => Err(Problem::state(self.state.as_str(), &self.allowed_actions())),
        }
    }

    /// The event at its next version, in this state.
    #[must_use]
    pub fn moved_to(&self, state: OutboxState, failure: Option<String>, now: Timestamp) -> Self {
        Self {
            state,
            failure,
            published_at: (state == OutboxState::Published).then_some(now).or(self.published_at),
            version: self.version.saturating_add(1),
            ..self.clone()
        }
    }
}

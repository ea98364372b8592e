//! The states of a store, and the actions that change them.

use primitives::clock::Timestamp;
use primitives::problem::Problem;

use super::{DELETION_GRACE_PERIOD, Store};

primitives::string_enum! {
    /// The state of a store.
    StoreStatus {
        /// It is being set up; the storefront is not open.
        Draft = "draft",
        /// The storefront is open and accepts orders.
        Active = "active",
        /// The storefront is visible, but accepts no orders.
        Paused = "paused",
        /// The storefront is closed; the store can be reopened.
        Closed = "closed",
        /// Deleted and inaccessible; `store.redacted` follows after 30 days.
        Deleted = "deleted",
    }
}

primitives::string_enum! {
    /// An action that changes a store's state.
    StoreAction {
        /// Opens the storefront.
        Activate = "activate",
        /// Stops accepting orders.
        Pause = "pause",
        /// Closes the storefront.
        Close = "close",
        /// Reopens a closed store as paused, so that its owner can check it before it sells.
        Reopen = "reopen",
        /// Deletes the store.
        Delete = "delete",
    }
}

impl Store {
    /// The actions that the state allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        StoreAction::ALL
            .iter()
            .filter(|action| self.status.after(**action).is_some())
            .map(|action| action.as_str())
            .collect()
    }

    /// Returns the store after an action.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn after_action(
        &self,
        action: StoreAction,
        reason: Option<String>,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let Some(status) = self.status.after(action) else {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        };
        Ok(Self {
            status,
            status_reason: reason,
            redact_at: (status == StoreStatus::Deleted).then(|| now.plus(DELETION_GRACE_PERIOD)),
            ..self.changed(now)
        })
    }
}

impl StoreStatus {
    /// The state after the action; none if it is not allowed.
    fn after(self, action: StoreAction) -> Option<Self> {
        use StoreAction::{Activate, Close, Delete, Pause, Reopen};
        match (self, action) {
            (Self::Draft | Self::Paused, Activate) => Some(Self::Active),
            (Self::Active, Pause) | (Self::Closed, Reopen) => Some(Self::Paused),
            (Self::Draft | Self::Active | Self::Paused, Close) => Some(Self::Closed),
            (Self::Draft | Self::Active | Self::Paused | Self::Closed, Delete) => {
                Some(Self::Deleted)
            }
            _ => None,
        }
    }
}

//! Changes of a subscription: its status, its URL, and the rotation of its secret.

use std::time::Duration;

use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::{DisabledReason, Rotation, Subscription, SubscriptionStatus};

impl Subscription {
    /// The enabled subscription, with its failure counts reset.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is enabled already, or not confirmed.
    pub fn enable(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.is_enabled() || !self.is_confirmed() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(Self {
            status: SubscriptionStatus::Enabled,
            disabled_reason: None,
            health: self.health.renewed(),
            ..self.changed(now)
        })
    }

    /// The subscription disabled by its owner.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is not enabled.
    pub fn disable(&self, now: Timestamp) -> Result<Self, Problem> {
        if !self.is_enabled() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(Self { status: SubscriptionStatus::Disabled, ..self.changed(now) })
    }

    /// The subscription disabled by the service.
    #[must_use]
    pub fn disabled_by_system(&self, reason: DisabledReason, now: Timestamp) -> Self {
        Self {
            status: SubscriptionStatus::DisabledBySystem,
            disabled_reason: Some(reason),
            ..self.changed(now)
        }
    }

    /// The subscription with events posted to `url`. A new URL enables it again if the service had
    /// disabled it. For another host the health starts anew.
    #[must_use]
    pub fn moved_to(&self, url: String, now: Timestamp) -> Self {
        let moved = self.changed(now);
        if url == self.url {
            return moved;
        }
        let status = match self.status {
            SubscriptionStatus::DisabledBySystem => SubscriptionStatus::Enabled,
            other => other,
        };
        let health = if self.is_elsewhere(&url) {
            self.health.of_another()
        } else if status == self.status {
            self.health.clone()
        } else {
            self.health.pardoned()
        };
        Self { url, status, disabled_reason: None, health, ..moved }
    }

    /// The rotation, while the old secret still signs.
    pub fn live_rotation(&self, now: Timestamp) -> Option<&Rotation> {
        self.rotation.as_ref().filter(|rotation| now < rotation.expires_at)
    }

    /// The subscription with a new secret; the old one signs for `grace` more.
    ///
    /// # Errors
    /// `invalid_state_transition` during a rotation, because three secrets would sign. With a zero
    /// `grace` a new secret is always accepted: the old one may have leaked.
    pub fn rotate(
        &self,
        sealed_secret: String,
        hint: Option<String>,
        grace: Duration,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        if !grace.is_zero() && self.live_rotation(now).is_some() {
            return Err(Problem::state("rotating", &["promote"]));
        }
        let old =
            Rotation { sealed_secret: self.sealed_secret.clone(), expires_at: now.plus(grace) };
        Ok(Self {
            sealed_secret,
            secret_hint: hint,
            rotation: (!grace.is_zero()).then_some(old),
            ..self.changed(now)
        })
    }

    /// The subscription with its new secret alone: the rotation ends.
    ///
    /// # Errors
    /// `no_secret_rotation` when no rotation is under way.
    pub fn finish_rotation(&self, now: Timestamp) -> Result<Self, Problem> {
        self.live_rotation(now).ok_or(Code::NoSecretRotation)?;
        Ok(Self { rotation: None, ..self.changed(now) })
    }
}

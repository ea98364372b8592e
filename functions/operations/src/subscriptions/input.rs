//! The requests that create and change a subscription.

use commerce::event_filter::EventTypes;
use delivery::subscription::{
    CustomHeaders, Ordering, OwnSecret, PayloadFilter, Subscription, SubscriptionStatus,
};
use gateway::request::{RequestRules, Validation};
use platform::actor::StoreActor;
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Int, Patch, Text};
use primitives::input::{Given, request};
use primitives::problem::{FieldError, Problem};

use crate::destinations::{self, DestinationRequest, Url};

/// Delivery attempts a second, 1 to 100 (our choice).
type Rate = Int<1, 100>;

pub(super) fn per_second(Int(rate): Rate) -> Option<u32> {
    u32::try_from(rate).ok()
}

/// A new webhook subscription.
#[request]
#[derive(Debug)]
pub(crate) struct CreateSubscriptionRequest {
    /// The URL that events are posted to: https, a public host, port 443 or 8443. It is short for a
    /// `destination` of type `https`.
    pub(super) url: Option<Url>,
    /// The destination of the events: a URL or an Amazon SQS queue. Send this or `url`.
    pub(super) destination: Option<DestinationRequest>,
    /// The event types to receive, 1 to 50: names of the catalogue, `noun.*` or `*`.
    pub(super) event_types: EventTypes,
    /// A note for yourself: what the subscription is for.
    pub(super) description: Option<Text<0, 200>>,
    /// Conditions that the payload must meet for an event to be delivered.
    pub(super) filter: Option<PayloadFilter>,
    /// `entity` to deliver the events about each entity one after the other. The default is `none`; for a
    /// FIFO queue it is `entity`.
    pub(super) ordering: Option<Ordering>,
    /// The maximum number of attempts a second; unlimited by default.
    pub(super) max_rate_per_second: Option<Rate>,
    /// Headers to send with every event, at most 10.
    pub(super) headers: Option<CustomHeaders>,
    /// Whether it receives events from the start; `true` by default.
    pub(super) enabled: Option<Flag>,
    /// Your own signing secret: `whsec_` and the base64 of 24 to 64 bytes. By default, one is generated.
    pub(super) secret: Option<OwnSecret>,
}

/// Changes to a webhook subscription. An omitted field keeps its value.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct UpdateSubscriptionRequest {
    /// The URL that events are posted to; another host resets the failure counts. It is short for a
    /// `destination` of type `https`.
    pub(super) url: Option<Url>,
    /// The destination of the events: a URL or an Amazon SQS queue. Another queue must be confirmed first.
    pub(super) destination: Option<DestinationRequest>,
    /// The event types to receive, 1 to 50, which replace all current ones: names of the catalogue, `noun.*`
    /// or `*`.
    pub(super) event_types: Option<EventTypes>,
    /// A note for yourself: what the subscription is for. `null` removes it.
    pub(super) description: Patch<Text<0, 200>>,
    /// Conditions that the payload must meet, which replace all current ones; `null` removes them.
    pub(super) filter: Patch<PayloadFilter>,
    /// `entity` to deliver the events about each entity one after the other, or `none`.
    pub(super) ordering: Option<Ordering>,
    /// The maximum number of attempts a second; `null` removes the limit.
    pub(super) max_rate_per_second: Patch<Rate>,
    /// Headers to send with every event, at most 10, which replace all current ones.
    pub(super) headers: Option<CustomHeaders>,
    /// Whether it receives events; before its queue is confirmed, whether it does from then on.
    pub(super) enabled: Option<Flag>,
}

impl UpdateSubscriptionRequest {
    /// The subscription with these changes.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub(super) fn apply(
        self,
        before: &Subscription,
        actor: &StoreActor,
        now: Timestamp,
    ) -> Result<Subscription, Problem> {
        let mut after = match self.enabled {
            Some(Flag(on)) if !before.is_confirmed() => {
                let then =
                    if on { SubscriptionStatus::Enabled } else { SubscriptionStatus::Disabled };
                before.changed(now).once_confirmed(then)
            }
            Some(Flag(true)) if !before.is_enabled() => before.enable(now)?,
            Some(Flag(false)) if before.is_enabled() => before.disable(now)?,
            _ => before.changed(now),
        };
        if let Some(types) = self.event_types {
            after.event_types = types.to_vec();
            if let Some(app) = actor.app() {
                after.scopes = Some(app.scopes.clone());
            }
        }
        self.description.apply(&mut after.description);
        self.filter.apply(&mut after.filter);
        after.ordering = self.ordering.unwrap_or(after.ordering);
        match self.max_rate_per_second {
            Patch::Keep => {}
            Patch::Clear => after.max_rate_per_second = None,
            Patch::Set(rate) => after.max_rate_per_second = per_second(rate),
        }
        Ok(after)
    }
}

impl RequestRules for CreateSubscriptionRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let mut errors = destinations::violations(given, validation).await;
        if !given.has("url") && !given.has("destination") {
            errors.push(FieldError::new("/url", "required", "This field is required."));
        }
        errors
    }
}

impl RequestRules for UpdateSubscriptionRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        destinations::violations(given, validation).await
    }
}

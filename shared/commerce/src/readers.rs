//! Who may steer where events go: whoever can read them.
//!
//! A subscription, a delivery and a replay go on sending after the request that changed them. So each change
//! asks for the scopes that their events need, of whoever asks now, whatever the subscription was granted when
//! it was made.

use delivery::delivery::Delivery;
use delivery::replay::{Replay, ReplayKind};
use delivery::subscription::Subscription;
use gateway::problem::{Code, Problem};
use ground::event::{self, Entry};
use platform::caller::{StoreActor, insufficient_scope};

use crate::audience::Audience;
use crate::topics;

/// Ensures that the actor can read events that ask for this scope; without one, they are for owners and
/// admins.
///
/// # Errors
/// `insufficient_scope`.
pub fn ensure_reads(actor: &StoreActor, scope: Option<&'static str>) -> Result<(), Problem> {
    match scope {
        _ if actor.is_unlimited() => Ok(()),
        Some(scope) if actor.may(scope) => Ok(()),
        Some(scope) => Err(insufficient_scope(scope)),
        None => {
            let detail = "This event goes to the store's owners and admins, and to the webhook_url \
                          of the app it is about.";
            Err(Code::InsufficientScope.detail(detail))
        }
    }
}

/// Ensures that the actor can read events of this name.
///
/// # Errors
/// `insufficient_scope`.
pub fn ensure_reads_event(actor: &StoreActor, name: &str) -> Result<(), Problem> {
    ensure_reads(actor, topics::scope_of(name))
}

/// Ensures that the actor can read all that a subscription sends, of the events that `only` names, if it names
/// any.
///
/// # Errors
/// `insufficient_scope`, with the first scope that is missing.
pub fn ensure_reads_all(
    actor: &StoreActor,
    subscription: &Subscription,
    only: &[String],
) -> Result<(), Problem> {
    let sent = topics::catalogue().into_iter().filter(|entry| sends(subscription, entry, actor));
    let mut asked = sent.filter(|entry| {
        only.is_empty() || only.iter().any(|filter| event::matches(filter, entry.name))
    });
    asked.try_for_each(|entry| ensure_reads(actor, entry.scope))
}

/// Ensures that the actor can read all that a replay may send: `named` are the deliveries that it names.
///
/// # Errors
/// `insufficient_scope`, with the first scope that is missing; 503 when the subscriptions were not read.
pub fn ensure_reads_replay(
    actor: &StoreActor,
    replay: &Replay,
    named: &[Delivery],
    audience: &Audience,
) -> Result<(), Problem> {
    if actor.is_unlimited() {
        return Ok(());
    }
    named.iter().try_for_each(|delivery| ensure_reads_event(actor, &delivery.event_type))?;
    if replay.kind == ReplayKind::Delivery {
        return Ok(());
    }
    audience
        .receivers(replay)?
        .try_for_each(|receiver| ensure_reads_all(actor, receiver, &replay.event_types))
}

/// Whether a subscription sends events of a topic. Of its own subscription an app is sent what it is still
/// granted: it can remove one that outlasts a scope. Its page in the admin is used by somebody who may be
/// granted less than the app, so all that the app subscribed with counts there.
fn sends(subscription: &Subscription, entry: &Entry, actor: &StoreActor) -> bool {
    let is_taken = subscription.event_types.iter().any(|it| event::matches(it, entry.name));
    let Some(subscribed) = &subscription.scopes else { return is_taken };
    let granted = actor.app().filter(|app| app.merchant_id.is_none()).map(|app| &app.granted);
    let is_readable =
        |scope| subscribed.cover(scope) && granted.is_none_or(|granted| granted.cover(scope));
    is_taken && entry.scope.is_some_and(is_readable)
}

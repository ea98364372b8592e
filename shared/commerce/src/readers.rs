//! Who may steer where events go: whoever can read them.
//!
//! A subscription, a delivery and a replay go on sending after the request that changed them. So each change
//! asks for the scopes that their events need, of whoever asks now, whatever the subscription was granted when
//! it was made.

use core_types::event::{self, Entry};
use delivery::delivery::Delivery;
use delivery::replay::{Replay, ReplayKind};
use delivery::subscription::Subscription;
use platform::caller::{StoreActor, insufficient_scope};
use primitives::problem::{Code, Problem};

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

/// Ensures that the actor can read all that a subscription sends.
///
/// # Errors
/// `insufficient_scope`, with the first scope that is missing.
pub fn ensure_reads_all(actor: &StoreActor, subscription: &Subscription) -> Result<(), Problem> {
    let sent = topics::catalogue().into_iter().filter(|entry| sends(subscription, entry, actor));
    sent.map(|entry| entry.scope).try_for_each(|scope| ensure_reads(actor, scope))
}

/// Ensures that the actor can read all that a replay may send, and answers with the scopes which that takes:
/// `named` are the deliveries that it names.
///
/// # Errors
/// `insufficient_scope`, with the first scope that is missing; 503 when the subscriptions were not read.
pub fn ensure_reads_replay(
    actor: &StoreActor,
    replay: &Replay,
    named: &[Delivery],
    audience: &Audience,
) -> Result<Vec<&'static str>, Problem> {
    let mut scopes: Vec<Option<&'static str>> = Vec::new();
    if replay.kind == ReplayKind::Delivery {
        scopes.extend(named.iter().map(|delivery| topics::scope_of(&delivery.event_type)));
    } else {
        let is_asked_for = |entry: &Entry| {
            let mut filters = replay.event_types.iter();
            replay.event_types.is_empty() || filters.any(|it| event::matches(it, entry.name))
        };
        let asked: Vec<Entry> = topics::catalogue().into_iter().filter(is_asked_for).collect();
        for receiver in audience.receivers(replay)? {
            let sent = asked.iter().filter(|entry| sends(receiver, entry, actor));
            scopes.extend(sent.map(|entry| entry.scope));
        }
    }
    scopes.iter().try_for_each(|scope| ensure_reads(actor, *scope))?;
    let mut scopes: Vec<&'static str> = scopes.into_iter().flatten().collect();
    scopes.sort_unstable();
    scopes.dedup();
    Ok(scopes)
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

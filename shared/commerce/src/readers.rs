//! Authorization of changes of subscriptions, deliveries and replays: the caller must be able to read their
//! events.
//!
//! A subscription, a delivery or a replay goes on sending after the request that changed it. So each change
//! requires of its caller the scopes that the events need, regardless of the scopes that the subscription was
//! created with.

use core_types::event::{self, TopicDeclaration};
use delivery::delivery::Delivery;
use delivery::replay::{Replay, ReplayKind};
use delivery::subscription::Subscription;
use platform::actor::{StoreActor, insufficient_scope};
use primitives::problem::{Code, Problem};

use crate::audience::Audience;
use crate::topics;

/// Ensures that the actor can read events that require this scope. Events without a scope are for owners and
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
            let detail = "This event is only available to the store's owners and admins, and to the app \
                          that it concerns, at its `webhook_url`.";
            Err(Code::InsufficientScope.detail(detail))
        }
    }
}

/// Ensures that the actor can read events with this name.
///
/// # Errors
/// `insufficient_scope`.
pub fn ensure_reads_event(actor: &StoreActor, name: &str) -> Result<(), Problem> {
    ensure_reads(actor, topics::scope_of(name))
}

/// Ensures that the actor can read all events that a subscription names, and all that it sends. An app whose
/// installation was narrowed cannot change one that names more.
///
/// # Errors
/// `insufficient_scope`, with the first scope that is missing.
pub fn ensure_reads_all(actor: &StoreActor, subscription: &Subscription) -> Result<(), Problem> {
    let is_named =
        |entry: &TopicDeclaration| subscription.event_types.iter().any(|it| it == entry.name);
    let named = topics::catalogue().into_iter().filter(is_named);
    named.map(|entry| entry.scope).try_for_each(|scope| ensure_reads(actor, scope))?;
    ensure_reads_sent(actor, subscription)
}

/// Ensures that the actor can read all events that a subscription still sends: enough to delete it.
///
/// # Errors
/// `insufficient_scope`, with the first scope that is missing.
pub fn ensure_reads_sent(actor: &StoreActor, subscription: &Subscription) -> Result<(), Problem> {
    let sent = topics::catalogue().into_iter().filter(|entry| sends(subscription, entry, actor));
    sent.map(|entry| entry.scope).try_for_each(|scope| ensure_reads(actor, scope))
}

/// Ensures that the actor can read all events that a replay may send, and returns the scopes that this
/// requires. `named` are the deliveries that the replay names.
///
/// # Errors
/// `insufficient_scope`, with the first scope that is missing; 503 if the subscriptions could not be read.
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
        let is_requested = |entry: &TopicDeclaration| {
            let mut filters = replay.event_types.iter();
            replay.event_types.is_empty() || filters.any(|it| event::matches(it, entry.name))
        };
        let requested: Vec<TopicDeclaration> =
            topics::catalogue().into_iter().filter(is_requested).collect();
        for receiver in audience.receivers(replay)? {
            let sent = requested.iter().filter(|entry| sends(receiver, entry, actor));
            scopes.extend(sent.map(|entry| entry.scope));
        }
    }
    scopes.iter().try_for_each(|scope| ensure_reads(actor, *scope))?;
    let mut scopes: Vec<&'static str> = scopes.into_iter().flatten().collect();
    scopes.sort_unstable();
    scopes.dedup();
    Ok(scopes)
}

/// Whether a subscription sends events of a topic. For an app, only the scopes that it is still granted count
/// of its own subscription, so that it can remove one that was created with more. A page of the app in the
/// admin runs for a member who may have fewer scopes than the app, so there all scopes of the subscription
/// count.
fn sends(subscription: &Subscription, entry: &TopicDeclaration, actor: &StoreActor) -> bool {
    let is_subscribed = subscription.event_types.iter().any(|it| event::matches(it, entry.name));
    let Some(subscribed) = &subscription.scopes else { return is_subscribed };
    let granted = actor.app().filter(|app| app.merchant_id.is_none()).map(|app| &app.granted);
    let is_readable =
        |scope| subscribed.cover(scope) && granted.is_none_or(|granted| granted.cover(scope));
    is_subscribed && entry.scope.is_some_and(is_readable)
}

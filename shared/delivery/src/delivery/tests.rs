use core_types::event::{EventSubject, TopicDeclaration};
use identity::store::STORE_UPDATED;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

fn delivery() -> Delivery {
    let store = StoreId::mint(NOW);
    let subject = EventSubject { store: Some(&store), app: None, entity: "x", version: 1 };
    let topic = TopicDeclaration::of(&STORE_UPDATED);
    let event = Event::untyped(&topic, subject, serde_json::json!({}), NOW);
    let id = SubscriptionId::mint(NOW);
    let types = vec!["*".to_owned()];
    let subscription =
        Subscription::for_store(&store, "mer_x", id, "u".into(), types, "s".into(), NOW);
    Delivery::new(&event, &subscription, NOW)
}

fn due(delivery: &Delivery) -> bool {
    delivery.indexes().iter().any(|(index, _)| *index == table::item::Index::Gsi3)
}

#[test]
fn ten_failures_exhaust_a_delivery_and_every_wait_is_its_slot() {
    let mut delivery = delivery();
    let mut now = NOW;
    let failure = AttemptOutcome::answered(500, None);
    for made in 1..=MAX_ATTEMPTS {
        assert_eq!(delivery.readiness(made, now), AttemptReadiness::Ready);
        delivery = delivery.claimed(now).with_outcome(&failure, Duration::ZERO, 1 << 31, now);
        assert_eq!(delivery.attempt, made);
        match slot(made) {
            Some(slot) => {
                assert_eq!(delivery.next_attempt_at, Some(now.plus(slot)));
                let carried = slot <= queue::MAX_DELAY;
                assert_eq!(delivery.delay(now).is_some(), carried);
                let grace = if carried { QUEUE_GRACE } else { Duration::ZERO };
                assert_eq!(delivery.due_at, Some(now.plus(slot).plus(grace)));
                now = now.plus(slot);
            }
            None => assert_eq!(delivery.status, DeliveryStatus::Exhausted),
        }
    }
    assert!(!due(&delivery) && delivery.readiness(11, now) == AttemptReadiness::Stale);
}

#[test]
fn a_duplicate_message_finds_nothing_to_do() {
    let pending = delivery();
    assert_eq!(pending.readiness(1, NOW), AttemptReadiness::Ready);
    assert_eq!(pending.readiness(2, NOW), AttemptReadiness::Stale);
    let claimed = pending.claimed(NOW);
    assert_eq!(claimed.readiness(1, NOW), AttemptReadiness::Stale);
    assert_eq!(claimed.readiness(2, NOW), AttemptReadiness::Stale);
    let done = claimed.with_outcome(&AttemptOutcome::answered(204, None), Duration::ZERO, 0, NOW);
    assert_eq!(
        (done.status, done.readiness(1, NOW)),
        (DeliveryStatus::Succeeded, AttemptReadiness::Stale)
    );
    assert!(!due(&done));
}

#[test]
fn a_lost_attempt_is_followed_by_the_next_once_its_lease_ends() {
    let claimed = delivery().claimed(NOW);
    assert!(due(&claimed));
    let later = NOW.plus(LEASE);
    assert_eq!(claimed.readiness(1, later), AttemptReadiness::Stale);
    assert_eq!(claimed.readiness(2, later), AttemptReadiness::AfterExpiredLease);
}

#[test]
fn an_early_message_is_stale() {
    let deferred = delivery().held_by_circuit(NOW.plus(MINUTE), NOW);
    assert_eq!((deferred.status, deferred.attempt), (DeliveryStatus::Pending, 0));
    assert_eq!(deferred.readiness(1, NOW.plus(Duration::from_secs(58))), AttemptReadiness::Stale);
    assert_eq!(deferred.readiness(1, NOW.plus(Duration::from_secs(59))), AttemptReadiness::Ready);
    assert_eq!(deferred.delay(NOW), Some(MINUTE));
}

#[test]
fn a_far_rate_limited_delivery_is_queued_early_and_swept_again_after_its_time() {
    let until = NOW.plus(MINUTE * 60);
    let waiting = delivery().held_by_rate(until, until, NOW);
    assert_eq!((waiting.held_by, waiting.rate_slot_at), (Some(Hold::Rate), Some(until)));
    assert_eq!((waiting.delay(NOW), waiting.due_at), (None, Some(until.minus(MINUTE * 10))));
    let due = until.minus(MINUTE * 10);
    let swept = waiting.swept(due);
    assert_eq!(
        (swept.delay(due), swept.due_at),
        (Some(MINUTE * 10), Some(until.plus(SWEPT_GRACE)))
    );
    let near = delivery().held_by_rate(NOW.plus(MINUTE), until, NOW);
    assert_eq!((near.delay(NOW), near.due_at), (Some(MINUTE), Some(NOW.plus(MINUTE * 3))));
    let claimed = near.claimed(NOW);
    assert_eq!((claimed.rate_slot_at, claimed.held_by), (None, None));
}

#[test]
fn a_delivery_behind_another_is_due_after_its_end_and_ready_at_once() {
    let head = delivery().claimed(NOW);
    let waiting = delivery().held_by_entity(&head, NOW).unwrap();
    assert_eq!(waiting.due_at, Some(NOW.plus(LEASE).plus(MINUTE * 2)));
    assert_eq!(
        (waiting.readiness(1, NOW), waiting.status),
        (AttemptReadiness::Ready, DeliveryStatus::Pending)
    );
    assert!(waiting.held_by_entity(&head, NOW).is_none(), "it waits there already");
    let failed =
        head.with_outcome(&AttemptOutcome::answered(500, None), Duration::ZERO, 1 << 31, NOW);
    assert!(waiting.held_by_entity(&failed, NOW).is_none());
    let later = failed.claimed(NOW).with_outcome(
        &AttemptOutcome::failed("dns"),
        Duration::ZERO,
        u32::MAX,
        NOW,
    );
    let after = waiting.held_by_entity(&later, NOW).map(|waiting| waiting.due_at);
    assert_eq!(after, later.next_attempt_at.map(|next| Some(next.plus(MINUTE * 2))));
}

#[test]
fn a_status_code_decides_the_verdict() {
    for (status, verdict) in [
        (200, AttemptVerdict::Success),
        (299, AttemptVerdict::Success),
        (301, AttemptVerdict::Failure),
        (404, AttemptVerdict::Failure),
        (410, AttemptVerdict::Gone),
        (429, AttemptVerdict::Failure),
        (503, AttemptVerdict::Failure),
    ] {
        assert_eq!(AttemptOutcome::answered(status, None).verdict, verdict, "{status}");
    }
    let blocked = egress::SendError::Blocked(egress::DestinationRejection::Address);
    assert_eq!(AttemptOutcome::from(blocked).verdict, AttemptVerdict::Blocked);
    assert_eq!(AttemptOutcome::from(egress::SendError::Timeout).error.as_deref(), Some("timeout"));
}

#[test]
fn gone_and_blocked_end_a_delivery_at_once() {
    let claimed = delivery().claimed(NOW);
    let gone = claimed.with_outcome(&AttemptOutcome::answered(410, None), Duration::ZERO, 0, NOW);
    assert_eq!((gone.status, gone.next_attempt_at), (DeliveryStatus::Exhausted, None));
}

#[test]
fn a_replay_creates_one_new_delivery_with_a_schedule_of_its_own() {
    let mut spent = delivery().ended(DeliveryStatus::Exhausted, "timeout", NOW);
    spent.attempt = MAX_ATTEMPTS;
    let (replay, other) = (ReplayId::derive(&["one"]), ReplayId::derive(&["other"]));
    let id = |replay| Delivery::replayed_id(&spent.event_id, &spent.subscription_id, replay);
    assert_eq!(id(&replay), id(&replay));
    assert!(id(&replay) != id(&other) && id(&replay) != spent.id);
    let replaced = spent.replaced_by(&id(&replay), NOW);
    assert_eq!((replaced.status, &replaced.replayed_by), (spent.status, &Some(id(&replay))));
    assert_eq!((replaced.attempt, replaced.is_ended_by_replay()), (MAX_ATTEMPTS, false));
    // What was still to be attempted is attempted in the other.
    let retried = delivery().claimed(NOW).with_outcome(
        &AttemptOutcome::failed("dns"),
        Duration::ZERO,
        0,
        NOW,
    );
    let ended = retried.replaced_by(&id(&replay), NOW);
    assert_eq!(ended.status, DeliveryStatus::Cancelled);
    assert!(ended.is_ended_by_replay() && !due(&ended));
}

#[test]
fn a_delivery_that_waits_for_its_receiver_ends_after_five_days() {
    let deferred = delivery().held_by_circuit(NOW, NOW);
    for waiting in [deferred, delivery().held_by_rate(NOW, NOW, NOW), delivery().claimed(NOW)] {
        assert!(!waiting.is_spent(NOW.plus(LIFETIME).minus(Duration::from_secs(1))));
        assert!(waiting.is_spent(NOW.plus(LIFETIME)));
    }
}

#[test]
fn a_delivery_that_nobody_has_come_to_is_attempted_at_any_age() {
    assert!(!delivery().is_spent(NOW.plus(LIFETIME)));
    assert!(!delivery().held_by_concurrency(0, NOW).is_spent(NOW.plus(LIFETIME)));
}

#[test]
fn a_test_is_attempted_once() {
    let test = Delivery { test: true, ..delivery() };
    let failed = test.claimed(NOW).with_outcome(
        &AttemptOutcome::answered(500, None),
        Duration::ZERO,
        0,
        NOW,
    );
    assert_eq!(failed.status, DeliveryStatus::Exhausted);
}

#[test]
fn removing_the_payload_cancels_a_pending_delivery() {
    let gone = delivery().expunged(NOW);
    assert_eq!(gone.status, DeliveryStatus::Cancelled);
    assert!(gone.expunged_at.is_some() && !due(&gone) && gone.allowed_actions().is_empty());
}

#[test]
fn the_same_event_and_subscription_make_the_same_delivery() {
    let delivery = delivery();
    assert_eq!(delivery.id, Delivery::first_id(&delivery.event_id, &delivery.subscription_id));
    assert_eq!(DeliveryMessage { ..delivery.message() }, delivery.message());
}

#[test]
fn a_delivery_of_an_ordered_subscription_has_a_position() {
    use crate::subscription::Ordering;
    let store = StoreId::mint(NOW);
    let subject = EventSubject { store: Some(&store), app: None, entity: "x", version: 1 };
    let event =
        Event::untyped(&TopicDeclaration::of(&STORE_UPDATED), subject, serde_json::json!({}), NOW);
    let id = SubscriptionId::mint(NOW);
    let types = vec!["*".to_owned()];
    let mut subscription =
        Subscription::for_store(&store, "mer_x", id, "u".into(), types, "s".into(), NOW);
    subscription.ordering = Ordering::None;
    assert!(Delivery::new(&event, &subscription, NOW).ordering_position().is_none());
    subscription.ordering = Ordering::Entity;
    let delivery = Delivery::new(&event, &subscription, NOW);
    let position = delivery.ordering_position().unwrap();
    assert_eq!(
        (&position.delivery_id, &position.subscription_id),
        (&delivery.id, &subscription.id)
    );
    assert_eq!(
        (position.ordering_key.entity_id.as_str(), position.ordering_key.order.clone()),
        ("x", event.order())
    );
    assert_eq!((position.forget_at(), position.version()), (Some(NOW.plus(RETENTION)), 1));
}

#[test]
fn the_wait_for_a_permit_doubles_and_counts_no_attempt() {
    let mut waiting = delivery();
    let mut now = NOW;
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
        waiting = waiting.held_by_concurrency(1 << 31, now);
        let until = now.plus(Duration::from_secs(seconds));
        assert_eq!(
            (waiting.held_by, waiting.next_attempt_at),
            (Some(Hold::Concurrency), Some(until))
        );
        assert_eq!(waiting.due_at, Some(until.plus(QUEUE_GRACE)));
        assert_eq!((waiting.attempt, waiting.status), (0, DeliveryStatus::Pending));
        assert_eq!(waiting.readiness(1, until), AttemptReadiness::Ready);
        now = until;
    }
    let claimed = waiting.claimed(now);
    assert_eq!((claimed.attempt, claimed.held_by), (1, None));
    let failed = claimed.with_outcome(&AttemptOutcome::answered(500, None), Duration::ZERO, 0, now);
    let again = failed.held_by_concurrency(1 << 31, now);
    assert_eq!(again.next_attempt_at, Some(now.plus(Duration::from_secs(1))), "it begins anew");
    assert_eq!(again.status, DeliveryStatus::Retrying);
}

#[test]
fn the_wait_for_a_permit_has_50_percent_jitter() {
    let wait = |draw| NOW.until(delivery().held_by_concurrency(draw, NOW).next_attempt_at.unwrap());
    assert_eq!(wait(0), Duration::from_millis(500));
    assert_eq!(wait(u32::MAX), Duration::from_millis(1_499));
}

#[test]
fn a_duplicate_message_of_a_postponed_delivery_is_stale() {
    let waiting = delivery()
        .held_by_concurrency(1 << 31, NOW)
        .held_by_concurrency(1 << 31, NOW)
        .held_by_concurrency(1 << 31, NOW);
    assert_eq!(waiting.readiness(1, NOW), AttemptReadiness::Stale);
    assert_eq!(waiting.readiness(1, NOW.plus(Duration::from_secs(4))), AttemptReadiness::Ready);
}

#[test]
fn timeouts_and_slow_receivers_use_the_slow_queue() {
    let store = StoreId::mint(NOW);
    let id = SubscriptionId::mint(NOW);
    let types = vec!["*".to_owned()];
    let quick = Subscription::for_store(&store, "mer_x", id, "u".into(), types, "s".into(), NOW);
    let fresh = delivery();
    assert_eq!(Speed::of(&fresh, &quick), Speed::Fast);
    let outcome = AttemptOutcome::failed(TIMEOUT);
    let timed_out = fresh.claimed(NOW).with_outcome(&outcome, Duration::from_secs(5), 0, NOW);
    assert_eq!(Speed::of(&timed_out, &quick), Speed::Slow);
    let outcome = AttemptOutcome::answered(500, None);
    let answered = timed_out.claimed(NOW).with_outcome(&outcome, Duration::from_secs(6), 0, NOW);
    assert_eq!(Speed::of(&answered, &quick), Speed::Fast);
    let slow = quick.with_health(quick.health.timed(Duration::from_secs(6)).unwrap());
    assert_eq!(Speed::of(&answered, &slow), Speed::Slow);
    assert_eq!(egress::SendError::Timeout.class(), TIMEOUT);
    assert_eq!((Speed::Fast.queue().0, Speed::Slow.queue().0), (QUEUE.0, SLOW_QUEUE.0));
    assert!(Speed::Slow.deadline() < LEASE);
}

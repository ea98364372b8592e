use primitives::problem::Code;

use super::*;
use crate::delivery::DeliveryStatus;

const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

fn replay(rate_per_second: u32, max_count: u64) -> Replay {
    let input = ReplayInput {
        kind: ReplayKind::Range,
        subscription_id: None,
        event_types: Vec::new(),
        range: None,
        delivery_ids: Vec::new(),
        max_count,
        rate_per_second,
    };
    Replay::new(input, &StoreId::derive(&["here"]), None, "mer_x", NOW)
}

fn place() -> Option<WalkPosition> {
    let text = r#"{"PK":"a","SK":"A","GSI5PK":"p","GSI5SK":"2026#x"}"#;
    serde_json::from_str(text).ok()
}

fn made(sent: u64, next: Option<WalkPosition>) -> ReplayedPage {
    ReplayedPage { sent, skipped: Skipped::default(), next, is_cut: false }
}

#[test]
fn deliveries_are_spaced_by_the_rate_and_the_next_page_waits_for_them() {
    let replay = replay(10, 1_000);
    assert_eq!(replay.page_size(), 50, "what goes out in five seconds");
    let delay = |number| NOW.until(replay.attempt_at(number, NOW)).as_millis();
    assert_eq!((delay(0), delay(1), delay(25)), (0, 100, 2_500));
    let first = replay.advanced(made(50, place()), NOW);
    assert_eq!((first.status, first.sent), (ReplayStatus::Running, 50));
    assert_eq!(
        (first.next_step_at, first.attempt_at(0, NOW)),
        (NOW, NOW.plus(Duration::from_secs(5)))
    );
    let second = first.advanced(made(50, place()), NOW);
    assert_eq!(second.next_step_at, NOW.plus(Duration::from_secs(5)));
    assert!(!second.is_ready(NOW.plus(Duration::from_secs(3))));
    assert!(second.is_ready(NOW.plus(Duration::from_secs(4))), "queues count whole seconds");
    assert_eq!(second.cursor.as_deref(), Some("2026#x"));
    // After a pause nothing is made up for.
    let later = NOW.plus(HOUR);
    assert_eq!(second.attempt_at(0, later), later);
}

#[test]
fn the_last_page_or_the_maximum_ends_the_walk() {
    let last = replay(100, 1_000).advanced(made(7, None), NOW);
    assert_eq!((last.matched, last.has_more, last.made_at), (7, false, Some(NOW)));
    let full = replay(100, 7).advanced(made(7, place()), NOW);
    assert_eq!((full.matched, full.has_more, full.place), (7, true, None));
    let cut = replay(100, 7).advanced(ReplayedPage { is_cut: true, ..made(7, None) }, NOW);
    assert!(cut.has_more && cut.made_at.is_some());
}

#[test]
fn the_status_of_a_replay_follows_from_its_deliveries() {
    use DeliveryStatus::{Exhausted, Retrying, Succeeded};
    let after = |sent, seen: &[DeliveryStatus]| {
        replay(100, 1_000).advanced(made(sent, None), NOW).with_scanned(seen, None, NOW)
    };
    assert_eq!(after(2, &[Succeeded; 2]).status, ReplayStatus::Succeeded);
    assert_eq!(after(2, &[Succeeded, Exhausted]).status, ReplayStatus::Partial);
    assert_eq!(after(1, &[Exhausted]).status, ReplayStatus::Failed);
    assert_eq!(after(0, &[]).status, ReplayStatus::Succeeded, "there was nothing to send");
    let ended = after(2, &[Succeeded; 2]);
    assert!(ended.due_at.is_none() && ended.finished_at == Some(NOW));
    assert_eq!(ended.version, 3, "one write for each step");
    let waits = after(2, &[Succeeded, Retrying]);
    assert_eq!((waits.status, waits.succeeded), (ReplayStatus::Running, 1));
    assert_eq!(waits.next_step_at, NOW.plus(Duration::from_secs(1)));
    let late = NOW.plus(WATCHED);
    let partial = waits.with_scanned(&[Succeeded, Retrying], None, late);
    assert_eq!(partial.status, ReplayStatus::Partial, "what is retried goes on by itself");
    assert_eq!(partial.progress().unfinished, 1);
    let unseen = after(2, &[Succeeded]);
    assert_eq!((unseen.status, unseen.scanned), (ReplayStatus::Running, Scan::default()));
}

#[test]
fn a_lost_event_makes_a_replay_partial() {
    let skipped = |skipped: Skipped, sent| {
        let page = ReplayedPage { skipped, ..made(sent, None) };
        let seen = vec![DeliveryStatus::Succeeded; usize::try_from(sent).unwrap()];
        replay(100, 1_000).advanced(page, NOW).with_scanned(&seen, None, NOW).status
    };
    let expunged = Skipped { payload_expunged: 1, ..Skipped::default() };
    assert_eq!(skipped(expunged, 1), ReplayStatus::Partial);
    assert_eq!(skipped(expunged, 0), ReplayStatus::Failed);
    let in_flight = Skipped { in_flight: 1, ..Skipped::default() };
    assert_eq!(skipped(in_flight, 1), ReplayStatus::Succeeded, "it arrives by itself");
}

#[test]
fn a_scan_begins_at_the_first_unfinished_delivery() {
    use DeliveryStatus::{Pending, Succeeded};
    let making = replay(100, 1_000).advanced(made(4, None), NOW);
    let first = making.with_scanned(&[Succeeded; 2], place(), NOW);
    assert_eq!((first.scanned.succeeded, first.scanned.place.clone()), (2, place()));
    let end = first.with_scanned(&[Succeeded, Pending], None, NOW);
    assert_eq!((end.succeeded, end.scan.clone()), (3, first.scanned.clone()));
    let over = end.with_scanned(&[Succeeded; 2], None, NOW);
    assert_eq!((over.status, over.succeeded), (ReplayStatus::Succeeded, 4));
}

#[test]
fn a_replay_that_is_over_is_not_cancelled() {
    let cancelled = replay(100, 10).cancelled(NOW).unwrap();
    assert_eq!(cancelled.status, ReplayStatus::Cancelled);
    assert_eq!(cancelled.cancelled(NOW).unwrap_err().code, Code::InvalidStateTransition);
    assert!(cancelled.allowed_actions().is_empty() && !cancelled.is_ready(NOW.plus(HOUR)));
}

#[test]
fn an_estimate_follows_from_the_deliveries_and_the_rate() {
    let estimate = Estimate::of(ReplayKind::Recover, 10_000, 100);
    assert_eq!((estimate.seconds, estimate.cost.write_units), (100, 90_000));
    assert_eq!(estimate.cost.usd_micros, 77_250);
    let nothing = Estimate::of(ReplayKind::Range, 0, 100);
    assert_eq!((nothing.seconds, nothing.cost.usd_micros), (0, 0));
}

#[test]
fn a_replay_begins_when_the_indexes_have_its_whole_range() {
    let begun = |range: Option<TimeRange>| super::first_step_at(range.as_ref(), NOW);
    let range = |until| Some(TimeRange { since: NOW.minus(DAY), until });
    assert_eq!(begun(None), NOW);
    assert_eq!(begun(range(NOW.minus(MINUTE))), NOW);
    assert_eq!(begun(range(NOW)), NOW.plus(SETTLING));
    assert_eq!(
        begun(range(NOW.plus(DAY))),
        NOW.plus(SETTLING),
        "what is to come is not waited for"
    );
    let second = Duration::from_secs(1);
    assert_eq!(begun(range(NOW.minus(second))), NOW.plus(SETTLING).minus(second));
}

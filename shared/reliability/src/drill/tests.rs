use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
const SECOND: Duration = Duration::from_secs(1);

fn plan(kind: DrillKind, stop_conditions: Vec<StopCondition>) -> DrillPlan {
    DrillPlan {
        kind,
        hypothesis: "It recovers.".to_owned(),
        duration_s: 10,
        blast_radius_percent: 10,
        stop_conditions,
        rto_s: 60,
        rpo_events: 0,
    }
}

fn drill(kind: DrillKind, stop_conditions: Vec<StopCondition>) -> Drill {
    Drill::schedule(plan(kind, stop_conditions), &MerchantId::mint(NOW), NOW)
}

fn at(seconds: u32) -> Timestamp {
    NOW.plus(SECOND.saturating_mul(seconds))
}

fn event(number: u32) -> EventId {
    EventId::derive(&[&number.to_string()])
}

fn delivered(drill: &Drill, when: Timestamp) -> Drill {
    let fate = |beat: &Beat| {
        (
            beat.event_id.clone(),
            Fate::Delivered { at: when, attempts: beat.attempts.saturating_add(1) },
            true,
        )
    };
    let open = drill.beats.iter().filter(|beat| !beat.is_settled());
    let fates: Vec<_> = open.map(fate).collect();
    drill.with_fates(&fates, 0, when).unwrap_or_else(|| drill.clone())
}

/// A drill whose baseline arrived, with its fault injected at the fifth second.
fn injected(kind: DrillKind, stop_conditions: Vec<StopCondition>) -> Drill {
    let mut drill = drill(kind, stop_conditions).begun(NOW);
    for number in 0..3 {
        assert_eq!(drill.next_step(NOW), Step::MakeEvent);
        drill = drill.with_event(event(number), NOW);
    }
    assert_eq!(drill.next_step(at(1)), Step::Wait);
    let healthy = delivered(&drill, at(1));
    assert_eq!(healthy.next_step(at(5)), Step::Inject);
    healthy.injected(at(5))
}

#[test]
fn a_drill_goes_from_its_baseline_to_a_verdict() {
    let drill = injected(DrillKind::ReceiverDown, vec![]);
    let (held, fault) = (drill.hold_with_fault(), FaultKind::ReceiverDown);
    assert!(held.injects(fault, at(14)) && !held.injects(fault, at(15)));
    assert_eq!(drill.next_step(at(5)), Step::MakeEvent);
    let drill = drill.with_event(event(9), at(5));
    assert_eq!(drill.next_step(at(5)), Step::Wait, "one each second");
    let tried = [(event(9), Fate::OnItsWay { attempts: 1 }, false)];
    let drill = drill.with_fates(&tried, 0, at(6)).unwrap();
    assert_eq!(drill.detected_at, Some(at(6)));
    assert_eq!(drill.with_fates(&tried, 0, at(7)), None, "nothing new is nothing to write");
    assert_eq!(drill.next_step(at(15)), Step::EndFault);
    let drill = drill.with_fault_ended(None, at(16));
    assert_eq!((drill.status, drill.fault_ended_at), (DrillStatus::Recovering, Some(at(15))));
    assert_eq!(drill.next_step(at(17)), Step::MakeEvent, "does it work again?");
    let drill = drill.with_event(event(10), at(17));
    assert_eq!(drill.next_step(at(17)), Step::Wait);
    let drill = delivered(&drill, at(20));
    assert_eq!(drill.next_step(at(21)), Step::Conclude);
    let over = drill.concluded(Some("evd".to_owned()), at(21));
    assert_eq!((over.status, over.verdict), (DrillStatus::Completed, Some(Verdict::Passed)));
    assert_eq!((over.observed_rto_s(), over.lost_events()), (Some(5), 0));
    assert_eq!((over.due_at, over.next_step(at(22))), (None, Step::Nothing));
    let view = DrillView::from(&over);
    assert_eq!((view.events.made, view.events.delivered, view.events.received), (5, 5, 5));
    assert_eq!(view.events.failed_attempts, 1);
    let statuses: Vec<&str> = over.timeline.iter().map(|entry| entry.status.as_str()).collect();
    let expected = ["scheduled", "baseline", "injected", "injected", "recovering", "completed"];
    assert_eq!(statuses, expected);
}

#[test]
fn a_drill_with_late_or_lost_events_fails() {
    let drill = injected(DrillKind::QueueUnavailable, vec![]).with_event(event(9), at(6));
    let recovering = drill.with_fault_ended(None, at(15)).with_event(event(10), at(15));
    let late = delivered(&recovering, at(76)).concluded(None, at(77));
    assert_eq!((late.observed_rto_s(), late.verdict), (Some(61), Some(Verdict::Failed)));
    let in_time = delivered(&recovering, at(75)).concluded(None, at(77));
    assert_eq!((in_time.observed_rto_s(), in_time.verdict), (Some(60), Some(Verdict::Passed)));
    let fate = Fate::Lost { why: "gone".to_owned(), attempts: 0 };
    let lost = recovering.with_fates(&[(event(9), fate, false)], 0, at(16)).unwrap();
    let lost = delivered(&lost, at(16));
    let failed = lost.concluded(None, at(17));
    assert_eq!((failed.lost_events(), failed.verdict), (1, Some(Verdict::Failed)));
    let bearable = Drill { rpo_events: 1, ..lost }.concluded(None, at(17));
    assert_eq!(bearable.verdict, Some(Verdict::Passed));
    // The drill stops waiting for undelivered events when its wait for recovery is over.
    let patience = u32::try_from(recovering.patience().as_secs()).unwrap();
    assert_eq!(recovering.next_step(at(14 + patience)), Step::Wait);
    assert_eq!(recovering.next_step(at(15 + patience)), Step::Conclude);
    let timed_out = recovering.concluded(None, at(15 + patience));
    assert_eq!((timed_out.observed_rto_s(), timed_out.verdict), (None, Some(Verdict::Failed)));
}

#[test]
fn a_stop_condition_ends_the_fault_when_it_is_met_and_not_before() {
    let condition = |metric, above| StopCondition { metric, above };
    let stop = condition(StopMetric::UndeliveredEvents, 1);
    let drill = injected(DrillKind::OutboxRelayStall, vec![stop]).with_event(event(8), at(5));
    assert_eq!(drill.next_step(at(6)), Step::MakeEvent);
    let drill = drill.with_event(event(9), at(6));
    assert_eq!(drill.next_step(at(6)), Step::Stop(stop));
    let stopped = drill.with_fault_ended(Some(stop), at(7));
    assert_eq!(stopped.fault_ended_at, Some(at(7)), "before its time");
    let over = delivered(&stopped, at(8)).concluded(None, at(9));
    assert_eq!((over.status, over.verdict), (DrillStatus::Stopped, Some(Verdict::Failed)));
    // Each metric, at its threshold and above.
    let observed = drill.observation(at(9));
    assert_eq!((observed.undelivered_events, observed.oldest_undelivered_seconds), (2, 4));
    for (metric, value) in [
        (StopMetric::UndeliveredEvents, 2),
        (StopMetric::OldestUndeliveredSeconds, 4),
        (StopMetric::FailedAttempts, 0),
        (StopMetric::RejectedWrites, 0),
        (StopMetric::QueueDepth, 0),
    ] {
        assert!(!observed.meets(&condition(metric, value)), "{metric}");
        assert_eq!(observed.meets(&condition(metric, value.saturating_sub(1))), value > 0);
    }
    let rejected = drill.with_rejected_write(at(9));
    assert!(rejected.observation(at(9)).meets(&condition(StopMetric::RejectedWrites, 0)));
}

#[test]
fn no_fault_is_injected_into_an_unhealthy_canary() {
    let drill = drill(DrillKind::TableThrottled, vec![]).begun(NOW).with_event(event(0), NOW);
    assert_eq!(drill.next_step(at(59)), Step::MakeEvent);
    assert_eq!(drill.next_step(at(60)), Step::GiveUp);
    let fate = Fate::Lost { why: "gone".to_owned(), attempts: 0 };
    let lost = drill.with_fates(&[(event(0), fate, false)], 0, at(1)).unwrap();
    assert_eq!(lost.next_step(at(1)), Step::GiveUp);
    let over = lost.failed_for("not healthy", at(2));
    assert_eq!((over.status, over.verdict, over.due_at), (DrillStatus::Failed, None, None));
}

#[test]
fn an_abort_ends_a_drill_at_once_and_once() {
    let drill = injected(DrillKind::SigningKeyRotation, vec![]);
    assert_eq!(drill.hold_with_fault().fault, None, "a rotation is real");
    let over = drill.aborted(at(7)).unwrap();
    assert_eq!((over.status, over.fault_ended_at), (DrillStatus::Aborted, Some(at(7))));
    assert!(over.aborted(at(8)).is_err() && over.allowed_actions().is_empty());
    // Without a runner, the fault ended when it expired.
    assert_eq!(drill.aborted(at(99)).unwrap().fault_ended_at, Some(at(15)));
}

#[test]
fn a_silent_runner_loses_its_lease() {
    let drill = drill(DrillKind::ReceiverDown, vec![]).begun(NOW);
    assert!(drill.is_leased(at(29)) && !drill.is_leased(at(30)));
    assert_eq!(drill.due_at, Some(at(30)));
    assert!(!drill.released(NOW).is_leased(NOW));
    assert!(drill.held_until() > at(10 + 60).plus(drill.patience()));
}

#[test]
fn the_blast_radius_is_the_canarys_share_of_the_workers() {
    let of = |seconds| BlastRadius::of(DrillKind::ReceiverDown, seconds);
    let (short, long) = (of(1), of(300));
    assert_eq!((short.events, short.attempts_at_once, short.percent), (6, 6, 2));
    assert_eq!((long.events, long.attempts_at_once, long.percent), (30, 20, 4));
    assert_eq!(long.stores, [StoreId::canary()]);
    assert!(long.percent <= MAX_BLAST_RADIUS_PERCENT);
}

#[test]
fn a_drill_creates_no_more_events_than_its_blast_radius_states() {
    let mut drill = injected(DrillKind::QueueUnavailable, vec![]);
    drill = Drill { duration_s: 300, fault_expires_at: Some(at(305)), ..drill };
    for second in 5..305 {
        if drill.next_step(at(second)) == Step::MakeEvent {
            drill = drill.with_event(event(second), at(second));
        }
    }
    let said = drill.beats.len() + 1;
    assert!(said <= MAX_EVENTS && said + 1 >= MAX_EVENTS, "{said}");
}

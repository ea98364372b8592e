//! A failover drill as a page: its hypothesis and verdict, the measurements, and the timeline.

use primitives::clock::Timestamp;
use reliability::drill::{Drill, DrillStatus, EventCounts, TimelineEntry, Verdict};

use super::plot::{Plot, PlotMark, Point, Series};
use super::{Cell, Figure, Sheet, Table, Tone, or_dash};

/// The page of a drill.
pub(crate) fn sheet(drill: &Drill) -> Sheet {
    let counts = EventCounts::from(drill);
    let recovery = or_dash(drill.observed_rto_s().map(|seconds| format!("{seconds} s")));
    let lost = format!("{} of at most {}", counts.lost, drill.rpo_events);
    let title = "Undelivered events, from the start of the fault until all were delivered.";
    let mut lines = vec![drill.hypothesis.clone()];
    lines.extend(drill.stop_reason.iter().map(|why| format!("It was stopped early: {why}.")));
    lines.push(format!("Requested at {} as {}.", drill.created_at, drill.id));
    Sheet {
        title: format!("Failover drill: {}", words(drill.kind.as_str())),
        outcome: Some(outcome(drill)),
        lines,
        figures: vec![
            Figure::new("Recovered in", format!("{recovery} of at most {} s", drill.rto_s)),
            Figure::new("Events lost", lost),
            Figure::new("Events acknowledged", counts.made.to_string()),
            Figure::new("Attempts that failed", counts.failed_attempts.to_string()),
        ],
        plots: vec![Plot::lines(title, "events", vec![undelivered(drill)], marks(drill))],
        tables: vec![Table {
            title: "Timeline".to_owned(),
            columns: vec!["time", "state", "event"],
            rows: drill.timeline.iter().map(row).collect(),
        }],
    }
}

fn outcome(drill: &Drill) -> (Tone, String) {
    match (drill.verdict, drill.status) {
        (Some(Verdict::Passed), _) => (Tone::Good, "passed".to_owned()),
        (Some(Verdict::Failed), _) | (None, DrillStatus::Failed) => {
            (Tone::Bad, "failed".to_owned())
        }
        (None, status) => (Tone::Neutral, status.as_str().to_owned()),
    }
}

/// The number of acknowledged events that were not delivered yet, at each change.
fn undelivered(drill: &Drill) -> Series {
    let made = drill.beats.iter().map(|beat| (beat.made_at, 1_i64));
    let delivered = drill.beats.iter().filter_map(|beat| Some((beat.delivered_at?, -1)));
    let mut changes: Vec<(Timestamp, i64)> = made.chain(delivered).collect();
    changes.sort_unstable();
    let mut waiting = 0_i64;
    let mut points = Vec::with_capacity(changes.len().saturating_mul(2));
    for (at, change) in changes {
        let count = |waiting: i64| u64::try_from(waiting).unwrap_or(0);
        // A second point draws a step, because the number is constant between two changes.
        points.push(Point { at, value: count(waiting) });
        waiting = waiting.saturating_add(change);
        points.push(Point { at, value: count(waiting) });
    }
    Series { name: "not delivered yet".to_owned(), points }
}

fn marks(drill: &Drill) -> Vec<PlotMark> {
    let named = [
        ("fault", drill.injected_at),
        ("detection", drill.detected_at),
        ("fault over", drill.fault_ended_at),
        ("recovery", drill.recovered_at),
    ];
    let mark = |(label, at): (&str, Option<Timestamp>)| {
        Some(PlotMark { at: at?, label: label.to_owned() })
    };
    named.into_iter().filter_map(mark).collect()
}

fn row(entry: &TimelineEntry) -> Vec<Cell> {
    let state = words(entry.status.as_str());
    vec![Cell::Text(entry.at.to_string()), Cell::Text(state), entry.message.as_str().into()]
}

/// A name of the API, as separate words.
fn words(name: &str) -> String {
    name.replace('_', " ")
}

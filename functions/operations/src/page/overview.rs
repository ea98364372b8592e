//! The runtime overview as a page: backlogs, lags, latencies and incidents.

use reliability::incident::{IncidentBrief, IncidentStatus};
use reliability::metrics::{FamilyNumbers, Point as Moment};
use reliability::queues::QueueState;
use reliability::runs::RunBrief;
use services::metrics::Percentiles;

use super::plot::{Plot, Point, Series};
use super::{Cell, Figure, Sheet, Table, Tone, or_dash};
use crate::runtime::overview::{PlatformNumbers, RuntimeOverview};

/// The page of an overview.
pub(crate) fn sheet(overview: &RuntimeOverview) -> Sheet {
    let RuntimeOverview { window, measured_at, deliveries, open_incidents, .. } = overview;
    let about = match &overview.store_id {
        Some(store) => format!("The webhooks of {store}."),
        None => "The platform.".to_owned(),
    };
    let success = deliveries.success_percent.map(|percent| format!("{percent} %"));
    let mut figures = vec![
        Figure::new("Open incidents", open_incidents.len().to_string()),
        Figure::new("Outbox lag", format!("{} s", overview.outbox.lag_seconds)),
        Figure::new("Delivery success", or_dash(success)),
        Figure::new("Attempts", deliveries.attempts.to_string()),
        Figure::new("Receiver p99", millis(deliveries.latency_ms.p99)),
    ];
    let mut tables = vec![incidents(open_incidents)];
    let mut plots = Vec::new();
    match &overview.platform {
        Some(platform) => {
            plots = of_platform(platform);
            figures.push(last("drill", platform.last_drill.as_ref()));
            figures.push(last("load test", platform.last_load_test.as_ref()));
            tables.extend([queues(&platform.queues), families(&platform.families)]);
        }
        None => figures.push(last("replay", overview.last_replay.as_ref())),
    }
    let outcome = match open_incidents.len() {
        0 => (Tone::Good, "no open incident".to_owned()),
        1 => (Tone::Bad, "1 open incident".to_owned()),
        count => (Tone::Bad, format!("{count} open incidents")),
    };
    Sheet {
        title: "Runtime overview".to_owned(),
        outcome: Some(outcome),
        lines: vec![about, format!("The last {window}, as of {measured_at}.")],
        figures,
        plots,
        tables,
    }
}

/// A line of a plot: its name, and its value at a point of the series.
type Line = (&'static str, fn(&Moment) -> Option<u64>);

const DEPTH: [Line; 2] = [("messages", |it| it.queued), ("dead letters", |it| it.dead_letters)];
const LAG: [Line; 1] = [("oldest event", |it| it.outbox_lag_seconds)];
const LATENCY: [Line; 3] = [
    ("p50", |it| it.latency_ms.p50),
    ("p95", |it| it.latency_ms.p95),
    ("p99", |it| it.latency_ms.p99),
];
const REQUESTS: [Line; 2] =
    [("requests", |it| Some(it.requests)), ("answered with 5xx", |it| Some(it.errors))];

fn of_platform(platform: &PlatformNumbers) -> Vec<Plot> {
    let plot = |title: &str, unit: &str, lines: &[Line]| {
        let line = |(name, value): &Line| {
            let point = |it: &Moment| Some(Point { at: it.at, value: value(it)? });
            Series {
                name: (*name).to_owned(),
                points: platform.series.iter().filter_map(point).collect(),
            }
        };
        Plot::lines(title, unit, lines.iter().map(line).collect(), Vec::new())
    };
    vec![
        plot("Messages waiting in all queues.", "messages", &DEPTH),
        plot("Age of the oldest event that waits.", "s", &LAG),
        plot("Response times.", "ms", &LATENCY),
        plot("Requests.", "requests", &REQUESTS),
    ]
}

fn incidents(open: &[IncidentBrief]) -> Table {
    let row = |it: &IncidentBrief| {
        let path = format!("/v1/operations/runtime/incidents/{}", it.id);
        vec![
            Cell::Links(vec![(path, it.title.clone())]),
            it.severity.as_str().into(),
            Cell::Chip(tone(it.status), it.status.as_str().replace('_', " ")),
            Cell::Text(it.created_at.to_string()),
        ]
    };
    Table {
        title: "Open incidents".to_owned(),
        columns: vec!["incident", "severity", "status", "since"],
        rows: open.iter().map(row).collect(),
    }
}

/// Nobody works on an open incident yet.
fn tone(status: IncidentStatus) -> Tone {
    if status == IncidentStatus::Open { Tone::Bad } else { Tone::Neutral }
}

fn queues(queues: &[QueueState]) -> Table {
    let row = |it: &QueueState| {
        let oldest = or_dash(it.oldest_age_seconds.map(|age| format!("{age} s")));
        let counts = [it.depth.waiting, it.depth.in_flight, it.depth.delayed, it.dead_letters];
        let counts = counts.into_iter().map(|count| Cell::Text(count.to_string()));
        std::iter::once(it.name.into()).chain(counts).chain([Cell::Text(oldest)]).collect()
    };
    Table {
        title: "Queues".to_owned(),
        columns: vec!["queue", "waiting", "in flight", "delayed", "dead letters", "overdue by"],
        rows: queues.iter().map(row).collect(),
    }
}

fn families(families: &[FamilyNumbers]) -> Table {
    let row = |it: &FamilyNumbers| {
        let counts = [it.requests, it.errors, it.rejections, it.throttled, it.table_throttles];
        let Percentiles { p50, p95, p99 } = it.latency_ms;
        let counts = counts.map(|count| count.to_string()).into_iter();
        let cells = counts.chain([p50, p95, p99].map(millis)).map(Cell::Text);
        std::iter::once(it.family.into()).chain(cells).collect()
    };
    Table {
        title: "Families".to_owned(),
        columns: vec![
            "family",
            "requests",
            "5xx",
            "4xx",
            "429",
            "table throttled",
            "p50",
            "p95",
            "p99",
        ],
        rows: families.iter().map(row).collect(),
    }
}

/// The outcome and the day of the last run of a kind.
fn last(kind: &str, run: Option<&RunBrief>) -> Figure {
    let Some(run) = run else { return Figure::new(&format!("Last {kind}"), or_dash(None)) };
    let day: String = run.created_at.to_string().chars().take(10).collect();
    let said = run.verdict.as_ref().unwrap_or(&run.status);
    Figure::new(&format!("Last {kind}, {day}"), said.replace('_', " "))
}

fn millis(millis: Option<u64>) -> String {
    or_dash(millis.map(|millis| format!("{millis} ms")))
}

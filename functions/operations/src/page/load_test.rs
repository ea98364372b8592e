//! A load test as a page: its outcomes, and the latency over time.

use reliability::load_test::{LoadTest, LoadTestStatus, Outcomes, Stretch};

use super::plot::{Plot, Point, Series};
use super::{Cell, Figure, Sheet, Table, Tone, or_dash};

/// The page of a load test.
pub(crate) fn sheet(test: &LoadTest) -> Sheet {
    let latency = test.latency();
    let sum = |of: fn(&Outcomes) -> u64| of(&test.reads).saturating_add(of(&test.checkouts));
    let (sent, succeeded) = (sum(|it| it.sent), sum(|it| it.succeeded));
    let profile = test.profile;
    Sheet {
        title: "Load test".to_owned(),
        outcome: Some(outcome(test, sent == succeeded)),
        lines: vec![
            format!(
                "{} requests a second for {} s on the canary store; of a hundred, {} are checkouts.",
                profile.requests_per_second, profile.duration_s, profile.checkout_percent
            ),
            format!("Requested at {} as {}.", test.created_at, test.id),
        ],
        figures: vec![
            Figure::new("Requests", format!("{sent} of {}", profile.planned())),
            Figure::new("Failed", sent.saturating_sub(succeeded).to_string()),
            Figure::new("Latency p50", millis(latency.p50)),
            Figure::new("Latency p99", millis(latency.p99)),
            Figure::new("Points", sum(|it| it.points).to_string()),
            Figure::new("Capacity units", tenths(sum(|it| it.unit_tenths))),
        ],
        plots: vec![
            Plot::lines("Response times.", "ms", over_time(test, &LATENCY), Vec::new()),
            Plot::lines("Requests sent.", "requests", over_time(test, &REQUESTS), Vec::new()),
        ],
        tables: vec![Table {
            title: "Responses".to_owned(),
            columns: vec![
                "requests", "sent", "2xx, 3xx", "429", "4xx", "5xx", "none", "p50", "p95", "p99",
            ],
            rows: vec![row("reads", &test.reads), row("checkouts", &test.checkouts)],
        }],
    }
}

fn outcome(test: &LoadTest, all_succeeded: bool) -> (Tone, String) {
    let tone = match test.status {
        LoadTestStatus::Completed if all_succeeded => Tone::Good,
        LoadTestStatus::Completed | LoadTestStatus::Failed => Tone::Bad,
        _ => Tone::Neutral,
    };
    (tone, test.status.as_str().to_owned())
}

/// A line of a plot: its name, and its value in a stretch.
type Line = (&'static str, fn(&Stretch) -> Option<u64>);

const LATENCY: [Line; 3] = [
    ("p50", |it| it.latency_us.p50.map(whole_millis)),
    ("p95", |it| it.latency_us.p95.map(whole_millis)),
    ("p99", |it| it.latency_us.p99.map(whole_millis)),
];
const REQUESTS: [Line; 2] = [("sent", |it| Some(it.sent)), ("failed", |it| Some(it.errors))];

fn over_time(test: &LoadTest, lines: &[Line]) -> Vec<Series> {
    let line = |(name, value): &Line| {
        let point = |it: &Stretch| Some(Point { at: it.at, value: value(it)? });
        Series {
            name: (*name).to_owned(),
            points: test.stretches.iter().filter_map(point).collect(),
        }
    };
    lines.iter().map(line).collect()
}

fn row(name: &str, outcomes: &Outcomes) -> Vec<Cell> {
    let latency = outcomes.latency.percentiles();
    let counts = [
        outcomes.sent,
        outcomes.succeeded,
        outcomes.limited,
        outcomes.rejected,
        outcomes.failed,
        outcomes.unanswered,
    ];
    let percentiles = [latency.p50, latency.p95, latency.p99].map(millis);
    let cells = counts.map(|count| count.to_string()).into_iter().chain(percentiles);
    std::iter::once(name.into()).chain(cells.map(Cell::Text)).collect()
}

/// Microseconds as milliseconds, rounded up.
const fn whole_millis(micros: u64) -> u64 {
    micros.div_ceil(1_000)
}

fn millis(micros: Option<u64>) -> String {
    or_dash(micros.map(|micros| format!("{} ms", whole_millis(micros))))
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths.div_euclid(10), tenths.rem_euclid(10))
}

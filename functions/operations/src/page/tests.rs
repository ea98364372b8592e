use std::time::Duration;

use gateway::clock::Timestamp;

use super::drill::DrillPage;
use super::load_test::LoadTestPage;
use super::overview::OverviewPage;
use super::plot::{Bar, Mark, Plot, Point, Series};
use super::{Figure, Sheet, Tone};

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000).plus(Duration::from_secs(seconds))
}

fn series(name: &str, values: &[u64]) -> Series {
    let points = (0..).zip(values).map(|(second, value)| Point { at: at(second), value: *value });
    Series { name: name.to_owned(), points: points.collect() }
}

fn text(sheet: &Sheet) -> String {
    sheet.render().into_string()
}

#[test]
fn whatever_is_put_into_a_page_is_escaped() {
    let hostile = "<script>alert('x')</script>\"&";
    let drill = DrillPage {
        id: hostile.to_owned(),
        kind: hostile.to_owned(),
        hypothesis: hostile.to_owned(),
        verdict: (Tone::Good, hostile.to_owned()),
        fault_at: Some(at(1)),
        detected_at: Some(at(2)),
        ended_at: Some(at(4)),
        recovered_at: Some(at(5)),
        recovery: Figure::new(hostile, hostile),
        lost_events: Figure::new("lost", "0"),
        series: vec![series(hostile, &[0, 4, 9, 3, 0])],
        unit: hostile.to_owned(),
        timeline: vec![Mark { at: at(1), label: hostile.to_owned() }],
    };
    let page = text(&drill.sheet());
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    for shown in ["fault", "detection", "recovery", "<svg", "currentColor"] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("#010101") && !page.contains(" style="));
}

#[test]
fn what_has_no_points_has_no_plot() {
    let empty = LoadTestPage {
        id: "ldt_1".to_owned(),
        profile: "10 requests/s for 5 s".to_owned(),
        outcome: (Tone::Open, "running".to_owned()),
        figures: Vec::new(),
        latency: vec![series("p99", &[])],
        requests: Vec::new(),
        operations: Vec::new(),
    };
    assert!(!text(&empty.sheet()).contains("<svg"));
    let latency = vec![series("p50", &[7; 1]), series("p99", &[u64::MAX, 0])];
    let measured = LoadTestPage { latency, ..empty };
    assert_eq!(text(&measured.sheet()).matches("<svg").count(), 1);
    let bars = |percents: &[u64]| {
        let bars = percents.iter().map(|it| Bar { label: "share".to_owned(), percent: *it });
        Plot::bars("Shares.", bars.collect()).svg()
    };
    assert_eq!(bars(&[]), None);
    let drawn = bars(&[0, 100, u64::MAX]).unwrap();
    assert!(drawn.contains("share: 100 %") && drawn.contains("target"));
}

#[test]
fn a_row_says_on_a_telephone_which_column_a_cell_is_of() {
    let overview = OverviewPage {
        at: at(0),
        window: "1h".to_owned(),
        outcome: (Tone::Bad, "late".to_owned()),
        figures: vec![Figure::new("Outbox lag", "121 s")],
        depth: vec![series("webhooks", &[1, 2, 3])],
        lag: vec![series("lag", &[120, 121])],
        latency: vec![series("p50", &[3]), series("p99", &[9])],
        queues: vec![["webhooks", "3", "1", "4 s", "0"].map(str::to_owned)],
        families: vec![["orders", "10", "0", "0", "3", "5", "9"].map(str::to_owned)],
    };
    let page = text(&overview.sheet());
    assert!(page.contains("<td data-label=\"dead letters\">0</td>"));
    assert_eq!(page.matches("<svg").count(), 3);
    assert!(page.contains("<meta name=\"viewport\""));
}

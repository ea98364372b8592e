use std::time::Duration;

use core_types::id::{EventId, MerchantId};
use primitives::clock::Timestamp;
use reliability::drill::{Beat, Drill, DrillKind, DrillPlan};
use reliability::load_test::{LoadProfile, LoadTest, Sample};

use super::plot::{Bar, Plot};
use super::{Sheet, drill, load_test};

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000).plus(Duration::from_secs(seconds))
}

fn text(sheet: &Sheet) -> String {
    sheet.render().into_string()
}

fn beat(made: u64, delivered: Option<u64>) -> Beat {
    Beat {
        event_id: EventId::mint(at(made)),
        made_at: at(made),
        delivered_at: delivered.map(at),
        received: delivered.is_some(),
        attempts: 1,
        lost: None,
    }
}

#[test]
fn a_drill_page_shows_fault_and_recovery_and_escapes_its_content() {
    let plan = DrillPlan {
        kind: DrillKind::ReceiverDown,
        hypothesis: "<script>alert('x')</script>\"&".to_owned(),
        duration_s: 3,
        blast_radius_percent: 10,
        stop_conditions: Vec::new(),
        rto_s: 60,
        rpo_events: 0,
    };
    let scheduled = Drill::schedule(plan, &MerchantId::mint(at(0)), at(0));
    let page = text(&drill::sheet(&scheduled));
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    assert!(!page.contains("<svg") && page.contains("scheduled"));
    let over = Drill {
        beats: vec![beat(1, Some(2)), beat(3, Some(8)), beat(4, Some(9)), beat(5, None)],
        injected_at: Some(at(3)),
        detected_at: Some(at(4)),
        fault_ended_at: Some(at(6)),
        recovered_at: Some(at(9)),
        ..scheduled
    };
    let page = text(&drill::sheet(&over));
    for part in ["fault", "detection", "fault over", "recovery", "<svg", "currentColor"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("#010101") && !page.contains(" style="));
}

#[test]
fn a_load_test_page_has_plots_with_the_first_numbers() {
    let profile = LoadProfile { duration_s: 10, requests_per_second: 2, checkout_percent: 50 };
    let scheduled = LoadTest::schedule(profile, &MerchantId::mint(at(0)), at(0));
    assert!(!text(&load_test::sheet(&scheduled)).contains("<svg"));
    let sample = |micros| Sample { status: Some(200), micros, points: 3, unit_tenths: 15 };
    let (reads, checkouts) = ([sample(1_000); 5], [sample(40_000); 5]);
    let measured = scheduled.claimed(at(0)).with_seconds(5, &reads, &checkouts, at(5));
    let measured = measured.with_seconds(5, &reads, &checkouts, at(10));
    let page = text(&load_test::sheet(&measured));
    assert_eq!(page.matches("<svg").count(), 2);
    for part in ["20 of 20", "30.0", "<td data-label=\"429\">0</td>", "name=\"viewport\""] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn bars_are_cut_off_and_their_numbers_are_not() {
    let bars = |percents: &[u64]| {
        let bars = percents.iter().map(|it| Bar { label: "share".to_owned(), percent: *it });
        Plot::bars("Shares.", bars.collect()).svg()
    };
    assert_eq!(bars(&[]), None);
    let drawn = bars(&[0, 100, u64::MAX]).unwrap();
    assert!(drawn.contains("share: 100 %") && drawn.contains("target"));
}

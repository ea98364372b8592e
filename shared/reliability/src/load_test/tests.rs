use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn test(duration_s: u64, requests_per_second: u64) -> LoadTest {
    let profile = LoadProfile { duration_s, requests_per_second, checkout_percent: 10 };
    LoadTest::schedule(profile, &MerchantId::mint(NOW), NOW)
}

#[test]
fn checkouts_have_their_share_and_are_spread_evenly() {
    for checkout_percent in [0, 1, 10, 33, 50, 100] {
        let profile = LoadProfile { duration_s: 10, requests_per_second: 20, checkout_percent };
        assert_eq!(profile.planned(), 200);
        let all = (0..200).filter(|number| profile.is_checkout(*number)).count();
        assert_eq!(all, usize::try_from(checkout_percent * 2).unwrap());
        let first = (0..100).filter(|number| profile.is_checkout(*number)).count();
        assert_eq!(first * 2, all);
    }
}

#[test]
fn every_answer_is_counted_once_by_its_status() {
    let sample = |status| Sample { status, micros: 2_000, points: 3, unit_tenths: 5 };
    let answers = [Some(200), Some(304), Some(404), Some(429), Some(503), None];
    let samples = answers.map(sample);
    let after = test(2, 6).claimed(NOW).with_seconds(1, &samples, &samples[..1], NOW);
    let reads = &after.reads;
    assert_eq!((reads.sent, reads.succeeded, reads.limited), (6, 2, 1));
    assert_eq!((reads.rejected, reads.failed, reads.unanswered), (1, 1, 1));
    assert_eq!(
        (
            reads.points,
            reads.unit_tenths,
            reads.latency.buckets().map(|(_, count)| count).sum::<u64>()
        ),
        (18, 30, 5)
    );
    assert_eq!((reads.error_basis_points(), after.checkouts.sent), (6_666, 1));
    let [stretch] = &after.stretches[..] else { panic!("one stretch") };
    assert_eq!((stretch.at, stretch.sent, stretch.errors), (NOW, 7, 4));
    assert_eq!(stretch.latency_us.p50, reads.latency.percentile(50));
    assert!(!after.is_done() && after.with_seconds(1, &[], &[], NOW).is_done());
    assert_eq!(Outcomes::default().error_basis_points(), 0);
}

#[test]
fn a_load_test_ends_once() {
    let running = test(1, 1).claimed(NOW);
    assert_eq!((running.status, running.started_at), (LoadTestStatus::Running, Some(NOW)));
    assert!(running.is_leased(NOW) && !running.released(NOW).is_leased(NOW));
    let aborted = running.aborted(NOW).unwrap();
    assert!(aborted.aborted(NOW).is_err() && aborted.due_at.is_none());
    assert_eq!(running.completed(NOW).status, LoadTestStatus::Completed);
    assert_eq!(running.ends_by(), NOW.plus(Duration::from_secs(1 + 180)));
}

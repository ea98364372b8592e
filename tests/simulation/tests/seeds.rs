//! Sequences by seed in the tests: what the system does is right, and what would be wrong is found.

use std::sync::LazyLock;
use std::time::Duration;

use simulation::{Base, Outcome, Plant, Seeds, Sequence, simulate};

/// The seeds of a run.
const SEEDS: u64 = 200;
/// The most seeds within which a planted bug is found.
const FEW: u64 = 60;
/// After which time no other sequence begins: what is left is in `.ci/full`.
const LIMIT: Duration = Duration::from_secs(20);

/// The store that all of them begin with.
static BASE: LazyLock<Base> = LazyLock::new(|| {
    let _ = rustls::crypto::ring::default_provider().install_default();
    lambda::log::init("off");
    Base::prepared().expect("the system starts")
});

fn run(seeds: &Seeds) -> Outcome {
    simulate(&BASE, seeds).expect("the system starts")
}

/// Runs sequences with a planted bug until it is found.
fn run_with(plant: Plant, shrinks: bool) -> Outcome {
    let plant = Some(plant);
    run(&Seeds { seeds: 0..FEW, plant, within: None, threads: 1, keeps_going: false, shrinks })
}

/// A planted bug is found, and said to be what it is.
fn finds(plant: Plant, subject: &str) {
    let failed = run_with(plant, false).failed;
    let wrong: Vec<String> = failed.into_values().flatten().collect();
    assert!(wrong.iter().any(|wrong| wrong.starts_with(subject)), "{plant:?}: {wrong:#?}");
}

#[test]
fn money_stock_codes_and_events_are_right_after_any_sequence() {
    let (seeds, within) = (0..SEEDS, Some(LIMIT));
    let outcome =
        run(&Seeds { seeds, plant: None, within, threads: 2, keeps_going: false, shrinks: true });
    assert!(outcome.count > 0);
    if let Some(failure) = outcome.failure {
        panic!("seed {}:\n{}{:#?}", failure.seed, failure.shortest, failure.wrong);
    }
}

#[test]
fn the_shortest_sequence_that_fails_is_found() {
    let failure = run_with(Plant::SwappedEvents, true).failure.expect("the bug is found");
    assert!(failure.shortest.steps.len() < 5, "{}", failure.shortest);
    assert!(!failure.wrong.is_empty());
}

#[test]
fn a_sequence_follows_from_its_seed() {
    for seed in 0..SEEDS {
        let sequence = Sequence::of(seed);
        assert_eq!(sequence, Sequence::of(seed));
        assert!((5..=60).contains(&sequence.steps.len()), "{seed}");
    }
}

#[test]
fn a_lost_refund_is_found() {
    finds(Plant::LostRefund, "money: ");
}

#[test]
fn a_doubled_use_is_found() {
    finds(Plant::DoubledUse, "codes: ");
}

#[test]
fn a_leaked_unit_is_found() {
    finds(Plant::LeakedUnit, "stock: ");
}

#[test]
fn a_skipped_event_is_found() {
    finds(Plant::SkippedEvent, "events: ");
}

#[test]
fn swapped_events_are_found() {
    finds(Plant::SwappedEvents, "events: ");
}

#[test]
fn a_doubled_debit_of_a_gift_card_is_found() {
    finds(Plant::DoubledDebit, "gift cards: ");
}

#[test]
fn miscounted_spending_is_found() {
    finds(Plant::MiscountedSpending, "customers: ");
}

//! Sequences by seed in the tests: what the system does is right, and what would be wrong is found.

use std::sync::LazyLock;
use std::time::Duration;

use simulation::{Base, Outcome, Plant, Seeds, Sequence, simulate};

/// The seeds of a run.
const SEEDS: u64 = 200;
/// The most seeds within which a planted bug is found.
const FEW: u64 = 60;
/// The seeds among which are the sequences that have what a planted bug of carts strikes.
const MANY: u64 = 1_000;
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
    run(&Seeds { seeds: 0..FEW, plant: Some(plant), shrinks, ..Seeds::default() })
}

/// A planted bug is found, and said to be what it is.
fn finds(plant: Plant, subject: &str) {
    let failed = run_with(plant, false).failed;
    let wrong: Vec<String> = failed.into_values().flatten().collect();
    assert!(wrong.iter().any(|wrong| wrong.starts_with(subject)), "{plant:?}: {wrong:#?}");
}

/// A planted bug of carts is found by a sequence that has a step of this name, and said in these words.
fn finds_in_carts(plant: Plant, step: &str, words: &str) {
    let strikes = |seed: &u64| {
        let steps = Sequence::of(*seed).to_string();
        steps.split_once("AddToCart").is_some_and(|(_, after)| after.contains(step))
    };
    let found = (0..MANY).filter(strikes).any(|seed| {
        let (seeds, plant) = (seed..seed.saturating_add(1), Some(plant));
        let outcome = run(&Seeds { seeds, plant, ..Seeds::default() });
        let mut wrong = outcome.failed.into_values().flatten();
        wrong.any(|wrong| wrong.starts_with("carts: ") && wrong.contains(words))
    });
    assert!(found, "{plant:?}: nothing says `{words}`");
}

#[test]
fn money_stock_codes_and_events_are_right_after_any_sequence() {
    let (seeds, within) = (0..SEEDS, Some(LIMIT));
    let outcome = run(&Seeds { seeds, within, threads: 2, shrinks: true, ..Seeds::default() });
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

#[test]
fn a_cart_that_is_ordered_twice_is_found() {
    finds_in_carts(Plant::DoubledConversion, "Order {", "has become several orders");
}

#[test]
fn a_cart_that_is_changed_after_its_order_is_found() {
    finds_in_carts(Plant::ChangedConversion, "Order {", "is an order, and was changed");
}

#[test]
fn an_order_at_another_total_than_was_shown_is_found() {
    finds_in_carts(Plant::ChangedTotal, "Order {", "and ordered at");
}

#[test]
fn an_order_at_a_total_that_nobody_expects_is_found() {
    finds_in_carts(Plant::IgnoredTotal, "Haggle", "at a total that was not expected");
}

#[test]
fn lines_that_a_merge_loses_are_found() {
    finds_in_carts(Plant::LostLines, "Merge { customer", "and the customer's had");
}

#[test]
fn a_cart_that_another_store_shows_is_found() {
    finds_in_carts(Plant::SharedCart, "Elsewhere", "at another store");
}

//! Tests of the rules of stock.
#![expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

use primitives::problem::{Code, Problem};
use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn ids() -> (StoreId, VariantId, LocationId) {
    (StoreId::derive(&["s"]), VariantId::derive(&["v"]), LocationId::derive(&["l"]))
}

fn level(available: i64) -> Level {
    let (store, variant, location) = ids();
    Level::open(&store, &variant, &location, available, NOW)
}

fn lookup(name: &str) -> LevelLookup {
    (VariantId::derive(&["v"]), LocationId::derive(&[name]))
}

fn snapshot(levels: &[(&str, i64)]) -> StockSnapshot {
    let at = |(name, available): &(&str, i64)| {
        let lookup = lookup(name);
        let level = Level::open(&ids().0, &lookup.0, &lookup.1, *available, NOW);
        (lookup, level)
    };
    StockSnapshot { levels: levels.iter().map(at).collect(), oversellable: Vec::new() }
}

fn planned(wanted: &[InventoryChange], snapshot: &StockSnapshot) -> Result<Adjustment, Problem> {
    plan(&ids().0, (wanted, snapshot), MovementKind::Adjusted, NOW)
}

fn adjust(name: &str, state: StockState, delta: i64, from: Option<i64>) -> InventoryChange {
    InventoryChange::Adjust { lookup: lookup(name), state, delta, from }
}

proptest! {
    /// Over any sequence of steps the counters add up, rejected steps change nothing, and only
    /// `available` falls below zero, where overselling is allowed.
    #[test]
    fn any_sequence_of_steps_keeps_the_balance(
        start in 0_i64..50,
        oversell in any::<bool>(),
        steps in prop::collection::vec((0..StockStep::ALL.len(), 1_u32..20), 0..200),
    ) {
        let mut level = level(start);
        let mut ledger = Delta::default();
        for (step, quantity) in steps {
            let step = StockStep::ALL[step];
            let delta = step.delta(quantity);
            let sells = matches!(step, StockStep::Reserve | StockStep::CommitAtOnce);
            if let Some(next) = level.after(delta, oversell && sells, NOW) {
                prop_assert_eq!(next.version, level.version + 1);
                level = next;
                ledger = ledger.plus(delta);
            }
            let sum = level.available + level.committed + level.reserved;
            prop_assert_eq!(level.on_hand, sum);
            prop_assert!(level.committed >= 0 && level.reserved >= 0);
            prop_assert!(oversell || level.available >= 0);
            let initial = Delta { available: level.initial_available, ..Delta::default() };
            prop_assert_eq!(level.counters(), initial.plus(ledger));
        }
    }

    /// Manual changes keep the balance too, and never take stock that is reserved for orders.
    #[test]
    fn manual_changes_keep_the_balance_and_the_stock_of_orders(
        changes in prop::collection::vec((0..4_u8, -30_i64..30), 0..100),
    ) {
        let mut levels = snapshot(&[("a", 20), ("b", 0)]);
        let reserved = StockStep::Reserve.delta(5);
        let first = levels.levels.get_mut(&lookup("a")).unwrap();
        *first = first.after(reserved, false, NOW).unwrap();
        for (kind, number) in changes {
            let (from, to) = (lookup("a"), lookup("b"));
            let quantity = number.abs() + 1;
            let wanted = match kind {
                0 => adjust("a", StockState::OnHand, number, None),
                1 => InventoryChange::Set {
                    lookup: from, state: StockState::Available, quantity, from: None,
                },
                2 => InventoryChange::Move {
                    from: (from.clone(), StockState::Available),
                    to: (from, if number > 0 { StockState::Reserved } else { StockState::Available }),
                    quantity,
                },
                _ => InventoryChange::Move {
                    from: (from, StockState::Reserved), to: (to, StockState::Available), quantity,
                },
            };
            for (_, next) in planned(&[wanted], &levels).map(|all| all.levels).unwrap_or_default() {
                prop_assert_eq!(next.on_hand, next.available + next.committed + next.reserved);
                prop_assert!(next.available >= 0 && next.set_aside >= 0);
                let lookup = (next.variant_id.clone(), next.location_id.clone());
                levels.levels.insert(lookup, next);
            }
            let first = &levels.levels[&lookup("a")];
            prop_assert_eq!(first.reserved - first.set_aside, 5);
        }
    }
}

#[test]
fn equal_changes_are_merged_and_a_level_is_written_once() {
    let wanted = [
        adjust("a", StockState::Available, 3, None),
        adjust("a", StockState::Available, -1, Some(10)),
        adjust("a", StockState::OnHand, 5, None),
        adjust("b", StockState::Available, 4, None),
    ];
    let planned = planned(&wanted, &snapshot(&[("a", 10)])).unwrap();
    assert_eq!((planned.levels.len(), planned.movements.len(), planned.changes.len()), (2, 2, 3));
    let of = |name: &str, state| {
        let (_, location) = lookup(name);
        let mut changes = planned.changes.iter();
        changes.find(|c| c.location_id == location && c.state == state).unwrap().clone()
    };
    let available = of("a", StockState::Available);
    assert_eq!((available.delta, available.quantity_after), (2, 17));
    assert_eq!(of("a", StockState::OnHand).delta, 5);
    assert_eq!(of("b", StockState::Available).quantity_after, 4);
    let opened = planned.levels.iter().find(|(before, _)| before.is_none()).unwrap();
    assert_eq!((opened.1.version, opened.1.initial_available), (1, 0));
}

#[test]
fn a_change_of_another_quantity_than_compared_is_stale() {
    let snapshot = snapshot(&[("a", 10)]);
    let stale = planned(&[adjust("a", StockState::Available, 1, Some(9))], &snapshot);
    assert_eq!(stale.unwrap_err().code, Code::StaleQuantity);
    let short = planned(&[adjust("a", StockState::Available, -11, None)], &snapshot);
    assert_eq!(short.unwrap_err().code, Code::InsufficientQuantity);
}

#[test]
fn an_oversold_variant_is_adjusted_down_to_zero_on_hand() {
    let mut snapshot = snapshot(&[("a", 3)]);
    let level = snapshot.levels.get_mut(&lookup("a")).unwrap();
    *level = level.after(StockStep::Reserve.delta(5), true, NOW).unwrap();
    assert_eq!((level.available, level.reserved, level.on_hand), (-2, 5, 3));
    let down = [adjust("a", StockState::Available, -3, None)];
    assert!(planned(&down, &snapshot).is_err(), "it is not sold beyond its stock any more");
    snapshot.oversellable.push(lookup("a").0);
    assert_eq!(planned(&down, &snapshot).unwrap().levels[0].1.on_hand, 0);
    assert!(planned(&[adjust("a", StockState::Available, -4, None)], &snapshot).is_err());
}

/// The allocation of a quantity over locations with this stock, in priority order, by name.
fn taken(there: &[(&str, i64)], quantity: u32, most: usize) -> Option<Vec<(String, u32)>> {
    let store = StoreId::derive(&["store"]);
    let id = |name: &str| LocationId::derive(&[name]);
    let level = |(name, available): &(&str, i64)| {
        Level::open(&store, &VariantId::derive(&["a"]), &id(name), *available, NOW)
    };
    let mut levels: Vec<Level> = there.iter().map(level).collect();
    levels.reverse();
    let online: Vec<LocationId> = there.iter().map(|(name, _)| id(name)).collect();
    let name = |at: &LocationId| there.iter().find(|(name, _)| id(name) == *at).unwrap().0;
    let found = allocate(&levels, &online, quantity, false, most)?;
    Some(found.iter().map(|(at, units)| (name(at).to_owned(), *units)).collect())
}

#[test]
fn a_line_is_allocated_to_the_fewest_locations_and_the_first_of_those() {
    let parts = |parts: &[(&str, u32)]| {
        Some(parts.iter().map(|(name, units)| ((*name).to_owned(), *units)).collect())
    };
    let two = [("a", 2), ("b", 2)];
    assert_eq!(taken(&two, 2, 40), parts(&[("a", 2)]));
    assert_eq!(taken(&two, 3, 40), parts(&[("a", 2), ("b", 1)]));
    assert_eq!(taken(&two, 4, 40), parts(&[("a", 2), ("b", 2)]));
    assert_eq!(taken(&two, 5, 40), None);
    assert_eq!(taken(&two, 3, 1), None);
    let many = [("a", 1), ("b", 0), ("c", 2), ("d", 3), ("e", -4), ("f", 5)];
    assert_eq!(taken(&many, 1, 40), parts(&[("a", 1)]));
    assert_eq!(taken(&many, 3, 40), parts(&[("d", 3)]), "whole before first");
    assert_eq!(taken(&many, 6, 40), parts(&[("a", 1), ("f", 5)]), "the first pair that does");
    assert_eq!(taken(&many, 7, 40), parts(&[("c", 2), ("f", 5)]));
    assert_eq!(taken(&many, 8, 40), parts(&[("d", 3), ("f", 5)]));
    assert_eq!(taken(&many, 9, 40), parts(&[("a", 1), ("d", 3), ("f", 5)]));
    assert_eq!(taken(&many, 11, 40), parts(&[("a", 1), ("c", 2), ("d", 3), ("f", 5)]));
    assert_eq!(taken(&many, 11, 3), None);
    assert_eq!(taken(&many, 12, 40), None);
}

#[test]
fn a_backordered_quantity_is_allocated_from_stock_first() {
    let snapshot = snapshot(&[("a", 2), ("b", 9)]);
    let levels: Vec<Level> = snapshot.levels.into_values().collect();
    let online = [lookup("c").1, lookup("a").1, lookup("b").1];
    let chosen = |quantity| allocate(&levels, &online, quantity, true, 40);
    assert_eq!(chosen(2), Some(vec![(lookup("a").1, 2)]));
    assert_eq!(chosen(10), Some(vec![(lookup("a").1, 2), (lookup("b").1, 8)]));
    assert_eq!(chosen(12), Some(vec![(lookup("a").1, 3), (lookup("b").1, 9)]));
    let few = |most| allocate(&levels, &online, 12, true, most);
    assert_eq!(few(1), Some(vec![(lookup("b").1, 12)]));
    assert_eq!(allocate(&[], &online, 1, true, 40), Some(vec![(lookup("c").1, 1)]));
    assert_eq!(allocate(&levels, &[], 1, true, 40), None);
}

proptest::proptest! {
    #[test]
    fn an_allocation_exceeds_no_level_and_uses_the_fewest_locations(
        stock in proptest::collection::vec(-3..9_i64, 0..7),
        quantity in 1..30_u32,
        most in 1..7_usize,
    ) {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let there: Vec<(&str, i64)> = names.into_iter().zip(stock).collect();
        let mut sizes: Vec<i64> = there.iter().map(|one| one.1.max(0)).collect();
        sizes.sort_unstable();
        let best: i64 = sizes.iter().rev().take(most).sum();
        match taken(&there, quantity, most) {
            None => assert!(best < i64::from(quantity)),
            Some(parts) => {
                assert_eq!(parts.iter().map(|part| part.1).sum::<u32>(), quantity);
                for (name, units) in &parts {
                    let has = there.iter().find(|one| one.0 == name).unwrap().1;
                    assert!(*units > 0 && i64::from(*units) <= has);
                }
                let fewer: i64 = sizes.iter().rev().take(parts.len() - 1).sum();
                assert!(parts.len() <= most && fewer < i64::from(quantity));
            }
        }
    }
}

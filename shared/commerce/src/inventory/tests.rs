//! Rules of stock.
#![expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

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

fn place(name: &str) -> Place {
    (VariantId::derive(&["v"]), LocationId::derive(&[name]))
}

fn ground(levels: &[(&str, i64)]) -> Ground {
    let at = |(name, available): &(&str, i64)| {
        let place = place(name);
        let level = Level::open(&ids().0, &place.0, &place.1, *available, NOW);
        (place, level)
    };
    Ground { levels: levels.iter().map(at).collect(), oversold: Vec::new() }
}

fn planned(wanted: &[Wanted], ground: &Ground) -> Result<Adjustment, Problem> {
    plan(&ids().0, (wanted, ground), MovementKind::Adjusted, NOW)
}

fn adjust(name: &str, state: StockState, delta: i64, from: Option<i64>) -> Wanted {
    Wanted::Adjust { place: place(name), state, delta, from }
}

proptest! {
    /// Whatever orders do in whatever order: the counters add up, nothing that is refused leaves
    /// a trace, and only what can be sold may fall below zero, where that is allowed.
    #[test]
    fn any_sequence_of_steps_keeps_the_balance(
        start in 0_i64..50,
        oversell in any::<bool>(),
        steps in prop::collection::vec((0..Step::ALL.len(), 1_u32..20), 0..200),
    ) {
        let mut level = level(start);
        let mut ledger = Delta::default();
        for (step, quantity) in steps {
            let step = Step::ALL[step];
            let delta = step.delta(quantity);
            let sells = matches!(step, Step::Reserve | Step::CommitAtOnce);
            if let Some(next) = level.after(delta, oversell && sells, NOW) {
                prop_assert_eq!(next.version, level.version + 1);
                level = next;
                ledger = ledger.plus(delta);
            }
            let sum = level.available + level.committed + level.reserved;
            prop_assert_eq!(level.on_hand, sum);
            prop_assert!(level.committed >= 0 && level.reserved >= 0);
            prop_assert!(oversell || level.available >= 0);
            let opening = Delta { available: level.opening, ..Delta::default() };
            prop_assert_eq!(level.counters(), opening.plus(ledger));
        }
    }

    /// Changes by hand between orders keep the balance too, and never take what orders hold.
    #[test]
    fn changes_by_hand_keep_the_balance_and_leave_orders_theirs(
        changes in prop::collection::vec((0..4_u8, -30_i64..30), 0..100),
    ) {
        let mut levels = ground(&[("a", 20), ("b", 0)]);
        let reserved = Step::Reserve.delta(5);
        let first = levels.levels.get_mut(&place("a")).unwrap();
        *first = first.after(reserved, false, NOW).unwrap();
        for (kind, number) in changes {
            let (from, to) = (place("a"), place("b"));
            let quantity = number.abs() + 1;
            let wanted = match kind {
                0 => adjust("a", StockState::OnHand, number, None),
                1 => Wanted::Set {
                    place: from, state: StockState::Available, quantity, from: None,
                },
                2 => Wanted::Move {
                    from: (from.clone(), StockState::Available),
                    to: (from, if number > 0 { StockState::Reserved } else { StockState::Available }),
                    quantity,
                },
                _ => Wanted::Move {
                    from: (from, StockState::Reserved), to: (to, StockState::Available), quantity,
                },
            };
            for (_, next) in planned(&[wanted], &levels).map(|all| all.levels).unwrap_or_default() {
                prop_assert_eq!(next.on_hand, next.available + next.committed + next.reserved);
                prop_assert!(next.available >= 0 && next.held >= 0);
                let place = (next.variant_id.clone(), next.location_id.clone());
                levels.levels.insert(place, next);
            }
            let first = &levels.levels[&place("a")];
            prop_assert_eq!(first.reserved - first.held, 5);
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
    let planned = planned(&wanted, &ground(&[("a", 10)])).unwrap();
    assert_eq!((planned.levels.len(), planned.movements.len(), planned.changes.len()), (2, 2, 3));
    let of = |name: &str, state| {
        let (_, location) = place(name);
        let mut changes = planned.changes.iter();
        changes.find(|c| c.location_id == location && c.state == state).unwrap().clone()
    };
    let available = of("a", StockState::Available);
    assert_eq!((available.delta, available.quantity_after), (2, 17));
    assert_eq!(of("a", StockState::OnHand).delta, 5);
    assert_eq!(of("b", StockState::Available).quantity_after, 4);
    let opened = planned.levels.iter().find(|(before, _)| before.is_none()).unwrap();
    assert_eq!((opened.1.version, opened.1.opening), (1, 0));
}

#[test]
fn a_change_of_another_quantity_than_compared_is_stale() {
    let ground = ground(&[("a", 10)]);
    let stale = planned(&[adjust("a", StockState::Available, 1, Some(9))], &ground);
    assert_eq!(stale.unwrap_err().code, Code::StaleQuantity);
    let short = planned(&[adjust("a", StockState::Available, -11, None)], &ground);
    assert_eq!(short.unwrap_err().code, Code::InsufficientQuantity);
}

#[test]
fn an_oversold_variant_is_adjusted_down_to_what_lies_there() {
    let mut ground = ground(&[("a", 3)]);
    let level = ground.levels.get_mut(&place("a")).unwrap();
    *level = level.after(Step::Reserve.delta(5), true, NOW).unwrap();
    assert_eq!((level.available, level.reserved, level.on_hand), (-2, 5, 3));
    let down = [adjust("a", StockState::Available, -3, None)];
    assert!(planned(&down, &ground).is_err(), "it is not sold beyond its stock any more");
    ground.oversold.push(place("a").0);
    assert_eq!(planned(&down, &ground).unwrap().levels[0].1.on_hand, 0);
    assert!(planned(&[adjust("a", StockState::Available, -4, None)], &ground).is_err());
}

#[test]
fn a_line_is_taken_whole_from_the_first_location_that_has_it() {
    let ground = ground(&[("a", 2), ("b", 9)]);
    let levels: Vec<Level> = ground.levels.into_values().collect();
    let online = [place("c").1, place("a").1, place("b").1];
    let chosen = |quantity, oversell| choose(&levels, &online, quantity, oversell);
    assert_eq!(chosen(2, false), Some(place("a").1));
    assert_eq!(chosen(3, false), Some(place("b").1));
    assert_eq!(chosen(10, false), None);
    assert_eq!(chosen(10, true), Some(place("a").1));
    assert_eq!(choose(&[], &online, 1, true), Some(place("c").1));
    assert_eq!(choose(&levels, &[], 1, true), None);
}

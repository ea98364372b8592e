//! The allocation of a line's quantity to locations.

use core_types::id::LocationId;

use super::Level;

/// Allocates a line of an order to locations in the order of their priority, with the quantity from each. It
/// takes as few locations as hold all of it, at most `max_locations`; among equally small choices, the first by priority.
///
/// If the stock is not enough and `continue_selling`, all that is there is taken. The rest comes from the first
/// of these locations; if nothing is anywhere, from the first location that has a level, or else from the first.
/// Otherwise none. `levels` may be in any order.
pub fn allocate(
    levels: &[Level],
    locations: &[LocationId],
    quantity: u32,
    continue_selling: bool,
    max_locations: usize,
) -> Option<Vec<(LocationId, u32)>> {
    let level_at = |location: &&LocationId| levels.iter().find(|l| l.location_id == **location);
    let available = |location: &LocationId| {
        let available = level_at(&location).map_or(0, |level| level.available.max(0));
        u32::try_from(available).unwrap_or(u32::MAX).min(quantity)
    };
    let stock: Vec<_> =
        locations.iter().map(|at| (at, available(at))).filter(|one| one.1 > 0).collect();
    let there = largest(amounts(&stock), max_locations).min(quantity);
    let owed = quantity.saturating_sub(there);
    if owed == 0 || !continue_selling {
        return split(&stock, quantity, max_locations);
    }
    let mut parts = split(&stock, there, max_locations).unwrap_or_default();
    if let Some((_, first)) = parts.first_mut() {
        *first = first.saturating_add(owed);
        return Some(parts);
    }
    let any = locations.iter().find(|location| level_at(location).is_some());
    any.or(locations.first()).map(|beyond| vec![(beyond.clone(), quantity)])
}

fn amounts(stock: &[(&LocationId, u32)]) -> Vec<u32> {
    stock.iter().map(|one| one.1).collect()
}

/// Splits a quantity over as few of these locations as hold it. Among equally small choices, it is the
/// first in the order of `stock`.
fn split(
    stock: &[(&LocationId, u32)],
    quantity: u32,
    max_locations: usize,
) -> Option<Vec<(LocationId, u32)>> {
    let all = amounts(stock);
    let mut sites =
        (1..=max_locations.min(stock.len())).find(|n| largest(all.clone(), *n) >= quantity)?;
    let (mut left, mut parts) = (quantity, Vec::new());
    for (at, (location, available)) in stock.iter().enumerate() {
        if sites == 0 {
            break;
        }
        let later = stock.get(at.saturating_add(1)..).unwrap_or_default();
        let rest = largest(amounts(later), sites.saturating_sub(1));
        if available.saturating_add(rest) >= left {
            let part = left.min(*available);
            parts.push(((*location).clone(), part));
            (left, sites) = (left.saturating_sub(part), sites.saturating_sub(1));
        }
    }
    Some(parts)
}

/// The sum of the `count` largest amounts.
fn largest(mut amounts: Vec<u32>, count: usize) -> u32 {
    amounts.sort_unstable_by(|one, other| other.cmp(one));
    amounts.into_iter().take(count).fold(0, u32::saturating_add)
}

//! The locations that the lines of a cart are taken from.

use catalogue::inventory::{self, Level};
use catalogue::product::Sellable;
use core_types::id::{LocationId, VariantId};
use core_types::money::Money;
use identity::store::Store;

use super::quote::{PricedLine, Quote};
use crate::order::MAX_ALLOCATIONS;
use crate::order::cart::CartLine;
use crate::order::item::Units;

/// Allocates lines to locations, at most [`MAX_ALLOCATIONS`] in all: one for each line, and the rest to the
/// first lines that need more. Goods that are collected come from the location of the pickup alone. Lines of one
/// variant share its stock, the earlier ones first.
pub(super) fn allocate_all(
    store: &Store,
    pickup: Option<&LocationId>,
    lines: Vec<(CartLine, Sellable, Money, Vec<Level>)>,
) -> Vec<PricedLine> {
    let mut spare = MAX_ALLOCATIONS.saturating_sub(lines.len());
    let mut priced = Vec::<PricedLine>::new();
    for (line, sellable, subtotal, levels) in lines {
        let left = less_taken(&levels, &sellable.variant_id, &priced);
        let oversells = sellable.continues_selling(store);
        let max_sites = spare.saturating_add(1);
        let pickup = pickup.filter(|_| sellable.requires_shipping);
        let locations = pickup.map_or(&*store.online_locations, std::slice::from_ref);
        let found = sellable
            .tracked
            .then(|| inventory::allocate(&left, locations, line.quantity, oversells, max_sites))
            .flatten();
        let is_available = !sellable.tracked || oversells || found.is_some();
        let unit = |(location_id, quantity)| Units { location_id, quantity };
        let units: Vec<Units> = found.into_iter().flatten().map(unit).collect();
        spare = spare.saturating_sub(units.len().saturating_sub(1));
        let backordered = backordered(&left, &units);
        let zero = Money::zero(&subtotal.currency);
        priced.push(PricedLine {
            line,
            sellable,
            units,
            levels,
            backordered,
            is_available,
            oversells,
            list_price: None,
            discount: zero.clone(),
            discounts: Vec::new(),
            tax: zero,
            tax_lines: Vec::new(),
            total: subtotal.clone(),
            subtotal,
        });
    }
    priced
}

/// The allocated units that are not there.
fn backordered(levels: &[Level], allocated: &[Units]) -> u32 {
    let beyond = |units: &Units| {
        let level = levels.iter().find(|level| level.location_id == units.location_id);
        let there = level.map_or(0, |level| level.available.max(0));
        units.quantity.saturating_sub(u32::try_from(there).unwrap_or(u32::MAX))
    };
    allocated.iter().map(beyond).fold(0, u32::saturating_add)
}

/// The stock of a variant without the units of earlier lines.
fn less_taken(levels: &[Level], variant: &VariantId, earlier: &[PricedLine]) -> Vec<Level> {
    let of_variant = || earlier.iter().filter(|line| line.sellable.variant_id == *variant);
    let less = |level: &Level| {
        let units = of_variant().flat_map(|line| &line.units);
        let here = units.filter(|units| units.location_id == level.location_id);
        let taken = here.map(|units| i64::from(units.quantity)).fold(0, i64::saturating_add);
        Level { available: level.available.saturating_sub(taken), ..level.clone() }
    };
    levels.iter().map(less).collect()
}

/// Whether all goods that are shipped or collected are at this location, as far as their stock is tracked.
pub(super) fn are_at(lines: &[PricedLine], location: &LocationId) -> bool {
    let goods =
        || lines.iter().filter(|line| line.sellable.tracked && line.sellable.requires_shipping);
    goods().all(|line| {
        let variant = &line.sellable.variant_id;
        let same = goods().filter(|other| other.sellable.variant_id == *variant);
        let wanted = same.map(|other| i64::from(other.line.quantity)).fold(0, i64::saturating_add);
        let level = line.levels.iter().find(|level| level.location_id == *location);
        level.is_some_and(|level| wanted <= level.available)
    })
}

impl Quote {
    /// Whether all goods are at this location, so that they can be collected there.
    pub fn is_at(&self, location: &LocationId) -> bool {
        are_at(&self.lines, location)
    }
}

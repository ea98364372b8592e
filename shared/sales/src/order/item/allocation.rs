//! The allocation of a line's units to locations, and the units that fulfilments, cancellations and returns move.

use core_types::id::LocationId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OrderItem;

/// The units of a line that are taken from one location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Allocation {
    /// The location.
    pub location_id: LocationId,
    /// The number of units allocated at the location.
    pub quantity: u32,
    /// Those that were fulfilled.
    pub fulfilled: u32,
    /// Those that were cancelled.
    pub cancelled: u32,
    /// Those that were fulfilled and returned, to any location.
    pub returned: u32,
}

impl Allocation {
    /// An allocation of which nothing is fulfilled yet.
    pub fn new(location_id: LocationId, quantity: u32) -> Self {
        Self { location_id, quantity, fulfilled: 0, cancelled: 0, returned: 0 }
    }

    /// The units that are still to be fulfilled.
    pub fn remaining(&self) -> u32 {
        self.quantity.saturating_sub(self.fulfilled).saturating_sub(self.cancelled)
    }

    /// The fulfilled units that were not returned.
    pub fn returnable(&self) -> u32 {
        self.fulfilled.saturating_sub(self.returned)
    }
}

/// Units at a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Units {
    /// The location.
    pub location_id: LocationId,
    /// The number of units.
    pub quantity: u32,
}

impl From<Units> for Allocation {
    fn from(units: Units) -> Self {
        Self::new(units.location_id, units.quantity)
    }
}

impl OrderItem {
    /// The locations that its stock is taken from; none if the variant's stock is not tracked.
    pub fn allocations(&self) -> Vec<Allocation> {
        match (&self.location_id, self.allocations.as_slice()) {
            (Some(location), []) => vec![Allocation {
                location_id: location.clone(),
                quantity: self.quantity,
                fulfilled: self.fulfilled,
                cancelled: self.cancelled,
                returned: self.returned,
            }],
            (_, known) => known.to_vec(),
        }
    }

    /// The units still to be fulfilled that this location, or any, can supply.
    pub fn remaining_at(&self, location: Option<&LocationId>) -> u32 {
        let allocations = self.allocations();
        let Some(location) = location.filter(|_| !allocations.is_empty()) else {
            return self.remaining();
        };
        let here = allocations.iter().filter(|one| one.location_id == *location);
        here.map(Allocation::remaining).fold(0, u32::saturating_add)
    }

    /// The units that were not in stock at placement and are still to come. They are allocated at the first
    /// location, are the last to be fulfilled and the first to be cancelled.
    fn backordered_units(&self) -> u32 {
        let there = self.allocations().first().map_or(0, Allocation::remaining);
        self.backordered.saturating_sub(self.cancelled).min(there)
    }

    /// Fulfils units from this location, or from any. Returns where they are taken from.
    pub(in crate::order) fn fulfill_units(
        &mut self,
        quantity: u32,
        at: Option<&LocationId>,
    ) -> Vec<Units> {
        let backordered = if at.is_none() { self.backordered_units() } else { 0 };
        let in_stock = quantity.min(self.remaining().saturating_sub(backordered));
        let capacity = |one: &Allocation, is_first: bool| {
            one.remaining().saturating_sub(if is_first { backordered } else { 0 })
        };
        let mut taken = self.spread(in_stock, at, capacity, |one| &mut one.fulfilled);
        let rest = quantity.saturating_sub(in_stock);
        let more = self.spread(rest, at, |one, _| one.remaining(), |one| &mut one.fulfilled);
        add_units(&mut taken, more);
        self.fulfilled = self.fulfilled.saturating_add(quantity);
        taken
    }

    /// Undoes the fulfilment of units that were taken from these locations.
    pub(in crate::order) fn unfulfill_units(&mut self, quantity: u32, from: &[Units]) {
        self.allocations = self.allocations();
        for units in from {
            let of = |one: &&mut Allocation| one.location_id == units.location_id;
            if let Some(one) = self.allocations.iter_mut().find(of) {
                one.fulfilled = one.fulfilled.saturating_sub(units.quantity);
            }
        }
        self.fulfilled = self.fulfilled.saturating_sub(quantity);
    }

    /// Cancels units: first those that are owed, then those of the last location, so that fewer locations
    /// have to ship. Returns where they were allocated.
    pub(in crate::order) fn cancel_units(&mut self, quantity: u32) -> Vec<Units> {
        let backordered = self.backordered_units().min(quantity);
        let capacity =
            |one: &Allocation, is_first: bool| if is_first { one.remaining() } else { 0 };
        let mut freed = self.spread(backordered, None, capacity, |one| &mut one.cancelled);
        self.allocations.reverse();
        let rest = quantity.saturating_sub(backordered);
        let more = self.spread(rest, None, |one, _| one.remaining(), |one| &mut one.cancelled);
        self.allocations.reverse();
        add_units(&mut freed, more);
        self.cancelled = self.cancelled.saturating_add(quantity);
        freed
    }

    /// Returns fulfilled units. The result is where they were taken from.
    pub(in crate::order) fn return_units(&mut self, quantity: u32) -> Vec<Units> {
        let back = self.spread(quantity, None, |one, _| one.returnable(), |one| &mut one.returned);
        self.returned = self.returned.saturating_add(quantity);
        back
    }

    /// Spreads units over the allocations that have capacity for them, from the first; `capacity` is told
    /// which one that is.
    fn spread(
        &mut self,
        quantity: u32,
        at: Option<&LocationId>,
        capacity: impl Fn(&Allocation, bool) -> u32,
        counter: fn(&mut Allocation) -> &mut u32,
    ) -> Vec<Units> {
        self.allocations = self.allocations();
        let mut left = quantity;
        let mut parts = Vec::new();
        let here = |(_, one): &(usize, &mut Allocation)| at.is_none_or(|at| one.location_id == *at);
        for (position, one) in self.allocations.iter_mut().enumerate().filter(here) {
            let part = capacity(one, position == 0).min(left);
            if part > 0 {
                left = left.saturating_sub(part);
                let counter = counter(one);
                *counter = counter.saturating_add(part);
                let location_id = one.location_id.clone();
                parts.push(Units { location_id, quantity: part });
            }
        }
        parts
    }
}

/// Adds units, one entry for each location.
fn add_units(to: &mut Vec<Units>, more: Vec<Units>) {
    for units in more {
        match to.iter_mut().find(|known| known.location_id == units.location_id) {
            Some(known) => known.quantity = known.quantity.saturating_add(units.quantity),
            None => to.push(units),
        }
    }
}

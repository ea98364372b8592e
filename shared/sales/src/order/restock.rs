//! The locations where units are put back, which must be active, even if the units were taken from there.
//!
//! Every activation or deactivation of a location writes the store as well
//! ([`catalogue::location::with_store`]). So the store is read first, then the locations
//! ([`ensure_restock_locations`](super::load::ensure_restock_locations)). The transaction that puts the units back
//! requires that the store has not changed since: one check, however many locations there are.

use std::collections::BTreeMap;

use catalogue::location::Location;
use core_types::id::LocationId;
use identity::store::Store;
use primitives::fields::Violation;
use primitives::problem::{Code, FieldError, Problem};
use table::item::{Item, Key};
use table::{Condition, Write};

use super::Units;
use super::refund::RestockType;

/// The locations where units are put back, each with the request's fields for it.
#[derive(Debug, Clone, Default)]
pub struct RestockLocations(BTreeMap<LocationId, Vec<String>>);

/// The condition that the locations have not changed since they were read; no condition if none was read.
#[derive(Debug, Clone, Default)]
#[must_use = "the transaction has to require it"]
pub struct LocationsUnchanged(Option<(Key, u64)>);

impl RestockLocations {
    /// The locations of returned lines, in the order of the request. Cancelled units have stayed at theirs.
    pub fn of_lines<'a>(lines: impl Iterator<Item = (RestockType, &'a [Units])>) -> Self {
        let mut locations = Self::default();
        for (position, (restock_type, units)) in lines.enumerate() {
            for units in units.iter().filter(|_| restock_type == RestockType::Return) {
                let pointer = format!("/items/{position}/location_id");
                locations.add(&units.location_id, Some(pointer));
            }
        }
        locations
    }

    /// Adds a location; `pointer` is the request's field for it, if any.
    pub fn add(&mut self, location: &LocationId, pointer: Option<String>) {
        self.0.entry(location.clone()).or_default().extend(pointer);
    }

    /// Adds the locations that the lines of a request name, for units as well whose stock is not counted.
    #[must_use]
    pub fn with_requested<'a>(
        mut self,
        named: impl Iterator<Item = Option<&'a LocationId>>,
    ) -> Self {
        for (position, location) in named.enumerate() {
            let Some(location) = location else { continue };
            let pointer = format!("/items/{position}/location_id");
            let pointers = self.0.entry(location.clone()).or_default();
            if !pointers.contains(&pointer) {
                pointers.push(pointer);
            }
        }
        self
    }

    /// Each location once.
    pub(super) fn ids(&self) -> impl Iterator<Item = &LocationId> {
        self.0.keys()
    }

    /// The field errors of a location.
    pub(super) fn field_errors(
        &self,
        id: &LocationId,
        location: Option<&Location>,
    ) -> Result<Vec<FieldError>, Problem> {
        let violation = match location {
            Some(location) if location.is_open() => return Ok(Vec::new()),
            Some(_) => Violation::new(
                "location_inactive",
                "The location is inactive: name an active one, or activate it.",
            ),
            None => Violation::new("unknown_location", "There is no such location."),
        };
        let pointers = self.0.get(id).map(Vec::as_slice).unwrap_or_default();
        if pointers.is_empty() {
            return Err(Code::LocationInactive.with("location_id", id.as_str()));
        }
        let error = |pointer: &String| FieldError::at(pointer.clone(), violation.clone());
        Ok(pointers.iter().map(error).collect())
    }
}

impl LocationsUnchanged {
    /// The condition for a store as it was read.
    pub(super) fn of(store: &Store) -> Self {
        Self(Some((store.key(), store.version)))
    }

    /// Adds the condition to a transaction, which otherwise fails with `version_conflict` and is to be
    /// retried.
    pub fn require(&self, write: Write) -> Write {
        let Some((store, version)) = &self.0 else { return write };
        write.check(store, Condition::is_at(*version), Code::VersionConflict)
    }
}

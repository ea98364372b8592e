//! Where units come back to: only to locations that are in use, also when they left from there.
//!
//! Every change of which locations are in use writes the store as well
//! ([`catalogue::location::with_store`]). So the store is read first, then the locations
//! ([`restock_locations`](super::load::restock_locations)), and the transaction that brings the
//! units back demands that the store has not changed since: one check, however many locations
//! there are.

use std::collections::BTreeMap;

use catalogue::location::Location;
use core_types::id::LocationId;
use table::item::{Item, Key};
use primitives::problem::{Code, FieldError, Problem};
use primitives::fields::Fault;
use table::{Condition, Write};
use identity::store::Store;

use super::Units;
use super::refund::RestockType;

/// The locations that units come back to, each with the fields that ask for it.
#[derive(Debug, Clone, Default)]
pub struct RestockLocations(BTreeMap<LocationId, Vec<String>>);

/// What a transaction demands, so that what was seen of the locations is still true; nothing, when
/// none was looked at.
#[derive(Debug, Clone, Default)]
#[must_use = "the transaction has to demand it"]
pub struct UnchangedStore(Option<(Key, u64)>);

impl RestockLocations {
    /// Those of lines as a request names them. What is cancelled never left its location.
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

    /// Units come back to this location; `pointer` is the field that could name another.
    pub fn add(&mut self, location: &LocationId, pointer: Option<String>) {
        self.0.entry(location.clone()).or_default().extend(pointer);
    }

    /// Each location once.
    pub(super) fn ids(&self) -> impl Iterator<Item = &LocationId> {
        self.0.keys()
    }

    /// What is wrong with a location as it was found.
    pub(super) fn faults(
        &self,
        id: &LocationId,
        location: Option<&Location>,
    ) -> Result<Vec<FieldError>, Problem> {
        let fault = match location {
            Some(location) if location.is_open() => return Ok(Vec::new()),
            Some(_) => Fault::new(
                "location_inactive",
                "This location is not in use. Name one that is, or activate it.",
            ),
            None => Fault::new("unknown_location", "There is no such location."),
        };
        let pointers = self.0.get(id).map(Vec::as_slice).unwrap_or_default();
        if pointers.is_empty() {
            return Err(Code::LocationInactive.with("location_id", id.as_str()));
        }
        let error =
            |pointer: &String| FieldError { pointer: pointer.clone(), fault: fault.clone() };
        Ok(pointers.iter().map(error).collect())
    }
}

impl UnchangedStore {
    /// The store as it was read.
    pub(super) fn of(store: &Store) -> Self {
        Self(Some((store.key(), store.version)))
    }

    /// Adds to the transaction that what was seen is still so; if not, it ends in
    /// `version_conflict`, and is to be tried again.
    pub fn ensure(&self, write: Write) -> Write {
        let Some((store, version)) = &self.0 else { return write };
        write.check(store, Condition::is_at(*version), Code::VersionConflict)
    }
}

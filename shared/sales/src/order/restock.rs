//! Where units come back to: only to locations that are in use, also when they left from there.
//!
//! Every change of which locations are in use writes the store as well
//! ([`catalogue::location::with_store`]). So the store is read first, then the locations, and the
//! transaction that brings the units back demands that the store has not changed since: one check,
//! however many locations there are.

use std::collections::BTreeMap;

use catalogue::location::Location;
use gateway::app::App;
use gateway::item::Key;
use gateway::problem::{Code, FieldError, Problem};
use gateway::request::Fault;
use gateway::table::{Condition, Write};
use ground::id::{LocationId, StoreId};
use ground::key;
use identity::store::Store;

use super::refund::{Plan, RestockType};

/// Locations that are read in one round trip.
const BATCH: usize = 100;

/// The locations that units come back to, each with the fields that ask for it.
#[derive(Debug, Clone, Default)]
pub struct Targets(BTreeMap<LocationId, Vec<String>>);

/// What a transaction demands, so that what was seen of the locations is still true.
#[derive(Debug, Clone)]
#[must_use = "the transaction has to demand it"]
pub struct Snapshot(Option<(Key, u64)>);

impl Targets {
    /// Units come back to this location; `pointer` is the field that could name another.
    pub fn add(&mut self, location: &LocationId, pointer: Option<String>) {
        self.0.entry(location.clone()).or_default().extend(pointer);
    }

    /// Looks at the locations: two round trips, none when nothing comes back.
    ///
    /// # Errors
    /// `unknown_location` and `location_inactive` as faults of the fields; `location_inactive` as
    /// the problem itself where no field could name another.
    pub async fn look(&self, app: &App, store: &StoreId) -> Result<Snapshot, Problem> {
        if self.0.is_empty() {
            return Ok(Snapshot(None));
        }
        let store_key = key::store(store);
        let known: Store = app.table.get(&store_key).await?.ok_or(Code::StoreNotFound)?;
        let places: Vec<(Key, &LocationId)> =
            self.0.keys().map(|id| (key::location(store, id), id)).collect();
        let mut errors = Vec::new();
        for chunk in places.chunks(BATCH) {
            let keys: Vec<&Key> = chunk.iter().map(|(key, _)| key).collect();
            let mut batch = app.table.get_many(&keys).await?;
            for (key, id) in chunk {
                let location: Option<Location> = batch.take(key)?;
                errors.extend(self.faults(id, location.as_ref())?);
            }
        }
        if errors.is_empty() {
            Ok(Snapshot(Some((store_key, known.version))))
        } else {
            errors.sort_by(|one: &FieldError, other| one.pointer.cmp(&other.pointer));
            Err(Problem::invalid(errors))
        }
    }

    fn faults(
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

impl Snapshot {
    /// Adds to the transaction that what was seen is still so; if not, it ends in
    /// `version_conflict`, and is to be tried again.
    pub fn demand(&self, write: Write) -> Write {
        let Some((store, version)) = &self.0 else { return write };
        let unchanged = Condition::new("#version = :version")
            .name("#version", "version")
            .value(":version", *version);
        write.check(store, unchanged, Code::VersionConflict)
    }
}

impl Plan {
    /// Where the units of its lines come back to. What was only called off never left its
    /// location.
    pub fn targets(&self) -> Targets {
        let mut targets = Targets::default();
        for (place, line) in self.items.iter().enumerate() {
            if line.restock_type == RestockType::Return {
                let pointer = format!("/items/{place}/location_id");
                for units in &line.restocked_at {
                    targets.add(&units.location_id, Some(pointer.clone()));
                }
            }
        }
        targets
    }
}

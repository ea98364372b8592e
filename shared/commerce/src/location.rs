//! Locations: where stock lies.
//!
//! A store's active locations that fulfil online orders stand on the store itself, in priority
//! order, and change in the same transaction as the location does. Every change of which locations
//! are active writes the store too, so that two at the same moment cannot both be the last.
//!
//! A store begins without a location; the first request that needs one makes its default.

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::{Query, Write, retry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{About, EXAMPLE_TIME, Event, Example, LOCATION_CREATED, sample};
use crate::fields::{Country, Phone};
use crate::id::{LocationId, StoreId};
use crate::key;
use crate::store::Store;

/// Locations that one store may have.
pub const MAX_LOCATIONS: usize = 100;
/// The largest priority number, and so the lowest priority.
pub const MAX_PRIORITY: i64 = 1_000;
/// What a store's first location is called.
const DEFAULT_NAME: &str = "Main";

/// Where a location is. Only the country must be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocationAddress {
    /// Street and number.
    pub line1: Option<String>,
    /// Floor, building, district.
    pub line2: Option<String>,
    /// City.
    pub city: Option<String>,
    /// State or province.
    pub region: Option<String>,
    /// Postal code.
    pub postal_code: Option<String>,
    /// ISO 3166-1.
    pub country: Country,
    /// Whom the carrier calls.
    pub phone: Option<Phone>,
}

/// A stock location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The id.
    pub id: LocationId,
    /// The store.
    pub store_id: StoreId,
    /// What the merchant calls it.
    pub name: String,
    /// Where it is.
    pub address: LocationAddress,
    /// Whether it is in use.
    pub active: bool,
    /// Whether online orders are taken from it.
    pub fulfills_online_orders: bool,
    /// Locations with smaller numbers are taken from first.
    pub priority: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Location {
    const KIND: &'static str = "location";
    fn key(&self) -> Key {
        key::location(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Location {
    /// The location that a store begins with; its id follows from the store's, so that a store
    /// has one such, whoever needs it first.
    pub fn default_of(store: &Store, now: Timestamp) -> Self {
        Self {
            id: LocationId::derive(&[store.id.as_str(), "default"]),
            store_id: store.id.clone(),
            name: DEFAULT_NAME.to_owned(),
            address: LocationAddress {
                line1: None,
                line2: None,
                city: None,
                region: None,
                postal_code: None,
                country: store.country.clone(),
                phone: None,
            },
            active: true,
            fulfills_online_orders: true,
            priority: 0,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The location in use, or not.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is so already.
    pub fn switched(&self, active: bool, now: Timestamp) -> Result<Self, Problem> {
        if self.active == active {
            return Err(Problem::state(self.state(), &self.allowed_actions()));
        }
        Ok(Self { active, ..self.changed(now) })
    }

    /// What can be done to its state.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.active { vec!["deactivate"] } else { vec!["activate"] }
    }

    fn state(&self) -> &'static str {
        if self.active { "active" } else { "inactive" }
    }

    /// The location at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// What an event says it is about.
    pub fn about(&self) -> About<'_> {
        About {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }
}

/// Those that online orders are taken from, in priority order; among equals the older comes
/// first.
pub fn online<'a>(locations: impl IntoIterator<Item = &'a Location>) -> Vec<LocationId> {
    let mut online: Vec<&Location> = locations
        .into_iter()
        .filter(|location| location.active && location.fulfills_online_orders)
        .collect();
    online.sort_by_key(|location| (location.priority, location.created_at, &location.id));
    online.into_iter().map(|location| location.id.clone()).collect()
}

/// Every location of a store; one round trip.
///
/// # Errors
/// 503.
pub async fn all(app: &App, store: &StoreId) -> Result<Vec<Location>, Problem> {
    let partition = key::store(store).pk;
    // Locations made at the same moment may exceed the limit by one or two.
    let most = MAX_LOCATIONS.saturating_mul(2);
    app.table.all(&Query::partition(partition).begins_with(key::LOCATIONS), most).await
}

/// Adds what `changed` among all `locations` of a store means for the store to a transaction.
pub fn with_store(
    write: Write,
    store: &Store,
    locations: &[Location],
    changed: &Location,
    now: Timestamp,
) -> Write {
    let others = locations.iter().filter(|location| location.id != changed.id);
    let online_locations = online(others.chain([changed]));
    let store = Store { online_locations, ..store.changed(now) };
    write.replace(&store, Code::VersionConflict)
}

/// The location that stock goes to when nobody says where: the first that online orders are taken
/// from, or else the first that is active. A store without a location gets its default, in a
/// transaction of its own. No round trip for a store that sells online.
///
/// # Errors
/// `version_conflict` when the store changes all the time; 503.
pub async fn home(app: &App, store: &Store) -> Result<LocationId, Problem> {
    if let Some(first) = store.online_locations.first() {
        return Ok(first.clone());
    }
    let mut locations = settled(app, store).await?;
    locations.sort_by_key(|location| (!location.active, location.priority, location.created_at));
    let first = locations.into_iter().next().map(|location| location.id);
    first.ok_or_else(|| Problem::internal("a store without a location"))
}

/// Every location of a store, with its default made if there was none.
///
/// # Errors
/// As [`home`].
pub async fn settled(app: &App, store: &Store) -> Result<Vec<Location>, Problem> {
    retry(|| async {
        let locations = all(app, &store.id).await?;
        if !locations.is_empty() {
            return Ok(locations);
        }
        let now = app.clock.now();
        let current: Store = app.table.get(&store.key()).await?.ok_or(Code::NotFound)?;
        let first = Location::default_of(&current, now);
        let write = app.table.write().create(&first, Code::VersionConflict);
        with_store(write, &current, &[], &first, now)
            .emit(Event::new(&LOCATION_CREATED, first.about(), &LocationView::from(&first), now))
            .commit()
            .await?;
        Ok(vec![first])
    })
    .await
}

/// A location as it is shown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LocationView {
    /// The id.
    pub id: LocationId,
    /// What the merchant calls it.
    pub name: String,
    /// Where it is.
    pub address: LocationAddress,
    /// Whether it is in use.
    pub active: bool,
    /// Whether online orders are taken from it.
    pub fulfills_online_orders: bool,
    /// Locations with smaller numbers are taken from first.
    pub priority: i64,
    /// What can be done to its state.
    pub allowed_actions: Vec<&'static str>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&Location> for LocationView {
    fn from(location: &Location) -> Self {
        Self {
            id: location.id.clone(),
            name: location.name.clone(),
            address: location.address.clone(),
            active: location.active,
            fulfills_online_orders: location.fulfills_online_orders,
            priority: location.priority,
            allowed_actions: location.allowed_actions(),
            created_at: location.created_at,
            updated_at: location.updated_at,
            version: location.version,
        }
    }
}

impl Example for LocationView {
    fn example() -> Self {
        Self {
            id: LocationId::derive(&["example"]),
            name: "Warehouse Mumbai".into(),
            address: LocationAddress {
                line1: Some("1 Dock Road".into()),
                line2: None,
                city: Some("Mumbai".into()),
                region: Some("MH".into()),
                postal_code: Some("400001".into()),
                country: sample::<Country>("IN"),
                phone: None,
            },
            active: true,
            fulfills_online_orders: true,
            priority: 0,
            allowed_actions: vec!["deactivate"],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn location(priority: i64, active: bool, fulfills_online_orders: bool) -> Location {
        let mut location = Location {
            id: LocationId::mint(NOW),
            store_id: StoreId::mint(NOW),
            name: "Here".into(),
            address: LocationView::example().address,
            active,
            fulfills_online_orders,
            priority,
            created_at: NOW,
            updated_at: NOW,
            version: 1,
        };
        location.name.push_str(&priority.to_string());
        location
    }

    #[test]
    fn online_orders_are_taken_by_priority_from_active_locations() {
        let all = [location(3, true, true), location(1, true, true), location(0, false, true), {
            location(2, true, false)
        }];
        assert_eq!(online(&all), [all[1].id.clone(), all[0].id.clone()]);
    }

    #[test]
    fn a_location_is_switched_once() {
        let here = location(0, true, true);
        assert!(here.switched(true, NOW).is_err());
        let away = here.switched(false, NOW).unwrap();
        assert_eq!(
            (away.active, away.version, away.allowed_actions()),
            (false, 2, vec!["activate"])
        );
        assert!(away.switched(false, NOW).is_err());
    }
}

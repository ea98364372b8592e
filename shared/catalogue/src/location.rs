//! Locations, at which stock is held.
//!
//! The store's item lists its active locations that fulfil online orders, in priority order, and is
//! written in the transaction that changes a location. Every activation and deactivation writes the
//! store too, so that two concurrent deactivations cannot leave it without an active location.
//!
//! A store and its default location are created in one transaction.
//!
//! A location that is being deactivated is *closing* while its stock is moved away. Online orders are
//! fulfilled from other locations and no stock may be added, so that it is empty when it is deactivated.

mod topics;

use core_types::event::{EXAMPLE_TIME, Event, EventSubject, Example, Topic, sample};
use core_types::fields::{Country, E164, Phone};
use core_types::id::{LocationId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use identity::store::{self, Store};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Query, Write};

pub use topics::*;

/// The most locations of one store.
pub const MAX_LOCATIONS: usize = 100;
/// The largest priority number, and so the lowest priority.
pub const MAX_PRIORITY: i64 = 1_000;
/// The name of a store's first location.
const DEFAULT_NAME: &str = "Main";

/// The address of a location. Only the country is required.
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
    /// The telephone number for the carrier, as it was written.
    pub phone: Option<Phone>,
    /// The telephone number in E.164; none if it is no number of the country, nor one with a country code.
    #[serde(default)]
    pub phone_e164: Option<E164>,
}

/// A stock location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "location", key = key::location(&self.store_id, &self.id))]
pub struct Location {
    /// Part of the key.
    pub id: LocationId,
    /// Part of the key.
    pub store_id: StoreId,
    /// The merchant's name for it.
    pub name: String,
    /// The address.
    pub address: LocationAddress,
    /// Whether it is active.
    pub active: bool,
    /// Whether it is being emptied before it is deactivated; only while it is active.
    pub closing: bool,
    /// Whether it fulfils online orders.
    pub fulfills_online_orders: bool,
    /// The priority: locations with smaller numbers fulfil first.
    pub priority: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Resource for Location {
    type View = LocationView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }

    /// The event, in the timeline of the store, so that a store and its first location are announced in
    /// order.
    fn event(&self, topic: &Topic<LocationView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.store_id.as_str())
    }
}

impl Location {
    /// The first location of a new store; its id is derived from the store's.
    pub fn default_of(store: &Store, now: Timestamp) -> Self {
        Self {
            id: store::first_location(&store.id),
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
                phone_e164: None,
            },
            active: true,
            closing: false,
            fulfills_online_orders: true,
            priority: 0,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// Whether stock may be added: it is active, and not being emptied.
    pub fn is_open(&self) -> bool {
        self.active && !self.closing
    }

    /// The location as closing, from which no online order is fulfilled any more. None if it is closing
    /// already.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is inactive.
    pub fn closing(&self, now: Timestamp) -> Result<Option<Self>, Problem> {
        match (self.active, self.closing) {
            (true, false) => Ok(Some(Self { closing: true, ..self.changed(now) })),
            (true, true) => Ok(None),
            (false, _) => Err(self.reject()),
        }
    }

    /// The location as inactive, after it was emptied.
    ///
    /// # Errors
    /// `invalid_state_transition` when it was not closing.
    pub fn closed(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.active && self.closing {
            Ok(Self { active: false, closing: false, ..self.changed(now) })
        } else {
            Err(self.reject())
        }
    }

    /// The location as active again, from inactive or closing.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is active and not closing.
    pub fn opened(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.is_open() {
            return Err(self.reject());
        }
        Ok(Self { active: true, closing: false, ..self.changed(now) })
    }

    fn reject(&self) -> Problem {
        let state = match (self.active, self.closing) {
            (false, _) => "inactive",
            (true, true) => "closing",
            (true, false) => "active",
        };
        Problem::state(state, &self.allowed_actions())
    }

    /// The actions that its state allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match (self.active, self.closing) {
            (false, _) => vec!["activate"],
            (true, true) => vec!["activate", "deactivate"],
            (true, false) => vec!["deactivate"],
        }
    }

    /// The location at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

/// The locations that fulfil online orders, in priority order; among equals the older comes first.
pub fn online<'a>(locations: impl IntoIterator<Item = &'a Location>) -> Vec<LocationId> {
    let mut online: Vec<&Location> = locations
        .into_iter()
        .filter(|location| location.is_open() && location.fulfills_online_orders)
        .collect();
    online.sort_by_key(|location| (location.priority, location.created_at, &location.id));
    online.into_iter().map(|location| location.id.clone()).collect()
}

/// Loads every location of a store, in one round trip.
///
/// # Errors
/// 503.
pub async fn all(services: &Services, store: &StoreId) -> Result<Vec<Location>, Problem> {
    let partition = key::store(store).pk;
    // Locations created concurrently may exceed the limit by one or two.
    let limit = MAX_LOCATIONS.saturating_mul(2);
    services.table.all(&Query::partition(partition).begins_with(key::LOCATIONS), limit).await
}

/// Adds to a transaction the write of the store with its online locations, after `changed` among all
/// `locations`.
pub fn with_store(
    write: Write,
    store: &Store,
    locations: &[Location],
    changed: &Location,
    now: Timestamp,
) -> Write {
    let others = locations.iter().filter(|location| location.id != changed.id);
    let online_locations = online(others.chain([changed]));
    store::replace(write, &Store { online_locations, ..store.changed(now) })
}

/// Adds a new store's first location, and its event, to the transaction that creates the store.
pub fn with_new_store(write: Write, store: &Store, now: Timestamp) -> Write {
    let first = Location::default_of(store, now);
    write.create(&first, Code::VersionConflict).emit(first.event(&LOCATION_CREATED, now))
}

/// The default location for stock: the first that fulfils online orders, or else the first that is
/// active. No round trip for a store with online locations.
///
/// # Errors
/// 503.
pub async fn home(services: &Services, store: &Store) -> Result<LocationId, Problem> {
    if let Some(first) = store.online_locations.first() {
        return Ok(first.clone());
    }
    let mut locations = all(services, &store.id).await?;
    locations.sort_by_key(|location| (!location.is_open(), location.priority, location.created_at));
    let first = locations.into_iter().next().map(|location| location.id);
    first.ok_or_else(|| Problem::internal(format!("the store {} has no location", store.id)))
}

core_types::view! {
    /// A stock location.
    LocationView of location: Location {
        /// The id.
        id: LocationId,
        /// The merchant's name for it.
        name: String,
        /// The address.
        address: LocationAddress,
        /// Whether it is active.
        active: bool,
        /// Whether it is being emptied before it is deactivated.
        closing: bool,
        /// Whether it fulfils online orders.
        fulfills_online_orders: bool,
        /// The priority: locations with smaller numbers fulfil first.
        priority: i64,
        /// The actions that its state allows.
        allowed_actions: Vec<&'static str> = location.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
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
                phone_e164: None,
            },
            active: true,
            closing: false,
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
            closing: false,
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
    fn online_orders_are_fulfilled_by_active_locations_in_priority_order() {
        let all = [location(3, true, true), location(1, true, true), location(0, false, true), {
            location(2, true, false)
        }];
        assert_eq!(online(&all), [all[1].id.clone(), all[0].id.clone()]);
    }

    #[test]
    fn a_location_closes_before_it_is_deactivated_and_can_be_reactivated() {
        let here = location(0, true, true);
        assert!(here.opened(NOW).is_err() && here.closed(NOW).is_err());
        let closing = here.closing(NOW).unwrap().unwrap();
        assert!(closing.active && !closing.is_open() && online([&closing]).is_empty());
        assert_eq!(closing.allowed_actions(), ["activate", "deactivate"]);
        assert_eq!(closing.closing(NOW).unwrap(), None);
        assert!(closing.opened(NOW).unwrap().is_open());
        let away = closing.closed(NOW).unwrap();
        assert_eq!((away.active, away.closing, away.version), (false, false, 3));
        assert_eq!(away.allowed_actions(), ["activate"]);
        assert!(away.closing(NOW).is_err() && away.closed(NOW).is_err());
        assert!(away.opened(NOW).unwrap().is_open());
    }
}

//! Handlers that list, create, update, deactivate and activate stock locations.

mod drain;
mod input;

use axum::extract::State;
use callers::StoreAccess;
use catalogue::location::{
    self, LOCATION_ACTIVATED, LOCATION_CREATED, LOCATION_DEACTIVATED, LOCATION_UPDATED, Location,
    LocationAddress, LocationView, MAX_LOCATIONS, MAX_PRIORITY,
};
use core_types::event::Topic;
use core_types::id::{LocationId, StoreId};
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::{ReadLocations, WriteLocations};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, IfMatch, Path, Query, Ruled};
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use services::Services;
use table::{Write, retry};

use input::{CreateRequest, UpdateRequest};

/// Filters of a list of locations.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only active, or only inactive locations.
    active: Option<Written<Flag>>,
}

/// `GET /v1/inventory/locations` (`listLocations`): List locations of a store.
///
/// Locations come in the order of their priority. Every store is created with one.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadLocations>,
    State(app): State<App>,
    Query(input): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<LocationView>, Problem> {
    let mut locations = location::all(&app, &caller.store.id).await?;
    locations.retain(|location| input.active.is_none_or(|active| location.active == active.0.0));
    locations.sort_by_key(|location| (location.priority, location.created_at));
    let views = locations.iter().map(LocationView::from).collect();
    paging.slice(&app, views, |view| view.id.to_string()).await
}

/// `POST /v1/inventory/locations` (`createLocation`): Create a location.
///
/// The location is active at once. The event is `location.created`.
///
/// # Errors
/// `location_limit`.
pub async fn create(
    caller: StoreAccess<WriteLocations>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateRequest>>,
) -> Result<Created<LocationView>, Problem> {
    let address = LocationAddress::from(input.address);
    retry(|| async {
        let now = app.clock.now();
        let network = Network::read(&app, &caller.store.id).await?;
        if network.locations.len() >= MAX_LOCATIONS {
            return Err(Code::LocationLimit.with("limit", MAX_LOCATIONS));
        }
        let last = network.locations.iter().map(|location| location.priority).max();
        let after_all = last.map_or(0, |last| last.saturating_add(1).min(MAX_PRIORITY));
        let new = Location {
            id: LocationId::mint(now),
            store_id: network.store.id.clone(),
            name: input.name.as_str().to_owned(),
            address: address.clone(),
            active: true,
            closing: false,
            fulfills_online_orders: input.fulfills_online_orders.is_none_or(|flag| flag.0),
            priority: input.priority.map_or(after_all, |priority| priority.0),
            created_at: now,
            updated_at: now,
            version: 1,
        };
        let write = app.table.write().create(&new, Code::VersionConflict);
        network
            .write_with(write, &new, now)
            .emit(new.event(&LOCATION_CREATED, now))
            .answer(new.to_created_response(), now)
            .await
    })
    .await
}

/// The store and its locations, over which a change of one of them is decided.
struct Network {
    store: Store,
    locations: Vec<Location>,
}

impl Network {
    async fn read(services: &Services, store: &StoreId) -> Result<Self, Problem> {
        let store: Store = load(services, &key::store(store)).await?;
        let locations = location::all(services, &store.id).await?;
        Ok(Self { store, locations })
    }

    fn find(&self, id: &LocationId) -> Result<&Location, Problem> {
        let found = self.locations.iter().find(|location| location.id == *id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// Adds the store to the write of a location, so that creations, activations and deactivations are
    /// serialized.
    fn write_with(&self, write: Write, changed: &Location, now: Timestamp) -> Write {
        location::with_store(write, &self.store, &self.locations, changed, now)
    }

    /// The write of a change of a location's state, with the store and the event.
    fn change(
        &self,
        services: &Services,
        next: &Location,
        topic: &Topic<LocationView>,
        now: Timestamp,
    ) -> Write {
        let write = services.table.write().replace(next, Code::VersionConflict);
        self.write_with(write, next, now).emit(next.event(topic, now))
    }
}

/// `GET /v1/inventory/locations/{id}` (`getLocation`): Get a location.
///
/// The response has its address, its priority and whether it is active.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadLocations>,
    State(app): State<App>,
    Path(id): Path<LocationId>,
) -> Result<Json<LocationView>, Problem> {
    let key = key::location(&caller.store.id, &id);
    load::<Location>(&app, &key).await.map(|location| location.to_response())
}

/// `PATCH /v1/inventory/locations/{id}` (`updateLocation`): Update a location.
///
/// Omitted fields keep their values. The event is `location.updated`; an update without a difference sends
/// none.
///
/// # Errors
/// `not_found`, `precondition_failed`, `version_conflict`.
pub async fn update(
    caller: StoreAccess<WriteLocations>,
    State(app): State<App>,
    Path(id): Path<LocationId>,
    if_match: IfMatch,
    Ruled(Body(input)): Ruled<Body<UpdateRequest>>,
) -> Result<Json<LocationView>, Problem> {
    let address = input.address.map(LocationAddress::from);
    retry(|| async {
        let now = app.clock.now();
        let network = Network::read(&app, &caller.store.id).await?;
        let before = network.find(&id)?;
        if_match.check(before.version)?;
        let mut wanted = before.clone();
        if let Some(name) = &input.name {
            name.as_str().clone_into(&mut wanted.name);
        }
        wanted.address = address.clone().unwrap_or(wanted.address);
        wanted.fulfills_online_orders =
            input.fulfills_online_orders.map_or(wanted.fulfills_online_orders, |flag| flag.0);
        wanted.priority = input.priority.map_or(wanted.priority, |priority| priority.0);
        if wanted == *before {
            return Ok(before.to_response());
        }
        let orders = (wanted.fulfills_online_orders, wanted.priority)
            != (before.fulfills_online_orders, before.priority);
        let next = wanted.changed(now);
        let write = app.table.write().replace(&next, Code::VersionConflict);
        // The store does not have names and addresses of its locations.
        let write = if orders { network.write_with(write, &next, now) } else { write };
        write.emit(next.event(&LOCATION_UPDATED, now)).answer(next.to_response(), now).await
    })
    .await
}

/// The handling of a deactivated location's stock.
#[request]
#[derive(Debug)]
pub struct DeactivateRequest {
    /// The location to which all stock is moved. Required if the location has stock.
    move_stock_to: Option<LocationId>,
}

/// `POST /v1/inventory/locations/{id}/deactivate` (`deactivateLocation`): Deactivate a location.
///
/// Its stock is moved first, in transactions of its own, while the location is `closing`. If one request
/// cannot move all of it, the location stays `closing` until the same request, sent again, has moved the
/// rest, or until it is activated again. If orders wait for its stock, the location becomes active again;
/// stock that was moved stays at the other location.
///
/// # Errors
/// `not_found`; `location_has_stock`: it has stock and `move_stock_to` is missing, or orders wait for
/// its stock; `insufficient_quantity`, `last_active_location`, `location_inactive` (the other
/// location), `invalid_state_transition`; `location_emptying`: send the request again;
/// `precondition_failed`, `version_conflict`; `unknown_location` as a field error.
pub async fn deactivate(
    caller: StoreAccess<WriteLocations>,
    State(app): State<App>,
    Path(id): Path<LocationId>,
    if_match: IfMatch,
    Body(input): Body<DeactivateRequest>,
) -> Result<Json<LocationView>, Problem> {
    let (store, to) = (&caller.store.id, input.move_stock_to.as_ref());
    let (from, to) = retry(|| async { close(&app, store, (&id, to), &if_match).await }).await?;
    match drain::drain(&app, &from, to.as_ref()).await {
        Ok(()) => retry(|| async { finish(&app, store, &id).await }).await,
        Err(rejected) if rejected.code.status() < 500 => {
            retry(|| async { reopen(&app, store, &id).await }).await?;
            Err(rejected)
        }
        Err(transient) => Err(transient),
    }
}

/// Marks the location as closing, and returns it with the one that takes its stock.
async fn close(
    services: &Services,
    store: &StoreId,
    (id, to): (&LocationId, Option<&LocationId>),
    if_match: &IfMatch,
) -> Result<(Location, Option<Location>), Problem> {
    let now = services.clock.now();
    let network = Network::read(services, store).await?;
    let before = network.find(id)?;
    // A repetition of the request that marked it as closing names the version before that.
    let is_resumed =
        before.active && before.closing && if_match.check(before.version.saturating_sub(1)).is_ok();
    if !is_resumed {
        if_match.check(before.version)?;
    }
    let closing = before.closing(now)?;
    let others = network.locations.iter().filter(|other| other.id != *id);
    if !others.clone().any(Location::is_open) {
        return Err(Code::LastActiveLocation.into());
    }
    let to = to.map(|to| target(others, id, to)).transpose()?.cloned();
    let Some(closing) = closing else { return Ok((before.clone(), to)) };
    drain::ensure_can_be_emptied(services, before, to.is_some()).await?;
    network.change(services, &closing, &LOCATION_UPDATED, now).commit().await?;
    Ok((closing, to))
}

/// Deactivates the location, which is empty by now.
async fn finish(
    services: &Services,
    store: &StoreId,
    id: &LocationId,
) -> Result<Json<LocationView>, Problem> {
    let now = services.clock.now();
    let network = Network::read(services, store).await?;
    let closed = network.find(id)?.closed(now)?;
    let write = network.change(services, &closed, &LOCATION_DEACTIVATED, now);
    write.answer(closed.to_response(), now).await
}

/// Makes a closing location active again, unless another request has ended its closing.
async fn reopen(services: &Services, store: &StoreId, id: &LocationId) -> Result<(), Problem> {
    let now = services.clock.now();
    let network = Network::read(services, store).await?;
    match network.find(id)? {
        closing if closing.active && closing.closing => {
            let opened = closing.opened(now)?;
            network.change(services, &opened, &LOCATION_UPDATED, now).commit().await
        }
        _ => Ok(()),
    }
}

/// Finds the location that takes the stock of `id`, and ensures that it is open.
fn target<'a>(
    mut others: impl Iterator<Item = &'a Location>,
    id: &LocationId,
    to: &LocationId,
) -> Result<&'a Location, Problem> {
    const POINTER: &str = "/move_stock_to";
    if to == id {
        return Err(Problem::field(
            POINTER,
            "same_location",
            "Must be another location than the emptied one.",
        ));
    }
    match others.find(|other| other.id == *to) {
        None => Err(Problem::field(POINTER, "unknown_location", "There is no such location.")),
        Some(other) if !other.is_open() => {
            Err(Code::LocationInactive.with("location_id", to.as_str()))
        }
        Some(other) => Ok(other),
    }
}

/// `POST /v1/inventory/locations/{id}/activate` (`activateLocation`): Activate a location.
///
/// A location that is closing becomes fully active again. The event is `location.activated`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn activate(
    caller: StoreAccess<WriteLocations>,
    State(app): State<App>,
    Path(id): Path<LocationId>,
    if_match: IfMatch,
) -> Result<Json<LocationView>, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let network = Network::read(&app, &caller.store.id).await?;
        let before = network.find(&id)?;
        if_match.check(before.version)?;
        let next = before.opened(now)?;
        let write = network.change(&app, &next, &LOCATION_ACTIVATED, now);
        write.answer(next.to_response(), now).await
    })
    .await
}

//! Handlers of guests: people who have ordered without an account, and are known by their e-mail address
//! alone. They have the same privacy requests as customers.

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::{Event, EventSubject};
use core_types::fields::Email;
use core_types::id::{CustomerId, OrderId, RedactionId};
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadCustomers, WriteCustomers};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Accepted, Json, Page};
use gateway::request::{Body, Path, Query};
use identity::customer::{Customer, UniqueCustomerEmail};
use identity::settings::Settings;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use privacy::person::Person;
use privacy::redaction::{
    CUSTOMER_DATA_REQUESTED, CUSTOMER_REDACTION_REQUESTED, CustomerDataRequested, Redaction,
    RedactionView,
};
use sales::guest::{Guest, GuestView};
use sales::order::{Order, OrderStatus};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::retry;
use transfers::export::{Export, ExportView};

use crate::customer_privacy::{accepted, begin_export, begin_redaction, cancel};
use crate::customers::{AHEAD, is_found};

/// Filters of a list of guests. A guest must match all of them.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only the guest with this e-mail address, and what else the store has of the address. Case is ignored.
    email: Option<Email>,
    /// Only guests whose name, e-mail address or telephone number, as it was written or in E.164, contains this
    /// text. Case and accents are ignored.
    q: Option<Text<1, 100>>,
    /// Only guests who have ordered, or whose orders have changed, at this time or later.
    updated_since: Option<Timestamp>,
}

impl ListQuery {
    fn matches(&self, guest: &Guest) -> bool {
        let texts = [Some(guest.email.as_str()), guest.name.as_deref()];
        let phone = (guest.phone.as_ref(), guest.phone_e164.as_ref());
        self.q.as_ref().is_none_or(|q| is_found(q, texts.into_iter().flatten(), phone))
            && self.updated_since.is_none_or(|since| guest.updated_at >= since)
    }

    fn is_filtered(&self) -> bool {
        self.q.is_some() || self.updated_since.is_some()
    }
}

/// The guest of a privacy request.
#[request]
#[derive(Debug)]
pub struct GuestRequest {
    /// The e-mail address with which the guest has ordered.
    email: Email,
}

/// An order of a guest.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GuestOrder {
    /// The order.
    id: OrderId,
    /// The order number.
    number: String,
    /// The status of the order.
    status: OrderStatus,
    /// Whether fulfilment or payment is outstanding, which delays a redaction.
    unfinished: bool,
}

/// The data that a store has of an address, for a list that is filtered by it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfAddress {
    /// The e-mail address.
    email: Email,
    /// The customer who has proven the address, if any; privacy requests are then made for this customer.
    customer_id: Option<CustomerId>,
    /// Orders with the address that belong to no account, at most 100.
    orders: Vec<GuestOrder>,
    /// Whether there are more orders.
    has_more: bool,
    /// The newest redaction of the address.
    redaction: Option<RedactionView>,
}

/// The extras of a list of guests.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ListExtras {
    /// The data that the store has of the address that the list is filtered by.
    #[serde(flatten)]
    of_address: Option<OfAddress>,
}

fn person(store: &Store, email: &Email) -> Person {
    Person { store_id: store.id.clone(), customer_id: None, emails: vec![email.normalized()] }
}

/// Finds the customer of a store who has proven an address.
async fn proven_by(
    services: &Services,
    store: &Store,
    email: &Email,
) -> Result<Option<CustomerId>, Problem> {
    let claim = key::unique_customer_email(&store.id, &email.normalized());
    let claim: Option<UniqueCustomerEmail> = services.table.get(&claim).await?;
    let Some(claim) = claim else { return Ok(None) };
    let found: Option<Customer> =
        services.table.get(&key::customer(&store.id, &claim.customer_id)).await?;
    Ok(found.filter(|account| account.has_proven(email)).map(|account| account.id))
}

/// Ensures that no customer has proven the address.
///
/// # Errors
/// `address_has_account`.
async fn ensure_guest(services: &Services, store: &Store, email: &Email) -> Result<(), Problem> {
    match proven_by(services, store, email).await? {
        Some(customer) => Err(Code::AddressHasAccount.with("customer_id", customer.as_str())),
        None => Ok(()),
    }
}

/// `GET /v1/customers/guests` (`listGuests`): List guests of a store.
///
/// Guests have no account, and are known by the address of their orders. They come newest first, by their first
/// order.
///
/// With `email`, the list has the one guest with the address, if there is one. The response then also has what
/// the store has of the address: orders that belong to no account, the customer who has proven it, and its
/// redaction.
pub(crate) async fn list(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Query(filter): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<GuestView, ListExtras>, Problem> {
    let store = &access.store;
    if let Some(email) = filter.email.clone() {
        let (found, of_address) = of_address(&app, store, email).await?;
        let views =
            found.iter().filter(|guest| filter.matches(guest)).map(GuestView::from).collect();
        let paging = paging.with_extras(ListExtras { of_address: Some(of_address) });
        return paging.slice(&app, views, |view| view.email.to_string()).await;
    }
    let mut query = Guest::of_store(&store.id);
    if filter.is_filtered() {
        query = query.with_scan_limit(AHEAD.0, AHEAD.1);
    }
    let view = |guest: Guest| GuestView::from(&guest);
    let paging = paging.with_extras(ListExtras::default());
    paging.query(&app, &query, |guest| filter.matches(guest), view).await
}

/// Loads the guest with an address, and what else the store has of it.
async fn of_address(
    services: &Services,
    store: &Store,
    email: Email,
) -> Result<(Option<Guest>, OfAddress), Problem> {
    let customer_id = proven_by(services, store, &email).await?;
    let (orders, next) = person(store, &email).guest_orders(services, None).await?;
    let guest = key::guest(&store.id, &store.guest_key(&email));
    let redaction = key::redaction(&Redaction::id_of_guest(store, &email));
    let mut batch = services.table.get_many(&[&guest, &redaction]).await?;
    let redaction: Option<Redaction> = batch.take(&redaction)?;
    let to_view = |order: &Order| GuestOrder {
        id: order.id.clone(),
        number: order.number.clone(),
        status: order.status,
        unfinished: order.is_unfinished(),
    };
    let of_address = OfAddress {
        email,
        customer_id,
        orders: orders.iter().map(to_view).collect(),
        has_more: next.is_some(),
        redaction: redaction.as_ref().map(RedactionView::from),
    };
    Ok((batch.take(&guest)?, of_address))
}

/// `POST /v1/customers/guests/data-request` (`requestGuestData`): Request a guest's data.
///
/// Exports all data that the store has of a guest.
///
/// The response is an export, whose file has one JSON object per line: orders with the address that belong to
/// no account, with their related items, gift cards that were sent to it, and forms that contain it as a
/// field. The event `customer.data_requested` notifies apps, with the ids of the orders.
///
/// # Errors
/// `address_has_account`, with `customer_id`: request the data of that customer. `export_limit`: a store has
/// five unfinished exports.
pub(crate) async fn data_request(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Body(input): Body<GuestRequest>,
) -> Result<Accepted<ExportView>, Problem> {
    let store = &access.store;
    ensure_guest(&app, store, &input.email).await?;
    let now = app.clock.now();
    let person = person(store, &input.email);
    let (mut orders, _) = person.guest_orders(&app, None).await?;
    orders.sort_by_key(|order| std::cmp::Reverse(order.created_at));
    let order_ids = orders.into_iter().map(|order| order.id).collect();
    let export =
        Export::of_person(person, access.actor.id(), now).on_behalf_of(access.authority(&[]));
    let data = CustomerDataRequested {
        id: None,
        order_ids,
        export_id: export.id.clone(),
        requested_at: now,
    };
    let (entity, version) = (export.id.as_str(), export.version);
    let subject = EventSubject { store: Some(&store.id), app: None, entity, version };
    let event = Event::new(&CUSTOMER_DATA_REQUESTED, subject, &data, now);
    begin_export(&app, export, event, now).await
}

/// `POST /v1/customers/guests/redact` (`redactGuest`): Schedule the redaction of a guest.
///
/// Redacts the data of a guest, after the number of days in the store's settings.
///
/// Orders with the address that belong to no account lose their personal data, and gift cards that were sent
/// to it their recipient; forms and files with it are deleted. The redaction waits while one of the orders is
/// open or owes money. A request before its end returns the current redaction; a later one starts a new one.
///
/// # Errors
/// `address_has_account`, with `customer_id`: redact that customer.
pub(crate) async fn redact(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Body(input): Body<GuestRequest>,
) -> Result<Accepted<RedactionView>, Problem> {
    let (app, store, by, email) = (&app, &access.store, access.actor.id(), &input.email);
    ensure_guest(app, store, email).await?;
    let id = &Redaction::id_of_guest(store, email);
    let keys = &[key::redaction(id), Settings::key_of(&store.id)];
    let (redaction, answer) = retry(|| async move {
        let now = app.clock.now();
        let mut batch = app.table.get_many(&[&keys[0], &keys[1]]).await?;
        let before: Option<Redaction> = batch.take(&keys[0])?;
        let settings: Option<Settings> = batch.take(&keys[1])?;
        if let Some(current) = before.as_ref().filter(|before| !before.is_over()) {
            return Ok((current.clone(), accepted(current)));
        }
        let days = settings.unwrap_or_else(|| Settings::of(store)).privacy.redaction_days;
        let subject = person(store, email);
        let redaction = Redaction::schedule(id.clone(), subject, before.as_ref(), (by, days), now);
        let write = match before {
            None => app.table.write().create(&redaction, Code::VersionConflict),
            Some(_) => app.table.write().replace(&redaction, Code::VersionConflict),
        };
        let write = write.emit(redaction.event(&CUSTOMER_REDACTION_REQUESTED));
        let answer = write.answer(accepted(&redaction), now).await?;
        Ok((redaction, answer))
    })
    .await?;
    begin_redaction(app, &redaction).await;
    Ok(answer)
}

/// Loads the redaction of a guest of the store.
async fn of_guest(
    services: &Services,
    store: &Store,
    id: &RedactionId,
) -> Result<Redaction, Problem> {
    let found: Redaction = load(services, &key::redaction(id)).await?;
    let is_guests = found.store_id == store.id && found.customer_id.is_none();
    if is_guests { Ok(found) } else { Err(Code::NotFound.into()) }
}

/// `GET /v1/customers/guests/redactions/{id}` (`getGuestRedaction`): Get the redaction of a guest.
///
/// The response has its status and the time at which it runs.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get_redaction(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Path(id): Path<RedactionId>,
) -> Result<Json<RedactionView>, Problem> {
    let found = of_guest(&app, &access.store, &id).await?;
    Ok(Json::new(&RedactionView::from(&found)).version(found.version))
}

/// `DELETE /v1/customers/guests/redactions/{id}` (`cancelGuestRedaction`): Cancel the redaction of a guest.
///
/// A redaction can be cancelled until it has begun. The event `customer.redaction_cancelled` is sent.
///
/// # Errors
/// `not_found`; `invalid_state_transition` once it has begun.
pub(crate) async fn cancel_redaction(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Path(id): Path<RedactionId>,
) -> Result<Json<RedactionView>, Problem> {
    of_guest(&app, &access.store, &id).await?;
    cancel(&app, &key::redaction(&id)).await
}

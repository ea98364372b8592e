//! Handlers of customers' privacy requests: to export their data, and to redact it.

use gateway::idempotency::Commit;
use std::time::Duration;

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::Event;
use core_types::id::{CustomerId, StoreId};
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::{ReadCustomers, WriteCustomers};
use delivery::run::RunMessage;
use gateway::app::App;
use gateway::reply::{Accepted, Json};
use gateway::request::Path;
use identity::customer::Customer;
use identity::settings::Settings;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use privacy::person::Person;
use privacy::redaction::{
    CUSTOMER_DATA_REQUESTED, CUSTOMER_REDACTION_CANCELLED, CUSTOMER_REDACTION_REQUESTED,
    CustomerDataRequested, Redaction, RedactionStatus, RedactionView,
};
use services::Services;
use table::item::{Item, Key};
use table::{Condition, retry};
use transfers::export::{Export, ExportView};
use transfers::unfinished;

/// `POST /v1/customers/{id}/data-request` (`requestCustomerData`): Request a customer's data.
///
/// Exports all data that the store has of a customer.
///
/// The response is an export, whose file has one JSON object per line: the account, addresses, wishlist,
/// sessions, orders with their related items, gift cards, reviews, and forms. Items are found by an e-mail
/// address only if the customer has proven it. The event `customer.data_requested` notifies apps.
///
/// # Errors
/// `not_found`; `export_limit`: a store has five unfinished exports.
pub(crate) async fn data_request(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
) -> Result<Accepted<ExportView>, Problem> {
    let account: Customer = load(&app, &key::customer(&access.store.id, &id)).await?;
    let now = app.clock.now();
    let (store_id, customer_id) = (account.store_id.clone(), Some(id.clone()));
    let person = Person { store_id, customer_id, emails: account.proven_emails() };
    let export = Export::of_person(person, access.actor.id(), now);
    let export = export.on_behalf_of(access.authority(&[]));
    let (id, export_id) = (Some(id), export.id.clone());
    let data = CustomerDataRequested { id, order_ids: Vec::new(), export_id, requested_at: now };
    let event = Event::new(&CUSTOMER_DATA_REQUESTED, account.event_subject(), &data, now);
    begin_export(&app, export, event, now).await
}

/// Writes the export and its event, and starts it.
pub(crate) async fn begin_export(
    services: &Services,
    export: Export,
    event: Event,
    now: Timestamp,
) -> Result<Accepted<ExportView>, Problem> {
    let answer = Accepted::new(&ExportView::from(&export)).version(export.version);
    let answer = retry(async || {
        let write = unfinished::create(services, &export).await?;
        write.emit(event.clone()).answer(answer.clone(), now).await
    })
    .await?;
    RunMessage::Export { id: export.id }.send(services, Duration::ZERO).await;
    Ok(answer)
}

/// Starts a redaction that is due.
pub(crate) async fn begin_redaction(services: &Services, redaction: &Redaction) {
    if !redaction.is_over() && redaction.begins_at <= services.clock.now() {
        RunMessage::Redaction { id: redaction.id.clone() }.send(services, Duration::ZERO).await;
    }
}

pub(crate) fn accepted(redaction: &Redaction) -> Accepted<RedactionView> {
    Accepted::new(&RedactionView::from(redaction)).version(redaction.version)
}

/// `POST /v1/customers/{id}/redact` (`redactCustomer`): Schedule the redaction of a customer.
///
/// Redacts the data of a customer, after the number of days in the store's settings.
///
/// The account is deleted, and so are personal data in orders, gift cards, reviews, forms, files and events;
/// amounts stay. A repeated request returns the current redaction. A customer who has deleted their account
/// is redacted by the id in their orders.
///
/// # Errors
/// `not_found`.
pub(crate) async fn redact(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
) -> Result<Accepted<RedactionView>, Problem> {
    let (app, store, by) = (&app, &access.store, access.actor.id());
    let person = (&store.id, &id);
    let redaction_key = key::redaction(&Redaction::id_of(person.0, person.1));
    let account_key = key::customer(person.0, person.1);
    let settings_key = Settings::key_of(&store.id);
    let keys = [&redaction_key, &account_key, &settings_key];
    let (redaction, answer) = retry(|| async move {
        let now = app.clock.now();
        let mut batch = app.table.get_many(&keys).await?;
        let before: Option<Redaction> = batch.take(keys[0])?;
        let account: Option<Customer> = batch.take(keys[1])?;
        let settings: Option<Settings> = batch.take(keys[2])?;
        let may_restart = |one: &Redaction| {
            matches!(one.status, RedactionStatus::Cancelled | RedactionStatus::Failed)
        };
        if let Some(current) = before.as_ref().filter(|before| !may_restart(before)) {
            return Ok((current.clone(), accepted(current)));
        }
        let is_unknown = account.is_none() && before.is_none();
        if is_unknown && !person_of(person.0, person.1).has_ordered(app).await? {
            return Err(Code::NotFound.into());
        }
        let days = settings.unwrap_or_else(|| Settings::of(store)).privacy.redaction_days;
        let emails = account.as_ref().map(Customer::proven_emails).unwrap_or_default();
        let subject = Person { emails, ..person_of(person.0, person.1) };
        let redaction_id = Redaction::id_of(person.0, person.1);
        let redaction =
            Redaction::schedule(redaction_id, subject, before.as_ref(), (by, days), now);
        let write = match before {
            None => app.table.write().create(&redaction, Code::VersionConflict),
            Some(_) => app.table.write().replace(&redaction, Code::VersionConflict),
        };
        // The account must not be merged into another one meanwhile.
        let write = write.when_some(account.as_ref(), |write, account| {
            write.check(&account.key(), Condition::exists(), Code::VersionConflict)
        });
        let write = write.emit(redaction.event(&CUSTOMER_REDACTION_REQUESTED));
        let answer = write.answer(accepted(&redaction), now).await?;
        Ok((redaction, answer))
    })
    .await?;
    begin_redaction(app, &redaction).await;
    Ok(answer)
}

fn person_of(store: &StoreId, customer: &CustomerId) -> Person {
    let (store_id, customer_id) = (store.clone(), Some(customer.clone()));
    Person { store_id, customer_id, emails: Vec::new() }
}

async fn find(
    services: &Services,
    store: &StoreId,
    customer: &CustomerId,
) -> Result<Redaction, Problem> {
    load(services, &key::redaction(&Redaction::id_of(store, customer))).await
}

/// `GET /v1/customers/{id}/redaction` (`getCustomerRedaction`): Get the redaction of a customer.
///
/// The response has its status and the time at which it runs.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get_redaction(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
) -> Result<Json<RedactionView>, Problem> {
    let found = find(&app, &access.store.id, &id).await?;
    Ok(Json::new(&RedactionView::from(&found)).version(found.version))
}

/// `DELETE /v1/customers/{id}/redaction` (`cancelCustomerRedaction`): Cancel the redaction of a customer.
///
/// A redaction can be cancelled until it has begun. The event `customer.redaction_cancelled` is sent.
///
/// # Errors
/// `not_found`; `invalid_state_transition` once it has begun.
pub(crate) async fn cancel_redaction(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
) -> Result<Json<RedactionView>, Problem> {
    cancel(&app, &key::redaction(&Redaction::id_of(&access.store.id, &id))).await
}

/// Cancels a redaction.
pub(crate) async fn cancel(
    services: &Services,
    redaction: &Key,
) -> Result<Json<RedactionView>, Problem> {
    retry(|| async move {
        let now = services.clock.now();
        let cancelled = load::<Redaction>(services, redaction).await?.cancelled(now)?;
        services
            .table
            .write()
            .replace(&cancelled, Code::VersionConflict)
            .emit(cancelled.event(&CUSTOMER_REDACTION_CANCELLED))
            .answer(Json::new(&RedactionView::from(&cancelled)).version(cancelled.version), now)
            .await
    })
    .await
}

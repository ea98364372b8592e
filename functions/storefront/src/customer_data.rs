//! A customer's request for a copy of their data.

use axum::extract::State;
use core_types::event::Event;
use core_types::id::ExportId;
use core_types::mail::Notice;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::Accepted;
use identity::account::Account;
use identity::customer::{Customer, DataRequest};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use privacy::person::Person;
use privacy::redaction::{CUSTOMER_DATA_REQUESTED, CustomerDataRequested};
use schemars::JsonSchema;
use serde::Serialize;
use table::item::Item;
use table::retry;
use transfers::export::Export;
use transfers::unfinished;

/// The unfinished exports of a store beside which customers may request theirs: the store's own come first, and it may
/// have five.
const ALONGSIDE: usize = 3;

/// A customer's request for a copy of their data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OwnDataRequest {
    /// The export, which the store hands over.
    export_id: ExportId,
    /// When it was requested.
    requested_at: Timestamp,
    /// From when on a copy can be requested again. Until then a request returns this one.
    next_request_at: Timestamp,
}

impl From<&DataRequest> for OwnDataRequest {
    fn from(request: &DataRequest) -> Self {
        Self {
            export_id: request.export_id.clone(),
            requested_at: request.at,
            next_request_at: request.next_at(),
        }
    }
}

/// `POST /v1/storefront/customer/me/data-request` (`requestOwnData`): Request a copy of the customer's own data.
///
/// Creates an export of all data that the store has of the customer, which the store hands over: it is in its list of
/// exports, with `customer_id`. The event `customer.data_requested` notifies the store and its apps. A request within
/// a day of the former one returns that one, and creates nothing.
///
/// # Errors
/// `export_limit`: the store has too many unfinished exports; try again in some minutes.
pub(crate) async fn create(
    caller: callers::Customer,
    State(app): State<App>,
) -> Result<Accepted<OwnDataRequest>, Problem> {
    let now = app.clock.now();
    if let Some(current) = caller.account.current_data_request(now) {
        return Ok(Accepted::new(&current.into()));
    }
    let key = caller.account.key();
    retry(|| async {
        let account: Option<Customer> = app.table.get(&key).await?;
        let account = account.ok_or(Code::Unauthenticated)?;
        if let Some(current) = account.current_data_request(now) {
            return Ok(Accepted::new(&current.into()));
        }
        let waiting = unfinished::of_store::<Export>(&app, &account.store_id).await?.len();
        if waiting >= ALONGSIDE {
            return Err(Code::ExportLimit.with("limit", ALONGSIDE));
        }
        let person = Person {
            store_id: account.store_id.clone(),
            customer_id: Some(account.id.clone()),
            emails: account.proven_emails(),
        };
        // It is nobody's authority that can be revoked: its first step is taken by the sweep, as of all that is due.
        let export = Export::of_person(person, account.id.as_str(), now);
        let next = account.with_data_request(export.id.clone(), now);
        let data = CustomerDataRequested {
            id: Some(account.id.clone()),
            order_ids: Vec::new(),
            export_id: export.id.clone(),
            requested_at: now,
        };
        let event = Event::new(&CUSTOMER_DATA_REQUESTED, next.event_subject(), &data, now);
        let request = DataRequest { export_id: export.id.clone(), at: now };
        let write = unfinished::create(&app, &export).await?;
        next.save(write, Code::VersionConflict)
            .emit(event.with_mail(Notice::DataRequested))
            .answer(Accepted::new(&OwnDataRequest::from(&request)), now)
            .await
    })
    .await
}

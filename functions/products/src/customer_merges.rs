//! Handlers that merge two accounts of one person.

use gateway::idempotency::Commit;
use std::time::Duration;

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::CustomerId;
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadCustomers, WriteCustomers};
use delivery::run::RunMessage;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Accepted, Page};
use gateway::request::{Body, Path};
use identity::customer::Customer;
use primitives::input::request;
use primitives::problem::Problem;
use privacy::merge::{self, Merge, MergeView};
use table::retry;

/// The customer to merge into another.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct MergeRequest {
    /// The customer whose account is merged and deleted.
    source_id: CustomerId,
}

/// `POST /v1/customers/{id}/merges` (`mergeCustomers`): Merge another customer into a customer.
///
/// The source account is deleted at once, and its e-mail address is released. This customer keeps its own
/// data, and gets name, telephone number, tags, groups, note and metadata that only the source has. Then
/// addresses, wishlist, orders, gift cards and reviews are moved. A repeated request returns the current
/// merge.
///
/// # Errors
/// `not_found`; `same_customer` and `unknown_customer` as field errors of `/source_id`;
/// `customers_not_mergeable`, with `reasons`.
pub(crate) async fn create(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
    Body(input): Body<MergeRequest>,
) -> Result<Accepted<MergeView>, Problem> {
    let (app, store, by) = (&app, &access.store.id, access.actor.id());
    let both = (&id, &input.source_id);
    let (merge, answer) = retry(|| async move {
        let now = app.clock.now();
        let (merge, write) = merge::begin(app, store, both, by, now).await?;
        let answer = Accepted::new(&MergeView::from(&merge)).version(merge.version);
        let answer = match write {
            Some(write) => write.answer(answer, now).await?,
            None => answer,
        };
        Ok((merge, answer))
    })
    .await?;
    if !merge.is_over() {
        let Merge { store_id, customer_id, source_id, .. } = merge;
        RunMessage::Merge { store_id, customer_id, source_id }.send(app, Duration::ZERO).await;
    }
    Ok(answer)
}

/// `GET /v1/customers/{id}/merges` (`listCustomerMerges`): List merges into a customer.
///
/// Merges come in the order of the ids of the merged customers.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub(crate) async fn list(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
    paging: Paging,
) -> Result<Page<MergeView>, Problem> {
    let store = &access.store.id;
    let _: Customer = load(&app, &key::customer(store, &id)).await?;
    let merges = Merge::all_into(&app, store, &id).await?;
    let views = merges.iter().map(MergeView::from).collect();
    paging.slice(&app, views, |view: &MergeView| view.id.to_string()).await
}

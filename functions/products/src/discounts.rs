//! Handlers that list, create, update and delete discount codes and automatic discounts.

mod input;
mod update;

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::{Event, Topic};
use core_types::id::DiscountId;
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadDiscounts, WriteDiscounts};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page, Reply};
use gateway::request::{Body, IfMatch, Path, Query};
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Int, Text};
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use sales::discount::{
    CombinesWith, DISCOUNT_CREATED, DISCOUNT_DELETED, DISCOUNT_UPDATED, Discount, DiscountCode,
    DiscountKind, DiscountStatus, DiscountView, Targets, UniqueDiscountCode, listed, uses,
};
use sales::pricing_document::{PricingDocument, PricingEntry};
use services::Services;
use table::item::Item;
use table::{Query as TableQuery, retry};

use input::{CombinesWithRequest, MinimumRequest, TargetsRequest, ValueRequest, ensure_targets};
use update::{MAX_USES, UpdateRequest, limit};

/// Filters of a list of discounts.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only discounts with this status.
    status: Option<DiscountStatus>,
    /// Only the discount with this code.
    code: Option<DiscountCode>,
}

/// `GET /v1/discounts` (`listDiscounts`): List discounts.
///
/// Discounts come newest first.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadDiscounts>,
    State(app): State<App>,
    Query(input): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<DiscountView>, Problem> {
    let (store, now) = (&caller.store.id, app.clock.now());
    let wanted =
        |discount: &Discount| input.status.is_none_or(|status| discount.status_at(now) == status);
    let view = |discount: &Discount| DiscountView::of(discount, None, now);
    if let Some(code) = &input.code {
        let unique = key::unique_discount_code(store, code.as_str());
        let claim: Option<UniqueDiscountCode> = app.table.get(&unique).await?;
        let found: Option<Discount> = match claim {
            Some(claim) => app.table.get(&key::discount(store, &claim.discount_id)).await?,
            None => None,
        };
        let views = found.iter().filter(|found| wanted(found)).map(view).collect();
        return paging.slice(&app, views, |view: &DiscountView| view.id.to_string()).await;
    }
    let query = TableQuery::list(key::list::discounts_of_store(store)).newest_first();
    paging.query(&app, &query, wanted, |discount| view(&discount)).await
}

/// A discount to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The title that shoppers see, 1 to 200 characters.
    title: Text<1, 200>,
    /// The code that shoppers enter. Case is ignored. Without a code, the discount is automatic.
    code: Option<DiscountCode>,
    /// The kind of the discount.
    kind: DiscountKind,
    /// The value: `basis_points` of a percentage, `amount` of a fixed discount, `buy_quantity` and
    /// `get_quantity` of buy X get Y; of free shipping it may have `max_amount` and `shipping_rate_ids`.
    value: Option<ValueRequest>,
    /// The lines to which it applies; all of them by default.
    applies_to: Option<TargetsRequest>,
    /// The minimum of these lines, before the discount.
    minimum: Option<MinimumRequest>,
    /// The classes of other discounts that it may be used with; by default all. Two discounts combine if each
    /// allows the class of the other.
    combines_with: Option<CombinesWithRequest>,
    /// Whether it is only for customers with an account who have not ordered yet.
    first_order_only: Flag,
    /// The number of orders that may use it; unlimited by default.
    usage_limit: Option<Int<1, MAX_USES>>,
    /// The number of orders of each customer that may use it; unlimited by default.
    per_customer_limit: Option<Int<1, MAX_USES>>,
    /// When it starts; now by default.
    starts_at: Option<Timestamp>,
    /// When it ends; never by default.
    ends_at: Option<Timestamp>,
}

/// `POST /v1/discounts` (`createDiscount`): Create a discount.
///
/// A code is unique within the store, regardless of case. The event is `discount.created`.
///
/// # Errors
/// `code_taken`, `discount_limit`; `required`, `not_applicable`, `currency_mismatch`, `unknown_product`,
/// `unknown_collection`, `unknown_shipping_rate`, `too_few`, `invalid_range` and `out_of_range` as field
/// errors.
pub async fn create(
    caller: StoreAccess<WriteDiscounts>,
    State(app): State<App>,
    Body(input): Body<CreateRequest>,
) -> Result<Created<DiscountView>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    let mut field_errors = Vec::new();
    let value = input.value.unwrap_or_default().read(input.kind, store, &mut field_errors);
    let minimum = input.minimum.map(|minimum| minimum.read(store, &mut field_errors));
    let (value, starts_at) = (value, input.starts_at.unwrap_or(now));
    let discount = Discount {
        id: DiscountId::mint(now),
        store_id: store.id.clone(),
        title: input.title.into(),
        code: input.code,
        value,
        applies_to: input.applies_to.map(Targets::from).unwrap_or_default(),
        minimum: minimum.unwrap_or_default(),
        combines_with: input.combines_with.map(CombinesWith::from).unwrap_or_default(),
        first_order_only: input.first_order_only.0,
        usage_limit: limit(input.usage_limit),
        per_customer_limit: limit(input.per_customer_limit),
        starts_at,
        ends_at: input.ends_at,
        disabled: false,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    ensure_sound(&app, &discount, true, field_errors).await?;
    let view = DiscountView::of(&discount, Some(0), now);
    let created = Created::new(&view).version(discount.version);
    retry(|| write(&app, None, Some(&discount), &DISCOUNT_CREATED, created.clone())).await
}

/// Ensures that a discount is valid. `field_errors` were found before; `names_anew` says
/// whether its products and collections must be checked.
///
/// # Errors
/// `validation_failed`: these field errors, unknown products and collections, and an end before the start.
async fn ensure_sound(
    services: &Services,
    discount: &Discount,
    names_anew: bool,
    mut field_errors: Vec<FieldError>,
) -> Result<(), Problem> {
    if discount.ends_at.is_some_and(|end| end <= discount.starts_at) {
        field_errors.push(FieldError::new(
            "/ends_at",
            "invalid_range",
            "Must be after the discount begins.",
        ));
    }
    if names_anew {
        ensure_targets(services, discount, &mut field_errors).await?;
    }
    if field_errors.is_empty() { Ok(()) } else { Err(Problem::invalid(field_errors)) }
}

/// Writes the creation, change or deletion of a discount, with the claim of its code or its entry in the
/// document of automatic discounts.
async fn write<R: Reply>(
    services: &Services,
    before: Option<&Discount>,
    after: Option<&Discount>,
    topic: &Topic<DiscountView>,
    answer: R,
) -> Result<R, Problem> {
    let Some(discount) = after.or(before) else { return Ok(answer) };
    let now = services.clock.now();
    let mut write = services.table.write();
    write = match (before, after) {
        (None, Some(new)) => write
            .when_some(new.unique_code(), |write, code| write.create(&code, Code::CodeTaken))
            .create(new, Code::VersionConflict),
        (Some(before), None) => write
            .when_some(before.unique_code(), |write, code| write.delete(&code.key()))
            .delete_unchanged(before, Code::VersionConflict),
        _ => write.replace(discount, Code::VersionConflict),
    };
    if discount.code.is_none() {
        let document = PricingDocument::load(services, discount.document_key()).await?;
        let document = listed(&document, discount, after.is_none(), now)?;
        write = write.when_some(document, |write, document| document.write(write));
    }
    let subject =
        if after.is_some() { discount.clone() } else { PricingEntry::changed(discount, now) };
    let view = DiscountView::of(&subject, None, now);
    write.emit(Event::new(topic, subject.event_subject(), &view, now)).answer(answer, now).await
}

/// Loads a discount of the store.
async fn find(services: &Services, store: &Store, id: &DiscountId) -> Result<Discount, Problem> {
    load(services, &key::discount(&store.id, id)).await
}

/// The response for a discount, with the number of its uses.
async fn to_response(
    services: &Services,
    discount: &Discount,
    now: Timestamp,
) -> Result<Json<DiscountView>, Problem> {
    let used = uses::count(services, discount).await?;
    Ok(Json::new(&DiscountView::of(discount, Some(used), now)).version(discount.version))
}

/// `GET /v1/discounts/{id}` (`getDiscount`): Get a discount.
///
/// The response has the number of its uses.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadDiscounts>,
    State(app): State<App>,
    Path(id): Path<DiscountId>,
) -> Result<Json<DiscountView>, Problem> {
    let discount = find(&app, &caller.store, &id).await?;
    to_response(&app, &discount, app.clock.now()).await
}

/// `PATCH /v1/discounts/{id}` (`updateDiscount`): Update a discount.
///
/// Existing orders keep the discount with which they were placed. The event is `discount.updated`; an update
/// without a difference sends none.
///
/// # Errors
/// `not_found`, `precondition_failed`, `discount_limit`, and the field errors of `createDiscount`.
pub async fn update(
    caller: StoreAccess<WriteDiscounts>,
    State(app): State<App>,
    Path(id): Path<DiscountId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<DiscountView>, Problem> {
    let store = &caller.store;
    let (app, input, id, if_match) = (&app, &input, &id, &if_match);
    retry(|| async move {
        let now = app.clock.now();
        let before = find(app, store, id).await?;
        if_match.check(before.version)?;
        let mut field_errors = Vec::new();
        let wanted = input.clone().apply(&before, store, &mut field_errors);
        let same = |one: &Discount, other: &Discount| {
            (&one.applies_to, &one.value) == (&other.applies_to, &other.value)
        };
        // Targets that did not change are not checked: they may have been deleted since.
        ensure_sound(app, &wanted, !same(&wanted, &before), field_errors).await?;
        if wanted == before {
            return to_response(app, &before, now).await;
        }
        replace(app, &before, &PricingEntry::changed(&wanted, now), now).await
    })
    .await
}

/// Writes the next version of a discount.
async fn replace(
    services: &Services,
    before: &Discount,
    after: &Discount,
    now: Timestamp,
) -> Result<Json<DiscountView>, Problem> {
    let answer = to_response(services, after, now).await?;
    write(services, Some(before), Some(after), &DISCOUNT_UPDATED, answer).await
}

/// Disables or enables a discount.
async fn switch(
    services: &Services,
    store: &Store,
    id: &DiscountId,
    if_match: &IfMatch,
    disabled: bool,
) -> Result<Json<DiscountView>, Problem> {
    retry(|| async move {
        let now = services.clock.now();
        let before = find(services, store, id).await?;
        if_match.check(before.version)?;
        replace(services, &before, &before.switched(disabled, now)?, now).await
    })
    .await
}

/// `POST /v1/discounts/{id}/enable` (`enableDiscount`): Enable a discount.
///
/// The discount applies to carts again, within its dates and limits.
///
/// # Errors
/// `not_found`, `precondition_failed`, `discount_limit`; `invalid_state_transition` when it is enabled.
pub async fn enable(
    caller: StoreAccess<WriteDiscounts>,
    State(app): State<App>,
    Path(id): Path<DiscountId>,
    if_match: IfMatch,
) -> Result<Json<DiscountView>, Problem> {
    switch(&app, &caller.store, &id, &if_match, false).await
}

/// `POST /v1/discounts/{id}/disable` (`disableDiscount`): Disable a discount.
///
/// The discount no longer applies to carts; existing orders keep it.
///
/// # Errors
/// `not_found`, `precondition_failed`; `invalid_state_transition` when it is disabled.
pub async fn disable(
    caller: StoreAccess<WriteDiscounts>,
    State(app): State<App>,
    Path(id): Path<DiscountId>,
    if_match: IfMatch,
) -> Result<Json<DiscountView>, Problem> {
    switch(&app, &caller.store, &id, &if_match, true).await
}

/// `DELETE /v1/discounts/{id}` (`deleteDiscount`): Delete a discount.
///
/// The discount is deleted, and its code is released. Existing orders keep the discount with which they were
/// placed. The event is `discount.deleted`.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn delete(
    caller: StoreAccess<WriteDiscounts>,
    State(app): State<App>,
    Path(id): Path<DiscountId>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let (app, store, id, if_match) = (&app, &caller.store, &id, &if_match);
    retry(|| async move {
        let before = find(app, store, id).await?;
        if_match.check(before.version)?;
        write(app, Some(&before), None, &DISCOUNT_DELETED, NoContent::default()).await
    })
    .await
}

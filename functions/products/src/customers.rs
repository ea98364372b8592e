//! Handlers that list, create, update and delete a store's customers.

use axum::extract::State;
use callers::StoreAccess;
use core_types::fields::{E164, Email, MetadataFilter, Phone};
use core_types::fold::fold;
use core_types::id::CustomerId;
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadCustomers, ReadOrders, WriteCustomers};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Accepted, Created, Json, Page};
use gateway::request::{Body, IfMatch, Path, Query};
use identity::address::{self, AddressView};
use identity::customer::{
    self, CreateRequest, Customer, CustomerDeleted, CustomerView, UniqueCustomerEmail,
    UpdateRequest,
};
use primitives::clock::Timestamp;
use primitives::fields::{FromText, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use sales::order::{Order, OrderView};
use table::retry;

/// Customers that one round trip of a filtered list inspects, and the most round trips of a page; then the
/// page ends early, with a cursor.
pub(crate) const AHEAD: (usize, u32) = (200, 10);

/// Filters of a list of customers. A customer must match all of them.
#[request]
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Only customers whose name, e-mail address or telephone number, as it was written or in E.164, contains this
    /// text. Case and accents are ignored.
    q: Option<Text<1, 100>>,
    /// Only the customer with this e-mail address.
    email: Option<Email>,
    /// Only customers with this tag.
    tag: Option<Text<1, 100>>,
    /// Only customers in this group.
    group: Option<Text<1, 100>>,
    /// Only customers with this metadata entry, written as `name:text`.
    metadata: Option<MetadataFilter>,
    /// Only customers that were updated at this time or later.
    updated_since: Option<Timestamp>,
}

/// Whether a text is part of one of these texts of a person, or of their telephone number in whatever notation.
pub(crate) fn is_found<'a>(
    q: &Text<1, 100>,
    texts: impl Iterator<Item = &'a str>,
    (phone, phone_e164): (Option<&'a Phone>, Option<&E164>),
) -> bool {
    let part = fold(q.as_str());
    // Without what stands for the country, as in `+49` and `0`, or `00`.
    let digits: String = q.as_str().chars().filter(char::is_ascii_digit).collect();
    let number = digits.trim_start_matches('0');
    let is_number = Phone::from_text(q.as_str()).is_ok();
    texts.chain(phone.map(Phone::as_str)).any(|text| fold(text).contains(&part))
        || (is_number && phone_e164.is_some_and(|own| own.as_str().contains(number)))
}

impl ListQuery {
    fn matches(&self, customer: &Customer) -> bool {
        let texts = [customer.email.as_ref().map(Email::as_str), customer.name.as_deref()];
        let phone = (customer.phone.as_ref(), customer.phone_e164.as_ref());
        let found = self.q.as_ref().is_none_or(|q| is_found(q, texts.into_iter().flatten(), phone));
        let tagged =
            self.tag.as_ref().is_none_or(|tag| customer.tags.iter().any(|own| own == tag.as_str()));
        let group = self.group.as_ref();
        let grouped =
            group.is_none_or(|group| customer.groups.iter().any(|own| own == group.as_str()));
        found
            && tagged
            && grouped
            && self.metadata.as_ref().is_none_or(|wanted| wanted.takes(&customer.metadata))
            && self.updated_since.is_none_or(|since| customer.updated_at >= since)
    }

    fn is_filtered(&self) -> bool {
        self.q.is_some()
            || self.tag.is_some()
            || self.group.is_some()
            || self.metadata.is_some()
            || self.updated_since.is_some()
    }
}

/// `GET /v1/customers` (`listCustomers`): List customers of a store.
///
/// Customers come newest first.
pub(crate) async fn list(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Query(filter): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<CustomerView>, Problem> {
    let store = &access.store;
    if let Some(email) = &filter.email {
        let email_key = key::unique_customer_email(&store.id, &email.normalized());
        let claim: Option<UniqueCustomerEmail> = app.table.get(&email_key).await?;
        let found: Option<Customer> = match claim {
            Some(claim) => app.table.get(&key::customer(&store.id, &claim.customer_id)).await?,
            None => None,
        };
        let views =
            found.iter().filter(|customer| filter.matches(customer)).map(CustomerView::from);
        return paging.slice(&app, views.collect(), |view| view.id.to_string()).await;
    }
    let mut query = table::Query::list(key::list::customers_of_store(&store.id)).newest_first();
    if filter.is_filtered() {
        query = query.with_scan_limit(AHEAD.0, AHEAD.1);
    }
    let view = |customer: Customer| CustomerView::from(&customer);
    paging.query(&app, &query, |customer| filter.matches(customer), view).await
}

/// `POST /v1/customers` (`createCustomer`): Create a customer.
///
/// The customer has no password, and proves the address with a mailed code at the first sign-in. A customer without
/// an address has no account, and is identified by their telephone number.
///
/// # Errors
/// `email_taken`; `phone_taken`, of a customer without an address.
pub(crate) async fn create(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Body(input): Body<CreateRequest>,
) -> Result<Created<CustomerView>, Problem> {
    let now = app.clock.now();
    let (planned, completion) =
        ((CustomerId::mint(now), input), answering(Customer::to_created_response));
    customer::create(&app, &access.store, planned, now, &completion).await
}

/// `GET /v1/customers/{id}` (`getCustomer`): Get a customer.
///
/// The response has the consent and the order totals, and no addresses, which are a list of their own.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
) -> Result<Json<CustomerView>, Problem> {
    let customer: Customer = load(&app, &key::customer(&access.store.id, &id)).await?;
    Ok(customer.to_response())
}

/// `PATCH /v1/customers/{id}` (`updateCustomer`): Update a customer.
///
/// Omitted fields keep their values; `null` clears a field. A customer without an e-mail address can be
/// given one, with which they sign in once it is proven.
///
/// # Errors
/// `not_found`, `precondition_failed`; `email_taken`; `phone_taken`, of a customer without an address.
pub(crate) async fn update(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<CustomerView>, Problem> {
    let key = key::customer(&access.store.id, &id);
    let (at, completion) = ((&access.store, &key), answering(Customer::to_response));
    customer::update(&app, at, if_match.0, input, &completion).await
}

/// `DELETE /v1/customers/{id}` (`deleteCustomer`): Delete a customer.
///
/// The account is deleted with its cart, addresses, wishlist and sessions. Its orders stay, because the store must
/// retain them.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub(crate) async fn delete(
    access: StoreAccess<WriteCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
    if_match: IfMatch,
) -> Result<Accepted<CustomerDeleted>, Problem> {
    let key = key::customer(&access.store.id, &id);
    let account: Customer = load(&app, &key).await?;
    if_match.check(account.version)?;
    sales::cart::owned::erase(&app, &access.store.id, &id).await?;
    customer::erase_items_except(&app, &key, key::SESSIONS).await?;
    let (app, account) = (&app, &account);
    let removed = retry(|| async move {
        let now = app.clock.now();
        let deleted = CustomerDeleted { id: account.id.clone(), deleted_at: now };
        customer::remove(app.table.write(), account, Code::NotFound, now)
            .answer(Accepted::new(&deleted), now)
            .await
    })
    .await?;
    // Deletes items that were added meanwhile; no more can be added to a deleted account.
    customer::erase_items_except(app, &key, "").await?;
    Ok(removed)
}

/// `GET /v1/customers/{id}/addresses` (`listCustomerAddresses`): List addresses of a customer.
///
/// The default comes first, then newest first.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub(crate) async fn list_addresses(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
    mut paging: Paging,
) -> Result<Page<AddressView>, Problem> {
    let customer: Customer = load(&app, &key::customer(&access.store.id, &id)).await?;
    let default = customer.default_address_id.as_ref();
    let mut addresses = address::all_of(&app, &customer).await?;
    let first = paging.leader(default.map(ToString::to_string));
    addresses.sort_by_key(|address| first.as_deref() != Some(address.id.as_str()));
    let views = addresses.iter().map(|address| AddressView::of(address, default));
    paging.slice(&app, views.collect(), |view| view.id.to_string()).await
}

/// `GET /v1/customers/{id}/orders` (`listCustomerOrders`): List orders of a customer.
///
/// Orders come newest first.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub(crate) async fn list_orders(
    access: StoreAccess<ReadOrders>,
    State(app): State<App>,
    Path(id): Path<CustomerId>,
    paging: Paging,
) -> Result<Page<OrderView>, Problem> {
    let store = &access.store.id;
    let _: Customer = load(&app, &key::customer(store, &id)).await?;
    let query = table::Query::list(key::list::orders_of_customer(store, &id)).newest_first();
    paging.query(&app, &query, |_: &Order| true, |order| OrderView::from(&order)).await
}

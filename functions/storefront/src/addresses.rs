//! A customer's address book.

use axum::extract::{FromRequestParts, State};
use core_types::id::AddressId;
use core_types::key;
use deserr::Deserr;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Argument, Described, IfMatch, Inbound, Raw, Reads, Validation};
use http::request::Parts;
use identity::address::{self, Address, AddressInput, AddressPatch, AddressView, PostalAddress};
use identity::customer::Customer;
use primitives::fields::{FieldErrors, Flag, Text};
use primitives::input::{NoFields, request};
use primitives::problem::{Code, Problem};
use serde_json::{Map, Value};
use services::Services;
use table::item::Item;
use table::retry;

/// The members of the body in addition to the address.
#[request]
#[derive(Debug)]
struct AddressOptions {
    /// Whether it is the default, which a checkout suggests first.
    is_default: Option<Flag>,
}

/// An address with its options: one flat object.
pub(crate) struct AddressBody<T> {
    address: T,
    is_default: Option<bool>,
}

/// The members of the body in addition to the address, with the address's id.
#[request]
#[derive(Debug)]
#[allow(dead_code, reason = "only its schema is used")]
struct NamedAddressOptions {
    /// The address's id, unless the query names it.
    id: Option<Text<1, 100>>,
    /// Whether it is the default, which a checkout suggests first.
    is_default: Option<Flag>,
}

impl<T: Deserr<FieldErrors> + Described + Send + 'static> Argument for AddressBody<T> {
    const READS: Reads = Reads::BODY;

    gateway::describes! { |operation| {
        if operation.has_query_parameter("id") {
            operation.takes_body_with::<T, NamedAddressOptions>();
        } else {
            operation.takes_body_with::<T, AddressOptions>();
        }
    } }

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let mut address = without_id(validation)?;
        let mut alongside = Map::new();
        if let Value::Object(object) = &mut address {
            alongside.extend(object.remove_entry("is_default"));
        }
        let (address, alongside) = (
            validation.read::<T>(address),
            validation.read::<AddressOptions>(Value::Object(alongside)),
        );
        let sent = address.zip(alongside).map(|(address, alongside)| Self {
            address,
            is_default: alongside.is_default.map(|flag| flag.0),
        });
        validation.insert(sent);
        Ok(())
    }
}

impl<S: Sync, T: Send + 'static> FromRequestParts<S> for AddressBody<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// Returns the body without the id, which [`AddressInPath`] reads if the path has none.
fn without_id(validation: &Validation<'_>) -> Result<Value, Problem> {
    let mut fields = validation.body()?;
    let is_new = validation.inbound.method == http::Method::POST;
    if let Value::Object(object) = &mut fields
        && validation.inbound.param("id").is_none()
        && !is_new
    {
        object.remove("id");
    }
    Ok(fields)
}

/// The id of the requested address: from the path, the body or the query.
pub(crate) struct AddressInPath(AddressId);

/// The address's id in the query.
#[request]
#[derive(Debug)]
struct OneQuery {
    /// The address's id.
    #[expect(dead_code, reason = "it has been read")]
    id: Option<Text<0, 100>>,
}

impl Argument for AddressInPath {
    const READS: Reads = Reads::QUERY;

    gateway::describes! { |operation| {
        if operation.path.is_empty() {
            operation.takes_query::<OneQuery>();
        } else {
            operation.takes_in_path::<AddressId>(0);
        }
    } }

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        validation.insert(Some(Self(requested_id(validation.inbound)?)));
        let fields = validation.query();
        if validation.inbound.param("id").is_some() {
            validation.read::<NoFields>(fields);
        } else {
            validation.read::<OneQuery>(fields);
        }
        Ok(())
    }
}

impl<S: Sync> FromRequestParts<S> for AddressInPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// The address's id in a body.
#[request]
#[derive(Debug)]
#[allow(dead_code, reason = "only its schema is used")]
#[schemars(rename = "AddressChoice")]
struct AddressInBody {
    /// The address's id, unless the query names it.
    id: Option<Text<1, 100>>,
}

/// A body with no other member than the address's id.
pub(crate) struct NamedAddress;

impl Argument for NamedAddress {
    const READS: Reads = Reads::BODY;

    gateway::describes! { |operation| {
        if operation.has_query_parameter("id") {
            operation.takes_body::<AddressInBody>("application/json");
        }
    } }

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let fields = without_id(validation)?;
        validation.read::<NoFields>(fields);
        Ok(())
    }
}

impl<S: Sync> FromRequestParts<S> for NamedAddress {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// Reads the id of the requested address from the path, the body or the query.
///
/// # Errors
/// `id_required`; `not_found` for a malformed id.
fn requested_id(inbound: &Inbound) -> Result<AddressId, Problem> {
    let from_body = || match inbound.json().map(|body| body.get("id")) {
        Ok(Some(Value::String(id))) => Ok(Some(id.clone())),
        Ok(Some(Value::Null) | None) => Ok(None),
        Ok(Some(_)) => Err(Problem::field("/id", "invalid_type", "Must be a string.")),
        Err(problem) => Err(problem),
    };
    let id = match inbound.param("id") {
        Some(id) => Some(id.to_owned()),
        None => from_body()?.or_else(|| inbound.query_param("id")),
    };
    let id = id.ok_or(Code::IdRequired)?;
    AddressId::parse(&id).ok_or_else(|| Code::NotFound.into())
}

/// Loads the customer again, because other requests change the addresses.
async fn reload(services: &Services, customer: &Customer) -> Result<Customer, Problem> {
    services.table.get(&customer.key()).await?.ok_or_else(|| Code::Unauthenticated.into())
}

fn to_response(address: &Address, default: Option<&AddressId>) -> Json<AddressView> {
    Json::new(&AddressView::of(address, default)).version(address.version)
}

/// `GET /v1/storefront/customer/addresses` (`listAddresses`): List the customer's addresses.
///
/// Lists the customer's addresses: the default first, then newest first.
pub(crate) async fn list(
    caller: callers::Customer,
    State(app): State<App>,
    mut paging: Paging,
) -> Result<Page<AddressView>, Problem> {
    let default = caller.account.default_address_id.as_ref();
    let mut addresses = address::all_of(&app, &caller.account).await?;
    let first = paging.leader(default.map(ToString::to_string));
    addresses.sort_by_key(|address| first.as_deref() != Some(address.id.as_str()));
    let views = addresses.iter().map(|address| AddressView::of(address, default));
    paging.slice(&app, views.collect(), |view| view.id.to_string()).await
}

/// `POST /v1/storefront/customer/addresses` (`createAddress`): Create an address.
///
/// Adds an address. The first one becomes the default.
///
/// # Errors
/// `address_limit`.
pub(crate) async fn create(
    caller: callers::Customer,
    State(app): State<App>,
    AddressBody { address, is_default }: AddressBody<AddressInput>,
) -> Result<Created<AddressView>, Problem> {
    let postal = PostalAddress::from(address);
    retry(|| async {
        let customer = reload(&app, &caller.account).await?;
        let now = app.clock.now();
        let address = Address::add(&customer.store_id, &customer.id, postal.clone(), now);
        let prefer = is_default.unwrap_or(false);
        let write = address::add(app.table.write(), &customer, &address, prefer)?;
        let own = Some(&address.id).filter(|_| prefer);
        let default = own.or(customer.default_address_id.as_ref()).unwrap_or(&address.id);
        let view = AddressView::of(&address, Some(default));
        write.answer(Created::new(&view).version(view.version), now).await
    })
    .await
}

/// `GET /v1/storefront/customer/addresses/{id}` (`getAddress`): Get an address.
///
/// Other customers' addresses are not found.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    caller: callers::Customer,
    State(app): State<App>,
    AddressInPath(id): AddressInPath,
) -> Result<Json<AddressView>, Problem> {
    let address = find(&app, &caller.account, &id).await?;
    Ok(to_response(&address, caller.account.default_address_id.as_ref()))
}

async fn find(
    services: &Services,
    customer: &Customer,
    id: &AddressId,
) -> Result<Address, Problem> {
    let found = services.table.get(&key::address(&customer.store_id, &customer.id, id)).await?;
    found.ok_or_else(|| Code::NotFound.into())
}

/// `PATCH /v1/storefront/customer/addresses` (`updateNamedAddress`): Update an address named by body or query.
///
/// Changes the address that the body or the query names.
///
/// `is_default: true` makes it the default.
///
/// # Errors
/// `id_required`, `not_found`; a field error of `is_default` for `false` on the default address;
/// `required`, `invalid_region` and `invalid_postal_code`, by its country's requirements.
pub(crate) async fn update_named(
    caller: callers::Customer,
    State(app): State<App>,
    AddressInPath(id): AddressInPath,
    if_match: IfMatch,
    sent: AddressBody<AddressPatch>,
) -> Result<Json<AddressView>, Problem> {
    change(&app, &caller.account, &id, if_match, sent).await
}

/// `PATCH /v1/storefront/customer/addresses/{id}` (`updateAddress`): Update an address.
///
/// `is_default: true` makes it the default.
///
/// # Errors
/// `not_found`; a field error of `is_default` for `false` on the default address; `required`,
/// `invalid_region` and `invalid_postal_code`, by its country's requirements.
pub(crate) async fn update(
    caller: callers::Customer,
    State(app): State<App>,
    AddressInPath(id): AddressInPath,
    if_match: IfMatch,
    sent: AddressBody<AddressPatch>,
) -> Result<Json<AddressView>, Problem> {
    change(&app, &caller.account, &id, if_match, sent).await
}

async fn change(
    services: &Services,
    customer: &Customer,
    id: &AddressId,
    if_match: IfMatch,
    AddressBody { address: patch, is_default }: AddressBody<AddressPatch>,
) -> Result<Json<AddressView>, Problem> {
    let address = find(services, customer, id).await?;
    if_match.check(address.version)?;
    let was_default = customer.default_address_id.as_ref() == Some(id);
    if was_default && is_default == Some(false) {
        let detail = "Cannot be cleared: make another address the default instead.";
        return Err(Problem::field("/is_default", "default_required", detail));
    }
    let prefer = is_default == Some(true) && !was_default;
    let postal = address.postal.patched(patch)?;
    let default = if prefer { Some(id) } else { customer.default_address_id.as_ref() };
    if postal == address.postal && !prefer {
        return Ok(to_response(&address, default));
    }
    let now = services.clock.now();
    let next = address.moved(postal, now);
    let write = services.table.write().replace(&next, Code::VersionConflict);
    let write = if prefer { address::prefer(write, customer, id) } else { write };
    write.answer(to_response(&next, default), now).await
}

/// `DELETE /v1/storefront/customer/addresses` (`deleteNamedAddress`): Delete an address named by body or query.
///
/// Deletes the address that the body or the query names.
///
/// If it is the default, the newest of the others becomes the default.
///
/// # Errors
/// `id_required`, `not_found`.
pub(crate) async fn delete_named(
    caller: callers::Customer,
    State(app): State<App>,
    AddressInPath(id): AddressInPath,
    if_match: IfMatch,
    _: NamedAddress,
) -> Result<NoContent, Problem> {
    remove(&app, &caller.account, &id, if_match).await
}

/// `DELETE /v1/storefront/customer/addresses/{id}` (`deleteAddress`): Delete an address.
///
/// If it is the default, the newest of the others becomes the default.
///
/// # Errors
/// `not_found`.
pub(crate) async fn delete(
    caller: callers::Customer,
    State(app): State<App>,
    AddressInPath(id): AddressInPath,
    if_match: IfMatch,
    _: NamedAddress,
) -> Result<NoContent, Problem> {
    remove(&app, &caller.account, &id, if_match).await
}

async fn remove(
    services: &Services,
    customer: &Customer,
    id: &AddressId,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    retry(|| async {
        let customer = reload(services, customer).await?;
        let addresses = address::all_of(services, &customer).await?;
        let address = addresses.iter().find(|address| address.id == *id).ok_or(Code::NotFound)?;
        if_match.check(address.version)?;
        address::remove(services.table.write(), &customer, address, &addresses)
            .answer(NoContent::default(), services.clock.now())
            .await
    })
    .await
}

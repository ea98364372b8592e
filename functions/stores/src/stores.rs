//! Handlers that list, create, get and update a merchant's stores.

use axum::extract::State;
use callers::{Merchant, StoreAccess};
use catalogue::location;
use core_types::fields::{
    Country, Currency, Email, Locale, Phone, StoreName, Subdomain, TaxNumber, TimeZone,
};
use core_types::key;
use core_types::scope::{ReadStore, WriteStore};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, IfMatch};
use identity::address::AddressInput;
use identity::member::Role;
use identity::merchant::Merchant as MerchantAccount;
use identity::merchant::stores::stores_of;
use identity::phone;
use identity::store::branding::retain_media;
use identity::store::{
    self, Branding, Contact, InventoryPolicy, MAX_STORES, NewStore, OLD_SUBDOMAIN_RETENTION,
    OrderPrefix, STORE_CREATED, STORE_UPDATED, Store, StoreStatus, StoreView, UniqueSubdomain,
};
use primitives::clock::Timestamp;
use primitives::fields::{Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{Query, Write};

use crate::branding::{self, BrandingRequest};
use crate::region::region_code;

fn view(services: &Services, store: &Store) -> StoreView {
    StoreView::of(store, &services.config.base_url)
}

/// The response with a store.
pub(crate) fn to_response(view: &StoreView) -> Json<StoreView> {
    Json::new(view).version(view.version)
}

/// A store, with the merchant's role.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedStore {
    #[serde(flatten)]
    store: StoreView,
    /// The merchant's role in the store.
    role: Role,
}

/// `GET /v1/stores` (`listStores`): List stores of the merchant.
///
/// Stores that the merchant owns or is a member of come newest first.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: Merchant,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<ListedStore>, Problem> {
    let account = &caller.account;
    let listed = |store: &Store, role| ListedStore { store: view(&app, store), role };
    if account.memberships.grants.is_empty() {
        let own = Query::list(key::list::stores_of(&account.id));
        // The index is eventually consistent: a store may have been deleted or given to another owner.
        let is_own =
            |store: &Store| store.status != StoreStatus::Deleted && store.owner_id == account.id;
        let own = own.newest_first();
        return paging.query(&app, &own, is_own, |store| listed(&store, Role::Owner)).await;
    }
    let all = stores_of(&app, account).await?;
    let views = all.iter().map(|(store, grant)| listed(store, grant.role)).collect();
    paging.slice(&app, views, |listed: &ListedStore| listed.store.id.to_string()).await
}

/// A store to create.
#[request]
#[derive(Debug)]
pub struct CreateRequest {
    /// The name that customers see.
    name: StoreName,
    /// The storefront's subdomain.
    subdomain: Subdomain,
    /// The currency of all its prices.
    currency: Currency,
    /// The country that the store trades from.
    country: Country,
    /// The region of the country that the store trades from, by code or name.
    region: Option<Text<1, 120>>,
    /// The default language. By default the merchant's own, or else English.
    locale: Option<Locale>,
    /// The time zone of its reports and its shop; UTC by default.
    timezone: Option<TimeZone>,
}

/// `POST /v1/stores` (`createStore`): Create a store.
///
/// The store is a draft with a subdomain and one location until it is activated. The event is
/// `store.created`.
///
/// # Errors
/// `subdomain_taken`, `store_limit`; `subdomain_reserved`, `unsupported_currency` and `invalid_region` as field
/// errors.
pub async fn create(
    caller: Merchant,
    State(app): State<App>,
    Body(input): Body<CreateRequest>,
) -> Result<Created<StoreView>, Problem> {
    let now = app.clock.now();
    // Concurrent requests may exceed the limit by a store or two. It only bounds the list of stores, and
    // nothing else depends on it.
    if usize::try_from(caller.account.stores).is_ok_and(|owned| owned >= MAX_STORES) {
        return Err(Code::StoreLimit.with("limit", MAX_STORES));
    }
    let region = input.region.map(|region| region_code(&input.country, &region)).transpose()?;
    let new_store = NewStore {
        name: input.name.into(),
        subdomain: input.subdomain,
        currency: input.currency,
        country: input.country,
        region,
        locale: input.locale.or_else(|| caller.account.locale.clone()),
        timezone: input.timezone,
    };
    let store = Store::create(&caller.account.id, new_store, now);
    let view = view(&app, &store);
    let write = app.table.write().create(&store, Code::VersionConflict);
    let write = location::with_new_store(claim_subdomain(write, &store, now), &store, now);
    // An account that was deleted since the request began has no session either.
    MerchantAccount::count_new_store(write, &store, Code::Unauthenticated)
        .emit(store.event(&STORE_CREATED, &app.config.base_url, now))
        .answer(Created::new(&view).version(store.version), now)
        .await
}

/// Claims the store's subdomain.
fn claim_subdomain(write: Write, store: &Store, now: Timestamp) -> Write {
    let condition = UniqueSubdomain::is_free_for(&store.id, now);
    write.put_if(&UniqueSubdomain::of(store), condition, Code::SubdomainTaken)
}

/// Releases the store's subdomain at `until`; before, it still leads to the store.
pub(crate) fn release_subdomain_at(write: Write, store: &Store, until: Timestamp) -> Write {
    let condition = UniqueSubdomain::is_held_by(&store.id);
    write.put_if(&UniqueSubdomain::moved(store, until), condition, Code::VersionConflict)
}

/// `GET /v1/stores/{id}` (`getStore`): Get a store.
///
/// The response has the store's status, contact and branding.
pub async fn get(
    caller: StoreAccess<ReadStore>,
    State(app): State<App>,
) -> Result<Json<StoreView>, Problem> {
    Ok(to_response(&view(&app, &caller.store)))
}

/// The changes of a store.
#[request]
#[derive(Debug)]
pub struct UpdateRequest {
    /// The name that customers see.
    name: Option<StoreName>,
    /// The storefront's subdomain; the previous one leads to the store for another 90 days.
    subdomain: Option<Subdomain>,
    /// The currency of all its prices; it can be changed while the store is a draft without prices.
    currency: Option<Currency>,
    /// The country that the store trades from.
    country: Option<Country>,
    /// The region of the country that the store trades from, by code or name. Another country clears it.
    region: Patch<Text<1, 120>>,
    /// The default language.
    locale: Option<Locale>,
    /// The time zone of its reports and its shop.
    timezone: Option<TimeZone>,
    /// The contact for customers; `null` clears it.
    contact: Patch<ContactRequest>,
    /// The tax registration number, which orders and mails about them show; `null` clears it.
    tax_number: Patch<TaxNumber>,
    /// The branding; `null` clears it.
    branding: Patch<BrandingRequest>,
    /// The prefix of order numbers.
    order_prefix: Option<OrderPrefix>,
    /// Whether variants without a policy of their own are sold beyond their stock.
    inventory_policy: Option<InventoryPolicy>,
}

/// The changes of a store's contact.
#[request]
#[derive(Debug)]
pub struct ContactRequest {
    /// The e-mail address that customers see, and the `Reply-To` of mails to them.
    email: Patch<Email>,
    /// The telephone number that customers see.
    phone: Patch<Phone>,
    /// The postal address, which mails about orders show.
    address: Patch<AddressInput>,
}

impl UpdateRequest {
    /// The store with these changes, at its current version.
    ///
    /// # Errors
    /// `invalid_region` as a field error.
    fn apply(self, store: &Store) -> Result<Store, Problem> {
        let mut wanted = store.clone();
        set(&mut wanted.name, self.name);
        set(&mut wanted.subdomain, self.subdomain);
        set(&mut wanted.currency, self.currency);
        set(&mut wanted.country, self.country);
        if wanted.country != store.country {
            wanted.region = None;
        }
        match &self.region {
            Patch::Keep => {}
            Patch::Clear => wanted.region = None,
            Patch::Set(region) => wanted.region = Some(region_code(&wanted.country, region)?),
        }
        set(&mut wanted.locale, self.locale);
        set(&mut wanted.timezone, self.timezone);
        set(&mut wanted.order_prefix, self.order_prefix);
        set(&mut wanted.inventory_policy, self.inventory_policy);
        self.tax_number.apply(&mut wanted.tax_number);
        match self.contact {
            Patch::Keep => {}
            Patch::Clear => wanted.contact = Contact::default(),
            Patch::Set(contact) => {
                contact.email.apply(&mut wanted.contact.email);
                contact.phone.apply(&mut wanted.contact.phone);
                contact.address.apply(&mut wanted.contact.address);
            }
        }
        let place = |store: &Store| (store.contact.phone.clone(), store.country.clone());
        if place(&wanted) != place(store) {
            let (phone, country) = place(&wanted);
            wanted.contact.phone_e164 = phone::e164_of(phone.as_ref(), &country);
        }
        match self.branding {
            Patch::Keep => {}
            Patch::Clear => wanted.branding = Branding::default(),
            Patch::Set(branding) => branding.apply(&mut wanted.branding),
        }
        Ok(wanted)
    }
}

/// Sets a field to the given value, if there is one.
fn set<T, U: Into<T>>(field: &mut T, value: Option<U>) {
    if let Some(value) = value {
        *field = value.into();
    }
}

/// `PATCH /v1/stores/{id}` (`updateStore`): Update a store.
///
/// Omitted fields keep their values. An app with `write_store` may change all of them, including the
/// subdomain (our choice), as the scope tells the merchant who grants it. The event is `store.updated`; an
/// update without a difference sends none.
///
/// # Errors
/// `subdomain_taken`, `currency_locked`, `precondition_failed`, `version_conflict`;
/// `unknown_media` and `invalid_region` as field errors.
pub async fn update(
    caller: StoreAccess<WriteStore>,
    State(app): State<App>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<StoreView>, Problem> {
    let before = &caller.store;
    if_match.check(before.version)?;
    let now = app.clock.now();
    let Some(store) = before.next_version(&input.apply(before)?, now)? else {
        return Ok(to_response(&view(&app, before)));
    };
    branding::validate(&app, before, &store).await?;
    let moved = (store.subdomain != before.subdomain).then_some(before);
    let view = view(&app, &store);
    let write = store::replace(app.table.write(), &store);
    retain_media(write, &store.id, &before.branding, &store.branding)
        .when_some(moved, |write, before| {
            release_subdomain_at(
                claim_subdomain(write, &store, now),
                before,
                now.plus(OLD_SUBDOMAIN_RETENTION),
            )
        })
        .emit(store.event(&STORE_UPDATED, &app.config.base_url, now))
        .answer(to_response(&view), now)
        .await
}

#[cfg(test)]
mod tests {
    use core_types::id::MerchantId;
    use primitives::input::read;
    use serde_json::{Value, json};

    use super::*;

    fn store() -> Store {
        let now = Timestamp::from_millis(0);
        Store::create(&MerchantId::mint(now), NewStore::sample(), now)
    }

    fn patched(store: &Store, body: Value) -> Store {
        read::<UpdateRequest>(body).unwrap().apply(store).unwrap()
    }

    #[test]
    fn a_store_needs_name_subdomain_currency_and_country() {
        let problem = read::<CreateRequest>(json!({})).unwrap_err();
        let mut pointers: Vec<_> = problem.errors().iter().map(|e| e.pointer.as_str()).collect();
        pointers.sort_unstable();
        assert_eq!(pointers, ["/country", "/currency", "/name", "/subdomain"]);
        let full = json!({"name": "A", "subdomain": "abc", "currency": "INR", "country": "IN"});
        assert!(read::<CreateRequest>(full).is_ok());
    }

    #[test]
    fn a_patch_changes_only_the_fields_that_it_names() {
        let before = store();
        assert_eq!(patched(&before, json!({})), before);
        let named = patched(&before, json!({"name": "Red Bottle Books", "order_prefix": ""}));
        let name = "Red Bottle Books".to_owned();
        assert_eq!(named, Store { name, order_prefix: String::new(), ..before });
    }

    #[test]
    fn the_contact_is_patched_field_by_field() {
        let both = json!({"contact": {"email": "a@b.co", "phone": "+91 22 5550 1234"}});
        let both = patched(&store(), both);
        assert!(both.contact.email.is_some() && both.contact.phone.is_some());
        let one = patched(&both, json!({"contact": {"phone": null}}));
        assert_eq!(one.contact, Contact { phone: None, phone_e164: None, ..both.contact.clone() });
        assert_eq!(patched(&both, json!({"contact": null})).contact, Contact::default());
    }
}

//! Handlers that add, verify, update and delete a store's own domains.

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::StoreId;
use core_types::key;
use core_types::scope::{ReadStore, WriteStore};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, RequestRules, Ruled, Validation};
use identity::domain::{
    DOMAIN_REMOVED, DOMAIN_VERIFIED, Domain, DomainView, Domains, Host, UniqueHost,
};
use identity::store::{self, STORE_UPDATED, Store, StoreStatus};
use primitives::clock::Timestamp;
use primitives::fields::Flag;
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::{Write, retry};
use url::Url;

/// Loads a store and its domains.
///
/// # Errors
/// `not_found`.
async fn load(services: &Services, id: &StoreId) -> Result<(Store, Domains), Problem> {
    let (store_key, domains_key) = (key::store(id), key::domains(id));
    let mut batch = services.table.get_many(&[&store_key, &domains_key]).await?;
    let store: Option<Store> = batch.take(&store_key)?;
    let store = store.filter(|store| store.status != StoreStatus::Deleted).ok_or(Code::NotFound)?;
    Ok((store, Domains::of(id, batch.take(&domains_key)?)))
}

fn to_response(domain: &Domain, store: &Store) -> Json<DomainView> {
    Json::new(&DomainView::of(domain, store)).version(domain.version)
}

/// `GET /v1/stores/{id}/domains` (`listDomains`): List domains of a store.
///
/// Domains come in the order in which they were added.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadStore>,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<DomainView>, Problem> {
    let store = &caller.store;
    let domains = Domains::of(&store.id, app.table.get(&key::domains(&store.id)).await?).domains;
    let views = domains.iter().map(|domain| DomainView::of(domain, store)).collect();
    paging.slice(&app, views, |view: &DomainView| view.host.to_string()).await
}

/// `GET /v1/stores/{id}/domains/{host}` (`getDomain`): Get a domain and its verification record.
///
/// The record is a TXT record, which the owner of the domain publishes.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadStore>,
    State(app): State<App>,
    Path((_, host)): Path<(StoreId, Host)>,
) -> Result<Json<DomainView>, Problem> {
    let store = &caller.store;
    let domains = Domains::of(&store.id, app.table.get(&key::domains(&store.id)).await?);
    Ok(to_response(domains.domain(&host)?, store))
}

/// A domain to add.
#[request]
#[derive(Debug)]
pub struct CreateRequest {
    /// A host at or below a registered domain, in any script. IP addresses, public suffixes and hosts of the
    /// platform are rejected.
    host: Host,
    /// Whether it becomes the store's primary domain once it is verified.
    primary: Flag,
}

impl RequestRules for CreateRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let Some(host) = given.get::<Host>("host") else { return Vec::new() };
        let is_own = is_platforms(
            &host,
            &validation.app.config.base_url,
            &validation.app.config.admin_origins,
        );
        let detail = "This domain belongs to the platform.";
        is_own.then(|| FieldError::new("/host", "own_host", detail)).into_iter().collect()
    }
}

/// Whether a host is in the registered domain of the API, which has the storefronts' subdomains, or is the
/// host of an admin application.
fn is_platforms(host: &Host, base_url: &str, admins: &[String]) -> bool {
    let of = |url: &str| Host::of(Url::parse(url).ok()?.host_str()?);
    of(base_url).is_some_and(|own| host.shares_registrable_domain(&own))
        || admins.iter().any(|admin| of(admin).as_ref() == Some(host))
}

/// `POST /v1/stores/{id}/domains` (`createDomain`): Add a domain to a store.
///
/// The domain leads to the store once it is verified by a TXT record: `txt_name` with the text `txt_value`.
///
/// # Errors
/// `domain_taken` if the store has it already, `domain_limit`; `invalid_host` and `own_host` as field errors
/// of `host`.
pub async fn create(
    caller: StoreAccess<WriteStore>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateRequest>>,
) -> Result<Created<DomainView>, Problem> {
    retry(|| async {
        let (store, domains) = load(&app, &caller.store.id).await?;
        let now = app.clock.now();
        let (domains, domain) = domains.add(&input.host, input.primary.0, now)?;
        let answer = Created::new(&DomainView::of(&domain, &store)).version(domain.version);
        domains.write(app.table.write()).answer(answer, now).await
    })
    .await
}

/// `POST /v1/stores/{id}/domains/{host}/verify` (`verifyDomain`): Verify a domain by its record.
///
/// The TXT record is queried, and the domain is claimed for this store. A domain that is verified already
/// is returned unchanged. The event is `domain.verified`.
///
/// # Errors
/// `not_found`; `txt_not_found`, with `txt_name` and `txt_value`; `domain_taken` if another store has
/// verified it.
pub async fn verify(
    caller: StoreAccess<WriteStore>,
    State(app): State<App>,
    Path((_, host)): Path<(StoreId, Host)>,
) -> Result<Json<DomainView>, Problem> {
    let (store, domains) = load(&app, &caller.store.id).await?;
    let pending = domains.domain(&host)?;
    if pending.verified_at.is_some() {
        return Ok(to_response(pending, &store));
    }
    let missing = || {
        let problem = Code::TxtNotFound.with("txt_name", pending.txt_name());
        problem.with("txt_value", pending.txt_value())
    };
    let texts = app.egress.txt(&pending.txt_name()).await.map_err(|error| {
        tracing::info!(host = host.as_str(), %error, "TXT lookup of a domain failed");
        missing()
    })?;
    if !texts.iter().any(|text| *text == pending.txt_value()) {
        return Err(missing());
    }
    retry(|| async {
        let (store, domains) = load(&app, &caller.store.id).await?;
        let before = domains.domain(&host)?;
        if before.verified_at.is_some() {
            return Ok(to_response(before, &store));
        }
        if before.token != pending.token {
            // The domain was deleted and added again meanwhile, and needs another record now.
            return Err(missing());
        }
        let now = app.clock.now();
        let after = Domain { verified_at: Some(now), ..before.changed(now) };
        let updated_store = after.wants_primary.then(|| with_primary(&store, Some(&host), now));
        let current_store = updated_store.as_ref().unwrap_or(&store);
        let write = domains.with(after.clone()).write(app.table.write());
        let write = UniqueHost::claim(write, &host, &store.id)
            .when_some(updated_store.as_ref(), |write, store| save(&app, write, store, now));
        let answer = to_response(&after, current_store);
        write.emit(after.event(&DOMAIN_VERIFIED, current_store, now)).answer(answer, now).await
    })
    .await
}

/// The changes of a domain.
#[request]
#[derive(Debug)]
pub struct UpdateRequest {
    /// Whether it is the store's primary domain, of which there is one. For a pending domain: whether it
    /// becomes primary once it is verified.
    primary: Option<Flag>,
}

/// `PATCH /v1/stores/{id}/domains/{host}` (`updateDomain`): Update a domain of a store.
///
/// The domain becomes the store's `primary_domain`, or no longer is.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn update(
    caller: StoreAccess<WriteStore>,
    State(app): State<App>,
    Path((_, host)): Path<(StoreId, Host)>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<DomainView>, Problem> {
    retry(|| async {
        let (store, domains) = load(&app, &caller.store.id).await?;
        let before = domains.domain(&host)?;
        if_match.check(before.version)?;
        let is_primary = DomainView::of(before, &store).primary;
        let wanted = input.primary.as_ref().map_or(is_primary, |flag| flag.0);
        if wanted == is_primary {
            return Ok(to_response(before, &store));
        }
        let now = app.clock.now();
        let after = Domain { wants_primary: wanted, ..before.changed(now) };
        let is_verified = after.verified_at.is_some();
        let updated_store = is_verified.then(|| with_primary(&store, wanted.then_some(&host), now));
        let answer = to_response(&after, updated_store.as_ref().unwrap_or(&store));
        domains
            .with(after)
            .write(app.table.write())
            .when_some(updated_store.as_ref(), |write, store| save(&app, write, store, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// `DELETE /v1/stores/{id}/domains/{host}` (`deleteDomain`): Delete a domain of a store.
///
/// The domain no longer leads to the store, and another store may verify it. The event is `domain.removed`.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn delete(
    caller: StoreAccess<WriteStore>,
    State(app): State<App>,
    Path((_, host)): Path<(StoreId, Host)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    retry(|| async {
        let (store, domains) = load(&app, &caller.store.id).await?;
        let before = domains.domain(&host)?;
        if_match.check(before.version)?;
        let now = app.clock.now();
        let deleted = before.changed(now);
        let was_primary = store.primary_domain.as_ref() == Some(&host);
        let updated_store = was_primary.then(|| with_primary(&store, None, now));
        let write = domains.without(&host).write(app.table.write());
        let write = write
            .when_some(before.verified_at, |write, _| UniqueHost::release(write, &host, &store.id));
        write
            .when_some(updated_store.as_ref(), |write, store| save(&app, write, store, now))
            .emit(deleted.event(&DOMAIN_REMOVED, updated_store.as_ref().unwrap_or(&store), now))
            .answer(NoContent::default(), now)
            .await
    })
    .await
}

/// The store at its next version, with this primary domain.
fn with_primary(store: &Store, host: Option<&Host>, now: Timestamp) -> Store {
    Store { primary_domain: host.cloned(), ..store.changed(now) }
}

/// Adds the changed store and its event to a write.
fn save(services: &Services, write: Write, store: &Store, now: Timestamp) -> Write {
    store::replace(write, store).emit(store.event(&STORE_UPDATED, &services.config.base_url, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_platforms_hosts_are_the_apis_registered_domain_and_the_admins() {
        let admins = ["https://admin.example.org".to_owned()];
        let own = |host: &str| {
            is_platforms(&Host::of(host).unwrap(), "https://api.shops.example.com", &admins)
        };
        for host in ["example.com", "api.shops.example.com", "mine.shops.example.com"] {
            assert!(own(host), "{host}");
        }
        assert!(own("admin.example.org") && !own("shop.example.org") && !own("example.net"));
        let local = Host::of("shop.example.com").unwrap();
        assert!(!is_platforms(&local, "http://127.0.0.1:3000", &[]));
    }
}

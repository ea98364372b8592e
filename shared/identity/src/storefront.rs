//! Storefronts: the store behind a subdomain, as anybody may see it.
//!
//! The store is found by its subdomain in one eventually consistent read of an index. Only if the index
//! has no entry, the claim to the name is read: the store is very new, has another subdomain now, or does
//! not exist. Each process caches the store for [`CACHE_TIME`], so that a busy storefront costs no read
//! for it. A cached store suffices to show a storefront and to price a cart; permissions and stock are
//! decided by the writes themselves.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use primitives::clock::Timestamp;
use primitives::fields::FromText;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Query;
use table::item::Item;

use core_types::fields::{Country, Currency, Locale, Subdomain};
use core_types::id::StoreId;
use core_types::key;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Host, UniqueHost};
use crate::settings::Settings;
use crate::store::{LiveTheme, Store, StoreStatus, UniqueSubdomain};

/// The period in which a process may use a cached store (our choice).
pub const CACHE_TIME: Duration = Duration::from_secs(5);

/// The period in which browsers and shared caches may serve a storefront's response (our choice).
pub const FRESH: Duration = Duration::from_secs(30);

/// A cached store. If [`open_store`] returns it, its storefront is open.
#[derive(Debug)]
pub struct OpenStore {
    /// The item, up to [`CACHE_TIME`] old.
    pub store: Store,
    settings: OnceLock<Settings>,
}

impl OpenStore {
    /// Its settings: read once, cached as long as the store is.
    pub async fn settings(&self, services: &Services) -> Result<&Settings, Problem> {
        if let Some(cached) = self.settings.get() {
            return Ok(cached);
        }
        let untouched = Settings::of(&self.store);
        let found = services.table.get(&untouched.key()).await?;
        Ok(self.settings.get_or_init(|| found.unwrap_or(untouched)))
    }

    /// The current subdomain, if the store was requested by an earlier one.
    pub fn moved_to(&self, requested: &str) -> Option<&Subdomain> {
        let now = &self.store.subdomain;
        (!now.as_str().eq_ignore_ascii_case(requested.trim())).then_some(now)
    }

    /// Whether its storefront is open: the store is active or paused.
    fn is_open(&self) -> bool {
        self.store.is_open()
    }

    /// Whether it accepts orders.
    pub fn takes_orders(&self) -> bool {
        self.store.ensure_takes_orders().is_ok()
    }
}

/// The store of a current or former subdomain. No read while it is cached, otherwise one, or three
/// after a change of subdomain.
///
/// # Errors
/// `storefront_not_found`: there is none, or its storefront is not open (draft, or closed).
pub async fn open_store(services: &Services, subdomain: &str) -> Result<Arc<OpenStore>, Problem> {
    // A store that was not open when it was cached may be open by now.
    let found = cached_or_loaded(services, subdomain, OpenStore::is_open).await?;
    if found.is_open() { Ok(found) } else { Err(Code::StorefrontNotFound.into()) }
}

/// As [`open_store`], whether the storefront is open or not: a store that is being set up displays
/// its own images. Also by the store's id, which never changes and is used in long-lived URLs.
///
/// # Errors
/// `storefront_not_found`: there is none, or it was deleted.
pub async fn any_store(services: &Services, name: &str) -> Result<Arc<OpenStore>, Problem> {
    let Some(id) = StoreId::parse(name) else {
        return cached_or_loaded(services, name, |_| true).await;
    };
    if let Some(cached) = services.cache.get::<OpenStore>(id.as_str(), services.clock.now()) {
        return Ok(cached);
    }
    cache(services, id.as_str(), services.table.get(&key::store(&id)).await?)
}

/// The subdomain of the store that has verified a host: two reads, one while the store is cached.
///
/// # Errors
/// 503.
pub async fn subdomain_of(services: &Services, host: &Host) -> Result<Option<Subdomain>, Problem> {
    let claim: Option<UniqueHost> = services.table.peek(&key::unique_host(host.as_str())).await?;
    let Some(claim) = claim else { return Ok(None) };
    match any_store(services, claim.store_id.as_str()).await {
        Ok(known) => Ok(Some(known.store.subdomain.clone())),
        // The host was released a moment ago.
        Err(problem) if problem.code == Code::StorefrontNotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The cached store if `will_do` accepts it, or the loaded one.
async fn cached_or_loaded(
    services: &Services,
    subdomain: &str,
    will_do: impl Fn(&OpenStore) -> bool,
) -> Result<Arc<OpenStore>, Problem> {
    let subdomain = Subdomain::from_text(subdomain).map_err(|_| Code::StorefrontNotFound)?;
    let now = services.clock.now();
    let cached = services.cache.get::<OpenStore>(subdomain.as_str(), now);
    if let Some(cached) = cached.filter(|cached| will_do(cached)) {
        return Ok(cached);
    }
    cache(services, subdomain.as_str(), find(services, &subdomain).await?)
}

/// Caches the store under this name.
fn cache(services: &Services, name: &str, found: Option<Store>) -> Result<Arc<OpenStore>, Problem> {
    let store = found.filter(|store| store.status != StoreStatus::Deleted);
    let store = store.ok_or(Code::StorefrontNotFound)?;
    let known = Arc::new(OpenStore { store, settings: OnceLock::new() });
    services.cache.insert(name, Arc::clone(&known), services.clock.now(), CACHE_TIME);
    Ok(known)
}

async fn find(services: &Services, subdomain: &Subdomain) -> Result<Option<Store>, Problem> {
    let (index, listed) = key::store_by_subdomain(subdomain.as_str());
    let found = services.table.all::<Store>(&Query::index(index, listed.pk), 1).await?;
    if let Some(store) = found.into_iter().next() {
        return Ok(Some(store));
    }
    let claim = key::unique_subdomain(subdomain.as_str());
    let Some(claim): Option<UniqueSubdomain> = services.table.get(&claim).await? else {
        return Ok(None);
    };
    let now = services.clock.now();
    if claim.moved_until.is_some_and(|until| until <= now) {
        return Ok(None);
    }
    services.table.get(&key::store(&claim.store_id)).await
}

core_types::view! {
    /// A storefront.
    StorefrontView of (store: Store, moved_to: Option<Subdomain>) {
        /// The store's id.
        id: StoreId,
        /// The store's id, under the name that other routes use.
        store_id: StoreId = store.id.clone(),
        /// The storefront's subdomain.
        subdomain: Subdomain,
        /// The store's primary host: where to redirect customers.
        primary_domain: Option<Host>,
        /// The name customers see.
        name: String,
        /// The currency of all prices.
        currency: Currency,
        /// The number of decimal digits of the currency: 0, 2 or 3.
        currency_exponent: u16 = store.currency.exponent(),
        /// The country that the store trades from.
        country: Country,
        /// The default language.
        locale: Locale,
        /// `active`; or `paused`, when no orders are accepted.
        storefront_status: StoreStatus = store.status,
        /// The theme of the storefront, once it has one.
        theme: Option<ActiveTheme> = store.live_theme.clone().map(ActiveTheme::from),
        /// The version of the storefront's configuration, for caches.
        config_version: u64 = store.config_version(),
        /// The current subdomain, if an earlier one was requested.
        #[serde(skip_serializing_if = "Option::is_none")]
        moved_to: Option<Subdomain> = moved_to,
        /// When the store was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The store's version.
        version: u64,
    }
}

/// The theme of a storefront.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActiveTheme {
    /// The theme's name in URLs.
    pub slug: String,
    /// The number of the newest release of the theme on this store; none for a preview.
    pub release: Option<u64>,
    /// The version of the draft that a preview displays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_version: Option<u64>,
}

impl From<LiveTheme> for ActiveTheme {
    fn from(LiveTheme { slug, release }: LiveTheme) -> Self {
        Self { slug, release: Some(release), draft_version: None }
    }
}

impl StorefrontView {
    /// The response to somebody invited to a preview of this draft.
    #[must_use]
    pub fn under_draft(self, slug: &str, draft_version: u64) -> Self {
        let draft_version = Some(draft_version);
        Self {
            theme: Some(ActiveTheme { slug: slug.to_owned(), release: None, draft_version }),
            ..self
        }
    }
}

impl OpenStore {
    /// The response about the storefront requested by this name.
    pub fn view(&self, requested: &str) -> StorefrontView {
        StorefrontView::of(&self.store, self.moved_to(requested).cloned())
    }
}

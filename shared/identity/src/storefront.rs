//! Storefronts: the store behind a subdomain, as anybody may see it.
//!
//! The store is found by its subdomain in one read of an index, which may be a moment old; only
//! when the index has nothing, the name itself is read: the store is very new, has moved, or is
//! none. Each process keeps what it found for [`CACHE_TIME`], so that a busy storefront costs no read
//! for it at all. That is good enough to show a shop and to price a cart; who may do what, and
//! what is in stock, is decided by the writes themselves.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gateway::app::App;
use gateway::budget::Tier;
use gateway::caller::{Access, Caller, Identity};
use gateway::clock::Timestamp;
use gateway::idempotency::GUEST_KEY;
use gateway::item::Item;
use gateway::problem::{Code, Problem};
use gateway::request::{FromText, Inbound};
use gateway::table::Query;

use core_types::fields::{Country, Currency, Locale, Subdomain};
use core_types::id::StoreId;
use core_types::key;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Host, UniqueHost};
use crate::settings::Settings;
use crate::store::{LiveTheme, Store, StoreStatus, UniqueSubdomain};

/// How long a process may show a store as it was (our choice).
pub const CACHE_TIME: Duration = Duration::from_secs(5);

/// How long browsers and shared caches may show a page of a storefront (our choice).
pub const FRESH: Duration = Duration::from_secs(30);

/// A store as it was a moment ago: out of [`open_store`], one whose storefront can be visited.
#[derive(Debug)]
pub struct OpenStore {
    /// The item, as it was up to [`CACHE_TIME`] ago.
    pub store: Store,
    settings: OnceLock<Settings>,
}

impl OpenStore {
    /// Its settings: one read, kept as long as the store is.
    pub async fn settings(&self, app: &App) -> Result<&Settings, Problem> {
        if let Some(kept) = self.settings.get() {
            return Ok(kept);
        }
        let untouched = Settings::of(&self.store);
        let found = app.table.get(&untouched.key()).await?;
        Ok(self.settings.get_or_init(|| found.unwrap_or(untouched)))
    }

    /// Where the store has moved to, when it was asked for by a name it had before.
    pub fn moved_to(&self, asked: &str) -> Option<&Subdomain> {
        let now = &self.store.subdomain;
        (!now.as_str().eq_ignore_ascii_case(asked.trim())).then_some(now)
    }

    /// Whether its storefront can be visited: it is active, or paused.
    fn is_open(&self) -> bool {
        matches!(self.store.status, StoreStatus::Active | StoreStatus::Paused)
    }

    /// Whether it takes orders now.
    pub fn takes_orders(&self) -> bool {
        self.store.status == StoreStatus::Active
    }
}

/// The store of a subdomain, present or recent: no read while it is kept, otherwise one, or three
/// when it has moved.
///
/// # Errors
/// `store_not_found`: there is none, or its storefront is not open (a draft, or closed).
pub async fn open_store(app: &App, subdomain: &str) -> Result<Arc<OpenStore>, Problem> {
    // One that was not open a moment ago may be by now.
    let found = cached_or_loaded(app, subdomain, OpenStore::is_open).await?;
    if found.is_open() { Ok(found) } else { Err(Code::StoreNotFound.into()) }
}

/// As [`open_store`], for what is public of a store whether its storefront is open or not: a store
/// that is being set up shows its own images. By its id, too, which it never changes: a URL that is
/// kept for long names it so.
///
/// # Errors
/// `store_not_found`: there is none, or it was deleted.
pub async fn any_store(app: &App, name: &str) -> Result<Arc<OpenStore>, Problem> {
    let Some(id) = StoreId::parse(name) else {
        return cached_or_loaded(app, name, |_| true).await;
    };
    if let Some(kept) = app.cache.get::<OpenStore>(id.as_str(), app.clock.now()) {
        return Ok(kept);
    }
    keep(app, id.as_str(), app.table.get(&key::store(&id)).await?)
}

/// The subdomain of the store that has verified a host: two reads, the store's while it is not kept.
///
/// # Errors
/// 503.
pub async fn subdomain_of(app: &App, host: &Host) -> Result<Option<Subdomain>, Problem> {
    let claim: Option<UniqueHost> = app.table.peek(&key::unique_host(host.as_str())).await?;
    let Some(claim) = claim else { return Ok(None) };
    match any_store(app, claim.store_id.as_str()).await {
        Ok(known) => Ok(Some(known.store.subdomain.clone())),
        // Given up a moment ago.
        Err(problem) if problem.code == Code::StoreNotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The store of a subdomain as it is kept, if that will do, or as it is found.
async fn cached_or_loaded(
    app: &App,
    subdomain: &str,
    will_do: impl Fn(&OpenStore) -> bool,
) -> Result<Arc<OpenStore>, Problem> {
    let subdomain = Subdomain::from_text(subdomain).map_err(|_| Code::StoreNotFound)?;
    let now = app.clock.now();
    let kept = app.cache.get::<OpenStore>(subdomain.as_str(), now);
    if let Some(kept) = kept.filter(|kept| will_do(kept)) {
        return Ok(kept);
    }
    keep(app, subdomain.as_str(), find(app, &subdomain).await?)
}

/// The store that was found, which is kept for the next who asks for it by this name.
fn keep(app: &App, name: &str, found: Option<Store>) -> Result<Arc<OpenStore>, Problem> {
    let store = found.filter(|store| store.status != StoreStatus::Deleted);
    let store = store.ok_or(Code::StoreNotFound)?;
    let known = Arc::new(OpenStore { store, settings: OnceLock::new() });
    app.cache.keep(name, Arc::clone(&known), app.clock.now(), CACHE_TIME);
    Ok(known)
}

async fn find(app: &App, subdomain: &Subdomain) -> Result<Option<Store>, Problem> {
    let (index, listed) = key::store_by_subdomain(subdomain.as_str());
    let found = app.table.all::<Store>(&Query::index(index, listed.pk), 1).await?;
    if let Some(store) = found.into_iter().next() {
        return Ok(Some(store));
    }
    let claim = key::unique_subdomain(subdomain.as_str());
    let Some(claim): Option<UniqueSubdomain> = app.table.get(&claim).await? else {
        return Ok(None);
    };
    let now = app.clock.now();
    if claim.moved_until.is_some_and(|until| until <= now) {
        return Ok(None);
    }
    app.table.get(&key::store(&claim.store_id)).await
}

/// Anybody, at the storefront that the path names.
#[derive(Debug, Clone)]
pub struct Shopfront {
    /// The store of the subdomain, as it was up to [`CACHE_TIME`] ago.
    pub open: Arc<OpenStore>,
    /// The subdomain as it was asked for.
    pub asked: String,
    identity: Identity,
}

gateway::caller_argument!(Shopfront);

impl Shopfront {
    /// The store.
    pub fn store(&self) -> &Store {
        &self.open.store
    }
}

impl Caller for Shopfront {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let asked = inbound.param("subdomain").unwrap_or_default().to_owned();
        let open = open_store(app, &asked).await?;
        let identity = visitor(&open.store.id, inbound);
        Ok(Self { open, asked, identity })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

core_types::view! {
    /// A storefront as anybody sees it.
    StorefrontView of (store: Store, moved_to: Option<Subdomain>) {
        /// The store's id.
        id: StoreId,
        /// The same: what other routes call it.
        store_id: StoreId = store.id.clone(),
        /// The storefront's subdomain.
        subdomain: Subdomain,
        /// The host customers should be led to.
        primary_domain: Option<Host>,
        /// The name customers see.
        name: String,
        /// The currency of all prices.
        currency: Currency,
        /// How many of an amount's digits are behind the point: 0, 2 or 3.
        currency_exponent: u16 = store.currency.exponent(),
        /// Where the store trades from.
        country: Country,
        /// The default language.
        locale: Locale,
        /// `active`; or `paused`, which takes no orders.
        storefront_status: StoreStatus = store.status,
        /// The theme it is shown in, once there is one.
        theme: Option<ActiveTheme> = store.live_theme.clone().map(ActiveTheme::from),
        /// Counts changes that a storefront caches by.
        config_version: u64 = store.config_version(),
        /// The subdomain it goes by now, when it was asked for by one it had before.
        #[serde(skip_serializing_if = "Option::is_none")]
        moved_to: Option<Subdomain> = moved_to,
        /// When the store was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Counts writes.
        version: u64,
    }
}

/// The theme that a storefront is shown in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActiveTheme {
    /// The theme's name in URLs.
    pub slug: String,
    /// The release's number: of the theme's on this store the newest; none for a preview.
    pub release: Option<u64>,
    /// The draft that a preview shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_version: Option<u64>,
}

impl From<LiveTheme> for ActiveTheme {
    fn from(LiveTheme { slug, release }: LiveTheme) -> Self {
        Self { slug, release: Some(release), draft_version: None }
    }
}

impl StorefrontView {
    /// As who was invited to a preview of this draft sees it.
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
    /// The storefront as whoever asked for it by this name sees it.
    pub fn view(&self, asked: &str) -> StorefrontView {
        StorefrontView::of(&self.store, self.moved_to(asked).cloned())
    }
}

/// Somebody unknown at a store: told apart by network, and paying from a budget that other stores'
/// visitors do not touch (docs/conventions.md §5).
///
/// Who shows an order's token is told apart by it: an idempotency key gives nobody the answer that
/// somebody else's token has got. What is too short for one is none, and its sender a guest.
pub fn visitor(store: &StoreId, inbound: &Inbound) -> Identity {
    let anonymous = Identity::anonymous(inbound);
    let token = inbound.header("x-service-order-token");
    let token = token.filter(|token| token.len() >= GUEST_KEY).map(gateway::seal::digest);
    Identity {
        guest: anonymous.guest.filter(|_| token.is_none()),
        principal: token.map_or(anonymous.principal, |token| format!("order_token:{token}")),
        store: Some(store.to_string()),
        subject: format!("{store}#{}", inbound.client_prefix()),
        tier: Tier::Public,
        scopes: None,
    }
}

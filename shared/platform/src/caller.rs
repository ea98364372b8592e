//! The callers of commerce: who they are, found out in one round trip (three when a merchant does
//! not say which store, and it is looked for and read).

mod app;
mod leaving;
mod maker;
mod member;
mod named;
mod observer;
mod overseen;
mod overseer;
mod shopper;
mod visitor;

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

use gateway::app::App;
use gateway::budget::Tier;
use gateway::caller::{Access, Caller, Identity};
use gateway::cors;
use gateway::item::Key;
use gateway::problem::{Code, Problem};
use gateway::request::Inbound;
use gateway::table::{Batch, Query};
use ground::id::{AppId, InstallationId, MerchantId, StoreId};
use ground::key;
use ground::scope::{Required, Scopes};
use http::header;
use identity::member::Grant;
use identity::merchant::Merchant as Account;
use identity::session::{Session, UnverifiedToken};
use identity::store::{MAX_STORES, Store, StoreStatus};

use crate::developer::Developer as Profile;

/// The audience of app tokens (RFC 7519 §4.1.3).
pub const AUDIENCE: &str = "commerce-api";

use app::open_app_token;
pub use app::{Bridge, EmbeddedApp, OAuthClient};
pub use leaving::LeavingOwner;
pub use maker::Maker;
pub use member::{Admin, AnyMember, AtLeast, Owner, StoreMember, roles};
use named::{named_store, no_such_store};
pub use observer::Observer;
pub use overseen::OverseenStore;
pub use overseer::Overseer;
pub use shopper::{Customer, Shopper};
pub use visitor::{Personal, Visitor, WhenInstalled, WhenNamed};

/// The cookie that carries a session where no `Authorization` header does.
pub const SESSION_COOKIE: &str = "__Host-session";

/// A merchant with a live session.
#[derive(Debug, Clone)]
pub struct Merchant {
    /// The account of the session, active when it was read.
    pub account: Account,
    /// The session of the token, alive when it was read.
    pub session: Session,
}

/// A merchant with a developer profile.
#[derive(Debug, Clone)]
pub struct Developer {
    /// The account of the session, active when it was read.
    pub account: Account,
    /// The developer profile of the account.
    pub profile: Profile,
}

/// A platform operator.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The account of the session, active when it was read.
    pub account: Account,
}

/// A member of a store who may do what scope `S` names, or an app with that scope on it.
#[derive(Debug, Clone)]
pub struct StoreAccess<S> {
    /// The store that the request names, read with the credential.
    pub store: Store,
    /// Who acts.
    pub actor: StoreActor,
    scope: PhantomData<S>,
}

/// Who acts on a store.
#[derive(Debug, Clone)]
pub enum StoreActor {
    /// A member.
    Merchant(MerchantId, Grant),
    /// An installed app.
    App(AppActor),
}

/// An app that acts on a store.
#[derive(Debug, Clone)]
pub struct AppActor {
    /// The app that the token was issued to.
    pub app_id: AppId,
    /// Its installation.
    pub installation_id: InstallationId,
    /// What its token may do.
    pub scopes: Scopes,
    /// The merchant who uses it, for embedded tokens.
    pub merchant_id: Option<MerchantId>,
}

impl StoreActor {
    /// The app, if an app acts.
    pub fn app(&self) -> Option<&AppActor> {
        match self {
            Self::Merchant(..) => None,
            Self::App(app) => Some(app),
        }
    }

    /// Whether the actor may do what `scope` names.
    pub fn may(&self, scope: &str) -> bool {
        match self {
            Self::Merchant(_, grant) => grant.covers(scope),
            Self::App(app) => app.scopes.cover(scope),
        }
    }

    /// Whether the actor may do anything that scopes name, and what none does: a store's owners and
    /// admins.
    pub fn is_unlimited(&self) -> bool {
        matches!(self, Self::Merchant(_, grant) if grant.is_unlimited())
    }

    /// The actor as objects name it: `mer_…` or `app_…`.
    pub fn id(&self) -> &str {
        match self {
            Self::Merchant(id, _) => id.as_str(),
            Self::App(app) => app.app_id.as_str(),
        }
    }
}

gateway::caller_argument!(Merchant);
gateway::caller_argument!(Developer);
gateway::caller_argument!(Operator);
gateway::caller_argument!(StoreAccess where S: Required);

/// Whether a request presents a credential, good or not.
pub fn presents_credential(inbound: &Inbound) -> bool {
    inbound.headers.contains_key(header::AUTHORIZATION) || session_cookie(inbound).is_some()
}

/// The session cookie of a request.
fn session_cookie(inbound: &Inbound) -> Option<&str> {
    let cookies = inbound.headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == SESSION_COOKIE)
        .map(|(_, token)| token)
}

/// The credential of a request: a bearer token, or else the session cookie.
fn credential(app: &App, inbound: &Inbound) -> Result<String, Problem> {
    if inbound.headers.contains_key(header::AUTHORIZATION) {
        return bearer(inbound).map(str::to_owned);
    }
    match session_cookie(inbound) {
        None => Err(Code::Unauthenticated.into()),
        Some(_) if !cors::cookie_is_trusted(&app.config, &inbound.headers) => {
            Err(Code::CrossOrigin.into())
        }
        Some(token) => Ok(token.to_owned()),
    }
}

/// The bearer token of a request (RFC 6750 §2.1).
fn bearer(inbound: &Inbound) -> Result<&str, Problem> {
    let header = inbound.headers.get(header::AUTHORIZATION).ok_or(Code::Unauthenticated)?;
    let text = header.to_str().map_err(|_| Problem::from(Code::Unauthenticated))?;
    let (scheme, token) = text.split_once(' ').ok_or(Code::Unauthenticated)?;
    if scheme.eq_ignore_ascii_case("bearer") {
        Ok(token.trim())
    } else {
        Err(Code::Unauthenticated.into())
    }
}

/// Reads the session that a token names, its merchant, and `more`, in one round trip.
async fn open_session(
    app: &App,
    unverified: &str,
    more: &[&Key],
) -> Result<(Account, Session, Batch), Problem> {
    let token = UnverifiedToken::parse(unverified).ok_or(Code::Unauthenticated)?;
    let merchant_key = key::merchant(&token.merchant_id);
    let session_key = key::session(&token.merchant_id, &token.session_id);
    let keys: Vec<&Key> =
        [&merchant_key, &session_key].into_iter().chain(more.iter().copied()).collect();
    let mut batch = app.table.get_many(&keys).await?;
    let account: Account = batch.take(&merchant_key)?.ok_or(Code::Unauthenticated)?;
    let session: Session = batch.take(&session_key)?.ok_or(Code::Unauthenticated)?;
    let now = app.clock.now();
    if !session.admits(&token, &account, now) {
        return Err(Code::Unauthenticated.into());
    }
    touch(app, &session).await;
    Ok((account, session, batch))
}

/// Records the use of a session, at most every five minutes. A lost record is no harm.
async fn touch(app: &App, session: &Session) {
    if let Some(touched) = session.touched(app.clock.now()) {
        let write = app.table.write().replace(&touched, Code::VersionConflict);
        if let Err(problem) = write.commit().await {
            tracing::debug!(cause = %problem, "session use not recorded");
        }
    }
}

/// A member's account, session and store, which exists, and what they may do on it.
async fn open_store(app: &App, unverified: &str, inbound: &Inbound) -> Result<Opened, Problem> {
    match open_any_store(app, unverified, inbound).await? {
        opened if opened.store.status == StoreStatus::Deleted => Err(no_such_store(inbound)),
        opened => Ok(opened),
    }
}

/// A member's account, session and store, and what they may do on it.
struct Opened {
    account: Account,
    session: Session,
    store: Store,
    grant: Grant,
}

/// A member's account, session and store, be it deleted.
async fn open_any_store(app: &App, unverified: &str, inbound: &Inbound) -> Result<Opened, Problem> {
    if named_store(inbound).is_none() {
        let (account, session, _) = open_session(app, unverified, &[]).await?;
        let (store, grant) = only_store(app, &account).await?;
        return Ok(Opened { account, session, store, grant });
    }
    let (account, session, store) = open_session_and_store(app, unverified, inbound).await?;
    let granted = store.and_then(|store| account.grant_on(&store).map(|grant| (store, grant)));
    let (store, grant) = granted.ok_or_else(|| no_such_store(inbound))?;
    Ok(Opened { account, session, store, grant })
}

/// The account and the session of a token, and the store that the request names, whosever it is. The
/// session is read even when the store's id is malformed, so that a stranger learns nothing.
async fn open_session_and_store(
    app: &App,
    unverified: &str,
    inbound: &Inbound,
) -> Result<(Account, Session, Option<Store>), Problem> {
    let id = named_store(inbound).and_then(|named| StoreId::parse(&named));
    let store_key = id.as_ref().map(key::store);
    let more: Vec<&Key> = store_key.iter().collect();
    let (account, session, mut batch) = open_session(app, unverified, &more).await?;
    let store = store_key.map(|key| batch.take::<Store>(&key)).transpose()?.flatten();
    Ok((account, session, store))
}

/// The merchant's only store, and what they may do on it; that they own more is told by the account's
/// own count.
async fn only_store(app: &App, account: &Account) -> Result<(Store, Grant), Problem> {
    if account.stores > 1 {
        return Err(Code::StoreRequired.into());
    }
    // An index may not have it yet.
    if account.memberships.grants.is_empty()
        && let Some(newest) = &account.newest_store_id
    {
        let found: Option<Store> = app.table.get(&key::store(newest)).await?;
        if let Some(store) = found.filter(|store| is_own(store, account)) {
            return Ok((store, Grant::OWNER));
        }
    }
    let stores = stores_of(app, account).await?;
    match <[(Store, Grant); 1]>::try_from(stores) {
        Ok([store]) => Ok(store),
        Err(_) => Err(Code::StoreRequired.into()),
    }
}

/// The stores that the merchant owns. The index only names them, for it may lag behind: whose they are
/// and whether they exist is told by the stores themselves.
///
/// # Errors
/// When the table does not answer.
pub async fn own_stores(app: &App, account: &Account) -> Result<Vec<Store>, Problem> {
    let listed = own_store_keys(app, account).await?;
    let mut stores = read_stores(app, &listed).await?;
    stores.retain(|store| is_own(store, account));
    Ok(stores)
}

/// The stores that the merchant may act on, with what they may do there, the newest first.
///
/// # Errors
/// When the table does not answer.
pub async fn stores_of(app: &App, account: &Account) -> Result<Vec<(Store, Grant)>, Problem> {
    let mut named: HashSet<Key> = own_store_keys(app, account).await?.into_iter().collect();
    named.extend(account.newest_store_id.iter().map(key::store));
    named.extend(account.memberships.grants.keys().map(key::store));
    let named: Vec<Key> = named.into_iter().collect();
    let stores = read_stores(app, &named).await?.into_iter();
    let mut granted: Vec<(Store, Grant)> = stores
        .filter(|store| store.status != StoreStatus::Deleted)
        .filter_map(|store| account.grant_on(&store).map(|grant| (store, grant)))
        .collect();
    granted.sort_by(|(a, _), (b, _)| b.id.cmp(&a.id));
    Ok(granted)
}

/// The keys of the stores that an index has of the merchant.
async fn own_store_keys(app: &App, account: &Account) -> Result<Vec<Key>, Problem> {
    let (index, listed) = key::stores_of(&account.id, account.created_at);
    let mut listed = app.table.keys(&Query::index(index, listed.pk), MAX_STORES).await?;
    listed.truncate(MAX_STORES);
    Ok(listed)
}

/// Those of these stores that are there.
async fn read_stores(app: &App, keys: &[Key]) -> Result<Vec<Store>, Problem> {
    let mut stores = Vec::new();
    for some in keys.chunks(MAX_STORES) {
        let mut batch = app.table.get_many(&some.iter().collect::<Vec<_>>()).await?;
        for store_key in some {
            stores.extend(batch.take::<Store>(store_key)?);
        }
    }
    Ok(stores)
}

fn is_own(store: &Store, account: &Account) -> bool {
    store.owner_id == account.id && store.status != StoreStatus::Deleted
}

impl Caller for Merchant {
    fn access() -> Access {
        Access::Merchant
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(app, inbound)?;
        let (account, session, _) = open_session(app, &unverified, &[]).await?;
        Ok(Self { account, session })
    }

    fn identity(&self) -> Identity {
        merchant_identity(&self.account.id, None)
    }
}

impl Caller for Developer {
    fn access() -> Access {
        Access::Developer
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(app, inbound)?;
        let named = UnverifiedToken::parse(&unverified).ok_or(Code::Unauthenticated)?;
        let profile_key = key::developer(&named.merchant_id);
        let (account, _, mut batch) = open_session(app, &unverified, &[&profile_key]).await?;
        let profile = batch.take(&profile_key)?.ok_or(Code::NotDeveloper)?;
        Ok(Self { account, profile })
    }

    fn identity(&self) -> Identity {
        merchant_identity(&self.account.id, None)
    }
}

impl Caller for Operator {
    fn access() -> Access {
        Access::Operator
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(app, inbound)?;
        let (account, _, _) = open_session(app, &unverified, &[]).await?;
        if !account.is_operator(&app.config) {
            return Err(Code::OperatorRequired.into());
        }
        Ok(Self { account })
    }

    fn identity(&self) -> Identity {
        merchant_identity(&self.account.id, None)
    }
}

impl<S: Required> Caller for StoreAccess<S> {
    fn access() -> Access {
        Access::Scope(S::SCOPE)
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(app, inbound)?;
        if !looks_like_jwt(&unverified) {
            let Opened { account, store, grant, .. } =
                open_store(app, &unverified, inbound).await?;
            return Self::of(store, StoreActor::Merchant(account.id, grant));
        }
        let (app_actor, store) = open_app_token(app, &unverified, inbound).await?;
        Self::of(store, StoreActor::App(app_actor))
    }

    fn identity(&self) -> Identity {
        match &self.actor {
            StoreActor::Merchant(id, _) => merchant_identity(id, Some(&self.store.id)),
            StoreActor::App(app) => app_identity(app, &self.store.id),
        }
    }
}

impl<S: Required> StoreAccess<S> {
    /// Whoever acts on a store, if they may do what the scope names.
    ///
    /// # Errors
    /// `insufficient_scope`.
    fn of(store: Store, actor: StoreActor) -> Result<Self, Problem> {
        if actor.may(S::SCOPE) {
            Ok(Self { store, actor, scope: PhantomData })
        } else {
            Err(insufficient_scope(S::SCOPE))
        }
    }
}

/// 403 with the scope that is missing, in the body and in the challenge (RFC 6750 §3.1).
pub fn insufficient_scope(scope: &str) -> Problem {
    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
    Code::InsufficientScope
        .with("required_scope", scope)
        .header(header::WWW_AUTHENTICATE, &challenge)
}

fn looks_like_jwt(token: &str) -> bool {
    token.contains('.')
}

fn merchant_identity(id: &MerchantId, store: Option<&StoreId>) -> Identity {
    Identity {
        principal: format!("merchant:{id}"),
        store: store.map(ToString::to_string),
        subject: format!("{id}#{}", store.map_or("-", StoreId::as_str)),
        tier: Tier::Merchant,
        guest: None,
    }
}

fn app_identity(app: &AppActor, store: &StoreId) -> Identity {
    Identity {
        principal: format!("installation:{}", app.installation_id),
        store: Some(store.to_string()),
        subject: app.installation_id.to_string(),
        tier: Tier::App,
        guest: None,
    }
}

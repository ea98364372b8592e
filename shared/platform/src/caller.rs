//! The callers of commerce: who they are, found out in one round trip (three when a merchant does
//! not say which store, and it is looked for and read).

mod app;
mod leaving;
mod maker;
mod named;
mod observer;
mod overseen;
mod overseer;
mod shopper;
mod visitor;

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

/// A merchant with a live session, and the store they named and own.
#[derive(Debug, Clone)]
pub struct Owner {
    /// The account of the session, active when it was read.
    pub account: Account,
    /// The session of the token, alive when it was read.
    pub session: Session,
    /// The store that the request names, read with the session.
    pub store: Store,
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

/// The owner of a store, or an app with scope `S` on it.
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
    /// Its owner.
    Merchant(MerchantId),
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
            Self::Merchant(_) => None,
            Self::App(app) => Some(app),
        }
    }

    /// Whether the actor may do what `scope` names; a store's owner may do anything.
    pub fn may(&self, scope: &str) -> bool {
        self.app().is_none_or(|app| app.scopes.cover(scope))
    }

    /// The actor as objects name it: `mer_…` or `app_…`.
    pub fn id(&self) -> &str {
        match self {
            Self::Merchant(id) => id.as_str(),
            Self::App(app) => app.app_id.as_str(),
        }
    }
}

gateway::caller_argument!(Merchant);
gateway::caller_argument!(Owner);
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

/// The owner's account, session and store, which exists.
async fn open_store(app: &App, unverified: &str, inbound: &Inbound) -> Result<Owner, Problem> {
    match open_any_store(app, unverified, inbound).await? {
        owner if owner.store.status == StoreStatus::Deleted => Err(no_such_store(inbound)),
        owner => Ok(owner),
    }
}

/// The owner's account, session and store, be it deleted.
async fn open_any_store(app: &App, unverified: &str, inbound: &Inbound) -> Result<Owner, Problem> {
    if named_store(inbound).is_none() {
        let (account, session, _) = open_session(app, unverified, &[]).await?;
        let store = only_store(app, &account).await?;
        return Ok(Owner { account, session, store });
    }
    let (account, session, store) = open_session_and_store(app, unverified, inbound).await?;
    let own = store.filter(|store| store.owner_id == account.id);
    let store = own.ok_or_else(|| no_such_store(inbound))?;
    Ok(Owner { account, session, store })
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

/// The merchant's only store; that there are more is told by the account's own count.
async fn only_store(app: &App, account: &Account) -> Result<Store, Problem> {
    if account.stores > 1 {
        return Err(Code::StoreRequired.into());
    }
    // An index may not have it yet.
    if let Some(newest) = &account.newest_store_id {
        let found: Option<Store> = app.table.get(&key::store(newest)).await?;
        if let Some(store) = found.filter(|store| is_own(store, account)) {
            return Ok(store);
        }
    }
    let stores = own_stores(app, account).await?;
    match <[Store; 1]>::try_from(stores) {
        Ok([store]) => Ok(store),
        Err(_) => Err(Code::StoreRequired.into()),
    }
}

/// The merchant's stores. The index only names them, for it may lag behind: whose they are and
/// whether they exist is told by the stores themselves.
///
/// # Errors
/// When the table does not answer.
pub async fn own_stores(app: &App, account: &Account) -> Result<Vec<Store>, Problem> {
    let (index, listed) = key::stores_of(&account.id, account.created_at);
    let listed = app.table.keys(&Query::index(index, listed.pk), MAX_STORES).await?;
    let keys: Vec<&Key> = listed.iter().take(MAX_STORES).collect();
    let mut batch = app.table.get_many(&keys).await?;
    let mut stores = Vec::new();
    for store_key in keys {
        stores.extend(batch.take::<Store>(store_key)?);
    }
    stores.retain(|store| is_own(store, account));
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

impl Caller for Owner {
    fn access() -> Access {
        Access::Owner
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(app, inbound)?;
        open_store(app, &unverified, inbound).await
    }

    fn identity(&self) -> Identity {
        merchant_identity(&self.account.id, Some(&self.store.id))
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
            let owner = open_store(app, &unverified, inbound).await?;
            let actor = StoreActor::Merchant(owner.account.id);
            return Ok(Self { store: owner.store, actor, scope: PhantomData });
        }
        let (app_actor, store) = open_app_token(app, &unverified, inbound).await?;
        let actor = StoreActor::App(app_actor);
        if !actor.may(S::SCOPE) {
            return Err(insufficient_scope(S::SCOPE));
        }
        Ok(Self { store, actor, scope: PhantomData })
    }

    fn identity(&self) -> Identity {
        match &self.actor {
            StoreActor::Merchant(id) => merchant_identity(id, Some(&self.store.id)),
            StoreActor::App(app) => app_identity(app, &self.store.id),
        }
    }
}

impl<S> StoreAccess<S> {
    /// A store's owner, who may do anything there.
    fn of_owner(store: Store, owner: MerchantId) -> Self {
        Self { store, actor: StoreActor::Merchant(owner), scope: PhantomData }
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

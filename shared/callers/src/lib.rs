//! The callers of handlers. A handler's first argument is one of them, or [`gateway::caller::Public`].
//! Each is authenticated in one round trip, or in three when a merchant does not name the store and it
//! must be found first.
//!
//! [`cross_origin`] lists the routes that any web page may call.

mod app;
mod closing_owner;
pub mod cross_origin;
mod member;
mod member_access;
mod member_or_public;
mod named_store;
mod operator_or_store;
mod password_changer;
mod public_storefront;
mod shopper;
mod store_or_operator;
mod store_or_platform;

use std::marker::PhantomData;
use std::sync::Arc;

use core_types::id::{MerchantId, StoreId};
use core_types::key;
use core_types::scope::RequiredScope;
use gateway::budget::Tier;
use gateway::caller::{Access, Caller, Identity};
use gateway::cors;
use gateway::request::Inbound;
use http::header;
use identity::merchant::Merchant as MerchantAccount;
use identity::session::{Session, UnverifiedToken};
use identity::store::Store;
use platform::actor::{AppActor, StoreActor, insufficient_scope};
use platform::authority::Authority;
use platform::developer::Developer as DeveloperProfile;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Batch;
use table::item::Key;

use app::open_app_token;
pub use app::{Bridge, EmbeddedApp, OAuthClient};
pub use closing_owner::ClosingOwner;
pub use member::{Admin, AnyMember, AtLeast, Owner, StoreMember, roles};
use member_access::{MemberAccess, open_any_store, open_session_and_store, open_store};
pub use member_or_public::{IfInstalled, IfStoreNamed, MemberCondition, MemberOrPublic};
pub use operator_or_store::OperatorOrStore;
pub use password_changer::PasswordChanger;
pub use public_storefront::{PublicStorefront, anonymous_at};
pub use shopper::{Customer, Shopper};
pub use store_or_operator::StoreOrOperator;
pub use store_or_platform::StoreOrPlatform;

/// The cookie that carries a session where no `Authorization` header does.
pub const SESSION_COOKIE: &str = "__Host-session";

/// A merchant with a live session.
#[derive(Debug, Clone)]
pub struct Merchant {
    /// The account of the session, active when it was read.
    pub account: MerchantAccount,
    /// The session of the token, valid when it was read.
    pub session: Session,
}

/// A merchant with a developer profile.
#[derive(Debug, Clone)]
pub struct Developer {
    /// The account of the session, active when it was read.
    pub account: MerchantAccount,
    /// The developer profile of the account.
    pub profile: DeveloperProfile,
}

/// A platform operator.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The account of the session, active when it was read.
    pub account: MerchantAccount,
}

/// A member of a store whose role covers scope `S`, or an app with that scope on it.
#[derive(Debug, Clone)]
pub struct StoreAccess<S> {
    /// The store that the request names, read with the credential.
    pub store: Store,
    /// The actor.
    pub actor: StoreActor,
    scope: PhantomData<S>,
}

gateway::caller_argument!(Merchant);
gateway::caller_argument!(Developer);
gateway::caller_argument!(Operator);
gateway::caller_argument!(StoreAccess where S: RequiredScope);

/// Whether a request presents a credential, valid or not.
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
fn credential(services: &Services, inbound: &Inbound) -> Result<String, Problem> {
    if inbound.headers.contains_key(header::AUTHORIZATION) {
        return bearer(inbound).map(str::to_owned);
    }
    match session_cookie(inbound) {
        None => Err(Code::Unauthenticated.into()),
        Some(_) if !cors::cookie_is_trusted(&services.config, &inbound.headers) => {
            Err(Code::OriginNotAllowed.into())
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

/// Loads the session of a token, its merchant, and `more`, in one round trip.
async fn open_session(
    services: &Services,
    unverified: &str,
    more: &[&Key],
) -> Result<(MerchantAccount, Session, Batch), Problem> {
    let token = UnverifiedToken::parse(unverified).ok_or(Code::Unauthenticated)?;
    let merchant_key = key::merchant(&token.merchant_id);
    let session_key = key::session(&token.merchant_id, &token.session_id);
    let keys: Vec<&Key> =
        [&merchant_key, &session_key].into_iter().chain(more.iter().copied()).collect();
    let mut batch = services.table.get_many(&keys).await?;
    let account: MerchantAccount =
        batch.take_recent(&merchant_key)?.ok_or(Code::Unauthenticated)?;
    let session: Session = batch.take_recent(&session_key)?.ok_or(Code::Unauthenticated)?;
    let now = services.clock.now();
    if !session.admits(&token, &account, now) {
        return Err(Code::Unauthenticated.into());
    }
    touch(services, &session).await;
    Ok((account, session, batch))
}

/// Records the use of a session, at most every five minutes. Losing a record does no harm.
async fn touch(services: &Services, session: &Session) {
    if let Some(touched) = session.touched(services.clock.now()) {
        let write = services.table.write().replace(&touched, Code::VersionConflict);
        if let Err(problem) = write.commit().await {
            tracing::debug!(cause = %problem, "session use not recorded");
        }
    }
}

impl Caller for Merchant {
    fn access() -> Access {
        Access::Merchant
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        let (account, session, _) = open_session(services, &unverified, &[]).await?;
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

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        let named = UnverifiedToken::parse(&unverified).ok_or(Code::Unauthenticated)?;
        let profile_key = key::developer(&named.merchant_id);
        let (account, _, mut batch) = open_session(services, &unverified, &[&profile_key]).await?;
        let profile = batch.take_recent(&profile_key)?.ok_or(Code::DeveloperRequired)?;
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

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        let (account, _, _) = open_session(services, &unverified, &[]).await?;
        if !account.is_operator(&services.config) {
            return Err(Code::OperatorRequired.into());
        }
        Ok(Self { account })
    }

    fn identity(&self) -> Identity {
        merchant_identity(&self.account.id, None)
    }
}

impl<S: RequiredScope> Caller for StoreAccess<S> {
    fn access() -> Access {
        Access::Scope(S::SCOPE)
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        if !looks_like_jwt(&unverified) {
            let MemberAccess { account, store, grant, .. } =
                open_store(services, &unverified, inbound).await?;
            return Self::of(store, StoreActor::Merchant(account.id, grant));
        }
        let (app_actor, store) = open_app_token(services, &unverified, inbound).await?;
        Self::of(store, StoreActor::App(app_actor))
    }

    fn identity(&self) -> Identity {
        match &self.actor {
            StoreActor::Merchant(id, grant) => {
                let scopes = Some(grant.scope_string());
                Identity { scopes, ..merchant_identity(id, Some(&self.store.id)) }
            }
            StoreActor::App(app) => app_identity(app, &self.store.id),
        }
    }
}

impl<S: RequiredScope> StoreAccess<S> {
    /// The actor on a store, if they have the scope.
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

    /// The store's owner, if they act in a session of their own; none for another member or an app.
    pub fn acting_owner(&self) -> Option<&MerchantId> {
        match &self.actor {
            StoreActor::Merchant(id, _) => Some(id).filter(|id| **id == self.store.owner_id),
            StoreActor::App(_) => None,
        }
    }

    /// The caller's authority for work that requires these scopes, in addition to that of the request.
    pub fn authority(&self, scopes: &[&str]) -> Authority {
        let scopes = std::iter::once(S::SCOPE).chain(scopes.iter().copied());
        Authority::of_actor(&self.actor, &self.store.id, scopes)
    }
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
        scopes: None,
    }
}

fn app_identity(app: &AppActor, store: &StoreId) -> Identity {
    Identity {
        principal: format!("installation:{}", app.installation_id),
        store: Some(store.to_string()),
        subject: app.installation_id.to_string(),
        tier: Tier::App,
        guest: None,
        scopes: Some(app.scopes.to_string()),
    }
}

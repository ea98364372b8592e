//! Sessions: responses to sign-ins, the current session, and listing, ending and refreshing sessions.

use gateway::idempotency::Commit;
use std::sync::Arc;

use axum::extract::State;
use callers::SESSION_COOKIE;
use core_types::fields::Subdomain;
use core_types::id::{SessionId, StoreId};
use core_types::key;
use core_types::resource::load;
use gateway::app::App;
use gateway::caller::{Access, Caller, Identity};
use gateway::page::Paging;
use gateway::reply::{Json, NoContent, NoStore, Page, Reply, Typed};
use gateway::request::{Inbound, Path, Raw};
use http::header;
use identity::authentication;
use identity::member::Role;
use identity::merchant::stores;
use identity::merchant::{Merchant, MerchantView};
use identity::session::{CreatedVia, Session};
use identity::store::{MAX_STORES, Store, StoreView};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::{Condition, Query};

/// The response to a sign-in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignedIn {
    /// The account.
    merchant: MerchantView,
    /// The session with its token, which is returned once.
    session: SessionWithToken,
    /// The store that a sign-up has created.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<StoreView>,
}

/// A session with its token.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionWithToken {
    id: SessionId,
    access_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// Seconds until it expires, even if used.
    expires_in: i64,
    expires_at: Timestamp,
    /// When it expires if it is not used.
    idle_expires_at: Timestamp,
    created_via: CreatedVia,
}

impl SignedIn {
    /// The response about a new session.
    pub(crate) fn new(
        merchant: MerchantView,
        session: &Session,
        token: &str,
        store: Option<StoreView>,
        now: Timestamp,
    ) -> Self {
        let session = SessionWithToken {
            id: session.id.clone(),
            access_token: token.to_owned(),
            token_type: "Bearer",
            expires_in: now.seconds_until(session.expires_at),
            expires_at: session.expires_at,
            idle_expires_at: session.idle_expires_at,
            created_via: session.created_via,
        };
        Self { merchant, session, store }
    }
}

/// The response to a sign-in, with the session cookie if the client requested one (our choice: only
/// browsers need it).
pub(crate) fn signed_in<const STATUS: u16>(
    body: &SignedIn,
    cookie: bool,
) -> NoStore<Typed<STATUS, SignedIn>> {
    let answer = Typed::new(body);
    if !cookie {
        return answer.no_store();
    }
    let (token, seconds) = (&body.session.access_token, body.session.expires_in);
    answer.header(header::SET_COOKIE, &set_cookie(token, seconds)).no_store()
}

/// The session cookie. `__Host-`: sent only over TLS, to this host alone (RFC 6265bis §4.1.3.2).
fn set_cookie(token: &str, seconds: i64) -> String {
    format!("{SESSION_COOKIE}={token}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}")
}

/// Adds the removal of the session cookie, if the session was presented as a cookie.
pub(crate) fn without_cookie<R: Reply>(reply: R, inbound: &Inbound) -> R {
    if came_by_cookie(inbound) {
        return reply.map(|answer| answer.header(header::SET_COOKIE, &set_cookie("", 0)));
    }
    reply
}

/// Whether an authenticated request presented its session as a cookie: it has no `Authorization`.
fn came_by_cookie(inbound: &Inbound) -> bool {
    !inbound.headers.contains_key(header::AUTHORIZATION)
}

/// A merchant with a live session. Without one, the problem is `session_inactive`.
#[derive(Debug, Clone)]
pub(crate) struct SessionHolder(callers::Merchant);

gateway::caller_argument!(SessionHolder);

impl Caller for SessionHolder {
    fn access() -> Access {
        Access::Merchant
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let merchant = callers::Merchant::authenticate(services, inbound).await;
        merchant.map(Self).map_err(|problem| match problem.code {
            Code::Unauthenticated => Code::SessionInactive.with("active", false),
            _ => problem,
        })
    }

    fn identity(&self) -> Identity {
        self.0.identity()
    }
}

/// The current session, its account and its stores.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CustomSession {
    /// `true`.
    active: bool,
    session: ActiveSession,
    merchant: MerchantView,
    stores: Vec<OwnStore>,
}

#[derive(Debug, Serialize, JsonSchema)]
/// The current session.
struct ActiveSession {
    id: SessionId,
    expires_at: Timestamp,
    idle_expires_at: Timestamp,
    created_via: CreatedVia,
}

#[derive(Debug, Serialize, JsonSchema)]
/// A store that the account may act on.
struct OwnStore {
    id: StoreId,
    subdomain: Subdomain,
    /// The account's role on the store.
    role: Role,
}

/// `GET /v1/auth/custom/session` (`getSession`): Check a credential and list its stores.
///
/// Returns the session, its account, and the stores that the account may act on.
///
/// # Errors
/// `session_inactive`, with `active: false`.
pub(crate) async fn custom(
    SessionHolder(caller): SessionHolder,
    State(app): State<App>,
) -> Result<NoStore<Json<CustomSession>>, Problem> {
    let stores = stores_of(&app, &caller.account).await?;
    let body = CustomSession {
        active: true,
        session: ActiveSession {
            id: caller.session.id,
            expires_at: caller.session.expires_at,
            idle_expires_at: caller.session.idle_expires_at,
            created_via: caller.session.created_via,
        },
        merchant: MerchantView::of(&caller.account, &app.config),
        stores,
    };
    Ok(Json::new(&body).no_store())
}

/// Loads the stores that an account may act on. Without memberships, one query of an index lists its own.
async fn stores_of(services: &Services, account: &Merchant) -> Result<Vec<OwnStore>, Problem> {
    let of =
        |(store, role): (Store, Role)| OwnStore { id: store.id, subdomain: store.subdomain, role };
    if !account.memberships.grants.is_empty() {
        let all = stores::stores_of(services, account).await?.into_iter();
        return Ok(all.map(|(store, grant)| of((store, grant.role))).collect());
    }
    let own = Query::list(key::list::stores_of(&account.id));
    let own: Vec<Store> = services.table.all(&own, MAX_STORES).await?;
    Ok(own.into_iter().map(|store| of((store, Role::Owner))).collect())
}

core_types::view! {
    /// A session in the list of an account's sessions.
    SessionView of (session: Session, current: bool) {
        id: SessionId,
        created_at: Timestamp,
        updated_at: Timestamp = session.last_used_at,
        /// When it was last used, with a precision of five minutes.
        last_used_at: Timestamp,
        idle_expires_at: Timestamp,
        expires_at: Timestamp,
        created_via: CreatedVia,
        /// The network from which it was created.
        ip_prefix: String,
        /// The `User-Agent` with which it was created.
        user_agent: Option<String>,
        /// Whether it is the session of this request.
        current: bool = current,
        version: u64,
    }
}

/// `GET /v1/auth/sessions` (`listSessions`): List live sessions of the account.
///
/// Lists the account's live sessions, newest first.
pub(crate) async fn list(
    caller: callers::Merchant,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<SessionView>, Problem> {
    let now = app.clock.now();
    let account = &caller.account;
    let view = |session: Session| SessionView::of(&session, session.id == caller.session.id);
    let is_alive = |session: &Session| session.is_alive(account, now);
    paging.query(&app, &authentication::sessions(account), is_alive, view).await
}

/// `DELETE /v1/auth/sessions/{id}` (`deleteSession`): End a session of the account.
///
/// Ends one of the account's sessions, the current one included.
///
/// # Errors
/// `not_found`.
pub(crate) async fn delete(
    caller: callers::Merchant,
    State(app): State<App>,
    Path(id): Path<SessionId>,
) -> Result<NoContent, Problem> {
    let session_key = key::session(&caller.account.id, &id);
    app.table
        .write()
        .delete_if(&session_key, Condition::exists(), Code::NotFound)
        .answer(NoContent::default(), app.clock.now())
        .await
}

/// Loads a session of the account: the subject of what ends it.
///
/// # Errors
/// `not_found`.
pub(crate) async fn ensure_exists(
    caller: callers::Merchant,
    State(app): State<App>,
    Path(id): Path<SessionId>,
) -> Result<NoContent, Problem> {
    let session = load::<Session>(&app, &key::session(&caller.account.id, &id)).await;
    session.map(|_| NoContent::default())
}

/// `POST /v1/auth/session/refresh` (`refreshSession`): Refresh a session token.
///
/// Exchanges the session's token for a new one.
///
/// The same transaction ends the old token. Of several concurrent requests with one token, one gets a new
/// token.
///
/// # Errors
/// `unauthenticated`.
pub(crate) async fn refresh(
    caller: callers::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
) -> Result<NoStore<Json<SignedIn>>, Problem> {
    let now = app.clock.now();
    let account: &Merchant = &caller.account;
    let (session, token) = caller.session.renewed(account, now);
    let view = MerchantView::of(account, &app.config);
    let body = SignedIn::new(view, &session, &token, None, now);
    app.table
        .write()
        .delete_if(&caller.session.key(), Condition::exists(), Code::Unauthenticated)
        .create(&session, Code::VersionConflict)
        .answer(signed_in(&body, came_by_cookie(&inbound)), now)
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_host_only_and_http_only() {
        assert_eq!(
            set_cookie("mst_1", 60),
            "__Host-session=mst_1; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60"
        );
    }
}

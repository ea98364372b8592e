//! Token exchange: a merchant session for an embedded app token (RFC 8693), which ends with the session.

use axum::extract::State;
use callers::AnyMember;
use core_types::id::{AppId, InstallationId, MerchantId, SessionId, StoreId};
use core_types::key;
use core_types::scope::{Requested, Scopes};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoStore};
use gateway::request::{Form, Parameters};
use identity::member::RoleGrant;
use identity::session::UnverifiedToken;
use platform::app::{AppClient, AppStatus, CommerceApp};
use platform::installation::{AppToken, Installation, InstallationStatus};
use primitives::clock::Timestamp;
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::{Code, OAuthError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{Condition, Write};

use super::issue::{Issued, TokenSpec, issue, narrowed};

const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:access_token";

/// A request for an embedded token, as JSON or as a form.
#[request]
#[derive(Debug)]
pub struct ExchangeRequest {
    /// The id of the app. Send this or `client_id`.
    app_id: Option<AppId>,
    /// The client id of the app.
    client_id: Option<Exact<128>>,
    /// If it is sent, it must be the app's installation on the store.
    installation_id: Option<InstallationId>,
    /// A part of the scopes that both the app and the member have. All of them by default.
    scope: Option<Requested>,
    /// If it is sent, `urn:ietf:params:oauth:grant-type:token-exchange`.
    grant_type: Option<Exact<128>>,
    /// If it is sent, it must be the token of the session that authenticates the request.
    subject_token: Option<Exact<512>>,
    /// If it is sent, `urn:ietf:params:oauth:token-type:access_token`.
    subject_token_type: Option<Exact<128>>,
    /// If it is sent, `urn:ietf:params:oauth:token-type:access_token`.
    requested_token_type: Option<Exact<128>>,
}

impl Parameters for ExchangeRequest {}

/// An embedded token (RFC 8693 §2.2.1, with additions).
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExchangeResponse {
    /// The embedded token: a JWT (RFC 9068) to send as `Authorization: Bearer`.
    access_token: String,
    /// `urn:ietf:params:oauth:token-type:access_token`.
    issued_token_type: &'static str,
    /// `Bearer`.
    token_type: &'static str,
    /// The lifetime of the token, in seconds: up to 300.
    expires_in: i64,
    /// When the token expires.
    expires_at: Timestamp,
    /// The scopes of the token, separated by spaces.
    scope: String,
    /// The scopes of the token as a list.
    scopes: Vec<String>,
    /// The installation that the token acts for.
    installation_id: InstallationId,
    /// The store that the token acts on.
    store_id: StoreId,
    /// The app that the token acts as.
    app_id: AppId,
}

/// `POST /v1/app-store/oauth/token-exchange` (`exchangeSessionToken`):
/// Exchange a session token for an embedded app token.
///
/// A member of a store exchanges the session for a token of an app that is active on the store (RFC 8693).
/// The token lives for five minutes and ends with the session. It allows what both the app was granted and
/// the member may do.
///
/// # Errors
/// `invalid_request`, `invalid_target`, `invalid_scope`, `unsupported_grant_type`,
/// `store_not_found`, `app_suspended`, `installation_inactive`; `unauthenticated` when the session
/// ends meanwhile.
pub async fn exchange(
    member: AnyMember,
    State(app): State<App>,
    Form(input): Form<ExchangeRequest>,
) -> Result<NoStore<Json<ExchangeResponse>>, OAuthError> {
    input.validate(&member)?;
    let app_id = app_id(&app, &input).await?;
    let now = app.clock.now();
    let installation_id = Installation::id_of(&member.store.id, &app_id);
    if input.installation_id.as_ref().is_some_and(|named| *named != installation_id) {
        return Err(Code::InvalidTarget.into());
    }
    let (installation, published) = load(&app, &installation_id, &app_id).await?;
    let granted = member.grant.narrow(&installation.scopes);
    let scopes = narrowed(&granted, input.scope.as_ref())?;
    let session = (&member.session.id, &member.account.id);
    let issued = embedded(&app, &installation, &published.client_id, &scopes, session, now).await?;
    let response = Json::new(&ExchangeResponse {
        access_token: issued.jwt,
        issued_token_type: ACCESS_TOKEN_TYPE,
        token_type: "Bearer",
        expires_in: now.seconds_until(issued.record.expires_at),
        expires_at: issued.record.expires_at,
        scope: scopes.to_string(),
        scopes: scopes.to_vec(),
        installation_id: installation.id.clone(),
        store_id: installation.store_id.clone(),
        app_id: installation.app_id.clone(),
    })
    .no_store();
    let write = record(app.table.write(), &issued.record, &installation, session);
    Ok(write.emit(issued.event).answer(response, now).await?)
}

impl ExchangeRequest {
    /// Validates the parameters of RFC 8693 §2.1, each of which is optional.
    fn validate(&self, member: &AnyMember) -> Result<(), Problem> {
        let is = |value: &Option<Exact<128>>, wanted: &str| {
            value.as_ref().is_none_or(|text| text.as_str() == wanted)
        };
        if !is(&self.grant_type, GRANT_TYPE) {
            return Err(Code::UnsupportedGrantType.into());
        }
        if !is(&self.subject_token_type, ACCESS_TOKEN_TYPE)
            || !is(&self.requested_token_type, ACCESS_TOKEN_TYPE)
        {
            let detail = format!("Both token types must be `{ACCESS_TOKEN_TYPE}`.");
            return Err(Code::InvalidRequest.detail(detail));
        }
        let now = member.session.last_used_at;
        let foreign = self.subject_token.as_ref().is_some_and(|token| {
            UnverifiedToken::parse(token.as_str())
                .is_none_or(|token| !member.session.admits(&token, &member.account, now))
        });
        if foreign {
            let detail = "`subject_token` does not belong to the session of the request.";
            return Err(Code::InvalidRequest.detail(detail));
        }
        if self.app_id.is_some() == self.client_id.is_some() {
            return Err(Code::InvalidRequest.detail("Send `app_id` or `client_id`, not both."));
        }
        Ok(())
    }
}

async fn app_id(services: &Services, input: &ExchangeRequest) -> Result<AppId, Problem> {
    match (&input.app_id, &input.client_id) {
        (Some(id), _) => Ok(id.clone()),
        (None, Some(client_id)) => {
            let client: Option<AppClient> =
                services.table.get(&key::client(client_id.as_str())).await?;
            client.map(|client| client.app_id).ok_or_else(|| Code::InvalidTarget.into())
        }
        (None, None) => Err(Code::InvalidRequest.into()),
    }
}

/// Loads the active installation of an app that is not suspended, with the app.
async fn load(
    services: &Services,
    id: &InstallationId,
    app_id: &AppId,
) -> Result<(Installation, CommerceApp), Problem> {
    let (installation_key, app_key) = (key::installation(id), key::app(app_id));
    let mut batch = services.table.get_many(&[&installation_key, &app_key]).await?;
    let installation: Option<Installation> = batch.take(&installation_key)?;
    let published: Option<CommerceApp> = batch.take(&app_key)?;
    let active = installation.filter(|known| known.status == InstallationStatus::Active);
    match (active, published) {
        (_, Some(services)) if services.status == AppStatus::Suspended => {
            Err(Code::AppSuspended.into())
        }
        (Some(installation), Some(services)) => Ok((installation, services)),
        _ => Err(Code::InstallationInactive.into()),
    }
}

async fn embedded(
    services: &Services,
    installation: &Installation,
    client_id: &str,
    scopes: &Scopes,
    session: (&SessionId, &MerchantId),
    now: Timestamp,
) -> Result<Issued, Problem> {
    let spec = TokenSpec {
        installation,
        client_id,
        scopes,
        grant_type: "token_exchange",
        session: Some(session),
    };
    issue(services, &spec, now).await
}

/// Adds the token to a transaction, which requires that the session exists and that the installation is
/// active and of the same generation.
fn record(
    write: Write,
    token: &AppToken,
    installation: &Installation,
    (session, merchant): (&SessionId, &MerchantId),
) -> Write {
    let active = Condition::new("#status = :active AND generation = :generation")
        .name("#status", "status")
        .value(":active", InstallationStatus::Active)
        .value(":generation", installation.generation);
    write
        .check(&key::session(merchant, session), Condition::exists(), Code::Unauthenticated)
        .check(&key::installation(&installation.id), active, Code::InstallationInactive)
        .create(token, Code::VersionConflict)
}

/// Issues an embedded token for the bridge, when a merchant calls it as an app.
///
/// # Errors
/// `app_suspended`, `installation_inactive`; `unauthenticated` when the session ends meanwhile.
pub async fn mint_embedded(
    services: &Services,
    installation: &Installation,
    grant: &RoleGrant,
    session: (&SessionId, &MerchantId),
) -> Result<String, Problem> {
    let now = services.clock.now();
    let (installation, published) = load(services, &installation.id, &installation.app_id).await?;
    let scopes = grant.narrow(&installation.scopes);
    let issued =
        embedded(services, &installation, &published.client_id, &scopes, session, now).await?;
    record(services.table.write(), &issued.record, &installation, session)
        .emit(issued.event)
        .commit()
        .await?;
    Ok(issued.jwt)
}

//! Authorize and deny: a merchant grants or denies an app's request for scopes on a store (RFC 6749 §4.1,
//! RFC 7636, RFC 9207).

mod deny;

use axum::extract::State;
use callers::Admin;
use core_types::id::AppId;
use core_types::key;
use core_types::resource::Resource;
use core_types::scope::{Requested, Scopes};
use crypto::seal;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoStore};
use gateway::request::{Body, Path};
use platform::app::{AppStatus, CommerceApp};
use platform::grant::{AUTHORIZATION_CODE_LIFETIME, AuthorizationCode, CodeChallenge, CodeState};
use platform::installation::{APP_AUTHORIZED, APP_INSTALLED, Installation, InstallationStatus};
use primitives::clock::Timestamp;
use primitives::fields::{Exact, FieldErrors, FromText, Violation};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{Change, Condition, ReadConsistency, Write, retry_eventual_first};

pub(crate) use deny::denied;
pub use deny::deny;

/// An authorization that the merchant has agreed to.
#[request]
#[derive(Debug, Clone)]
pub struct AuthorizeRequest {
    /// `code`, the only response type.
    pub(crate) response_type: Option<Exact<64>>,
    /// `authorization_code`, the only grant type (RFC 6749 §4.1).
    pub(crate) grant_type: Option<Exact<64>>,
    /// The app's client id; if it is sent, it must be the one of the app in the path.
    pub(crate) client_id: Option<Exact<128>>,
    /// The scopes to grant, separated by spaces. By default, all that the app is registered for.
    pub(crate) scope: Option<Requested>,
    /// The scopes to grant as a list. Send this or `scope`.
    pub(crate) scopes: Option<Requested>,
    /// A registered redirect URI of the app, character by character.
    pub(crate) redirect_uri: Exact<2048>,
    /// The app's state, which is returned unchanged. Required without a code challenge: one of both binds
    /// the code to the browser that it was requested with (RFC 9700 §2.1).
    pub(crate) state: Option<Exact<1024>>,
    /// The PKCE code challenge (RFC 7636). Apps with `require_pkce` and public clients must send it.
    pub(crate) code_challenge: Option<SentChallenge>,
    /// `S256`, the only method.
    pub(crate) code_challenge_method: Option<Exact<16>>,
}

/// A code challenge as it was sent. A malformed one is `invalid_request`, and not a field error
/// (RFC 7636 §4.4.1).
#[derive(Debug, Clone)]
pub struct SentChallenge(Result<CodeChallenge, Violation>);

primitives::string_schema!(SentChallenge);

impl Deserr<FieldErrors> for SentChallenge {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        _: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        Ok(Self(match value {
            Value::String(text) => CodeChallenge::from_text(&text),
            _ => Err(Violation::new("invalid_type", "Must be a string.")),
        }))
    }
}

/// The result of an authorization (docs/conventions.md §9).
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuthorizeResponse {
    /// The URI to redirect the merchant to: the redirect URI with `code`, `iss`, and the app's `state`.
    redirect_to: String,
    /// The authorization code, which the token endpoint redeems once.
    code: String,
    /// The app's state, unchanged; `null` if it sent none.
    state: Option<String>,
    /// The issuer of the code (RFC 9207).
    iss: String,
    /// The lifetime of the code, in seconds: 900.
    expires_in: u64,
    /// The granted scopes, separated by spaces.
    scope: String,
    /// The granted scopes as a list.
    scopes: Vec<String>,
    /// The same as `scopes`.
    granted_scopes: Vec<String>,
    /// The app.
    app_id: AppId,
    /// The installation of the app on the store.
    installation_id: core_types::id::InstallationId,
    /// The store.
    store_id: core_types::id::StoreId,
}

/// `POST /v1/app-store/apps/{id}/oauth/authorize` (`authorizeApp`): Authorize an app for a store.
///
/// An owner or admin of the store grants a published app the requested scopes. The installation is created or
/// becomes active, also if it was suspended, and the scopes replace those granted before.
///
/// The response has an authorization code, which is valid for 15 minutes and redeemed once. Redirect the
/// merchant to `redirect_to`. It emits `app.authorized`, and `app.installed` if the app was not installed.
///
/// # Errors
/// `app_not_published`, `app_suspended`, `invalid_redirect_uri` (never echoed), `invalid_scope`,
/// `unsupported_response_type`, `unsupported_grant_type`, `invalid_request` (PKCE).
pub async fn authorize(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Body(input): Body<AuthorizeRequest>,
) -> Result<NoStore<Json<AuthorizeResponse>>, Problem> {
    retry_eventual_first(|consistency| authorize_once(&admin, &app, &id, &input, consistency)).await
}

async fn authorize_once(
    admin: &Admin,
    services: &Services,
    id: &AppId,
    input: &AuthorizeRequest,
    consistency: ReadConsistency,
) -> Result<NoStore<Json<AuthorizeResponse>>, Problem> {
    let now = services.clock.now();
    let app_key = key::app(id);
    let installation_key = key::installation(&Installation::id_of(&admin.store.id, id));
    let mut batch =
        services.table.get_many_with(&[&app_key, &installation_key], consistency).await?;
    let client: CommerceApp = batch.take(&app_key)?.ok_or(Code::AppNotPublished)?;
    let known: Option<Installation> = batch.take(&installation_key)?;
    let (scopes, challenge) = input.validate(&client)?;
    let installation = authorized(known.as_ref(), &client, admin, scopes, now);
    let (code, raw_code) = issue(&client, &installation, input, challenge, now);
    let answer = AuthorizeResponse::of(input, raw_code, &installation, &services.config.base_url);
    let status = known.map(|known| known.status);
    let became_active = status != Some(InstallationStatus::Active);
    // An authorization without a previous install also installs the app.
    let is_new = matches!(status, None | Some(InstallationStatus::Uninstalled));
    let write = services.table.write();
    let write = check_app(write, &client, input.redirect_uri.as_str(), became_active);
    let write = write.create_or_replace(&installation, Code::VersionConflict);
    write
        .create(&code, Code::VersionConflict)
        .when_some(is_new.then_some(()), |write, ()| {
            write.emit(installation.event(&APP_INSTALLED, now))
        })
        .emit(installation.event(&APP_AUTHORIZED, now))
        .answer(Json::new(&answer).no_store(), now)
        .await
}

/// Creates an authorization code for the installation's scopes. Returns it with its text, which is not
/// stored.
fn issue(
    app: &CommerceApp,
    installation: &Installation,
    input: &AuthorizeRequest,
    challenge: Option<CodeChallenge>,
    now: Timestamp,
) -> (AuthorizationCode, String) {
    let raw_code = format!("cod_{}", seal::random_secret());
    let code = AuthorizationCode {
        digest: seal::digest(&raw_code),
        client_id: app.client_id.clone(),
        app_id: app.id.clone(),
        store_id: installation.store_id.clone(),
        installation_id: installation.id.clone(),
        generation: installation.generation,
        merchant_id: installation.installed_by.clone(),
        redirect_digest: seal::digest(input.redirect_uri.as_str()),
        challenge,
        scopes: installation.scopes.clone(),
        state: CodeState::Issued,
        grant: None,
        expires_at: now.plus(AUTHORIZATION_CODE_LIFETIME),
        created_at: now,
        version: 1,
    };
    (code, raw_code)
}

impl AuthorizeResponse {
    fn of(input: &AuthorizeRequest, code: String, installation: &Installation, iss: &str) -> Self {
        let state = input.state.as_ref().map(Exact::as_str);
        let redirect_to = with_query(
            input.redirect_uri.as_str(),
            [("code", Some(&*code)), ("state", state), ("iss", Some(iss))],
        );
        Self {
            redirect_to,
            code,
            state: state.map(str::to_owned),
            iss: iss.to_owned(),
            expires_in: AUTHORIZATION_CODE_LIFETIME.as_secs(),
            scope: installation.scopes.to_string(),
            scopes: installation.scopes.to_vec(),
            granted_scopes: installation.scopes.to_vec(),
            app_id: installation.app_id.clone(),
            installation_id: installation.id.clone(),
            store_id: installation.store_id.clone(),
        }
    }
}

impl AuthorizeRequest {
    /// Validates the request (docs/conventions.md §9), the redirect URI first. Later errors could be sent by
    /// a redirect, but are returned to the merchant's admin instead.
    pub(crate) fn validate(
        &self,
        app: &CommerceApp,
    ) -> Result<(Scopes, Option<CodeChallenge>), Problem> {
        validate_app(app)?;
        if !app.allows_redirect(self.redirect_uri.as_str()) {
            return Err(Code::InvalidRedirectUri.into());
        }
        if self.response_type.as_ref().is_some_and(|kind| kind.as_str() != "code") {
            return Err(Code::UnsupportedResponseType.into());
        }
        if self.grant_type.as_ref().is_some_and(|kind| kind.as_str() != "authorization_code") {
            return Err(Code::UnsupportedGrantType.into());
        }
        if self.client_id.as_ref().is_some_and(|id| id.as_str() != app.client_id) {
            return Err(Code::InvalidRequest.detail("The client id belongs to another app."));
        }
        if self.code_challenge_method.as_ref().is_some_and(|method| method.as_str() != "S256") {
            return Err(
                Code::InvalidRequest.detail("The only supported code challenge method is `S256`.")
            );
        }
        let challenge = self.challenge()?;
        if challenge.is_none() && (app.require_pkce || !app.confidential) {
            return Err(Code::InvalidRequest.detail("`code_challenge` is required for this app."));
        }
        if challenge.is_none() && self.state.is_none() {
            return Err(
                Code::InvalidRequest.detail("`state` is required without `code_challenge`.")
            );
        }
        Ok((self.validate_scopes(app)?, challenge))
    }

    fn challenge(&self) -> Result<Option<CodeChallenge>, Problem> {
        let Some(SentChallenge(sent)) = &self.code_challenge else { return Ok(None) };
        let rejected = |violation: Violation| {
            Code::InvalidRequest.detail(format!("The code challenge: {}", violation.detail))
        };
        sent.clone().map(Some).map_err(rejected)
    }

    fn validate_scopes(&self, app: &CommerceApp) -> Result<Scopes, Problem> {
        let requested = match (&self.scope, &self.scopes) {
            (Some(_), Some(_)) => {
                return Err(Code::InvalidRequest.detail("Send `scope` or `scopes`, not both."));
            }
            (Some(words), None) | (None, Some(words)) => words.scopes()?,
            (None, None) => app.scopes.clone(),
        };
        if app.scopes.cover_all(&requested) {
            Ok(requested)
        } else {
            Err(Code::InvalidScope.into())
        }
    }
}

fn validate_app(app: &CommerceApp) -> Result<(), Problem> {
    match app.status {
        AppStatus::Published => Ok(()),
        AppStatus::Suspended => Err(Code::AppSuspended.into()),
        AppStatus::Draft | AppStatus::Unpublished | AppStatus::Deleted => {
            Err(Code::AppNotPublished.into())
        }
    }
}

/// The installation after this authorization: active, with the granted scopes.
fn authorized(
    known: Option<&Installation>,
    app: &CommerceApp,
    admin: &Admin,
    scopes: Scopes,
    now: Timestamp,
) -> Installation {
    let fresh = Installation {
        id: Installation::id_of(&admin.store.id, &app.id),
        store_id: admin.store.id.clone(),
        app_id: app.id.clone(),
        developer_id: app.owner_id.clone(),
        status: InstallationStatus::Active,
        scopes: scopes.clone(),
        generation: 1,
        access_tokens: platform::installation::AccessTokens::default(),
        installed_by: admin.account.id.clone(),
        installed_at: Some(now),
        uninstalled_at: None,
        status_reason: None,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    let Some(known) = known else { return fresh };
    let in_force = known.status == InstallationStatus::Active;
    Installation {
        status: InstallationStatus::Active,
        scopes,
        installed_by: admin.account.id.clone(),
        installed_at: if in_force { known.installed_at } else { Some(now) },
        uninstalled_at: None,
        status_reason: None,
        ..known.changed(now)
    }
}

/// Requires that the app is still published and the URI still registered when the transaction commits, and
/// counts a new active installation.
fn check_app(write: Write, app: &CommerceApp, redirect_uri: &str, count: bool) -> Write {
    let condition = "#status = :published AND contains(redirect_uris, :uri)";
    if count {
        let change = Change::new("SET active_installs = active_installs + :one")
            .only_if(condition)
            .name("#status", "status")
            .value(":one", 1)
            .value(":published", AppStatus::Published)
            .value(":uri", redirect_uri);
        return write.update(&key::app(&app.id), change, Code::AppNotPublished);
    }
    let condition = Condition::new(condition)
        .name("#status", "status")
        .value(":published", AppStatus::Published)
        .value(":uri", redirect_uri);
    write.check(&key::app(&app.id), condition, Code::AppNotPublished)
}

/// Adds the parameters that have a value to the existing query of a URI (RFC 6749 §3.1.2). A registered URI
/// has no fragment.
pub(crate) fn with_query<'a>(
    uri: &str,
    pairs: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> String {
    let mut query = String::new();
    for (name, value) in pairs {
        let Some(value) = value else { continue };
        if !query.is_empty() {
            query.push('&');
        }
        query.extend([name, "="]);
        query.extend(url::form_urlencoded::byte_serialize(value.as_bytes()));
    }
    let joint = match uri.split_once('?') {
        None => "?",
        Some((_, present)) if present.is_empty() || present.ends_with('&') => "",
        Some(_) => "&",
    };
    format!("{uri}{joint}{query}")
}

#[cfg(test)]
mod tests {
    use super::with_query;

    #[test]
    fn parameters_are_added_to_an_existing_query() {
        let pairs = [("code", Some("a b")), ("none", None), ("state", Some("x&y=z"))];
        for (uri, expected) in [
            ("https://a.example/cb", "https://a.example/cb?code=a+b&state=x%26y%3Dz"),
            ("https://a.example/cb?t=1", "https://a.example/cb?t=1&code=a+b&state=x%26y%3Dz"),
            ("https://a.example/cb?", "https://a.example/cb?code=a+b&state=x%26y%3Dz"),
        ] {
            assert_eq!(with_query(uri, pairs), expected);
        }
    }
}

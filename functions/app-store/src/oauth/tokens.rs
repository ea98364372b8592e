//! Revocation of tokens (RFC 7009) and of a whole grant, and introspection (RFC 7662).

use axum::extract::State;
use callers::OAuthClient;
use core_types::id::{AppId, InstallationId, StoreId};
use core_types::key;
use crypto::seal;
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Form, Parameters};
use identity::merchant::Merchant;
use identity::session::Session;
use platform::app::{AppClient, Stop};
use platform::grant::{AuthorizationCode, RefreshOutcome, RefreshToken};
use platform::installation::AUDIENCE;
use platform::installation::{AppToken, Installation, InstallationStatus};
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::{Code, OAuthError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{Batch, retry};

use super::client::ClientCredentials;

/// A request about a token.
#[request]
#[derive(Debug)]
pub struct TokenRequestBody {
    /// The token.
    token: Exact<4096>,
    /// `access_token` or `refresh_token`. The hint is optional, and both work for every token.
    token_type_hint: Option<Exact<64>>,
    /// The client id, unless the `Authorization` header has it.
    client_id: Option<Exact<128>>,
    /// The client secret, unless the `Authorization` header has it. Public clients have none.
    client_secret: Option<Exact<256>>,
}

impl Parameters for TokenRequestBody {
    const KNOWN: Option<&'static [&'static str]> =
        Some(&["token", "token_type_hint", "client_id", "client_secret"]);
}

/// The response to a revocation: an empty object.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TokenRevocation")]
pub struct Revocation {}

/// The state of a token (RFC 7662 §2.2). A token that is not active has no other members.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Introspection {
    /// Whether the token can be used now.
    active: bool,
    /// `Bearer` for an access token, otherwise `refresh_token`.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    /// The scopes of the token that are still granted, separated by spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// The client of a refresh token.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// The installation that an access token acts for.
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<InstallationId>,
    /// The audience of an access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    aud: Option<&'static str>,
    /// The issuer of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    iss: Option<String>,
    /// When it was issued, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    /// When it expires, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
    /// The app of an access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<AppId>,
    /// The installation that the token acts for.
    #[serde(skip_serializing_if = "Option::is_none")]
    installation_id: Option<InstallationId>,
    /// The store that the token acts on.
    #[serde(skip_serializing_if = "Option::is_none")]
    store_id: Option<StoreId>,
}

/// The record of a token that belongs to the requesting client.
enum PresentedToken {
    Access(Box<AppToken>, Box<Installation>),
    Refresh(Box<RefreshToken>, Box<AppClient>),
}

/// `POST /v1/app-store/oauth/revoke` (`revokeToken`): Revoke a token of an app.
///
/// Revoking an access token ends this token alone. Revoking a refresh token ends its grant: all access and
/// refresh tokens that came from the same code (RFC 7009 §2.1). For an unknown token or another client's,
/// nothing changes, and the response is 200 as well (§2.2).
///
/// # Errors
/// `invalid_request`, `invalid_client`, `unsupported_token_type`; `version_conflict` after too many
/// concurrent changes of the grant.
pub async fn revoke(
    caller: OAuthClient,
    State(app): State<App>,
    Form(input): Form<TokenRequestBody>,
) -> Result<NoStore<Json<Revocation>>, OAuthError> {
    match find(&app, caller, &input).await? {
        Some(PresentedToken::Refresh(token, _)) => revoke_grant(&app, &token.code_digest).await?,
        Some(PresentedToken::Access(token, _)) => retry(|| revoke_access(&app, &token)).await?,
        None => {}
    }
    Ok(Json::new(&Revocation {}).no_store())
}

/// `POST /v1/app-store/oauth/introspect` (`introspectToken`): Introspect a token.
///
/// A client checks whether one of its own tokens is active, and gets its scopes, installation, store and
/// expiry. For any other token the response is only `active: false` (RFC 7662 §2.2).
///
/// # Errors
/// `invalid_request`, `invalid_client`, `unsupported_token_type`.
pub async fn introspect(
    caller: OAuthClient,
    State(app): State<App>,
    Form(input): Form<TokenRequestBody>,
) -> Result<NoStore<Json<Introspection>>, OAuthError> {
    let now = app.clock.now();
    let described = match find(&app, caller, &input).await? {
        Some(PresentedToken::Access(token, installation))
            if installation.admit(&token, now).is_ok()
                && can_act(&app, &token, &installation).await? =>
        {
            describe_access(&app, &token, &installation)
        }
        Some(PresentedToken::Refresh(token, client)) => {
            describe_refresh(&app, &token, &client).await?
        }
        _ => Introspection::default(),
    };
    Ok(Json::new(&described).no_store())
}

/// Whether the app is not suspended, which its [`Stop`] says, and the session of an embedded token is alive.
/// Other tokens have no session.
async fn can_act(
    services: &Services,
    token: &AppToken,
    installation: &Installation,
) -> Result<bool, Problem> {
    let stop_key = Stop::of(&installation.app_id, &installation.id);
    let Some((merchant, session)) = token.merchant_id.as_ref().zip(token.session_id.as_ref())
    else {
        let stop: Option<Stop> = services.table.get(&stop_key).await?;
        return Ok(token.session_id.is_none() && stop.is_none());
    };
    let (merchant_key, session_key) = (key::merchant(merchant), key::session(merchant, session));
    let mut batch = services.table.get_many(&[&merchant_key, &session_key, &stop_key]).await?;
    if batch.take::<Stop>(&stop_key)?.is_some() {
        return Ok(false);
    }
    let account: Option<Merchant> = batch.take(&merchant_key)?;
    let session: Option<Session> = batch.take(&session_key)?;
    let now = services.clock.now();
    Ok(account.zip(session).is_some_and(|(account, session)| session.is_alive(&account, now)))
}

fn describe_access(
    services: &Services,
    token: &AppToken,
    installation: &Installation,
) -> Introspection {
    Introspection {
        active: true,
        token_type: Some("Bearer"),
        scope: Some(token.scopes.intersection(&installation.scopes).to_string()),
        client_id: None,
        sub: Some(installation.id.clone()),
        aud: Some(AUDIENCE),
        iss: Some(services.config.base_url.clone()),
        iat: Some(token.created_at.seconds()),
        exp: Some(token.expires_at.seconds()),
        app_id: Some(installation.app_id.clone()),
        installation_id: Some(installation.id.clone()),
        store_id: Some(installation.store_id.clone()),
    }
}

async fn describe_refresh(
    services: &Services,
    token: &RefreshToken,
    client: &AppClient,
) -> Result<Introspection, Problem> {
    let stop_key = Stop::of(&client.app_id, &token.installation_id);
    let code_key = key::code(&token.code_digest);
    let installation_key = key::installation(&token.installation_id);
    let mut batch = services.table.get_many(&[&code_key, &installation_key, &stop_key]).await?;
    let is_stopped = batch.take::<Stop>(&stop_key)?.is_some();
    let code: Option<AuthorizationCode> = batch.take(&code_key)?;
    let installation: Option<Installation> = batch.take(&installation_key)?;
    let now = services.clock.now();
    let usable = code.zip(installation).filter(|(code, installation)| {
        let presented = code.grant.as_ref().map(|grant| grant.present(&token.digest, now));
        !is_stopped
            && matches!(presented, Some(RefreshOutcome::Rotate | RefreshOutcome::Repeat))
            && installation.status == InstallationStatus::Active
            && installation.generation == code.generation
    });
    Ok(match usable {
        None => Introspection::default(),
        Some((code, installation)) => Introspection {
            active: true,
            token_type: Some("refresh_token"),
            scope: Some(code.scopes.intersection(&installation.scopes).to_string()),
            client_id: Some(code.client_id),
            iss: Some(services.config.base_url.clone()),
            iat: Some(token.created_at.seconds()),
            exp: Some(token.expires_at.seconds()),
            installation_id: Some(code.installation_id),
            store_id: Some(code.store_id),
            ..Introspection::default()
        },
    })
}

/// Loads the token, if it belongs to the requesting client.
async fn find(
    services: &Services,
    caller: OAuthClient,
    input: &TokenRequestBody,
) -> Result<Option<PresentedToken>, Problem> {
    let credentials =
        ClientCredentials::of(caller, input.client_id.as_ref(), input.client_secret.as_ref())?;
    if let Some(hint) = &input.token_type_hint
        && !matches!(hint.as_str(), "access_token" | "refresh_token")
    {
        return Err(Code::UnsupportedTokenType.into());
    }
    let digest = seal::digest(input.token.as_str());
    let client_key = key::client(&credentials.client_id);
    let keys = [key::app_token(&digest), key::refresh_token(&digest)];
    let [access_key, refresh_key] = &keys;
    let mut batch: Batch = services.table.get_many(&[&client_key, access_key, refresh_key]).await?;
    let client: AppClient =
        credentials.authenticate(batch.take(&client_key)?, services.clock.now())?;
    if let Some(token) = batch.take::<RefreshToken>(refresh_key)? {
        let own = token.client_id == client.client_id;
        return Ok(own.then(|| PresentedToken::Refresh(Box::new(token), Box::new(client))));
    }
    let Some(token) = batch.take::<AppToken>(access_key)? else { return Ok(None) };
    let installation: Option<Installation> =
        services.table.get(&key::installation(&token.installation_id)).await?;
    let own = installation.filter(|installation| installation.app_id == client.app_id);
    Ok(own.map(|installation| PresentedToken::Access(Box::new(token), Box::new(installation))))
}

/// Deletes one access token, and removes it from the installation's list.
async fn revoke_access(services: &Services, token: &AppToken) -> Result<(), Problem> {
    let now = services.clock.now();
    let key = key::installation(&token.installation_id);
    let installation: Option<Installation> = services.table.get(&key).await?;
    let write = services.table.write().delete(&key::app_token(&token.digest));
    let recorded = installation
        .filter(|installation| installation.access_tokens.digests.contains_key(&token.digest));
    write
        .when_some(recorded, |write, installation| {
            let mut next = installation.changed(now);
            next.access_tokens.digests.remove(&token.digest);
            write.replace(&next, Code::VersionConflict)
        })
        .commit()
        .await
}

/// Revokes every token of a code's grant in one transaction. It is idempotent; a revoked grant is only read.
pub(super) async fn revoke_grant(services: &Services, code_digest: &str) -> Result<(), Problem> {
    retry(|| revoke_grant_once(services, code_digest)).await
}

async fn revoke_grant_once(services: &Services, code_digest: &str) -> Result<(), Problem> {
    let now = services.clock.now();
    let code: Option<AuthorizationCode> = services.table.get(&key::code(code_digest)).await?;
    let Some(code) = code else { return Ok(()) };
    let Some(grant) = code.grant.as_ref().filter(|grant| grant.revoked_at.is_none()) else {
        return Ok(());
    };
    let key = key::installation(&code.installation_id);
    let installation: Option<Installation> = services.table.get(&key).await?;
    let revoked = code.with_grant(grant.revoked(now));
    let mut write = services.table.write().replace(&revoked, Code::VersionConflict);
    for digest in grant.access_tokens.keys() {
        write = write.delete(&key::app_token(digest));
    }
    write
        .when_some(installation, |write, installation| {
            let mut next = installation.changed(now);
            next.access_tokens
                .digests
                .retain(|digest, _| !grant.access_tokens.contains_key(digest));
            write.replace(&next, Code::VersionConflict)
        })
        .commit()
        .await
}

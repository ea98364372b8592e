//! The OAuth endpoints: token, token exchange, revocation, introspection, keys and metadata (RFC 6749, 7009,
//! 7662, 8414, 8693, 9700). Errors are those of RFC 6749 §5.2.

mod code;
mod documents;
mod exchange;
mod issue;
mod refresh;
mod tokens;

use axum::extract::State;
use callers::OAuthClient;
use core_types::id::{InstallationId, StoreId};
use core_types::scope::{Requested, Scopes};
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Form, Parameters};
use platform::app::AppClient;
use primitives::clock::Timestamp;
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::{Code, OAuthError, Problem};
use schemars::JsonSchema;
use serde::Serialize;

pub use documents::{jwks, metadata};
pub use exchange::{exchange, mint_embedded};
pub use tokens::{introspect, revoke};

/// A request to the token endpoint, as a form or as JSON.
#[request]
#[derive(Debug)]
pub struct TokenRequest {
    /// `authorization_code` or `refresh_token`.
    grant_type: Exact<128>,
    /// The authorization code; `authorization_code` needs it.
    code: Option<Exact<512>>,
    /// The redirect URI of the authorization; `authorization_code` needs it.
    redirect_uri: Option<Exact<2048>>,
    /// The PKCE code verifier, if the authorization had a code challenge.
    code_verifier: Option<Exact<256>>,
    /// The refresh token; `refresh_token` needs it.
    refresh_token: Option<Exact<512>>,
    /// With `refresh_token`: a part of the granted scopes. All by default.
    scope: Option<Requested>,
    /// The client id, unless the `Authorization` header has it.
    client_id: Option<Exact<128>>,
    /// The client secret, unless the `Authorization` header has it. Public clients have none.
    client_secret: Option<Exact<256>>,
}

impl Parameters for TokenRequest {
    const KNOWN: Option<&'static [&'static str]> = Some(&[
        "grant_type",
        "code",
        "redirect_uri",
        "code_verifier",
        "refresh_token",
        "scope",
        "client_id",
        "client_secret",
    ]);
}

/// The response of the token endpoint (RFC 6749 §5.1, with additions).
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenResponse {
    /// The access token: a JWT (RFC 9068) to send as `Authorization: Bearer`.
    access_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// The lifetime of the access token, in seconds: up to 3,600.
    expires_in: i64,
    /// When the access token expires.
    expires_at: Timestamp,
    /// The scopes of the access token, separated by spaces.
    scope: String,
    /// The scopes of the access token as a list.
    scopes: Vec<String>,
    /// The installation that the token acts for.
    installation_id: InstallationId,
    /// The store that the token acts on.
    store_id: StoreId,
    /// The refresh token, which gets the next pair of tokens and is replaced with each use.
    refresh_token: String,
    /// The time until the refresh token expires, in seconds. Its successors expire at the same time.
    refresh_token_expires_in: i64,
}

/// The credentials of a client, from the header or from the body, but not both (RFC 6749 §2.3).
#[derive(Debug, Clone)]
struct ClientCredentials {
    client_id: String,
    unverified_secret: Option<String>,
}

impl ClientCredentials {
    fn of(
        caller: OAuthClient,
        client_id: Option<&Exact<128>>,
        secret: Option<&Exact<256>>,
    ) -> Result<Self, Problem> {
        match (caller.unverified_basic, client_id, secret) {
            (Some(_), _, Some(_)) => {
                Err(Code::InvalidRequest
                    .detail("Authenticate in the header or in the body, not both."))
            }
            (Some((id, _)), Some(named), None) if named.as_str() != id => {
                Err(Code::InvalidRequest.detail("The header and the body name different clients."))
            }
            (Some((client_id, secret)), _, None) => {
                Ok(Self { client_id, unverified_secret: Some(secret) })
            }
            (None, Some(id), secret) => Ok(Self {
                client_id: id.as_str().to_owned(),
                unverified_secret: secret.map(|secret| secret.as_str().to_owned()),
            }),
            (None, None, _) => Err(Code::InvalidClient.into()),
        }
    }

    /// Returns the client, if the credentials are valid for it.
    fn authenticate(&self, found: Option<AppClient>, now: Timestamp) -> Result<AppClient, Problem> {
        found
            .filter(|client| client.is_authenticated_by(self.unverified_secret.as_deref(), now))
            .ok_or_else(|| Code::InvalidClient.into())
    }
}

/// `POST /v1/app-store/oauth/token` (`createToken`): Exchange a code or a refresh token for an access token.
///
/// A code is redeemed once, within 15 minutes, with the client, redirect URI and PKCE verifier of its
/// authorization. A second valid redemption revokes all tokens of the first. An access token lives for an
/// hour. An installation has at most 20 valid access tokens; a further one ends the oldest.
///
/// A refresh token is replaced with each use, until 90 days after the code was redeemed. The previous one
/// still works for ten minutes, until its successor is used; a later use revokes all tokens of the grant.
///
/// # Errors
/// `invalid_request`, `invalid_client`, `invalid_grant`, `invalid_scope`,
/// `unsupported_grant_type`; `version_conflict` after too many concurrent changes of the grant.
pub async fn token(
    caller: OAuthClient,
    State(app): State<App>,
    Form(input): Form<TokenRequest>,
) -> Result<NoStore<Json<TokenResponse>>, OAuthError> {
    let credentials =
        ClientCredentials::of(caller, input.client_id.as_ref(), input.client_secret.as_ref())?;
    let response = match input.grant_type.as_str() {
        "authorization_code" => code::redeem(&app, &credentials, &input).await?,
        "refresh_token" => refresh::refresh(&app, &credentials, &input).await?,
        _ => return Err(Code::UnsupportedGrantType.into()),
    };
    Ok(response)
}

/// Requires a parameter of this grant type.
fn required<'a, const MAX: usize>(
    value: Option<&'a Exact<MAX>>,
    name: &str,
) -> Result<&'a str, Problem> {
    value
        .map(Exact::as_str)
        .ok_or_else(|| Code::InvalidRequest.detail(format!("The parameter {name} is required.")))
}

/// The requested scopes, which must be within the granted ones; all of those by default.
fn narrowed(granted: &Scopes, requested: Option<&Requested>) -> Result<Scopes, Problem> {
    let Some(requested) = requested else { return Ok(granted.clone()) };
    let scopes = requested.scopes()?;
    if granted.cover_all(&scopes) { Ok(scopes) } else { Err(Code::InvalidScope.into()) }
}

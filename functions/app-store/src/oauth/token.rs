//! The token endpoint: a code or a refresh token for an access token.

use axum::extract::State;
use callers::OAuthClient;
use core_types::scope::Requested;
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Form, Parameters};
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::{Code, OAuthError, Problem};

use super::client::ClientCredentials;
use super::code::{self, PresentedCode};
use super::refresh;
use super::response::TokenResponse;

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
        "authorization_code" => {
            let presented = PresentedCode {
                code: required(input.code.as_ref(), "code")?,
                redirect_uri: required(input.redirect_uri.as_ref(), "redirect_uri")?,
                verifier: input.code_verifier.as_ref().map(Exact::as_str),
            };
            code::redeem(&app, &credentials, presented).await?
        }
        "refresh_token" => {
            let token = required(input.refresh_token.as_ref(), "refresh_token")?;
            refresh::refresh(&app, &credentials, token, input.scope.as_ref()).await?
        }
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

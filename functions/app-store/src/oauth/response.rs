//! The response of the token endpoint.

use core_types::id::{InstallationId, StoreId};
use gateway::reply::{Json, NoStore};
use platform::grant::{AuthorizationCode, RefreshToken};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::issue::Issued;

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

/// Builds the response of a redeemed code or a rotated refresh token.
pub(super) fn response(
    issued: &Issued,
    code: &AuthorizationCode,
    refresh: &RefreshToken,
    refresh_token: String,
    now: Timestamp,
) -> NoStore<Json<TokenResponse>> {
    let record = &issued.record;
    Json::new(&TokenResponse {
        access_token: issued.jwt.clone(),
        token_type: "Bearer",
        expires_in: now.seconds_until(record.expires_at),
        expires_at: record.expires_at,
        scope: record.scopes.to_string(),
        scopes: record.scopes.to_vec(),
        installation_id: code.installation_id.clone(),
        store_id: code.store_id.clone(),
        refresh_token,
        refresh_token_expires_in: now.seconds_until(refresh.expires_at),
    })
    .no_store()
}

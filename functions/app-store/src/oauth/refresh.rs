//! Refreshing: rotation with a short overlap, and revocation of the grant on replay
//! (RFC 9700 §4.14.2).

use core_types::key;
use core_types::scope::Requested;
use crypto::seal;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoStore};
use platform::app::{AppClient, AppStatus, CommerceApp};
use platform::grant::{AuthorizationCode, RefreshOutcome, RefreshToken};
use platform::installation::{Installation, InstallationStatus};
use primitives::problem::{Code, Problem};
use services::Services;
use table::retry;

use super::client::ClientCredentials;
use super::issue::{TokenSpec, issue, narrowed};
use super::response::{TokenResponse, response};
use super::tokens;

/// Exchanges a refresh token for a new pair of tokens, with all granted scopes or the requested ones.
pub(super) async fn refresh(
    services: &Services,
    credentials: &ClientCredentials,
    unverified_token: &str,
    scope: Option<&Requested>,
) -> Result<NoStore<Json<TokenResponse>>, Problem> {
    let digest = seal::digest(unverified_token);
    let token_key = key::refresh_token(&digest);
    let client_key = key::client(&credentials.client_id);
    let mut batch = services.table.get_many(&[&client_key, &token_key]).await?;
    let now = services.clock.now();
    let client: AppClient = credentials.authenticate(batch.take(&client_key)?, now)?;
    let token: RefreshToken = batch.take(&token_key)?.ok_or(Code::InvalidGrant)?;
    if token.client_id != client.client_id || now >= token.expires_at {
        return Err(Code::InvalidGrant.into());
    }
    retry(|| rotate(services, &token, scope)).await
}

/// Rotates the refresh token in one transaction with the grant, installation, both tokens and event.
async fn rotate(
    services: &Services,
    used: &RefreshToken,
    scope: Option<&Requested>,
) -> Result<NoStore<Json<TokenResponse>>, Problem> {
    let now = services.clock.now();
    let code_key = key::code(&used.code_digest);
    let installation_key = key::installation(&used.installation_id);
    let mut batch = services.table.get_many(&[&code_key, &installation_key]).await?;
    let code: AuthorizationCode = batch.take(&code_key)?.ok_or(Code::InvalidGrant)?;
    let grant = code.grant.as_ref().ok_or(Code::InvalidGrant)?;
    let installation: Installation = batch.take(&installation_key)?.ok_or(Code::InvalidGrant)?;
    let owner: Option<CommerceApp> = services.table.get(&key::app(&code.app_id)).await?;
    let in_force = installation.status == InstallationStatus::Active
        && installation.generation == code.generation
        && owner.is_some_and(|services| {
            !matches!(services.status, AppStatus::Suspended | AppStatus::Deleted)
        });
    let how = grant.present(&used.digest, now);
    if how == RefreshOutcome::Replay {
        tokens::revoke_grant(services, &code.digest).await?;
    }
    if !in_force || matches!(how, RefreshOutcome::Replay | RefreshOutcome::Reject) {
        return Err(Code::InvalidGrant.into());
    }
    let granted = code.scopes.intersection(&installation.scopes);
    let scopes = narrowed(&granted, scope)?;
    let spec = TokenSpec {
        installation: &installation,
        client_id: &code.client_id,
        scopes: &scopes,
        grant_type: "refresh_token",
        session: None,
    };
    let issued = issue(services, &spec, now).await?;
    let (next, raw_next) = RefreshToken::mint(&code, grant, now);
    let grant = grant.rotated(&used.digest, how, now).record(&issued.record, &next, now);
    let answer = response(&issued, &code, &next, raw_next, now);
    services
        .table
        .write()
        .replace(&code.with_grant(grant), Code::VersionConflict)
        .replace(&installation.record(&issued.record, now), Code::VersionConflict)
        .create(&issued.record, Code::VersionConflict)
        .create(&next, Code::VersionConflict)
        .emit(issued.event)
        .answer(answer, now)
        .await
}

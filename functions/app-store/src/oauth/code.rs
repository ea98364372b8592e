//! Redeeming an authorization code, once, by a conditional write (RFC 6749 §4.1.2 and §10.5).

use core_types::key;
use crypto::seal;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoStore};
use platform::app::{AppClient, AppStatus, CommerceApp};
use platform::grant::{AuthorizationCode, CodeState, Grant, PresentedValues, RefreshToken};
use platform::installation::{Installation, InstallationStatus};
use primitives::problem::{Code, Problem};
use services::Services;
use services::metrics;
use table::{ReadConsistency, retry_eventual_first};

use super::client::ClientCredentials;
use super::issue::{TokenSpec, issue};
use super::response::{TokenResponse, response};
use super::tokens;

/// A code, with what a client presents for its redemption.
#[derive(Debug, Clone, Copy)]
pub(super) struct PresentedCode<'a> {
    pub(super) code: &'a str,
    pub(super) redirect_uri: &'a str,
    /// The PKCE verifier.
    pub(super) verifier: Option<&'a str>,
}

/// Redeems a code. A second, otherwise valid redemption revokes every token of the grant: one
/// of the two clients stole the code, and it is unknown which.
pub(super) async fn redeem(
    services: &Services,
    credentials: &ClientCredentials,
    presented: PresentedCode<'_>,
) -> Result<NoStore<Json<TokenResponse>>, Problem> {
    let PresentedCode { code, redirect_uri, verifier } = presented;
    let code_key = key::code(&seal::digest(code));
    let client_key = key::client(&credentials.client_id);
    let mut batch = services.table.get_many(&[&client_key, &code_key]).await?;
    let now = services.clock.now();
    let client: AppClient = credentials.authenticate(batch.take(&client_key)?, now)?;
    let code: AuthorizationCode = batch.take(&code_key)?.ok_or(Code::InvalidGrant)?;
    code.validate(PresentedValues { client_id: &client.client_id, redirect_uri, verifier })?;
    if code.state == CodeState::Redeemed {
        revoke_replayed(services, &code).await?;
        return Err(Code::InvalidGrant.into());
    }
    if !code.is_open(now) {
        return Err(Code::InvalidGrant.into());
    }
    let outcome = retry_eventual_first(|consistency| commit(services, &code, consistency)).await;
    if matches!(&outcome, Err(problem) if problem.code == Code::InvalidGrant) {
        // A concurrent redemption may have succeeded: then this one is the replay.
        let current: Option<AuthorizationCode> = services.table.get(&code_key).await?;
        if current.is_some_and(|code| code.state == CodeState::Redeemed) {
            revoke_replayed(services, &code).await?;
        }
    }
    outcome
}

/// Revokes the grant of a replayed code, and counts the replay at once, because a rule opens an incident for
/// it.
async fn revoke_replayed(services: &Services, code: &AuthorizationCode) -> Result<(), Problem> {
    tokens::revoke_grant(services, &code.digest).await?;
    let now = services.clock.now();
    if let Err(problem) =
        metrics::note_code_replay(&services.table, metrics::CODE_FAMILY, now).await
    {
        tracing::warn!(cause = %problem, "replay of an authorization code not counted");
    }
    Ok(())
}

/// Redeems the code in one transaction with its grant, installation, tokens and event.
async fn commit(
    services: &Services,
    code: &AuthorizationCode,
    consistency: ReadConsistency,
) -> Result<NoStore<Json<TokenResponse>>, Problem> {
    let now = services.clock.now();
    let installation = load_installation(services, code, consistency).await?;
    let spec = TokenSpec {
        installation: &installation,
        client_id: &code.client_id,
        scopes: &code.scopes,
        grant_type: "authorization_code",
        session: None,
    };
    let issued = issue(services, &spec, now).await?;
    let grant = Grant::begin(now);
    let (refresh, raw_refresh) = RefreshToken::mint(code, &grant, now);
    let grant = grant.record(&issued.record, &refresh, now);
    let answer = response(&issued, code, &refresh, raw_refresh, now);
    services
        .table
        .write()
        .update(&key::code(&code.digest), code.redemption(&grant, now), Code::InvalidGrant)
        .replace(&installation.record(&issued.record, now), Code::VersionConflict)
        .create(&issued.record, Code::VersionConflict)
        .create(&refresh, Code::VersionConflict)
        .emit(issued.event)
        .answer(answer, now)
        .await
}

/// Loads the installation, if it is active and of the code's generation, and its app is neither suspended nor
/// deleted. The write requires that the installation is unchanged. An app that is suspended meanwhile is
/// rejected at each use of the token, by its [`Stop`](platform::app::Stop), which is read strongly
/// consistently.
async fn load_installation(
    services: &Services,
    code: &AuthorizationCode,
    consistency: ReadConsistency,
) -> Result<Installation, Problem> {
    let installation_key = key::installation(&code.installation_id);
    let app_key = key::app(&code.app_id);
    let mut batch =
        services.table.get_many_with(&[&installation_key, &app_key], consistency).await?;
    let app: CommerceApp = batch.take(&app_key)?.ok_or(Code::InvalidGrant)?;
    let installation: Installation = batch.take(&installation_key)?.ok_or(Code::InvalidGrant)?;
    let in_force = installation.status == InstallationStatus::Active
        && installation.generation == code.generation
        && !matches!(app.status, AppStatus::Suspended | AppStatus::Deleted);
    if in_force { Ok(installation) } else { Err(Code::InvalidGrant.into()) }
}

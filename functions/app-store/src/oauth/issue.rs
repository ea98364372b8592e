//! Issuing access tokens: the JWT, and the record without which it is rejected.

use std::time::Duration;

use core_types::event::Event;
use core_types::id::{MerchantId, SessionId};
use core_types::resource::Resource;
use core_types::scope::{Requested, Scopes};
use crypto::seal;
use crypto::token;
use crypto::token::{APP_TOKEN_SECONDS, Actor, Claims, EMBEDDED_TOKEN_SECONDS};
use platform::installation::AUDIENCE;
use platform::installation::{APP_TOKEN_ISSUED, AppToken, Installation, TokenIssued};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;

/// An access token that is about to be issued.
pub(super) struct Issued {
    /// The JWT, which is returned once and never stored.
    pub(super) jwt: String,
    /// Its record.
    pub(super) record: AppToken,
    /// The event of its issue.
    pub(super) event: Event,
}

/// The input of a token.
pub(super) struct TokenSpec<'a> {
    /// The installation it acts for.
    pub(super) installation: &'a Installation,
    /// The client it is issued to.
    pub(super) client_id: &'a str,
    /// Its scopes.
    pub(super) scopes: &'a Scopes,
    /// `authorization_code`, `refresh_token` or `token_exchange`.
    pub(super) grant_type: &'static str,
    /// For an embedded token: the session that it is bound to, and the session's merchant.
    pub(super) session: Option<(&'a SessionId, &'a MerchantId)>,
}

/// Signs a token and prepares its record.
pub(super) async fn issue(
    services: &Services,
    spec: &TokenSpec<'_>,
    now: Timestamp,
) -> Result<Issued, Problem> {
    let installation = spec.installation;
    let seconds = if spec.session.is_some() { EMBEDDED_TOKEN_SECONDS } else { APP_TOKEN_SECONDS };
    let lifetime = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    // Whole seconds, as in the JWT, so that record and claims expire together.
    let issued_at = Timestamp::from_millis(now.seconds().saturating_mul(1_000));
    let expires_at = issued_at.plus(lifetime);
    let claims = Claims {
        iss: services.config.base_url.clone(),
        sub: installation.id.to_string(),
        aud: AUDIENCE.to_owned(),
        client_id: spec.client_id.to_owned(),
        app_id: installation.app_id.to_string(),
        installation_id: installation.id.to_string(),
        store_id: installation.store_id.to_string(),
        scope: spec.scopes.to_string(),
        iat: issued_at.seconds(),
        nbf: issued_at.seconds(),
        exp: expires_at.seconds(),
        jti: seal::random_secret(),
        gty: spec.grant_type.to_owned(),
        sid: spec.session.map(|(session, _)| session.to_string()),
        act: spec.session.map(|(_, merchant)| Actor { sub: merchant.to_string() }),
    };
    let keys = services.secrets.signing_keys().await?;
    let jwt = token::sign(&keys, &claims).map_err(Problem::internal)?;
    let record = AppToken {
        digest: seal::digest(&jwt),
        installation_id: installation.id.clone(),
        session_id: spec.session.map(|(session, _)| session.clone()),
        merchant_id: spec.session.map(|(_, merchant)| merchant.clone()),
        scopes: spec.scopes.clone(),
        generation: installation.generation,
        revoked: false,
        expires_at,
        created_at: now,
        version: 1,
    };
    let data = TokenIssued {
        installation_id: installation.id.clone(),
        app_id: installation.app_id.clone(),
        store_id: installation.store_id.clone(),
        grant_type: spec.grant_type.to_owned(),
        scopes: spec.scopes.to_vec(),
        expires_at,
    };
    let event = Event::new(&APP_TOKEN_ISSUED, installation.event_subject(), &data, now);
    Ok(Issued { jwt, record, event })
}

/// The requested scopes, which must be within the granted ones; all of those by default.
pub(super) fn narrowed(granted: &Scopes, requested: Option<&Requested>) -> Result<Scopes, Problem> {
    let Some(requested) = requested else { return Ok(granted.clone()) };
    let scopes = requested.scopes()?;
    if granted.cover_all(&scopes) { Ok(scopes) } else { Err(Code::InvalidScope.into()) }
}

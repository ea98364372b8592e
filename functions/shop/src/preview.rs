//! Previews of a theme's draft, by the token of a session.

use identity::store::Store;
use primitives::problem::Problem;
use services::Services;
use themes::preview::Token;
use themes::session::PreviewSession;

/// The session that a token opens at a store.
///
/// # Errors
/// `invalid_or_expired_token`, also for another store's; `preview_expired`; 503.
pub(crate) async fn session(
    services: &Services,
    store: &Store,
    token: &str,
) -> Result<PreviewSession, Problem> {
    let keys = services.secrets.keys().await?;
    let token = Token::verify(token, &keys.previews, &store.id, services.clock.now())?;
    PreviewSession::of(services, &token).await
}

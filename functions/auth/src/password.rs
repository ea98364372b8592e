//! Passwords: reset by mail, updated by link or session.

use axum::extract::State;
use callers::PasswordChanger;
use gateway::app::App;
use gateway::caller::Public;
use gateway::idempotency::answering;
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, Raw, Ruled};
use identity::authentication::password::{PasswordUpdated, UpdateRequest};
use identity::authentication::{LinkSent, MailRequest, password};
use identity::merchant::{Merchant, Platform};
use identity::notifications;
use primitives::problem::Problem;

/// `POST /v1/auth/password/reset` (`requestPasswordReset`): Request a password reset mail.
///
/// Mails a link that sets a new password.
///
/// The response and the work are the same for an address without an account: a link is written that no
/// account accepts.
///
/// # Errors
/// `too_many_attempts`.
pub(crate) async fn reset(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<MailRequest>,
) -> Result<Accepted<LinkSent>, Problem> {
    let content =
        |to: &_, token: &str| notifications::password_reset(to, token, &app.config.base_url);
    let (at, network) = ((&Platform, &input.email), inbound.client_prefix());
    let completion = answering(Accepted::<LinkSent>::new);
    password::reset::<Merchant, _>(&app, at, &network, content, &completion).await
}

/// `POST /v1/auth/password/update` (`updatePassword`): Update a password by reset token or session.
///
/// Other sessions of the account end.
///
/// # Errors
/// `invalid_or_expired_token`; `unauthenticated` with neither; `invalid_token`, `account_disabled`,
/// `origin_not_allowed`; `invalid_credentials`, `invalid_or_expired_code`; `too_many_attempts`.
pub(crate) async fn update(
    caller: PasswordChanger<callers::Merchant>,
    State(app): State<App>,
    Raw(inbound): Raw,
    Ruled(Body(input)): Ruled<Body<UpdateRequest>>,
) -> Result<Json<PasswordUpdated>, Problem> {
    let (network, completion) = (inbound.client_prefix(), answering(Json::<PasswordUpdated>::new));
    match caller {
        PasswordChanger::Link(_) => {
            password::by_link::<Merchant, _>(&app, &network, &input, &completion).await
        }
        PasswordChanger::Session(owner) => {
            let session = (&owner.account, &owner.session);
            password::by_session(&app, &network, &input, session, &completion).await
        }
    }
}

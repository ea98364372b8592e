//! A customer's password: reset by mail, updated by link or session.

use axum::extract::{FromRequestParts, State};
use callers::PasswordChanger;
use gateway::app::App;
use gateway::idempotency::answering;
use gateway::reply::{Accepted, Json};
use gateway::request::{Argument, Body, PasswordPage, Raw, Ruled};
use http::request::Parts;
use identity::authentication::password::{PasswordUpdated, UpdateRequest};
use identity::authentication::{LinkSent, MailRequest, password};
use identity::customer::Customer;
use identity::notifications::customer as notifications;
use identity::notifications::customer::ResetAt;
use primitives::problem::Problem;

use crate::store_in_body::{StoreBody, StoreInBody};

/// The page that the mail leads to, of a request that a shop sends for its visitor.
pub(crate) struct ResetPage(Option<PasswordPage>);

impl Argument for ResetPage {}

impl<S: Sync> FromRequestParts<S> for ResetPage {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(parts.extensions.get::<PasswordPage>().cloned()))
    }
}

/// `POST /v1/storefront/customer/password/reset` (`requestCustomerPasswordReset`):
/// Request a password reset mail for a customer.
///
/// Mails a link that sets a new password.
///
/// The response and the work are the same for an address without an account.
///
/// # Errors
/// `store_required`, `storefront_not_found`, `too_many_attempts`.
pub(crate) async fn reset(
    named: StoreInBody,
    State(app): State<App>,
    Raw(inbound): Raw,
    ResetPage(page): ResetPage,
    StoreBody(input): StoreBody<MailRequest>,
) -> Result<Accepted<LinkSent>, Problem> {
    let store_page = named.store.password_page(&app.config);
    let at = match &page {
        Some(PasswordPage(page)) => ResetAt::Shop(page),
        None => ResetAt::Api(&store_page),
    };
    let content = |to: &_, token: &str| notifications::reset(to, token, at);
    let (at, network) = ((&named.store.id, &input.email), inbound.client_prefix());
    let completion = answering(Accepted::<LinkSent>::new);
    password::reset::<Customer, _>(&app, at, &network, content, &completion).await
}

/// `POST /v1/storefront/customer/password/update` (`updateCustomerPassword`): Update a customer's password.
///
/// Sets a new password, by reset token or session.
///
/// The first password of an account needs a session and a one-time code.
///
/// # Errors
/// `invalid_or_expired_token`; `unauthenticated` with neither; `invalid_token`, `account_disabled`,
/// `storefront_not_found`; `invalid_credentials`, `invalid_or_expired_code`; `too_many_attempts`.
pub(crate) async fn update(
    caller: PasswordChanger<callers::Customer>,
    State(app): State<App>,
    Raw(inbound): Raw,
    Ruled(Body(input)): Ruled<Body<UpdateRequest>>,
) -> Result<Json<PasswordUpdated>, Problem> {
    let (network, completion) = (inbound.client_prefix(), answering(Json::<PasswordUpdated>::new));
    match caller {
        PasswordChanger::Link(_) => {
            password::by_link::<Customer, _>(&app, &network, &input, &completion).await
        }
        PasswordChanger::Session(owner) => {
            let session = (&owner.account, &owner.session);
            password::by_session(&app, &network, &input, session, &completion).await
        }
    }
}

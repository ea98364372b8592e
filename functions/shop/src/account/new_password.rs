//! A new password by a mailed link. The link's token moves to a cookie, so that it is in no history, referrer or picture, and
//! no page of a theme has it.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};
use identity::authentication::follow as follow_link;
use identity::challenge::Purpose;
use identity::customer::Customer;
use primitives::problem::Code;
use serde_json::json;
use shop_theme::Page;

use super::done::Done;
use super::errors::{CUSTOMER_FIELDS, messages, posted};
use super::session::{CUSTOMER, input, password};
use super::sign_in;
use super::themed::{self, Themed};
use super::view::{self, NewPassword, Recovery};
use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Navigation;
use crate::values::with;
use crate::visit::{CART, RESET, SESSION, Visit};

/// The pages by which a password is set: a new one, or the first of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reset,
    Activation,
}

impl Kind {
    const fn path(self) -> &'static str {
        match self {
            Self::Reset => "/account/reset",
            Self::Activation => "/account/activate",
        }
    }

    const fn page(self) -> Page {
        match self {
            Self::Reset => Page::ResetPassword,
            Self::Activation => Page::ActivateAccount,
        }
    }

    const fn form(self) -> &'static str {
        match self {
            Self::Reset => "reset_customer_password",
            Self::Activation => "activate_customer_password",
        }
    }
}

/// The type of a theme's form that asks for a link.
const RECOVERY: &str = "recover_customer_password";

/// `GET /account/recover`: a theme has the form on its sign-in page.
pub(super) async fn show_recovery(_: Navigation, visit: Visit) -> Response {
    match themed::theme(&visit, &Page::Login).await {
        Ok(Some(_)) => Redirect::to("/account/login#recover").into_response(),
        Ok(None) => Recovery { visit: &visit, email: "", error: None, is_sent: false }
            .answer(StatusCode::OK),
        Err(response) => response,
    }
}

/// `POST /account/recover`: mails a link. It says the same for an address without an account.
pub(super) async fn recover(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let email = input(&sent, "email");
    let body = with(json!({ "email": email }), "subdomain", visit.store().subdomain.as_str());
    let page = format!("{}{}", visit.origin, Kind::Reset.path());
    let call = visit.call_at(Method::POST, format!("{CUSTOMER}/password/reset")).body(body);
    let (form, error, status) = match visit.send(call.password_page(page)).await {
        Ok(_) => (posted(RECOVERY, &sent, Vec::new()), None, StatusCode::OK),
        Err(fault) if fault.status.is_server_error() => return fault.into_response(),
        Err(fault) => {
            let error = fault.sentences().join(" ");
            let errors = vec![("form".to_owned(), error.clone())];
            (posted(RECOVERY, &sent, errors), Some(error), view::status_of(&fault))
        }
    };
    match themed::theme(&visit, &Page::Login).await {
        Ok(Some(_)) => {
            let shown = (error.as_deref(), status);
            sign_in::page(&visit, &Fields::default(), Some(form), shown).await
        }
        Ok(None) => {
            let is_sent = error.is_none();
            let error = error.as_deref();
            Recovery { visit: &visit, email, error, is_sent }.answer(status)
        }
        Err(response) => response,
    }
}

/// `GET /account/reset/{token}`.
pub(super) async fn follow_reset(
    _: Navigation,
    Path(token): Path<String>,
    visit: Visit,
) -> Response {
    follow(&visit, Kind::Reset, &token)
}

/// `GET /account/activate/{token}`.
pub(super) async fn follow_activation(
    _: Navigation,
    Path(token): Path<String>,
    visit: Visit,
) -> Response {
    follow(&visit, Kind::Activation, &token)
}

fn follow(visit: &Visit, kind: Kind, token: &str) -> Response {
    // A cookie has no other letters than a token has.
    let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let token = if token.chars().all(is_token) { token } else { "" };
    visit.with_cookie(Redirect::to(kind.path()).into_response(), RESET, token)
}

/// `GET /account/reset`.
pub(super) async fn reset(_: Navigation, visit: Visit) -> Response {
    open(&visit, Kind::Reset).await
}

/// `GET /account/activate`.
pub(super) async fn activate(_: Navigation, visit: Visit) -> Response {
    open(&visit, Kind::Activation).await
}

/// The form, unless the link is over: it is read, and not used up.
async fn open(visit: &Visit, kind: Kind) -> Response {
    let Some(token) = visit.cookie(RESET) else { return over(visit).await };
    if let Err(fault) = visit.charge().await {
        return fault.into_response();
    }
    match follow_link::<Customer>(&visit.shops.app, Purpose::Reset, token).await {
        Err(problem) if problem.code == Code::InvalidOrExpiredToken => {
            visit.with_cookie(over(visit).await, RESET, "")
        }
        // What cannot be read now is told when the password is set.
        Ok(_) | Err(_) => page(visit, kind, None).await,
    }
}

async fn page(visit: &Visit, kind: Kind, fault: Option<&Fault>) -> Response {
    if visit.cookie(RESET).is_none() {
        return over(visit).await;
    }
    let status = fault.map_or(StatusCode::OK, view::status_of);
    let theme = match themed::theme(visit, &kind.page()).await {
        Ok(theme) => theme,
        Err(response) => return response,
    };
    if let Some(theme) = theme {
        let errors = fault.map(|fault| messages(fault, CUSTOMER_FIELDS, visit.words()));
        let form = errors.map(|errors| posted(kind.form(), &Fields::default(), errors));
        let page = Themed::new(visit, theme, kind.page()).form(form);
        if let Some(response) = page.answer(status).await {
            return response;
        }
    }
    let errors = fault.map(Fault::sentences).unwrap_or_default();
    NewPassword { visit, path: kind.path(), errors: &errors }.answer(status)
}

/// The sign-in page, which says that a link is over.
async fn over(visit: &Visit) -> Response {
    let error = visit.words().errors.link_over;
    let errors = vec![("form".to_owned(), error.to_owned())];
    let form = posted(RECOVERY, &Fields::default(), errors);
    let shown = (Some(error), StatusCode::UNPROCESSABLE_ENTITY);
    sign_in::page(visit, &Fields::default(), Some(form), shown).await
}

/// `POST /account/reset`.
pub(super) async fn set(_: Navigation, visit: Visit, sent: Fields) -> Response {
    save(&visit, Kind::Reset, &sent).await
}

/// `POST /account/activate`.
pub(super) async fn set_first(_: Navigation, visit: Visit, sent: Fields) -> Response {
    if sent.has("decline") {
        return visit.with_cookie(Redirect::to("/").into_response(), RESET, "");
    }
    save(&visit, Kind::Activation, &sent).await
}

async fn save(visit: &Visit, kind: Kind, sent: &Fields) -> Response {
    let Some(token) = visit.cookie(RESET) else { return over(visit).await };
    let wanted = password(sent, "password");
    if wanted != password(sent, "password_confirmation") {
        return page(visit, kind, Some(&mismatch().in_words(visit.words()))).await;
    }
    let body = json!({"token": token, "new_password": wanted});
    // A session of somebody else in this browser has nothing to do with the link.
    let call = visit.call_of_nobody(Method::POST, format!("{CUSTOMER}/password/update")).body(body);
    match visit.send(call).await {
        Ok(_) => {
            let mut response = Redirect::to(&Done::PasswordReset.page()).into_response();
            // All sessions have ended with the former password, and so does what this browser's session has opened.
            for over in [RESET, SESSION, CART].into_iter().filter(|name| is_over(visit, name)) {
                response = visit.with_cookie(response, over, "");
            }
            response
        }
        Err(fault) if fault.is("invalid_or_expired_token") => {
            visit.with_cookie(over(visit).await, RESET, "")
        }
        Err(fault) if fault.status == StatusCode::UNPROCESSABLE_ENTITY => {
            page(visit, kind, Some(&fault)).await
        }
        Err(fault) => fault.into_response(),
    }
}

/// Whether a cookie has no meaning once all sessions have ended. A guest's cart is opened by its own token.
fn is_over(visit: &Visit, name: &str) -> bool {
    name != CART || visit.cart().is_some_and(|cart| cart.token.is_none())
}

/// The rejection of a password that was typed in two ways.
fn mismatch() -> Fault {
    let pointer = "/password_confirmation";
    let problem = json!({"errors": [{"pointer": pointer, "code": "does_not_match"}]});
    let fields = vec![(pointer.to_owned(), String::new())];
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    Fault { fields, problem, ..Fault::of(status, "validation_failed", "") }
}

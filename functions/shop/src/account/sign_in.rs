//! Sign-in by a password or a mailed code, and sign-out.

use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use shop_theme::{Page, Posted};

use super::done::Done;
use super::errors::{CUSTOMER_FIELDS, messages, posted};
use super::session::{CUSTOMER, code, input, password, signed_out, target};
use super::themed::{self, Themed};
use super::view::{self, AskForCode, CodePage, SignIn};
use crate::fault::Fault;
use crate::form::{Fields, Query};
use crate::frame::Navigation;
use crate::paths::segment;
use crate::values::text;
use crate::visit::{CART, Opened, SESSION, Visit};

/// `GET /account/login`.
pub(super) async fn show(_: Navigation, Query(sent): Query, visit: Visit) -> Response {
    page(&visit, &sent, None, (None, StatusCode::OK)).await
}

/// The sign-in page, of the theme or the platform. A theme's page has the outcome of a form; the platform's, what is wrong.
pub(super) async fn page(
    visit: &Visit,
    sent: &Fields,
    form: Option<Posted>,
    (error, status): (Option<&str>, StatusCode),
) -> Response {
    let target = target(sent);
    let done = Done::before(visit, sent).map(|done| done.said(visit.words()));
    let theme = match themed::theme(visit, &Page::Login).await {
        Ok(theme) => theme,
        Err(response) => return response,
    };
    if let Some(theme) = theme {
        let back: String = form_urlencoded::byte_serialize(target.as_bytes()).collect();
        let to_code = format!("/account/login/code?return_to={back}");
        let below = themed::link(&to_code, visit.words().accounts.code_below);
        let page = Themed::new(visit, theme, Page::Login).form(form).target(&target).below(&below);
        let page = page.done(done);
        if let Some(response) = page.answer(status).await {
            return response;
        }
    }
    SignIn { visit, email: input(sent, "email"), target: &target, error, done }.answer(status)
}

/// `POST /account/login`: signs in by a password, or goes on as a guest.
pub(super) async fn submit(_: Navigation, visit: Visit, sent: Fields) -> Response {
    if sent.text("form_type") == Some("guest_login") {
        let to = sent.path("checkout_url").or_else(|| sent.path("return_to"));
        return Redirect::to(to.unwrap_or("/checkout")).into_response();
    }
    let body = json!({"email": input(&sent, "email"), "password": password(&sent, "password")});
    match visit.at_store("/login", body).await {
        Ok(session) => begin(&visit, &session, &target(&sent)).await,
        Err(fault) => rejected(&visit, &sent, &fault).await,
    }
}

/// The sign-in page again, with the reason. What a shopper cannot mend is a page of its own.
async fn rejected(visit: &Visit, sent: &Fields, fault: &Fault) -> Response {
    if fault.status.is_server_error() {
        return fault.clone().into_response();
    }
    let error = fault.sentences().join(" ");
    let form = posted("customer_login", sent, messages(fault, CUSTOMER_FIELDS, visit.words()));
    let shown = (Some(error.as_str()), view::status_of(fault));
    fault.with_retry(page(visit, sent, Some(form), shown).await)
}

/// Begins the session of this browser. The guest's cart becomes the customer's.
pub(super) async fn begin(visit: &Visit, session: &Value, target: &str) -> Response {
    let token = text(session, "access_token");
    let mut response = Redirect::to(target).into_response();
    if let Some(guests) = visit.cart().filter(|cart| cart.token.is_some()) {
        let path = format!("/carts/{}/merge", segment(&guests.id));
        let call = visit
            .call(Method::POST, &path)
            .header("authorization", Some(format!("Bearer {token}")))
            .header("x-service-cart-token", guests.token.clone());
        let own = visit.send(call).await.map(|answer| text(&answer.json(), "id").to_owned());
        let own = Opened { id: own.unwrap_or_default(), token: None };
        response = visit.with_cookie(response, CART, &own.written());
    }
    visit.with_cookie(response, SESSION, token)
}

/// `GET /account/login/code`: where a code is asked for. It is the platform's page also where the theme has a sign-in page:
/// themes have no form for it.
pub(super) async fn show_code(_: Navigation, Query(sent): Query, visit: Visit) -> Response {
    AskForCode { visit: &visit, email: "", target: &target(&sent), error: None }
        .answer(StatusCode::OK)
}

/// `POST /account/login/code`.
pub(super) async fn mail_code(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let (email, target) = (input(&sent, "email"), target(&sent));
    match visit.at_store("/login/otp", json!({ "email": email })).await {
        Ok(code) => {
            let challenge = text(&code, "challenge_id");
            CodePage { visit: &visit, challenge, target: &target, error: None }
                .answer(StatusCode::OK)
        }
        Err(fault) if fault.status.is_server_error() => fault.into_response(),
        Err(fault) => {
            let error = fault.sentences().join(" ");
            let page = AskForCode { visit: &visit, email, target: &target, error: Some(&error) };
            fault.with_retry(page.answer(view::status_of(&fault)))
        }
    }
}

/// `POST /account/login/verify`.
pub(super) async fn verify(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let (challenge, target) = (input(&sent, "challenge_id"), target(&sent));
    let body = json!({"challenge_id": challenge, "code": code(&sent)});
    let call = visit.call_at(Method::POST, format!("{CUSTOMER}/login/otp/verify")).body(body);
    match visit.send(call).await {
        Ok(answer) => begin(&visit, &answer.json(), &target).await,
        Err(fault) if fault.status.is_client_error() => {
            let words = visit.words();
            let is_early = fault.retry_after.is_some();
            let error = if is_early { fault.said(words) } else { words.errors.wrong_code };
            let page = CodePage { visit: &visit, challenge, target: &target, error: Some(error) };
            page.answer(StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(fault) => fault.into_response(),
    }
}

/// Ends the session: by a form everywhere, by a link in this browser. A link of another site only leads to the account.
pub(super) async fn sign_out(method: Method, visit: Visit) -> Response {
    if visit.is_from_elsewhere {
        return Redirect::to("/account").into_response();
    }
    if method == Method::POST && visit.has_session() {
        let call = visit.call_at(Method::POST, format!("{CUSTOMER}/logout")).body(json!({}));
        let _ = visit.send(call).await;
    }
    signed_out(&visit, "/")
}

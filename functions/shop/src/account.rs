//! A customer's account: sign-in by password or mailed code, orders, addresses, and what becomes of their data.

mod addresses;
mod session;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Navigation;
use crate::paths::segment;
use crate::shops::Shops;
use crate::values::{text, with};
use crate::visit::{CART, Opened, SESSION, Visit};
use session::{CUSTOMER, target, to_sign_in};
use view::{CodePage, SignIn};

/// The routes.
pub(crate) fn routes() -> Router<Arc<Shops>> {
    Router::new()
        .route("/account", get(show).post(register))
        .route("/account/recover", post(mail_code))
        .route("/account/login", get(show_sign_in).post(sign_in))
        .route("/account/login/code", post(mail_code))
        .route("/account/login/verify", post(verify))
        .route("/account/register", get(show_registration).post(register))
        .route("/account/logout", get(sign_out).post(sign_out))
        .route("/account/orders/{id}", get(order))
        .route("/account/addresses", get(addresses::show).post(addresses::add))
        .route("/account/addresses/{id}", post(addresses::change))
        .route("/account/delete", post(delete))
}

async fn show(_: Navigation, visit: Visit) -> Result<Response, Response> {
    let (me, orders) = tokio::join!(visit.own("/me"), visit.own("/orders?limit=50"));
    Ok(view::account(&visit, &me?, &orders?))
}

/// `GET /account/orders/{id}`: the place of an order in the account.
async fn order(Path(id): Path<String>) -> Redirect {
    Redirect::to(&format!("/orders/{}", segment(&id)))
}

async fn show_sign_in(_: Navigation, RawQuery(query): RawQuery, visit: Visit) -> Response {
    let sent = Fields::of_query(query.unwrap_or_default().as_bytes());
    let target = target(&sent);
    SignIn { visit: &visit, email: "", target: &target, error: None }.answer(StatusCode::OK)
}

/// An input of the sign-in, by its own name or by that of a theme's form.
fn input<'a>(sent: &'a Fields, name: &str) -> &'a str {
    sent.text(name).or_else(|| sent.text(&format!("customer[{name}]"))).unwrap_or_default()
}

async fn sign_in(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let (email, target) = (input(&sent, "email"), target(&sent));
    let password = sent.get("password").or_else(|| sent.get("customer[password]"));
    let body = json!({"email": email, "password": password.unwrap_or_default()});
    match visit.at_store("/login", body).await {
        Ok(session) => signed_in(&visit, &session, &target).await,
        Err(fault) => rejected_sign_in(&visit, email, &target, &fault),
    }
}

/// The sign-in page again, with the reason. What a shopper cannot mend is a page of its own.
fn rejected_sign_in(visit: &Visit, email: &str, target: &str, fault: &Fault) -> Response {
    if fault.status.is_server_error() {
        return fault.clone().into_response();
    }
    let error = match fault.code.as_str() {
        "invalid_credentials" => "No account has this address and password.".to_owned(),
        _ => fault.sentences().join(" "),
    };
    let page = SignIn { visit, email, target, error: Some(&error) };
    let mut response = page.answer(StatusCode::UNPROCESSABLE_ENTITY);
    if let Some(after) = &fault.retry_after {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        response.headers_mut().insert(http::header::RETRY_AFTER, after.clone());
    }
    response
}

/// Begins the session of this browser. The guest's cart becomes the customer's.
async fn signed_in(visit: &Visit, session: &Value, target: &str) -> Response {
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

async fn mail_code(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let (email, target) = (input(&sent, "email"), target(&sent));
    match visit.at_store("/login/otp", json!({ "email": email })).await {
        Ok(code) => {
            let challenge = text(&code, "challenge_id");
            CodePage { visit: &visit, challenge, target: &target, error: None }
                .answer(StatusCode::OK)
        }
        Err(fault) => rejected_sign_in(&visit, email, &target, &fault),
    }
}

async fn verify(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let (challenge, target) = (input(&sent, "challenge_id"), target(&sent));
    let body = json!({"challenge_id": challenge, "code": input(&sent, "code")});
    let call = visit.call_at(Method::POST, format!("{CUSTOMER}/login/otp/verify")).body(body);
    match visit.send(call).await {
        Ok(answer) => signed_in(&visit, &answer.json(), &target).await,
        Err(fault) if fault.status.is_client_error() => {
            let error = "This code is not right, or it is over.";
            let error = if fault.retry_after.is_some() { fault.detail.as_str() } else { error };
            let page = CodePage { visit: &visit, challenge, target: &target, error: Some(error) };
            page.answer(StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(fault) => fault.into_response(),
    }
}

async fn show_registration(_: Navigation, RawQuery(query): RawQuery, visit: Visit) -> Response {
    let sent = Fields::of_query(query.unwrap_or_default().as_bytes());
    view::registration(&visit, &sent, &[], StatusCode::OK)
}

async fn register(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let names = [input(&sent, "first_name"), input(&sent, "last_name")].join(" ");
    let password = sent.get("password").or_else(|| sent.get("customer[password]"));
    let mut body = json!({
        "email": input(&sent, "email"), "password": password.unwrap_or_default(),
        "accepts_marketing": sent.has("accepts_marketing") || sent.has("customer[accepts_marketing]"),
    });
    if !names.trim().is_empty() {
        body = with(body, "name", names.trim());
    }
    match visit.at_store("/register", body).await {
        Ok(code) => {
            let (challenge, target) = (text(&code, "challenge_id"), target(&sent));
            CodePage { visit: &visit, challenge, target: &target, error: None }
                .answer(StatusCode::OK)
        }
        Err(fault) if fault.status.is_client_error() => {
            let sentences = fault.sentences();
            view::registration(&visit, &sent, &sentences, StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(fault) => fault.into_response(),
    }
}

/// Ends the session: by a form everywhere, by a link in this browser. A link of another site only leads to the account.
async fn sign_out(method: Method, visit: Visit) -> Response {
    if visit.is_from_elsewhere {
        return Redirect::to("/account").into_response();
    }
    if method == Method::POST && visit.has_session() {
        let call = visit.call_at(Method::POST, format!("{CUSTOMER}/logout")).body(json!({}));
        let _ = visit.send(call).await;
    }
    let response = visit.with_cookie(Redirect::to("/").into_response(), SESSION, "");
    visit.with_cookie(response, CART, "")
}

/// Deletes the account, after its password or the word in the form.
async fn delete(_: Navigation, visit: Visit, sent: Fields) -> Response {
    if !visit.has_session() {
        return to_sign_in(&visit);
    }
    let mut body = json!({});
    if let Some(password) = sent.get("password").filter(|text| !text.is_empty()) {
        body = with(body, "password", password);
    }
    let call = visit.call_at(Method::DELETE, format!("{CUSTOMER}/me")).body(body);
    match visit.send(call).await {
        Ok(_) => visit.with_cookie(Redirect::to("/").into_response(), SESSION, ""),
        Err(fault) => fault.into_response(),
    }
}

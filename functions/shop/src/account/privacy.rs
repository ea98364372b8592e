//! What becomes of a customer's data: a copy of it, and its end. These pages are the platform's.

use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::done::Done;
use super::session::{CUSTOMER, code, input, password, signed_out, to_sign_in};
use super::view::{self, Privacy};
use crate::form::Fields;
use crate::frame::Navigation;
use crate::values::{text, with};
use crate::visit::Visit;
use crate::words::fill;

/// `GET /account/privacy`.
pub(super) async fn show(_: Navigation, visit: Visit) -> Response {
    page(&visit, Privacy::default(), StatusCode::OK).await
}

async fn page(visit: &Visit, privacy: Privacy<'_>, status: StatusCode) -> Response {
    match visit.own("/me").await {
        Ok(me) => privacy.answer(visit, &me, status),
        Err(response) => response,
    }
}

/// `POST /account/data-request`: asks the store for a copy of the customer's data.
pub(super) async fn request_copy(_: Navigation, visit: Visit) -> Response {
    if !visit.has_session() {
        return to_sign_in(&visit);
    }
    let call = visit.call_at(Method::POST, format!("{CUSTOMER}/me/data-request")).body(json!({}));
    match visit.send(call).await {
        Ok(answer) => {
            let answer = answer.json();
            let words = visit.words();
            let date = words.date(text(&answer, "requested_at"), &visit.store().timezone);
            let named = [("store", visit.store().name.as_str()), ("date", date.as_str())];
            let notice = fill(words.accounts.copy_requested, &named);
            page(&visit, Privacy { notice: Some(&notice), ..Privacy::default() }, StatusCode::OK)
                .await
        }
        Err(fault) if fault.is("export_limit") => {
            let error = Some(visit.words().accounts.copy_busy);
            let privacy = Privacy { error, ..Privacy::default() };
            page(&visit, privacy, StatusCode::CONFLICT).await
        }
        Err(fault) if fault.status == StatusCode::UNAUTHORIZED => to_sign_in(&visit),
        Err(fault) => fault.into_response(),
    }
}

/// `POST /account/delete`: deletes the account, after its password, or a mailed code where it has none.
pub(super) async fn delete(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let me = match visit.own("/me").await {
        Ok(me) => me,
        Err(response) => return response,
    };
    let has_password = me.get("has_password").and_then(Value::as_bool).unwrap_or(false);
    let challenge = input(&sent, "challenge_id");
    if !has_password && challenge.is_empty() {
        return ask_for_code(&visit, &me).await;
    }
    let body = if has_password {
        with(json!({}), "current_password", password(&sent, "password"))
    } else {
        json!({"one_time_code": {"challenge_id": challenge, "code": code(&sent)}})
    };
    let call = visit.call_at(Method::DELETE, format!("{CUSTOMER}/me")).body(body);
    match visit.send(call).await {
        Ok(_) => signed_out(&visit, &Done::Deleted.page()),
        Err(fault) if fault.status.is_client_error() => {
            let words = visit.words();
            let error = match fault.code.as_str() {
                "invalid_credentials" => words.errors.wrong_password,
                _ => fault.said(words),
            };
            let is_code = fault.is("invalid_or_expired_code") && !challenge.is_empty();
            let challenge = Some(challenge).filter(|_| is_code);
            let privacy = Privacy { error: Some(error), challenge, ..Privacy::default() };
            fault.with_retry(privacy.answer(&visit, &me, view::status_of(&fault)))
        }
        Err(fault) => fault.into_response(),
    }
}

/// Mails a code to the customer, and asks for it.
async fn ask_for_code(visit: &Visit, me: &Value) -> Response {
    match visit.at_store("/login/otp", json!({ "email": text(me, "email") })).await {
        Ok(code) => {
            let challenge = Some(text(&code, "challenge_id"));
            Privacy { challenge, ..Privacy::default() }.answer(visit, me, StatusCode::OK)
        }
        Err(fault) => fault.into_response(),
    }
}

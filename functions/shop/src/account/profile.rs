//! What customers change of their own account: name and telephone number, e-mail address, password. The page is the
//! platform's: themes have no template for it.

mod view;

use axum::response::{IntoResponse, Redirect, Response};
use core_types::fields::Email;
use http::{Method, StatusCode};
use primitives::fields::FromText;
use serde_json::{Value, json};

use super::done::{Done, PROFILE};
use super::session::{CUSTOMER, code, password, to_sign_in};
use super::sign_in::begin;
use super::view::status_of;
use crate::fault::Fault;
use crate::form::{Fields, Query};
use crate::frame::Navigation;
use crate::values::{text, with};
use crate::visit::Visit;
use view::{Asked, Profile};

/// `GET /account/profile`.
pub(super) async fn show(_: Navigation, Query(sent): Query, visit: Visit) -> Response {
    let done = Done::before(&visit, &sent);
    page(&visit, Profile { done, ..Profile::default() }, StatusCode::OK).await
}

async fn page(visit: &Visit, profile: Profile<'_>, status: StatusCode) -> Response {
    match visit.own("/me").await {
        Ok(me) => profile.answer(visit, &me, status),
        Err(response) => response,
    }
}

/// `POST /account/profile`: what the form says. All forms have one address, to which a sign-in in between leads back.
pub(super) async fn change(_: Navigation, visit: Visit, sent: Fields) -> Response {
    if !visit.has_session() {
        return to_sign_in(&visit);
    }
    let outcome = match sent.text("act") {
        Some("email") => change_email(&visit, &sent).await,
        Some("confirm") => confirm_email(&visit, &sent).await,
        Some("password") => set_password(&visit, &sent).await,
        _ => save_details(&visit, &sent).await,
    };
    outcome.unwrap_or_else(|response| response)
}

async fn save_details(visit: &Visit, sent: &Fields) -> Result<Response, Response> {
    let or_null = |name| sent.text(name).map_or(Value::Null, Value::from);
    let accepts = sent.has("accepts_marketing");
    let body =
        json!({"name": or_null("name"), "phone": or_null("phone"), "accepts_marketing": accepts});
    match visit.send(visit.call_at(Method::PATCH, format!("{CUSTOMER}/me")).body(body)).await {
        Ok(_) => Ok(Redirect::to(&Done::DetailsSaved.page()).into_response()),
        Err(fault) => {
            rejected(visit, &fault, Profile { details: Some(sent), ..Profile::default() }).await
        }
    }
}

/// Asks for a code at the new address. The change is proven by the password, or by a code at the present address.
async fn change_email(visit: &Visit, sent: &Fields) -> Result<Response, Response> {
    let me = visit.own("/me").await?;
    let (email, present) = (sent.text("email").unwrap_or_default(), text(&me, "email"));
    if email == present {
        return Ok(Redirect::to(PROFILE).into_response());
    }
    let again = Profile { asked: Asked::NewEmail { email }, ..Profile::default() };
    if Email::from_text(email).is_err() {
        // A code that is mailed first would be in vain.
        let errors = vec![visit.words().errors.email];
        let again = Profile { errors, ..again };
        return Ok(again.answer(visit, &me, StatusCode::UNPROCESSABLE_ENTITY));
    }
    let proof = match proof(sent, &me) {
        // An address that differs in case alone needs none.
        _ if email.eq_ignore_ascii_case(present) => json!({}),
        Some(proof) => proof,
        None => {
            return match mailed_code(visit, &me).await {
                Ok(challenge) => {
                    let asked = Asked::ProofForEmail { challenge: &challenge, email };
                    let page = Profile { asked, ..Profile::default() };
                    Ok(page.answer(visit, &me, StatusCode::OK))
                }
                Err(fault) => rejected(visit, &fault, again).await,
            };
        }
    };
    let body = with(proof, "email", email);
    match visit.send(visit.call_at(Method::PATCH, format!("{CUSTOMER}/me")).body(body)).await {
        Ok(answer) => match answer.json().get("email_change") {
            Some(change) => {
                let challenge = text(change, "challenge_id");
                let asked = Asked::CodeOfNewEmail { challenge, email };
                let page = Profile { asked, ..Profile::default() };
                Ok(page.answer(visit, &me, StatusCode::OK))
            }
            None => Ok(Redirect::to(&Done::EmailChanged.page()).into_response()),
        },
        Err(fault) => {
            let asked = match asked_again(&fault, sent).filter(|_| fault.fields.is_empty()) {
                Some(challenge) => Asked::ProofForEmail { challenge, email },
                None => Asked::NewEmail { email },
            };
            rejected(visit, &fault, Profile { asked, ..Profile::default() }).await
        }
    }
}

/// Changes the address by the code that was mailed there. A new session begins: the change ends all others.
async fn confirm_email(visit: &Visit, sent: &Fields) -> Result<Response, Response> {
    let challenge = sent.text("challenge_id").unwrap_or_default();
    let email = sent.text("email").unwrap_or_default();
    let body = json!({"challenge_id": challenge, "code": code(sent)});
    let call = visit.call_at(Method::POST, format!("{CUSTOMER}/login/otp/verify")).body(body);
    match visit.send(call).await {
        Ok(session) => Ok(begin(visit, &session.json(), &Done::EmailChanged.page()).await),
        Err(fault) => {
            let asked = match asked_again(&fault, sent) {
                Some(challenge) => Asked::CodeOfNewEmail { challenge, email },
                None => Asked::NewEmail { email },
            };
            rejected(visit, &fault, Profile { asked, ..Profile::default() }).await
        }
    }
}

async fn set_password(visit: &Visit, sent: &Fields) -> Result<Response, Response> {
    let me = visit.own("/me").await?;
    let Some(proof) = proof(sent, &me) else {
        return match mailed_code(visit, &me).await {
            Ok(challenge) => {
                let asked = Asked::ProofForPassword { challenge: &challenge };
                let page = Profile { asked, ..Profile::default() };
                Ok(page.answer(visit, &me, StatusCode::OK))
            }
            Err(fault) => rejected(visit, &fault, Profile::default()).await,
        };
    };
    let body = with(proof, "new_password", password(sent, "new_password"));
    let call = visit.call_at(Method::POST, format!("{CUSTOMER}/password/update")).body(body);
    match visit.send(call).await {
        Ok(_) => Ok(Redirect::to(&Done::PasswordSet.page()).into_response()),
        Err(fault) => {
            let challenge = asked_again(&fault, sent);
            let asked =
                challenge.map_or(Asked::Nothing, |challenge| Asked::ProofForPassword { challenge });
            rejected(visit, &fault, Profile { asked, ..Profile::default() }).await
        }
    }
}

/// What proves that the customer is there: the code that was typed, or the password. None if a code is to be mailed first.
fn proof(sent: &Fields, me: &Value) -> Option<Value> {
    if let Some(challenge) = sent.text("challenge_id") {
        return Some(json!({"one_time_code": {"challenge_id": challenge, "code": code(sent)}}));
    }
    has_password(me).then(|| json!({"current_password": password(sent, "password")}))
}

fn has_password(me: &Value) -> bool {
    me.get("has_password").and_then(Value::as_bool).unwrap_or(false)
}

/// Mails a code to the customer's present address, and returns the challenge.
async fn mailed_code(visit: &Visit, me: &Value) -> Result<String, Fault> {
    let code = visit.at_store("/login/otp", json!({ "email": text(me, "email") })).await?;
    Ok(text(&code, "challenge_id").to_owned())
}

/// The challenge whose code can still be used after a rejection, or typed once more.
fn asked_again<'a>(fault: &Fault, sent: &'a Fields) -> Option<&'a str> {
    let is_kept = fault.is("invalid_or_expired_code")
        || fault.retry_after.is_some()
        || !fault.fields.is_empty();
    sent.text("challenge_id").filter(|_| is_kept)
}

/// The page again, with what is wrong.
async fn rejected(
    visit: &Visit,
    fault: &Fault,
    profile: Profile<'_>,
) -> Result<Response, Response> {
    let is_of_proof = fault.is("invalid_credentials") || fault.is("invalid_or_expired_code");
    if fault.status == StatusCode::UNAUTHORIZED && !is_of_proof {
        return Err(to_sign_in(visit));
    }
    if fault.status.is_server_error() {
        return Err(fault.clone().into_response());
    }
    let words = visit.words();
    let errors = match fault.code.as_str() {
        "invalid_credentials" => vec![words.errors.wrong_password],
        "invalid_or_expired_code" => vec![words.errors.wrong_code],
        _ => fault.sentences(),
    };
    let page = page(visit, Profile { errors, ..profile }, status_of(fault)).await;
    Ok(fault.with_retry(page))
}

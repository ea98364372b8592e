//! Registration.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shop_theme::Page;

use super::errors::{CUSTOMER_FIELDS, messages, posted};
use super::session::{input, password, target};
use super::themed::{self, Themed};
use super::view::{self, CodePage};
use crate::fault::Fault;
use crate::form::{Fields, Query};
use crate::frame::Navigation;
use crate::values::{text, with};
use crate::visit::Visit;

/// `GET /account/register`.
pub(super) async fn show(_: Navigation, Query(sent): Query, visit: Visit) -> Response {
    page(&visit, &sent, None, StatusCode::OK).await
}

async fn page(visit: &Visit, sent: &Fields, fault: Option<&Fault>, status: StatusCode) -> Response {
    let theme = match themed::theme(visit, &Page::Register).await {
        Ok(theme) => theme,
        Err(response) => return response,
    };
    if let Some(theme) = theme {
        let errors = fault.map(|fault| messages(fault, CUSTOMER_FIELDS, visit.words()));
        let form = errors.map(|errors| posted("create_customer", sent, errors));
        let target = target(sent);
        let page = Themed::new(visit, theme, Page::Register).form(form).target(&target);
        if let Some(response) = page.answer(status).await {
            return response;
        }
    }
    let sentences = fault.map(Fault::sentences).unwrap_or_default();
    view::registration(visit, sent, &sentences, status)
}

/// `POST /account/register`, and `POST /account` of themes. The account begins with the mailed code.
pub(super) async fn submit(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let names = [input(&sent, "first_name"), input(&sent, "last_name")].join(" ");
    let mut body = json!({
        "email": input(&sent, "email"), "password": password(&sent, "password"),
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
            let status = view::status_of(&fault);
            fault.with_retry(page(&visit, &sent, Some(&fault), status).await)
        }
        Err(fault) => fault.into_response(),
    }
}

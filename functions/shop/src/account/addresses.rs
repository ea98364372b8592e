//! The address book of a customer.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};
use maud::html;
use serde_json::{Map, Value, json};

use super::session::{CUSTOMER, to_sign_in};
use super::view::alert;
use crate::address::{ADDRESS, Address, lines_of};
use crate::form::Fields;
use crate::frame::{Navigation, Page};
use crate::notices::Notices;
use crate::paths::segment;
use crate::values::text;
use crate::visit::Visit;

pub(super) async fn show(_: Navigation, visit: Visit) -> Response {
    page(&visit, &Fields::default(), Notices::default(), StatusCode::OK).await
}

async fn page(visit: &Visit, sent: &Fields, notices: Notices, status: StatusCode) -> Response {
    let (me, all) = tokio::join!(visit.own("/me"), visit.own("/addresses?limit=50"));
    let (me, all) = match (me, all) {
        (Ok(me), Ok(all)) => (me, all),
        (Err(response), _) | (_, Err(response)) => return response,
    };
    let all = all.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
    let default = text(&me, "default_address_id");
    let fresh = Address {
        name: "ship",
        sent,
        stored: &Value::Null,
        country: visit.store().country.as_str(),
        notices: &notices,
        pointer: "",
    };
    let content = html! {
        h1 { "Addresses" }
        @if !notices.is_empty() { (alert(&["Please check the marked fields."])) }
        ul.plain {
            @for one in &all {
                @let id = text(one, "id");
                li {
                    section {
                        address { @for line in lines_of(one) { (line) br; } }
                        div.actions {
                            form method="post" action={ "/account/addresses/" (id) } {
                                @if id == default { span.faint { "The default address" } }
                                @else { button.secondary name="act" value="prefer" { "Use by default" } }
                                " "
                                button.secondary name="act" value="delete" { "Delete" }
                            }
                        }
                    }
                }
            }
        }
        section {
            h2 { "Add an address" }
            form method="post" action="/account/addresses" novalidate {
                (fresh.render(visit.words()))
                button.primary { "Add the address" }
            }
        }
        p { a href="/account" { "Back to the account" } }
    };
    Page::new(visit, "Addresses", content).answer(status)
}

fn to_list() -> Response {
    Redirect::to("/account/addresses").into_response()
}

pub(super) async fn add(_: Navigation, visit: Visit, sent: Fields) -> Response {
    if !visit.has_session() {
        return to_sign_in(&visit);
    }
    // A theme's form calls them `address[…]`.
    let members = sent.within("ship").chain(sent.within("address"));
    let known = members.filter(|(name, value)| ADDRESS.contains(name) && !value.trim().is_empty());
    let body: Map<String, Value> =
        known.map(|(name, value)| (name.to_owned(), Value::from(value.trim()))).collect();
    let call =
        visit.call_at(Method::POST, format!("{CUSTOMER}/addresses")).body(Value::Object(body));
    match visit.send(call).await {
        Ok(_) => to_list(),
        Err(fault) => {
            let mut notices = Notices::default();
            match notices.note(&fault, visit.words()) {
                Ok(()) => page(&visit, &sent, notices, StatusCode::UNPROCESSABLE_ENTITY).await,
                Err(fault) => fault.into_response(),
            }
        }
    }
}

pub(super) async fn change(
    _: Navigation,
    Path(id): Path<String>,
    visit: Visit,
    sent: Fields,
) -> Response {
    if !visit.has_session() {
        return to_sign_in(&visit);
    }
    let act = sent.text("act").or_else(|| sent.text("_method")).unwrap_or_default();
    let call = match act {
        "delete" => visit.call_at(Method::DELETE, format!("{CUSTOMER}/addresses/{}", segment(&id))),
        "prefer" => visit
            .call_at(Method::PATCH, format!("{CUSTOMER}/me"))
            .body(json!({ "default_address_id": id })),
        _ => return to_list(),
    };
    match visit.send(call).await {
        Ok(_) => to_list(),
        Err(fault) if fault.is("not_found") => to_list(),
        Err(fault) => fault.into_response(),
    }
}

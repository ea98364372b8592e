//! The address book of a customer.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};
use maud::{Markup, html};
use serde_json::{Value, json};
use shop_theme::{Page as ThemePage, Posted};

use super::address_form;
use super::errors::{ADDRESS_FIELDS, messages, posted};
use super::session::{CUSTOMER, to_sign_in};
use super::themed::{self, Own, Themed};
use super::view;
use crate::address::{Address, Needs, lines_of, shown_lines};
use crate::api::Call;
use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Navigation;
use crate::notices::Notices;
use crate::paths::segment;
use crate::values::{items, text};
use crate::visit::Visit;
use crate::words::Words;

/// A form that was rejected: what was sent, and why.
struct Rejected<'a> {
    sent: &'a Fields,
    fault: &'a Fault,
    /// The id of the address; empty for a new one.
    id: &'a str,
}

impl Rejected<'_> {
    fn posted(&self, words: &Words) -> Posted {
        let errors = messages(self.fault, ADDRESS_FIELDS, words);
        Posted { subject: self.id.to_owned(), ..posted("customer_address", self.sent, errors) }
    }
}

/// `GET /account/addresses`.
pub(super) async fn show(_: Navigation, visit: Visit) -> Response {
    page(&visit, None).await
}

async fn page(visit: &Visit, rejected: Option<Rejected<'_>>) -> Response {
    match shown(visit, rejected).await {
        Ok(response) | Err(response) => response,
    }
}

async fn shown(visit: &Visit, rejected: Option<Rejected<'_>>) -> Result<Response, Response> {
    if !visit.has_session() {
        return Err(to_sign_in(visit));
    }
    let theme = themed::theme(visit, &ThemePage::Addresses).await?;
    let (me, all) = tokio::join!(visit.own("/me"), visit.own("/addresses?limit=50"));
    let (me, addresses) = (me?, items(&all?));
    let status = match rejected {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    if let Some(theme) = theme {
        let own = Own { me: me.clone(), addresses: addresses.clone(), ..Own::default() };
        let form = rejected.as_ref().map(|rejected| rejected.posted(visit.words()));
        let page = Themed::new(visit, theme, ThemePage::Addresses).own(own).form(form);
        if let Some(response) = page.answer(status).await {
            return Ok(response);
        }
    }
    Ok(plain(visit, (&me, &addresses), rejected.as_ref(), status))
}

/// The saved addresses, each with its buttons.
fn saved(all: &[Value], default: &str, words: &Words) -> Markup {
    let own = &words.accounts;
    html! {
        ul.plain {
            @for one in all {
                @let id = text(one, "id");
                li {
                    section {
                        (shown_lines(&lines_of(one, words)))
                        div.actions {
                            form method="post" action={ "/account/addresses/" (id) } {
                                @if id == default { span.faint { (own.default_address) } }
                                @else { button.secondary name="act" value="prefer" { (own.make_default) } }
                                " "
                                button.secondary name="act" value="delete" { (own.delete_address) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The platform's page.
fn plain(
    visit: &Visit,
    (me, all): (&Value, &[Value]),
    rejected: Option<&Rejected<'_>>,
    status: StatusCode,
) -> Response {
    let (mut notices, none) = (Notices::default(), Fields::default());
    if let Some(rejected) = rejected {
        // Only a rejection that the customer can mend leads here.
        let _ = notices.note(rejected.fault, visit.words());
    }
    let fresh = Address {
        name: "ship",
        sent: rejected.map_or(&none, |rejected| rejected.sent),
        stored: &Value::Null,
        country: visit.store().country.as_str(),
        notices: &notices,
        pointer: "",
        needs: Needs::PLACE,
    };
    let words = visit.words();
    let own = &words.accounts;
    let content = html! {
        (saved(all, text(me, "default_address_id"), words))
        section {
            h2 { (own.add_address) }
            form method="post" action="/account/addresses" novalidate {
                (fresh.render(words))
                button.primary { (own.save_address) }
            }
        }
        p { a href="/account" { (own.back) } }
    };
    let error = rejected.map(|rejected| match &*rejected.fault.fields {
        [] => rejected.fault.said(words),
        _ => words.check_fields,
    });
    view::page(visit, (words.addresses, error.as_slice()), &content, status)
}

/// `POST /account/addresses`: a new address.
pub(super) async fn add(_: Navigation, visit: Visit, sent: Fields) -> Response {
    let body = address_form::with_default(address_form::address(&sent), &sent);
    let call = visit.call_at(Method::POST, format!("{CUSTOMER}/addresses")).body(body);
    save(&visit, call, &sent, "").await
}

/// `POST /account/addresses/{id}`: changes or deletes an address, or makes it the default, as the form says.
pub(super) async fn change(
    _: Navigation,
    Path(id): Path<String>,
    visit: Visit,
    sent: Fields,
) -> Response {
    let path = format!("{CUSTOMER}/addresses/{}", segment(&id));
    let act = sent.text("act").or_else(|| sent.text("_method")).unwrap_or("put");
    let call = match act {
        "delete" => visit.call_at(Method::DELETE, path),
        "prefer" => visit.call_at(Method::PATCH, path).body(json!({ "is_default": true })),
        _ => {
            let body = address_form::with_default(address_form::change(&sent), &sent);
            visit.call_at(Method::PATCH, path).body(body)
        }
    };
    save(&visit, call, &sent, &id).await
}

async fn save(visit: &Visit, call: Call, sent: &Fields, id: &str) -> Response {
    let to_list = || Redirect::to("/account/addresses").into_response();
    if !visit.has_session() {
        return to_sign_in(visit);
    }
    match visit.send(call).await {
        Ok(_) => to_list(),
        Err(fault) if fault.is("not_found") => to_list(),
        Err(fault) if fault.status == StatusCode::UNAUTHORIZED => to_sign_in(visit),
        Err(fault) => match Notices::default().note(&fault, visit.words()) {
            Ok(()) => page(visit, Some(Rejected { sent, fault: &fault, id })).await,
            Err(fault) => fault.into_response(),
        },
    }
}

//! The start page: what to try first, the demo's accounts and stores, and where everything is.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::{StatusCode, header};
use maud::{Markup, html};
use serde_json::json;

use super::desk::{StoreBrief, Who};
use super::layout::{Page, chip, copyable, error, id, no_demo, stores_note, text};
use super::paths::{DOCUMENTS, EVENTS, MAIL, ORDERS, REFERENCE, SELL, START};
use super::site::Site;

/// The accounts: role, name in a form, and what it may do.
const ACCOUNTS: [(&str, &str, Who, &str); 3] = [
    ("Merchant", "merchant", Who::Merchant, "owns the demo store"),
    ("Operator", "operator", Who::Operator, "runs the platform"),
    ("Customer", "customer", Who::Customer, "shops in the demo store"),
];

/// The payment statuses of an order that was paid.
const PAID: [&str; 3] = ["paid", "partially_refunded", "refunded"];

/// What to try first, and whether it was done.
struct Progress {
    has_signed_in: bool,
    has_paid_order: bool,
    has_delivery: bool,
}

impl Progress {
    async fn of(site: &Site, stores: &[StoreBrief]) -> Self {
        let (mut has_paid_order, mut has_delivery) = (false, false);
        for it in stores {
            let orders = site.desk.list(&it.id, "/v1/orders?limit=50");
            let succeeded = "/v1/operations/webhook-deliveries?status=succeeded&limit=1";
            let deliveries = site.desk.list(&it.id, succeeded);
            let (orders, deliveries) = tokio::join!(orders, deliveries);
            has_paid_order |= orders.iter().any(|it| PAID.contains(&text(it, "financial_status")));
            has_delivery |= !deliveries.is_empty();
        }
        Self { has_signed_in: site.activity.has_sign_in(), has_paid_order, has_delivery }
    }
}

/// `GET /_local/`.
pub(super) async fn show(State(site): State<Arc<Site>>) -> Response {
    let is_public = site.whereabouts.is_public;
    let stores = if is_public { None } else { site.desk.stores().await };
    let progress = match &stores {
        Some(stores) => Some(Progress::of(&site, stores).await),
        None => None,
    };
    let content = html! {
        h1 { "Commerce gateway" }
        p.lede {
            "An HTTP API for a multi-store commerce platform, and the app platform on it. The whole system runs in this one process."
        }
        (overview())
        @if let Some(progress) = &progress { (steps(progress)) }
        @if let Some(stores) = &stores {
            (accounts())
            (stores_table(&site, stores))
        } @else if !is_public { (no_demo()) }
        (places(&site, is_public))
        (reading())
    };
    Page { title: "Start", current: START, is_public, content }.answer()
}

/// How the main nouns of the API hang together.
fn overview() -> Markup {
    html! {
        ol.chain {
            li { strong { "Store" } " what a merchant sells, and its orders" }
            li { strong { "App" } " is installed on the store by its merchant" }
            li { strong { "Token" } " lets the app call the API for that store" }
            li { strong { "Event" } " records each change of the store" }
            li { strong { "Webhook" } " delivers the event, signed, to whoever subscribed" }
        }
    }
}

fn steps(progress: &Progress) -> Markup {
    let quickstart = |part: &str| format!("{DOCUMENTS}quickstart#{part}");
    let sign_in = html! {
        "With the button beside an account below, or by "
        a href={ (REFERENCE) "/signIn" } { code { "POST /v1/auth/signin" } } "."
    };
    let order = html! {
        "Follow " a href=(quickstart("first-calls")) { "First calls" } " of the quickstart, or " a href=(quickstart("a-shopper")) { "A shopper" }
        ". It appears among the " a href=(ORDERS) { "orders" } ", and its mails in the " a href=(MAIL) { "mailbox" } "."
    };
    let webhook = html! {
        "Start a receiver and subscribe it, as " a href=(quickstart("first-calls")) { "First calls" }
        " does for the demo store. Each delivery is among the " a href=(EVENTS) { "events" } "."
    };
    let steps = [
        (progress.has_signed_in, "Sign in", sign_in),
        (progress.has_paid_order, "Place and pay an order", order),
        (progress.has_delivery, "Receive a webhook", webhook),
    ];
    let done = steps.iter().filter(|(is_done, ..)| *is_done).count();
    html! {
        section #steps data-refresh="3000" {
            h2 { "First steps" span.count { (done) " of 3 done" } }
            ol.steps { @for (number, (is_done, title, hint)) in (1..).zip(&steps) {
                li.done[*is_done] {
                    span.mark aria-hidden="true" { @if *is_done { "✓" } @else { (number) } }
                    div {
                        p.title { (title) @if *is_done { span.unseen { " (done)" } } }
                        p { (hint) }
                    }
                }
            } }
        }
    }
}

fn accounts() -> Markup {
    html! {
        section {
            h2 { "Accounts" }
            table {
                thead { tr { @for name in ["Role", "E-mail", "Password"] { th scope="col" { (name) } } th scope="col" { span.unseen { "Token" } } } }
                tbody { @for (role, name, who, about) in ACCOUNTS {
                    @let account = who.account();
                    tr {
                        td data-label="Role" { span { strong { (role) } " " span.faint { (about) } } }
                        td data-label="E-mail" { (copyable(account.email)) }
                        td data-label="Password" { (copyable(account.password)) }
                        td.action {
                            button.button type="button" data-token=(name) { "Sign in and copy a token" }
                            span.faint role="status" {}
                        }
                    }
                } }
            }
        }
    }
}

/// `GET /_local/shop/{subdomain}`: leads to the store's shop, which has an origin of its own.
pub(super) async fn lead_to_shop(
    State(site): State<Arc<Site>>,
    Path(subdomain): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let is_name = subdomain.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !is_name || subdomain.is_empty() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let shop = site.whereabouts.shop(&subdomain);
    // The token of a preview goes along.
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::temporary(&format!("{shop}/{query}")).into_response()
}

fn stores_table(site: &Site, stores: &[StoreBrief]) -> Markup {
    html! {
        section {
            h2 { "Stores of the demo's merchant" }
            table {
                thead { tr { @for name in ["Store", "Subdomain", "Status", "Id", "Shop"] { th scope="col" { (name) } } } }
                tbody { @for store in stores { tr {
                    td data-label="Store" { strong { (store.name) } }
                    td data-label="Subdomain" { code { (store.subdomain) } }
                    td data-label="Status" { (chip(&store.status)) }
                    td data-label="Id" { (id(&store.id)) }
                    td data-label="Shop" { a href=(site.whereabouts.shop(&store.subdomain)) { "Open the shop" } }
                } } }
            }
            p { a.button href=(SELL) { "Open a store, and sell" } }
            (stores_note())
        }
    }
}

fn places(site: &Site, is_public: bool) -> Markup {
    let places = &site.whereabouts;
    let directory = |path: &std::path::PathBuf| path.display().to_string();
    let data = places.data.as_ref().map_or_else(|| "in memory".to_owned(), directory);
    let mails = places.mails.as_ref().map_or_else(|| "sent by a mail server".to_owned(), directory);
    html! {
        section {
            h2 { "Where everything is" }
            dl.places {
                div { dt { "API" } dd { (copyable(&places.url)) } }
                @if !is_public {
                    div { dt { "Data" } dd { code { (data) } } }
                    div { dt { "Mails" } dd { code { (mails) } } }
                    @for (name, url) in &places.endpoints { div { dt { (name) } dd { (copyable(url)) } } }
                }
            }
        }
    }
}

fn reading() -> Markup {
    let document = |name: &str| format!("{DOCUMENTS}{name}");
    let pages = [
        (
            document("quickstart"),
            "Quickstart",
            "First calls, an app, a shopper, a theme and more, to paste.",
        ),
        (REFERENCE.to_owned(), "Reference", "Every operation, to read and to try out."),
        (document("example-app"), "Write an app", "An embedded app to start your own from."),
        (document("cli"), "Command line", "Send requests, receive events, deploy themes."),
        (document("clients"), "Clients", "The API in TypeScript and in Python."),
        (
            document("conventions"),
            "Conventions",
            "Errors, pages, idempotency, cost, tokens, webhooks.",
        ),
        (document("architecture"), "Architecture", "The path of a request and of an event."),
    ];
    html! {
        section {
            h2 { "Read on" }
            ul.cards { @for (path, title, about) in pages {
                li { a href=(path) { (title) } p { (about) } }
            } }
        }
    }
}

/// `POST /_local/tokens`: signs the account `who` of the demo in, and returns its token.
pub(super) async fn create_token(State(site): State<Arc<Site>>, form: String) -> Response {
    let mut pairs = form_urlencoded::parse(form.as_bytes());
    let name = pairs.find(|(name, _)| name == "who").map(|(_, value)| value);
    let Some(who) = name.and_then(|name| Who::named(&name)) else {
        return error(StatusCode::BAD_REQUEST, "There is no such account", "");
    };
    let Some(token) = site.desk.sign_in(who).await else {
        return error(StatusCode::CONFLICT, "The account cannot be signed in", "");
    };
    if who == Who::Merchant {
        site.activity.note_sign_in();
    }
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (headers, json!({"access_token": token}).to_string()).into_response()
}

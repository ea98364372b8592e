//! Pages about a store: its orders, webhook subscriptions and apps, each with the call that returns the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::desk::{StoreBrief, Who};
use super::events;
use super::layout::{Page, chip, empty, error, id, moment, no_demo, stores_note, text};
use super::paths::{APPS, DOCUMENTS, ORDERS, REFERENCE, START, WEBHOOKS};
use super::site::Site;

/// Rows of a table.
const ROWS: usize = 50;

/// The query parameters of a page about a store.
#[derive(Debug, Default, Deserialize)]
pub(super) struct StoreQuery {
    /// The id of the store; the demo store's by default.
    store: Option<String>,
}

/// The store that a page is about, among those of the demo's merchant.
pub(super) struct Chosen {
    pub(super) store: StoreBrief,
    stores: Vec<StoreBrief>,
}

impl Chosen {
    /// The store of the query; none without a demo.
    pub(super) async fn of(site: &Site, query: &StoreQuery) -> Option<Self> {
        let stores = site.desk.stores().await?;
        let named = stores.iter().find(|store| Some(&store.id) == query.store.as_ref());
        let store = named.or_else(|| stores.first())?.clone();
        Some(Self { store, stores })
    }

    /// Links to the same page of the other stores, if there are any.
    pub(super) fn switch(&self, path: &str) -> Markup {
        html! {
            @if self.stores.len() > 1 {
                nav.tabs aria-label="Stores" { @for store in &self.stores {
                    a href={ (path) "?store=" (store.id) } aria-current=[(store.id == self.store.id).then_some("true")] { (store.name) }
                } }
            }
        }
    }
}

/// A link to the call that returns one object, as the demo's merchant sends it.
pub(super) fn call_link(operation: &str, object: &str, of: &str) -> Markup {
    html! {
        a.call href={ (REFERENCE) "/" (operation) "?id=" (object) "&as=merchant" } aria-label={ "Open in reference: " (of) } { "Open in reference" }
    }
}

/// A button that posts to this path of the API, as the demo's merchant at a store.
pub(super) fn post_button(title: &str, label: &str, path: &str, store: &str) -> Markup {
    html! {
        button.button type="button" data-post=(path) data-store=(store) aria-label=(label) { (title) }
        span.unseen role="status" {}
    }
}

/// The names of apps by their ids.
type Names = BTreeMap<String, String>;

/// Loads the names of the apps in this member of the rows, as far as the catalogue has them.
async fn names(site: &Site, rows: &[Value], member: &str) -> Names {
    let ids = rows.iter().map(|row| text(row, member)).filter(|id| id.starts_with("app_"));
    let ids: BTreeSet<&str> = ids.collect();
    let mut names = Names::new();
    for id in ids {
        let path = format!("/v1/app-store/apps/{id}");
        let app = site.desk.json(Who::Merchant, &path, &[]).await.unwrap_or_default();
        if !text(&app, "name").is_empty() {
            names.insert(id.to_owned(), text(&app, "name").to_owned());
        }
    }
    names
}

/// An app by its name, or by its id where the catalogue does not have it.
fn app(app: &str, names: &Names) -> Markup {
    html! { @if let Some(name) = names.get(app) { strong { (name) } " " } (id(app)) }
}

/// A table of a store.
struct Noun {
    path: &'static str,
    title: &'static str,
    lede: &'static str,
    /// The path of the list in the API, and the operation that returns one of it.
    list: &'static str,
    operation: &'static str,
    /// The operation that returns the list.
    of_list: &'static str,
    columns: &'static [&'static str],
    /// The member with the app's id, and how a row is shown with the names of the apps.
    app: &'static str,
    row: fn(&Value, &Names) -> Vec<Markup>,
    /// The button that tries a row.
    test: Option<fn(&Value, &StoreBrief) -> Markup>,
    empty: fn(&StoreBrief) -> Markup,
}

const NOUNS: [(&str, Noun); 3] = [
    (
        "orders",
        Noun {
            path: ORDERS,
            title: "Orders",
            lede: "The store's latest orders, the newest first.",
            list: "/v1/orders",
            operation: "getOrder",
            of_list: "listOrders",
            columns: &["Order", "Placed", "Customer", "Payment", "Fulfilment", "Total"],
            app: "",
            row: order,
            test: Some(order_buttons),
            empty: no_order,
        },
    ),
    (
        "webhooks",
        Noun {
            path: WEBHOOKS,
            title: "Webhooks",
            lede: "Who is told of the store's events, and how deliveries go.",
            list: "/v1/operations/webhook-subscriptions",
            operation: "getWebhookSubscription",
            of_list: "listWebhookSubscriptions",
            columns: &["Receiver", "Created by", "Events", "Status", "Health", "Last success"],
            app: "created_by",
            row: subscription,
            test: Some(test_button),
            empty: no_subscription,
        },
    ),
    (
        "apps",
        Noun {
            path: APPS,
            title: "Apps",
            lede: "The apps that are installed on the store.",
            list: "/v1/app-store/installations",
            operation: "getInstallation",
            of_list: "listInstallations",
            columns: &["App", "Scopes", "Status", "Installed"],
            app: "app_id",
            row: installation,
            test: None,
            empty: no_installation,
        },
    ),
];

/// `GET /_local/store/{noun}`.
pub(super) async fn show(
    State(site): State<Arc<Site>>,
    Path(noun): Path<String>,
    Query(query): Query<StoreQuery>,
) -> Response {
    let Some((_, noun)) = NOUNS.iter().find(|(name, _)| *name == noun) else {
        return error(StatusCode::NOT_FOUND, "There is no such page", "");
    };
    let content = match Chosen::of(&site, &query).await {
        None => no_demo(),
        Some(chosen) => {
            let rows =
                site.desk.list(&chosen.store.id, &format!("{}?limit={ROWS}", noun.list)).await;
            let names = names(&site, &rows, noun.app).await;
            html! {
                (chosen.switch(noun.path))
                section #rows data-refresh="5000" { (noun.table(&rows, &names, &chosen.store)) }
                @if noun.path == WEBHOOKS {
                    section #deliveries data-refresh="3000" { (events::latest_deliveries(&site, &chosen.store.id, &rows).await) }
                }
            }
        }
    };
    let content = html! {
        h1 { (noun.title) }
        p.lede { (noun.lede) }
        (content)
    };
    Page { title: noun.title, current: noun.path, is_public: false, content }.answer()
}

impl Noun {
    fn table(&self, rows: &[Value], names: &Names, store: &StoreBrief) -> Markup {
        html! {
            @if rows.is_empty() { (empty(&format!("No {} yet", self.title.to_lowercase()), &(self.empty)(store))) }
            @else {
                table {
                    thead { tr {
                        @for name in self.columns { th scope="col" { (name) } }
                        th scope="col" { span.unseen { "Reference" } }
                    } }
                    tbody { @for row in rows { tr {
                        @for (name, cell) in self.columns.iter().zip((self.row)(row, names)) { td data-label=(name) { (cell) } }
                        td.action {
                            @if let Some(test) = self.test { (test(row, store)) " " }
                            (call_link(self.operation, text(row, "id"), text(row, "id")))
                        }
                    } } }
                }
            }
            p.foot { a href={ (REFERENCE) "/" (self.of_list) "?as=merchant" } { "Open " code { "GET " (self.list) } " in reference" } }
            (stores_note())
        }
    }
}

fn order(order: &Value, _: &Names) -> Vec<Markup> {
    let customer = [text(order, "email"), text(order, "customer_id")];
    let customer = customer.into_iter().find(|it| !it.is_empty()).unwrap_or("a guest");
    let total = order.pointer("/totals/total").unwrap_or(&Value::Null);
    vec![
        html! { strong { (text(order, "number")) } @if text(order, "status") != "open" { " " (chip(text(order, "status"))) } },
        moment(text(order, "created_at")),
        html! { (customer) },
        chip(text(order, "financial_status")),
        chip(text(order, "fulfillment_status")),
        html! { (text(total, "formatted")) },
    ]
}

/// What the merchant may do next with an order.
fn order_buttons(order: &Value, store: &StoreBrief) -> Markup {
    let may = |action: &str| {
        let allowed = order.get("allowed_actions").and_then(Value::as_array);
        allowed.is_some_and(|allowed| allowed.iter().any(|one| one == action))
    };
    let button = |title: &str, action: &str| {
        let path = format!("/v1/orders/{}/{action}", text(order, "id"));
        post_button(title, &format!("{title}: {}", text(order, "number")), &path, &store.id)
    };
    html! {
        @if may("mark_paid") { (button("Mark paid", "mark-paid")) " " }
        @if may("fulfill") { (button("Fulfil", "fulfill")) " " }
    }
}

fn no_order(store: &StoreBrief) -> Markup {
    html! {
        "Place one by " a href={ (DOCUMENTS) "quickstart" } { "the quickstart" } ", or in "
        a href={ (START) "shop/" (store.subdomain) } { "the shop" } "."
    }
}

fn subscription(subscription: &Value, names: &Names) -> Vec<Markup> {
    let types = subscription.get("event_types").and_then(Value::as_array);
    let types: Vec<&str> = types.into_iter().flatten().filter_map(Value::as_str).collect();
    let more = types.len().saturating_sub(2);
    let stats = subscription.get("stats").unwrap_or(&Value::Null);
    vec![
        html! { code.long { (text(subscription, "url")) } },
        creator(text(subscription, "created_by"), names),
        html! {
            @for name in types.iter().take(2) { code.keep { (name) } " " }
            @if more > 0 { span.faint title=(types.join(", ")) { "and " (more) " more" } }
        },
        chip(text(subscription, "status")),
        chip(text(subscription, "health")),
        html! { @let at = text(stats, "last_success_at"); @if at.is_empty() { "–" } @else { (moment(at)) } },
    ]
}

/// The app or the merchant that has created a subscription.
fn creator(creator: &str, names: &Names) -> Markup {
    html! { @if creator.starts_with("app_") { "app " (app(creator, names)) } @else { "merchant " (id(creator)) } }
}

fn test_button(subscription: &Value, store: &StoreBrief) -> Markup {
    let id = text(subscription, "id");
    let path = format!("/v1/operations/webhook-subscriptions/{id}/test");
    post_button(
        "Send test event",
        &format!("Send test event: {}", text(subscription, "url")),
        &path,
        &store.id,
    )
}

fn no_subscription(_: &StoreBrief) -> Markup {
    html! { "Create one with " a href={ (REFERENCE) "/createWebhookSubscription?as=merchant" } { code { "POST /v1/operations/webhook-subscriptions" } } "." }
}

fn installation(installation: &Value, names: &Names) -> Vec<Markup> {
    let scopes = installation.get("scopes").and_then(Value::as_array);
    let scopes: Vec<&str> = scopes.into_iter().flatten().filter_map(Value::as_str).collect();
    vec![
        app(text(installation, "app_id"), names),
        html! { @for scope in &scopes { code { (scope) } " " } },
        chip(text(installation, "status")),
        moment(text(installation, "installed_at")),
    ]
}

fn no_installation(_: &StoreBrief) -> Markup {
    html! { "Publish an app and install it: " a href={ (DOCUMENTS) "quickstart" } { "the quickstart" } " shows how." }
}

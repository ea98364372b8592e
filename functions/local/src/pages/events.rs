//! The latest events of a store, and the way of each to its receivers: as the API's own resources say.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::desk::Desk;
use super::layout::{Page, chip, empty, id, moment, no_demo, stores_note, text};
use super::paths::{EVENTS, WEBHOOKS};
use super::site::Site;
use super::store::{Chosen, StoreQuery, call_link, post_button};

/// Events that are listed.
const LISTED: usize = 30;
/// Deliveries that are loaded with them.
const DELIVERIES: usize = 100;
/// Deliveries that are listed by themselves.
const LATEST: usize = 10;

/// `GET /_local/activity/events`.
pub(super) async fn show(
    State(site): State<Arc<Site>>,
    Query(query): Query<StoreQuery>,
) -> Response {
    let content = match Chosen::of(&site, &query).await {
        None => no_demo(),
        Some(chosen) => html! {
            (chosen.switch(EVENTS))
            section #events data-refresh="3000" { (ways(&site, &chosen.store.id).await) }
            (stores_note())
        },
    };
    let content = html! {
        h1 { "Events" }
        p.lede { "What happened in the store, and which receivers were told of it." }
        (content)
    };
    Page { title: "Events", current: EVENTS, is_public: false, content }.answer()
}

async fn ways(site: &Site, store: &str) -> Markup {
    let desk = &site.desk;
    let (events, deliveries) = (
        format!("/v1/operations/outbox?limit={LISTED}"),
        format!("/v1/operations/webhook-deliveries?limit={DELIVERIES}"),
    );
    let subscriptions = "/v1/operations/webhook-subscriptions?limit=100";
    let (events, deliveries, subscriptions) = tokio::join!(
        desk.list(store, &events),
        desk.list(store, &deliveries),
        desk.list(store, subscriptions)
    );
    if events.is_empty() {
        return empty(
            "No event yet",
            &html! { "Change something in the store: an order, a product, its settings." },
        );
    }
    let receivers = Receivers::of(desk, store, &subscriptions, &deliveries).await;
    html! {
        @if subscriptions.is_empty() {
            p.note { "No subscription now: new events go to nobody until the store has a " a href=(WEBHOOKS) { "webhook subscription" } "." }
        }
        ol.events { @for event in &events {
            @let sent: Vec<&Value> = deliveries.iter().filter(|it| text(it, "event_id") == text(event, "id")).collect();
            li {
                div.event {
                    strong { (text(event, "type")) }
                    @if text(event, "status") != "published" { (chip(text(event, "status"))) }
                    @if let Some(entity) = event.get("entity") { (id(text(entity, "id"))) }
                    (moment(text(event, "created_at")))
                    (call_link("getEvent", text(event, "id"), "the event"))
                }
                @if !sent.is_empty() {
                    ul { @for delivery in sent { li { (way(delivery, &receivers)) } } }
                }
            }
        } }
    }
}

/// The receivers of deliveries.
struct Receivers<'a> {
    store: &'a str,
    /// The subscriptions by their ids.
    subscriptions: BTreeMap<&'a str, &'a Value>,
    /// Where the deliveries of deleted subscriptions went, by the ids of these.
    deleted: BTreeMap<&'a str, String>,
}

impl<'a> Receivers<'a> {
    async fn of(
        desk: &Desk,
        store: &'a str,
        subscriptions: &'a [Value],
        deliveries: &'a [Value],
    ) -> Self {
        let subscriptions: BTreeMap<&str, &Value> =
            subscriptions.iter().map(|it| (text(it, "id"), it)).collect();
        let mut deleted = BTreeMap::new();
        for delivery in deliveries {
            let id = text(delivery, "subscription_id");
            let has_attempts = delivery.get("attempts").is_some_and(|count| count != 0);
            if !has_attempts || subscriptions.contains_key(id) || deleted.contains_key(id) {
                continue;
            }
            let path =
                format!("/v1/operations/webhook-deliveries/{}/attempts", text(delivery, "id"));
            let attempts = desk.list(store, &path).await;
            let url = attempts.first().map_or("", |attempt| text(attempt, "url"));
            deleted.insert(id, url.to_owned());
        }
        Self { store, subscriptions, deleted }
    }
}

/// The latest deliveries of a store with these subscriptions.
pub(super) async fn latest_deliveries(site: &Site, store: &str, subscriptions: &[Value]) -> Markup {
    let path = format!("/v1/operations/webhook-deliveries?limit={LATEST}");
    let deliveries = site.desk.list(store, &path).await;
    if deliveries.is_empty() {
        return html! {};
    }
    let receivers = Receivers::of(&site.desk, store, subscriptions, &deliveries).await;
    html! {
        h2 { "Latest deliveries" }
        ol.events { @for delivery in &deliveries { li {
            div.event { strong { (text(delivery, "event_type")) } (id(text(delivery, "event_id"))) (moment(text(delivery, "created_at"))) }
            ul { li { (way(delivery, &receivers)) } }
        } } }
    }
}

/// The way of an event to one receiver.
fn way(delivery: &Value, receivers: &Receivers<'_>) -> Markup {
    let subscription_id = text(delivery, "subscription_id");
    let subscription = receivers.subscriptions.get(subscription_id);
    let attempts = delivery.get("attempts").and_then(Value::as_u64).unwrap_or_default();
    let status = delivery.get("last_status_code").and_then(Value::as_u64);
    let waits = waits(delivery, subscription.copied());
    html! {
        (chip(text(delivery, "status")))
        @if let Some(subscription) = subscription { span.receiver { (text(subscription, "url")) } }
        @else { span.receiver {
            @if let Some(url) = receivers.deleted.get(subscription_id) { (url) " " }
            "deleted subscription " (id(subscription_id))
        } }
        span.faint { (attempts) @if attempts == 1 { " attempt" } @else { " attempts" }
            @if let Some(status) = status { ", answered " (status) }
            @let error = text(delivery, "last_error");
            @if !error.is_empty() { ", failed: " (error.replace('_', " ")) }
        }
        @if let Some(waits) = waits { span.waits { (waits) } }
        @if subscription.is_some() && may_redeliver(delivery) { (redeliver_button(delivery, receivers.store)) }
        (call_link("getWebhookDelivery", text(delivery, "id"), "the delivery"))
    }
}

fn may_redeliver(delivery: &Value) -> bool {
    let actions = delivery.get("allowed_actions").and_then(Value::as_array);
    actions.is_some_and(|actions| actions.iter().any(|action| action == "redeliver"))
}

fn redeliver_button(delivery: &Value, store: &str) -> Markup {
    let id = text(delivery, "id");
    let path = format!("/v1/operations/webhook-deliveries/{id}/redeliver");
    post_button("Redeliver", &format!("Redeliver: {id}"), &path, store)
}

/// Why a delivery waits, and until when; none if it does not wait.
fn waits(delivery: &Value, subscription: Option<&Value>) -> Option<Markup> {
    if !matches!(text(delivery, "status"), "pending" | "retrying") {
        return None;
    }
    let stats = subscription.and_then(|it| it.get("stats"));
    let open_until = stats.map_or("", |stats| text(stats, "circuit_open_until"));
    let next = text(delivery, "next_attempt_at");
    let reason = match text(delivery, "held_by") {
        "circuit" => "waits: the circuit of its receiver is open",
        "concurrency" => "waits: the limit of concurrent attempts is reached",
        "entity" => "waits for an earlier delivery about the same entity",
        "rate" => "waits: the rate limit of its subscription",
        _ => "",
    };
    Some(html! {
        @if !reason.is_empty() { (reason) }
        @if text(delivery, "held_by") == "circuit" && !open_until.is_empty() { " until " (moment(open_until)) }
        @else if !next.is_empty() { @if !reason.is_empty() { ", " } "next attempt at " (moment(next)) }
    })
}

//! The demo store: its settings, menu and policies.

use core_types::id::StoreId;
use core_types::key;
use emulators::AnyError;
use identity::store::{Store, UniqueSubdomain};
use serde_json::{Value, json};
use services::Services;

use super::accounts::told;
use super::api::{Api, text};

/// The demo store's subdomain.
pub const SUBDOMAIN: &str = "demo-store";

/// Loads the demo store, unless it is deleted.
pub(super) async fn load(services: &Services) -> Result<Option<Store>, AnyError> {
    let claim: Option<UniqueSubdomain> =
        services.table.get(&key::unique_subdomain(SUBDOMAIN)).await.map_err(told)?;
    match claim {
        Some(claim) => Ok(services.table.get(&key::store(&claim.store_id)).await.map_err(told)?),
        None => Ok(None),
    }
}

/// Creates the store through the API, as any client would.
pub(super) async fn open(api: &Api) -> Result<StoreId, AnyError> {
    let mine = api.call("GET", "/v1/stores", None).await?;
    let known = mine.pointer("/data/0/id").and_then(Value::as_str).map(str::to_owned);
    let store = if let Some(id) = known {
        id
    } else {
        let input = json!({
            "name": "Demo Store", "subdomain": SUBDOMAIN, "currency": "INR", "country": "IN",
            "locale": "en-IN", "timezone": "Asia/Kolkata",
        });
        let made = api.call("POST", "/v1/stores", Some(input)).await?;
        text(&made, "/id")?
    };
    let path = |rest: &str| format!("/v1/stores/{store}{rest}");
    let store_now = api.call("GET", &path(""), None).await?;
    if store_now.get("status").and_then(Value::as_str) != Some("active") {
        let as_is = json!({"accept_missing": ["shipping", "payments", "taxes"]});
        api.call("POST", &path("/activate"), Some(as_is)).await?;
    }
    let menu = json!({"items": [
        {"title": "Home", "type": "home"},
        {"title": "Kitchen", "type": "category", "ref": "kitchen"},
        {"title": "On Sale", "type": "collection", "ref": "on-sale"},
        {"title": "About us", "type": "link", "url": "https://example.com/about", "children": [
            {"title": "Privacy", "type": "policy", "ref": "privacy"},
        ]},
        {"title": "Shipping", "type": "policy", "ref": "shipping"},
    ]});
    api.call("PUT", &path("/navigation/main"), Some(menu)).await?;
    for (handle, title, text) in [
        ("refund", "Refunds", "Send it back within 30 days and we return the money."),
        ("privacy", "Privacy", "We keep what an order needs, and nothing else."),
        ("shipping", "Shipping", "Orders leave within two working days."),
    ] {
        let body_html = format!("<p>{text}</p>");
        let policy = json!({"title": title, "body_html": body_html, "published": true});
        api.call("PUT", &path(&format!("/policies/{handle}")), Some(policy)).await?;
    }
    StoreId::parse(&store).ok_or_else(|| "the store has an odd id".into())
}

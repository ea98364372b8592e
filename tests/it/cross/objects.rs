//! What every object that is shown carries, and what ids look like.

mod world;

use std::collections::{BTreeMap, BTreeSet};

use core_types::id::{DERIVED, PREFIXES};
use http::Method;
use support::Value;

use self::world::world;

/// Reads that show no objects: logs, numbers, documents and bytes (`docs/ids.md`).
const NO_OBJECTS: &[&str] = &[
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/{issuer_path}",
    "/health",
    "/v1/openapi.json",
    "/v1/openapi.yaml",
    "/v1/app-store/installations/{id}/access-log",
    "/v1/app-store/installations/{id}/scopes",
    "/v1/app-store/oauth/authorize",
    "/v1/app-store/oauth/jwks",
    "/v1/app-store/oauth/metadata",
    "/v1/app-store/partners/dashboard",
    "/v1/auth/custom/session",
    "/v1/customers/guests",
    "/v1/exports/{id}/parts/{part}",
    "/v1/imports/{id}/findings",
    "/v1/inventory/levels/{item}/{location}/verify",
    "/v1/operations/audit-log",
    "/v1/operations/event-types",
    "/v1/operations/event-types/{type}",
    "/v1/operations/outbox/verify",
    "/v1/operations/rate-limits",
    "/v1/operations/runtime/overview",
    "/v1/operations/runtime/queues",
    "/v1/operations/runtime/queues/{name}",
    "/v1/operations/runtime/queues/{name}/dlq",
    "/v1/operations/reliability-evidence/verify",
    "/v1/operations/webhook-deliveries/{id}/attempts",
    "/v1/operations/webhook-deliveries/{id}/receipt",
    "/v1/operations/webhook-subscriptions/{id}/stats",
    "/v1/orders/{id}/events",
    "/v1/payments/{id}/events",
    "/v1/storefront/{subdomain}/media/{id}",
    "/v1/storefront/{subdomain}/product-filters",
    "/v1/stores/{id}/mail-usage",
    "/v1/stores/{id}/readiness",
    "/v1/storefront/{subdomain}/theme",
    "/v1/storefront/{subdomain}/theme/files/{sha256}",
    "/v1/themes/{slug}/editor",
    "/v1/themes/{slug}/schema",
];

/// Whether a value has what every object has.
fn lacks(value: &Value) -> Vec<&'static str> {
    let is_time = |name: &str| value[name].as_str().is_some_and(|text| text.ends_with('Z'));
    // Where the `version` is a theme's own, its `revision` counts the writes.
    let counted =
        value["version"].is_u64() || (value["version"].is_string() && value["revision"].is_u64());
    let holds = [
        ("id", value["id"].is_string()),
        ("version", counted),
        ("created_at", is_time("created_at")),
        ("updated_at", is_time("updated_at")),
    ];
    holds.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect()
}

/// Every id in a value: a short prefix and 32 hex digits.
fn ids(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let is_id = text.split_once('_').is_some_and(|(prefix, digits)| {
                prefix.len() == 3
                    && digits.len() == 32
                    && digits.bytes().all(|b| b.is_ascii_hexdigit())
            });
            if is_id {
                found.insert(text.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| ids(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| ids(field, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_returned_object_has_its_common_fields() {
    let world = world().await;
    // Beside the kinds: requests, and the clients of OAuth.
    let known: BTreeSet<&str> = PREFIXES.iter().copied().chain(["req_", "cli_"]).collect();
    let derived: BTreeSet<&str> = DERIVED.iter().map(|(prefix, _)| *prefix).collect();
    let mut wrong = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (route, client, path) in &world.asked {
        // Every request pays its price; time gives it back.
        world.market.gateway.advance(std::time::Duration::from_secs(1));
        let reply = client.get(path).await.expect(200);
        ids(&reply.json, &mut seen);
        let shown = match reply.json.get("data").and_then(Value::as_array) {
            Some(items) if reply.json.get("page").is_some() => items.clone(),
            _ => vec![reply.json.clone()],
        };
        assert!(!shown.is_empty(), "{path} shows nothing");
        for object in shown {
            let lacking = lacks(&object);
            if !lacking.is_empty() {
                wrong.insert(*route, (lacking, object.to_string()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let mut minted = BTreeSet::new();
    for id in &seen {
        let (prefix, digits) = id.split_at(4);
        assert!(known.contains(prefix), "{id} is of no kind that is listed");
        let version = &digits[12..13];
        assert!(version == "7" || (version == "8" && derived.contains(prefix)), "{id}");
        if version == "8" {
            minted.insert(prefix);
        }
    }
    assert_eq!(minted, derived, "what is listed as derived is");
    let asked: BTreeSet<&str> = world.asked.iter().map(|(route, ..)| *route).collect();
    let rows = local::routes();
    let reads = rows.rows().iter().filter(|row| row.method == Method::GET).map(|row| row.path);
    let listed: BTreeSet<&str> = asked.iter().chain(NO_OBJECTS).copied().collect();
    let reads: BTreeSet<&str> = reads.collect();
    let missing: Vec<_> = reads.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&reads).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not asked: {missing:#?}, gone: {gone:#?}");
}

#[test]
fn docs_ids_lists_every_derived_prefix() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ids.md"));
    let page = page.unwrap();
    let (_, table) = page.split_once("<!-- derived -->").unwrap();
    let (table, _) = table.split_once("<!-- /derived -->").unwrap();
    let listed: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |(prefix, from): &(&str, &str)| format!("| `{prefix}` | {from} |");
    assert_eq!(listed, DERIVED.iter().map(row).collect::<Vec<_>>());
}

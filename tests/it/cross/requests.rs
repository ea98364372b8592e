//! What every route rejects of a request, and that it says all of it at once: unknown and repeated
//! parameters, unknown fields, JSON of the wrong type, and rules between fields.

mod bounds;
mod rules;

use std::collections::BTreeSet;
use std::time::Duration;

use gateway::caller::Access;
use gateway::routes::Row;
use http::Method;
use support::clock::STORE_CACHE;
use support::{Client, Market, Reply, Shop, Shopper, Value, json, unique};

/// Rows whose body is not ours to validate: a provider's event, our own to the canary's receiver, whose
/// signature is over its bytes, and a part of a file.
const FOREIGN: [&str; 3] = [
    "/v1/imports/{id}/parts/{part}",
    "/v1/operations/runtime/canary/deliveries",
    "/v1/storefront/{subdomain}/payments/{provider}/webhook",
];

/// What a browser opens: unknown parameters are ignored (RFC 6749 §3.1).
const CONSENT_PAGE: &str = "/v1/app-store/oauth/authorize";

/// Somebody of every kind, at one store.
struct Callers {
    shop: Shop,
    shopper: Shopper,
    embedded: Client,
}

impl Callers {
    async fn all() -> Self {
        let shop = Shop::with_installed_app().await;
        let activate = format!("/v1/stores/{}/activate", shop.store.id);
        shop.merchant.post(&activate).json(support::open_as_is()).await.expect(200);
        shop.gateway.advance(STORE_CACHE);
        let shopper = Shopper::register(&shop.gateway, &shop.store).await;
        let embedded = shop.embedded_client().await;
        Self { shop, shopper, embedded }
    }

    /// Whoever may call a row.
    fn of(&self, row: &Row) -> Client {
        let shop = &self.shop;
        match row.access {
            Access::Public if row.path.ends_with("/password/update") => {
                if row.path.contains("/customer/") {
                    (*self.shopper).clone()
                } else {
                    (*shop.merchant).clone()
                }
            }
            Access::Public | Access::Client => shop.gateway.client(),
            Access::Merchant => (*shop.merchant).clone(),
            Access::Role(_) | Access::Scope(_) => shop.owner(),
            Access::Developer => (**shop.developer).clone(),
            Access::Operator => (**shop.operator).clone(),
            Access::Embedded => self.embedded.clone(),
            Access::Customer => (*self.shopper).clone(),
        }
    }

    /// The path, with ids that are well formed.
    fn path(&self, row: &Row) -> String {
        let of = |prefix: &str| format!("{prefix}_{}", "0".repeat(32));
        let kinds = [
            ("/gift-cards/", "gft"),
            ("/carts/", "crt"),
            ("/discounts/", "dsc"),
            ("/redactions/", "red"),
            ("/v1/customers/", "cus"),
            ("/categories/", "cat"),
            ("/collections/", "col"),
            ("/products/", "prd"),
            ("/storefront/{subdomain}/orders/", "ord"),
            ("/customer/orders/", "ord"),
            ("/orders/", "ord"),
            ("/payments/disputes/", "dsp"),
            ("/payments/", "pay"),
            ("/locations/", "loc"),
            ("/form-submissions/", "frm"),
            ("/media/", "med"),
            ("/imports/", "imp"),
            ("/exports/", "exp"),
            ("/v1/reviews/", "rev"),
            ("/addresses/", "adr"),
            ("/sessions/", "ses"),
            ("/webhook-subscriptions/", "whs"),
            ("/webhook-deliveries/", "dlv"),
            ("/outbox/", "evt"),
            ("/incidents/", "inc"),
            ("/replays/", "rpl"),
            ("/failover-drills/", "drl"),
            ("/load-tests/", "lod"),
            ("/certification-reports/", "rep"),
            ("/reliability-evidence/", "evd"),
            ("/installations/", "ins"),
            ("/apps/", "app"),
            ("/packages/", "pkg"),
            ("/preview-session/", "prv"),
        ];
        let id = match row.path {
            path if path.starts_with("/v1/stores/") => self.shop.store.id.clone(),
            path => {
                let kind = kinds.iter().find(|(part, _)| path.contains(part));
                kind.map(|(_, prefix)| of(prefix)).unwrap_or_default()
            }
        };
        let mut path = row.path.to_owned();
        for (name, value) in [
            ("{id}", id),
            ("{subdomain}", self.shop.store.subdomain.clone()),
            ("{handle}", if row.path.contains("policies") { "refund" } else { "main" }.to_owned()),
            ("{kind}", "order_placed".to_owned()),
            ("{locale}", "de".to_owned()),
            ("{type}", "store.updated".to_owned()),
            ("{provider}", "manual".to_owned()),
            ("{form}", "contact".to_owned()),
            ("{vid}", of("var")),
            ("{item}", of("var")),
            ("{location}", of("loc")),
            ("{line_id}", of("ctl")),
            ("{product_id}", of("prd")),
            ("{fulfillment_id}", of("ful")),
            ("{refund_id}", of("ref")),
            ("{sid}", of("sub")),
            ("{rid}", of("rev")),
            ("{part}", "1".to_owned()),
            ("{host}", "shop.example.com".to_owned()),
            ("{member_id}", of("mem")),
            ("{zone_id}", of("shz")),
            ("{rate_id}", of("txr")),
            ("{slug}", "plain-linen".to_owned()),
            ("{number}", "1".to_owned()),
            ("{sha256}", "0".repeat(64)),
            ("{name}", "webhooks".to_owned()),
            ("{issuer_path}", "api".to_owned()),
        ] {
            path = path.replace(name, &value);
        }
        assert!(!path.contains('{'), "{path}");
        path
    }

    /// What a row answers to this query and, where it may have a body, to these fields.
    async fn call(&self, row: &Row, query: &str, mut fields: Value) -> Reply {
        // Every request pays its price; time gives it back.
        self.shop.gateway.advance(Duration::from_secs(5));
        // An embedded token lives for minutes.
        let client = match row.access {
            Access::Embedded => self.shop.embedded_client().await,
            _ => self.of(row),
        };
        let input = client.request(row.method.clone(), &format!("{}?{query}", self.path(row)));
        if row.method == Method::GET {
            return input.await;
        }
        if names_its_store(row) {
            fields["subdomain"] = json!(self.shop.store.subdomain);
        }
        if row.path == "/v1/storefront/customer/addresses" && row.method != Method::POST {
            fields["id"] = json!(format!("adr_{}", "0".repeat(32)));
        }
        if row.path == "/v1/storefront/customer/wishlist" && row.method == Method::DELETE {
            fields["product_id"] = json!(format!("prd_{}", "0".repeat(32)));
        }
        input.key(&unique("asked")).json(fields).await
    }
}

/// Whether a row is for somebody who is not signed in to a store, and names it in the body.
fn names_its_store(row: &Row) -> bool {
    row.path.starts_with("/v1/storefront/customer/")
        && row.access == Access::Public
        && !row.path.ends_with("/verify")
        && !row.path.ends_with("/password/update")
}

fn has(reply: &Reply, pointer: &str, code: &str) -> bool {
    reply.field_errors().contains(&(pointer.to_owned(), code.to_owned()))
}

#[track_caller]
fn ensure(row: &Row, reply: &Reply, faults: &[(&str, &str)]) {
    assert_eq!(reply.status, 422, "{} {}: {}", row.method, row.path, reply.text);
    for (pointer, code) in faults {
        assert!(
            has(reply, pointer, code),
            "{} {}: {pointer} in {}",
            row.method,
            row.path,
            reply.text
        );
    }
}

#[tokio::test]
async fn every_route_rejects_unknown_and_repeated_parameters_together() {
    let callers = Callers::all().await;
    let mut lists = BTreeSet::new();
    for row in local::routes().rows() {
        if row.path == CONSENT_PAGE {
            continue;
        }
        let reply = callers.call(row, "limit=0&zzz=1&zzz=2", json!({})).await;
        if row.oauth {
            // Unknown parameters are ignored (RFC 6749 §3.2), repeated ones are not.
            let reply = reply.expect(400).oauth_error("invalid_request");
            assert!(reply.text.contains("zzz"), "{}", reply.text);
            continue;
        }
        ensure(row, &reply, &[("/zzz", "duplicate_parameter"), ("/zzz", "unknown_field")]);
        if has(&reply, "/limit", "out_of_range") {
            assert_eq!(row.method, Method::GET, "{}", row.path);
            lists.insert(row.path);
        } else {
            ensure(row, &reply, &[("/limit", "unknown_field")]);
        }
    }
    assert!(lists.len() >= 40, "{lists:#?}");
}

#[tokio::test]
async fn every_route_that_writes_rejects_unknown_fields() {
    let callers = Callers::all().await;
    for row in local::routes().rows() {
        if row.method == Method::GET || FOREIGN.contains(&row.path) {
            continue;
        }
        let reply = callers.call(row, "yyy=1&yyy=2", json!({"zzz": 1})).await;
        if row.oauth {
            reply.expect(400).oauth_error("invalid_request");
            continue;
        }
        if row.path.ends_with("/forms/{form}") {
            // A form's own fields are read by its handler.
            ensure(row, &reply, &[("/yyy", "unknown_field")]);
            let reply = callers.call(row, "", json!({"fields": {"a": "b"}, "zzz": 1})).await;
            ensure(row, &reply, &[("/zzz", "unknown_field")]);
            continue;
        }
        ensure(row, &reply, &[("/zzz", "unknown_field"), ("/yyy", "duplicate_parameter")]);
    }
}

#[tokio::test]
async fn a_list_reports_all_query_errors_together() {
    let callers = Callers::all().await;
    let owner = callers.shop.owner();
    let faults = |reply: Reply| reply.expect(422).problem("validation_failed").field_errors();
    let three = [
        ("/cursor".to_owned(), "invalid_cursor".to_owned()),
        ("/limit".to_owned(), "out_of_range".to_owned()),
        ("/status".to_owned(), "invalid_choice".to_owned()),
    ];
    for path in [
        "/v1/products",
        "/v1/orders",
        "/v1/payments",
        "/v1/payments/disputes",
        "/v1/products/gift-cards",
        "/v1/reviews",
        "/v1/form-submissions",
        "/v1/operations/webhook-deliveries",
        "/v1/operations/webhook-subscriptions",
        "/v1/operations/outbox",
        "/v1/app-store/installations",
    ] {
        let asked = format!("{path}?limit=0&status=zzz&cursor=zzz");
        assert_eq!(faults(owner.get(&asked).await), three, "{path}");
        let alone = owner.get(&format!("{path}?cursor=zzz")).await;
        alone.expect(400).problem("invalid_cursor");
    }
    let range = "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z";
    let asked = format!("/v1/operations/webhook-deliveries?limit=101&{range}&status=zzz");
    let named: Vec<String> =
        faults(owner.get(&asked).await).into_iter().map(|(at, _)| at).collect();
    assert_eq!(named, ["/limit", "/since", "/status"]);
    let shop = format!("/v1/storefront/{}/products", callers.shop.store.subdomain);
    let asked = format!("{shop}?limit=x&min_price=2&max_price=1&sort=color");
    let named = faults(callers.shop.gateway.client().get(&asked).await);
    let named: Vec<&str> = named.iter().map(|(at, _)| at.as_str()).collect();
    assert_eq!(named, ["/limit", "/max_price", "/sort"]);
}

#[tokio::test]
async fn json_types_are_strict_and_query_values_are_parsed() {
    let market = Market::open().await;
    let (owner, store) = (&market.owner, &market.store);
    let variant = market.stock(500, 9).await;
    let visitor = market.gateway.client();
    let settings = format!("/v1/stores/{}/settings", store.id);
    let orders = market.orders_path();
    let price = |amount: Value| json!({"amount": amount, "currency": "INR"});
    let mut cart = support::cart(&[(&variant, 1)]);
    cart["items"][0]["quantity"] = json!("2");
    let product = |part: Value| {
        let mut variant = json!({"price": price(json!(1))});
        for (name, value) in part.as_object().unwrap() {
            variant[name] = value.clone();
        }
        json!({"title": "Mug", "variants": [variant]})
    };
    for (method, path, body, pointer) in [
        (
            "POST",
            "/v1/products",
            product(json!({"price": price(json!("5"))})),
            "/variants/0/price/amount",
        ),
        ("POST", "/v1/products", product(json!({"weight": "5"})), "/variants/0/weight"),
        (
            "POST",
            "/v1/products",
            product(json!({"requires_shipping": "true"})),
            "/variants/0/requires_shipping",
        ),
        (
            "POST",
            "/v1/products",
            product(json!({"inventory": {"tracked": "true"}})),
            "/variants/0/inventory/tracked",
        ),
        (
            "POST",
            "/v1/products",
            product(json!({"inventory": {"levels": [{"quantity": "2"}]}})),
            "/variants/0/inventory/levels/0/quantity",
        ),
        ("POST", &orders, cart, "/items/0/quantity"),
        (
            "PATCH",
            &settings,
            json!({"checkout": {"guest_checkout": "false"}}),
            "/checkout/guest_checkout",
        ),
        (
            "PATCH",
            &settings,
            json!({"checkout": {"payment_window_minutes": "30"}}),
            "/checkout/payment_window_minutes",
        ),
        (
            "POST",
            "/v1/products/gift-cards",
            json!({"initial_value": price(json!("5"))}),
            "/initial_value/amount",
        ),
        ("POST", "/v1/products/categories", json!({"name": "A", "position": "1"}), "/position"),
        (
            "POST",
            "/v1/inventory/locations",
            json!({"name": "A", "address": {"country": "IN"}, "priority": "1"}),
            "/priority",
        ),
        ("POST", "/v1/auth/signout", json!({"all": "true"}), "/all"),
    ] {
        let client = if path.starts_with("/v1/storefront/") { &visitor } else { owner };
        let input = client.request(method.parse().unwrap(), path).key(&unique("typed")).json(body);
        let faults = input.await.expect(422).field_errors();
        assert_eq!(faults, [(pointer.to_owned(), "invalid_type".to_owned())], "{path}");
    }
    let shop = format!("/v1/storefront/{}/products", store.subdomain);
    for query in ["min_price=1&max_price=900&in_stock=true", "in_stock=false"] {
        visitor.get(&format!("{shop}?{query}")).await.expect(200);
    }
    for query in ["in_stock=yes", "min_price=1.5", "in_stock="] {
        visitor.get(&format!("{shop}?{query}")).await.expect(422);
    }
    owner.get("/v1/inventory/locations?active=true").await.expect(200);
    owner.get("/v1/products/collections?published=false").await.expect(200);
}

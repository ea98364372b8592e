//! What must hold of every route: the template, the published routes and the route tables say the
//! same; nobody gets in who should not, and nothing is written when they try.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gateway::caller::Access;
use gateway::routes::Row;
use http::Method;
use local::template;
use primitives::problem::Code;
use support::{Client, Developer, Gateway, Market, Merchant, Shop, Shopper, cart, json, unique};

/// Routes that clients were promised, word for word.
const INTERFACE: &[(&str, &str)] = &[
    ("GET", "/health"),
    ("POST", "/v1/auth/signup"),
    ("POST", "/v1/auth/signin"),
    ("POST", "/v1/auth/signin/otp"),
    ("POST", "/v1/auth/signin/otp/verify"),
    ("POST", "/v1/auth/signout"),
    ("POST", "/v1/auth/password/reset"),
    ("POST", "/v1/auth/password/update"),
    ("GET", "/v1/auth/custom/session"),
    ("GET", "/v1/products"),
    ("POST", "/v1/products"),
    ("GET", "/v1/products/collections"),
    ("POST", "/v1/products/collections"),
    ("GET", "/v1/products/gift-cards"),
    ("POST", "/v1/products/gift-cards"),
    ("GET", "/v1/orders"),
    ("POST", "/v1/orders"),
    ("POST", "/v1/orders/{id}/fulfill"),
    ("POST", "/v1/orders/{id}/refund"),
    ("GET", "/v1/customers"),
    ("GET", "/v1/inventory/locations"),
    ("POST", "/v1/inventory/locations"),
    ("GET", "/v1/form-submissions"),
    ("GET", "/v1/storefront/lookup"),
    ("GET", "/v1/storefront/{subdomain}"),
    ("GET", "/v1/storefront/{subdomain}/products"),
    ("POST", "/v1/storefront/{subdomain}/orders"),
    ("POST", "/v1/storefront/{subdomain}/payments/{provider}/order"),
    ("POST", "/v1/storefront/customer/login"),
    ("GET", "/v1/storefront/customer/addresses"),
    ("POST", "/v1/storefront/customer/addresses"),
    ("PATCH", "/v1/storefront/customer/addresses"),
    ("DELETE", "/v1/storefront/customer/addresses"),
    ("GET", "/v1/themes"),
    ("GET", "/v1/themes/{slug}/schema"),
    ("GET", "/v1/themes/{slug}/editor"),
    ("PUT", "/v1/themes/{slug}/editor/draft"),
    ("POST", "/v1/themes/{slug}/preview-session"),
    ("POST", "/v1/themes/packages/upload"),
    ("POST", "/v1/themes/{slug}/install"),
    ("POST", "/v1/themes/{slug}/purchase/verify"),
    ("GET", "/v1/app-store/apps"),
    ("POST", "/v1/app-store/apps/{id}/install"),
    ("POST", "/v1/app-store/apps/{id}/oauth/authorize"),
    ("POST", "/v1/app-store/oauth/token"),
    ("POST", "/v1/app-store/oauth/token-exchange"),
    ("POST", "/v1/app-store/bridge/fetch"),
    ("GET", "/v1/app-store/developers/register"),
    ("POST", "/v1/app-store/developers/register"),
    ("GET", "/v1/app-store/partners/dashboard"),
    ("GET", "/v1/operations/webhook-deliveries"),
    ("GET", "/v1/operations/webhook-subscriptions"),
    ("POST", "/v1/operations/webhook-subscriptions"),
    ("GET", "/v1/operations/runtime/overview"),
    ("GET", "/v1/operations/runtime/incidents"),
    ("POST", "/v1/operations/runtime/incidents"),
    ("GET", "/v1/operations/runtime/replays"),
    ("POST", "/v1/operations/runtime/replays"),
    ("POST", "/v1/operations/runtime/failover-drills"),
];

#[test]
fn every_published_route_is_served() {
    let rows = all_rows();
    for (method, path) in INTERFACE {
        let served = rows.iter().any(|row| row.method == *method && row.path == *path);
        assert!(served, "{method} {path}");
    }
}

/// A family is a function, and every path of a function has a row of its family's.
#[test]
fn the_template_routes_every_path_to_its_family() {
    let functions: Vec<_> = template::functions().unwrap();
    let led_to = |path: &str| {
        let weighed = functions.iter().map(|it| (template::takes(&it.paths, path), it));
        weighed.max_by_key(|(weight, _)| *weight).map(|(_, function)| function).unwrap()
    };
    for (family, routes) in local::families() {
        let mut of_family = functions.iter().filter(|function| function.binary == family);
        let function = of_family.next().unwrap_or_else(|| panic!("{family} is not deployed"));
        assert_eq!(of_family.count(), 0, "{family} is more than one function");
        for row in routes.rows() {
            let leads = &led_to(row.path).name;
            assert_eq!(leads, &function.name, "{} {}", row.method, row.path);
        }
        for path in &function.paths {
            let alone = BTreeSet::from([path.clone()]);
            let taken = routes.rows().iter().any(|row| template::takes(&alone, row.path).is_some());
            assert!(taken, "{path} leads to {family}, which has no row there");
        }
    }
    let paths: Vec<_> = functions.iter().flat_map(|function| &function.paths).collect();
    assert_eq!(paths.len(), BTreeSet::from_iter(&paths).len(), "two functions at one path");
    assert_eq!(paths.iter().filter(|path| **path == template::REST).count(), 1);
}

#[test]
fn the_local_table_matches_the_template() {
    let template =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../template.yaml"));
    let template: serde_yaml_ng::Value = serde_yaml_ng::from_str(&template.unwrap()).unwrap();
    let tables: Vec<_> = template["Resources"]
        .as_mapping()
        .unwrap()
        .values()
        .filter(|resource| resource["Type"] == "AWS::DynamoDB::Table")
        .collect();
    assert_eq!(tables.len(), 1);
    let deployed = serde_json::to_value(&tables[0]["Properties"]).unwrap();
    let local = serde_json::to_value(emulators::table_definition("t")).unwrap();
    for part in ["KeySchema", "BillingMode"] {
        assert_eq!(deployed[part], local[part], "{part}");
    }
    let sorted = |list: &serde_json::Value, name: &str| {
        let items = list.as_array().unwrap().iter();
        items.map(|item| (item[name].to_string(), item.clone())).collect::<BTreeMap<_, _>>()
    };
    for (part, name) in
        [("AttributeDefinitions", "AttributeName"), ("GlobalSecondaryIndexes", "IndexName")]
    {
        assert_eq!(sorted(&deployed[part], name), sorted(&local[part], name), "{part}");
    }
    assert_eq!(
        deployed["StreamSpecification"]["StreamViewType"],
        local["StreamSpecification"]["StreamViewType"]
    );
    assert_eq!(deployed["TimeToLiveSpecification"]["AttributeName"], emulators::TTL_ATTRIBUTE);
}

#[test]
fn every_problem_code_is_documented() {
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/errors.md")).unwrap();
    let (_, table) = document.split_once("<!-- codes -->").unwrap();
    let (table, _) = table.split_once("<!-- /codes -->").unwrap();
    let documented: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let row =
        |code: &Code| format!("| `{}` | {} | {} |", code.as_str(), code.status(), code.title());
    let expected: Vec<String> = Code::ALL.iter().map(row).collect();
    assert_eq!(documented, expected, "docs/errors.md does not list the catalogue");
}

/// The path with parameters filled in: the store's id where the path names a store.
fn filled(row: &Row, store: &str) -> String {
    let zeroes = "0".repeat(32);
    let samples = [
        ("{handle}", "main".to_owned()),
        ("{host}", "shop.example.com".to_owned()),
        ("{slug}", "plain-linen".to_owned()),
        ("{number}", "1".to_owned()),
        ("{name}", "webhooks".to_owned()),
        ("{type}", "store.updated".to_owned()),
        ("{sid}", format!("sub_{zeroes}")),
        ("{rid}", format!("rev_{zeroes}")),
        ("{member_id}", format!("mem_{zeroes}")),
        ("{zone_id}", format!("shz_{zeroes}")),
        ("{rate_id}", format!("txr_{zeroes}")),
        ("{line_id}", format!("ctl_{zeroes}")),
        ("{vid}", format!("var_{zeroes}")),
        ("{fulfillment_id}", format!("ful_{zeroes}")),
        ("{part}", "1".to_owned()),
        ("{issuer_path}", "api".to_owned()),
    ];
    let mut path = row.path.to_owned();
    for (name, sample) in samples {
        path = path.replace(name, &sample);
    }
    let id = match row.path {
        path if path.starts_with("/v1/stores/") => store.to_owned(),
        path if path.starts_with("/v1/themes/packages/") => format!("pkg_{zeroes}"),
        path if path.contains("/preview-session/") => format!("prv_{zeroes}"),
        path if path.contains("/apps/") => format!("app_{zeroes}"),
        path if path.contains("/installations/") => format!("ins_{zeroes}"),
        path if path.contains("/sessions/") => format!("ses_{zeroes}"),
        path if path.contains("/webhook-subscriptions/") => format!("whs_{zeroes}"),
        path if path.contains("/webhook-deliveries/") => format!("dlv_{zeroes}"),
        path if path.contains("/outbox/") => format!("evt_{zeroes}"),
        path if path.contains("/incidents/") => format!("inc_{zeroes}"),
        path if path.contains("/replays/") => format!("rpl_{zeroes}"),
        path if path.contains("/certification-reports/") => format!("rep_{zeroes}"),
        path if path.contains("/reliability-evidence/") => format!("evd_{zeroes}"),
        path if path.contains("/failover-drills/") => format!("drl_{zeroes}"),
        path if path.contains("/redactions/") => format!("red_{zeroes}"),
        path if path.contains("/load-tests/") => format!("lod_{zeroes}"),
        path if path.starts_with("/v1/orders/") => format!("ord_{zeroes}"),
        path if path.contains("/carts/") => format!("crt_{zeroes}"),
        path if path.contains("/disputes/") => format!("dsp_{zeroes}"),
        path if path.starts_with("/v1/payments/") => format!("pay_{zeroes}"),
        path if path.starts_with("/v1/customers/") => format!("cus_{zeroes}"),
        path if path.starts_with("/v1/discounts/") => format!("dsc_{zeroes}"),
        path if path.starts_with("/v1/form-submissions/") => format!("frm_{zeroes}"),
        path if path.starts_with("/v1/imports/") => format!("imp_{zeroes}"),
        path if path.starts_with("/v1/exports/") => format!("exp_{zeroes}"),
        path if path.contains("/locations/") => format!("loc_{zeroes}"),
        path if path.starts_with("/v1/media/") => format!("med_{zeroes}"),
        path if path.starts_with("/v1/reviews/") => format!("rev_{zeroes}"),
        path if path.contains("/categories/") => format!("cat_{zeroes}"),
        path if path.contains("/collections/") => format!("col_{zeroes}"),
        path if path.contains("/gift-cards/") => format!("gft_{zeroes}"),
        path if path.starts_with("/v1/products/") => format!("prd_{zeroes}"),
        _ => zeroes,
    };
    path.replace("{id}", &id)
}

async fn call(client: &Client, row: &Row, store: &str) -> support::Reply {
    // Each from a network of its own: rejections have a price.
    let input = client.elsewhere().request(row.method.clone(), &filled(row, store));
    if row.method == Method::GET { input.await } else { input.json(json!({})).await }
}

fn all_rows() -> Vec<Row> {
    local::routes().rows().to_vec()
}

#[tokio::test]
async fn routes_that_are_not_public_reject_unauthenticated_requests() {
    let shop = Shop::with_installed_app().await;
    let before = shop.gateway.count().await;
    for row in all_rows() {
        if matches!(row.access, Access::Public | Access::Client) {
            continue;
        }
        for token in [
            None,
            Some("nonsense"),
            Some("a.b.c"),
            Some(&*format!("mst_{}_{}_{}", "0".repeat(32), "0".repeat(32), "0".repeat(43))),
        ] {
            let client = shop.app_server.stranger();
            let client = token.map_or(client.clone(), |token| client.with_token(token));
            let reply = call(&client, &row, &shop.store.id).await;
            assert_eq!(reply.status, 401, "{} {}: {}", row.method, row.path, reply.text);
            assert!(reply.header("www-authenticate").is_some(), "{} {}", row.method, row.path);
        }
    }
    assert_eq!(shop.gateway.count().await, before);
}

#[tokio::test]
async fn another_tenants_store_is_answered_like_an_unknown_one() {
    let shop = Shop::with_installed_app().await;
    let intruder = Merchant::sign_up(&shop.gateway).await;
    intruder.open_store().await;
    let before = shop.gateway.count().await;
    let unknown = "sto_00000000000000000000000000000000";
    for row in all_rows() {
        if !matches!(row.access, Access::Scope(_) | Access::Role(_)) {
            continue;
        }
        let foreign = call(&intruder.at(&shop.store), &row, &shop.store.id).await;
        let missing = call(&intruder.with_store(unknown), &row, unknown).await;
        assert_eq!(foreign.status, 404, "{} {}: {}", row.method, row.path, foreign.text);
        let bare = |reply: &support::Reply, store: &str| {
            let id = reply.header("x-request-id").unwrap();
            reply.text.replace(id, "").replace(store, "")
        };
        assert_eq!(
            bare(&foreign, &shop.store.id),
            bare(&missing, unknown),
            "{} {}",
            row.method,
            row.path
        );
    }
    assert_eq!(shop.gateway.count().await, before);
}

/// What a path names comes first: nobody learns of another's resource, or of one that is not there, what is
/// valid for it.
#[tokio::test]
async fn an_invalid_body_for_an_unknown_resource_is_not_found() {
    let gateway = Gateway::start().await;
    let developer = Developer::register(&gateway).await;
    let store = developer.open_store().await;
    let owner = developer.at(&store);
    let before = gateway.count().await;
    let mut wrong = Vec::new();
    for row in all_rows() {
        let is_theirs = matches!(
            row.access,
            Access::Scope(_) | Access::Role(_) | Access::Developer | Access::Merchant
        );
        let names_one = row.path.replace("/v1/stores/{id}", "").contains('{');
        if !is_theirs || !names_one || row.method == Method::GET || is_public(row.path) {
            continue;
        }
        for bad in [r#"{"no_such_field": [1]}"#, "{", r#"{"since": "1999-01-01T00:00:00Z"}"#] {
            // The budget of whoever asks refills.
            gateway.advance(Duration::from_secs(10));
            let input = owner.elsewhere().request(row.method.clone(), &filled(&row, &store.id));
            let input = input.key(&unique("bad"));
            let reply = input.header("content-type", "application/json").body(bad).await;
            if reply.status != 404 {
                wrong.push(format!("{} {} {bad}: {}", row.method, row.path, reply.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(gateway.count().await, before);
}

/// Whether a path names what everybody knows: apps of the catalogue, and what comes into being under
/// a name of the service's or of the store's own.
fn is_public(path: &str) -> bool {
    let is_app = path.starts_with("/v1/app-store/apps/{id}");
    (is_app && !path.contains("{rid}")) || MADE_BY_NAME.contains(&path)
}

const MADE_BY_NAME: &[&str] = &[
    "/v1/payments/providers/{provider}",
    "/v1/stores/{id}/navigation/{handle}",
    "/v1/stores/{id}/notifications/{kind}/preview",
    "/v1/stores/{id}/notifications/{kind}/{locale}",
    "/v1/stores/{id}/policies/{handle}",
];

#[tokio::test]
async fn an_app_without_the_scope_is_rejected_with_the_missing_scope() {
    // Each opens routes of its own, which are called by an app with the other.
    for scope in ["read_themes", "read_forms"] {
        let rejected = rejected_without(scope).await;
        assert!(rejected > 100, "{scope}: {rejected}");
    }
}

/// Calls every route as an app with this scope alone; how many demand another.
async fn rejected_without(own: &str) -> usize {
    let shop = Shop::with_published_app(&[own]).await;
    shop.authorize().await;
    let app = shop.app_client().await;
    let page = shop.embedded_client().await;
    let before = shop.gateway.count().await;
    let mut rejected = 0;
    for row in all_rows() {
        for client in [&app, &page] {
            let reply = match row.access {
                Access::Scope(scope) if scope == own => continue,
                Access::Public | Access::Client | Access::Embedded => continue,
                Access::Scope(scope) => {
                    let reply = call(client, &row, &shop.store.id).await.expect(403);
                    assert_eq!(reply.str("/required_scope"), scope, "{} {}", row.method, row.path);
                    rejected += 1;
                    reply.problem("insufficient_scope")
                }
                Access::Merchant
                | Access::Role(_)
                | Access::Developer
                | Access::Operator
                | Access::Customer => call(client, &row, &shop.store.id).await.expect(401),
            };
            assert!(reply.header("www-authenticate").is_some(), "{} {}", row.method, row.path);
        }
    }
    assert_eq!(shop.gateway.count().await, before);
    rejected
}

#[tokio::test]
async fn developer_and_operator_routes_reject_other_merchants() {
    let shop = Shop::with_installed_app().await;
    let merchant = Merchant::sign_up(&shop.gateway).await;
    let before = shop.gateway.count().await;
    for row in all_rows() {
        let code = match row.access {
            Access::Developer => "developer_required",
            Access::Operator => "operator_required",
            _ => continue,
        };
        call(&merchant, &row, &shop.store.id).await.expect(403).problem(code);
    }
    assert_eq!(shop.gateway.count().await, before);
}

#[tokio::test]
async fn an_invalid_body_for_an_inaccessible_order_is_not_found() {
    let market = Market::open().await;
    let variant = market.stock(100, 5).await;
    let order = market.order(cart(&[(&variant, 1)])).await;
    let cancel = format!("/v1/storefront/{}/orders/{}/cancel", market.store.subdomain, order.id);
    for bad in [r#"{"no_such_field": [1]}"#, "{", r#"{"reason": 5}"#] {
        let request = |token: &str| {
            let input = market.gateway.client().request(Method::POST, &cancel);
            input
                .header("content-type", "application/json")
                .header("x-service-order-token", token)
                .body(bad)
        };
        request("wrong").await.expect(404).problem("not_found");
        let status = request(&order.token).await.status;
        assert!([400, 422].contains(&status), "{bad}: {status}");
    }
}

#[tokio::test]
async fn a_shoppers_invalid_body_for_an_unknown_resource_is_not_found() {
    let market = Market::open().await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let subdomain = &market.store.subdomain;
    let product = format!("prd_{}", "0".repeat(32));
    for (method, path) in [
        (Method::POST, format!("/v1/storefront/{subdomain}/products/no-such/reviews")),
        (Method::DELETE, format!("/v1/storefront/customer/wishlist/{product}")),
    ] {
        for bad in [r#"{"no_such_field": [1]}"#, "{", r#"{"rating": 9}"#] {
            let input = shopper.request(method.clone(), &path);
            let reply = input.header("content-type", "application/json").body(bad).await;
            assert_eq!(reply.status, 404, "{method} {path} {bad}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn an_invalid_body_for_an_existing_resource_is_a_bad_request() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let session = merchant.get("/v1/auth/sessions").await.expect(200).str("/data/0/id");
    let input = merchant.request(Method::DELETE, &format!("/v1/auth/sessions/{session}"));
    let reply = input.header("content-type", "application/json").body("{").await;
    assert_eq!(reply.status, 400, "{}", reply.text);
}

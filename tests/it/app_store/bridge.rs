//! What an app's page reaches through the gateway, and what it never does.

use http::Method;
use support::clock::MINUTE;
use support::{Client, Developer, Reply, Route, Shop, Value, json, routes};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const BRIDGE: &str = "/v1/app-store/bridge/fetch";

/// Words in the paths of whatever takes, hands out or validates a credential.
const CREDENTIALS: [&str; 14] = [
    "auth", "oauth", "login", "register", "logout", "password", "otp", "verify", "token", "secret",
    "session", "sessions", "mfa", "email",
];

/// What has such a word in its path and is open all the same, because a plain call with the same
/// token does it too, or because it tells what everybody may know.
const OPEN: [(&str, &str); 14] = [
    ("POST", "/v1/stores/{id}/domains/{host}/verify"),
    ("POST", "/v1/operations/webhook-subscriptions/{id}/secret/rotate"),
    ("POST", "/v1/operations/webhook-subscriptions/{id}/secret/promote"),
    ("GET", "/v1/operations/outbox/verify"),
    ("GET", "/v1/operations/reliability-evidence/verify"),
    ("GET", "/v1/inventory/levels/{item}/{location}/verify"),
    ("GET", "/v1/app-store/oauth/jwks"),
    ("GET", "/v1/app-store/oauth/metadata"),
    ("GET", "/v1/app-store/oauth/authorize"),
    ("GET", "/.well-known/oauth-authorization-server"),
    ("GET", "/.well-known/oauth-authorization-server/{issuer_path}"),
    ("POST", "/v1/themes/{slug}/preview-session"),
    ("GET", "/v1/themes/{slug}/preview-session/{id}"),
    ("DELETE", "/v1/themes/{slug}/preview-session/{id}"),
];

/// What a bridged request may reach: what an app may do by its token, and what anybody may read.
fn is_open(route: &Route) -> bool {
    route.is_for_apps || route.is_public && route.method == Method::GET
}

fn filled(row: &Route, store: &str) -> String {
    let path = row.path.replace("/v1/stores/{id}", &format!("/v1/stores/{store}"));
    let mut parts = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |path, part| format!("{path}/{part}"))
}

#[test]
fn the_bridge_allows_no_credential_routes() {
    let mut seen = 0;
    for row in routes() {
        let named = row.path.split(['/', '-']).any(|part| CREDENTIALS.contains(&part));
        let known = OPEN.contains(&(row.method.as_str(), row.path));
        if !named || known {
            continue;
        }
        seen += 1;
        assert!(!is_open(&row), "{} {} is open: close it, or say why not", row.method, row.path);
    }
    assert!(seen >= 25, "only {seen} rows deal in credentials");
}

#[tokio::test]
async fn the_bridge_allows_only_app_and_public_routes() {
    let shop = Shop::with_installed_app().await;
    let before = shop.gateway.count().await;
    let mut page = shop.embedded_client().await;
    let mut asked = 0;
    for row in routes().iter().filter(|row| !is_open(row)) {
        let input = json!({"method": row.method.as_str(), "path": filled(row, &shop.store.id)});
        let rejected = page.post(BRIDGE).json(input).await;
        assert_eq!(rejected.status, 400, "{} {}: {}", row.method, row.path, rejected.text);
        rejected.problem("path_not_allowed");
        asked += 1;
        if asked % 50 == 0 {
            shop.gateway.advance(MINUTE);
            page = shop.embedded_client().await;
        }
    }
    assert!(asked >= 60, "only {asked} rows are closed");
    let tokens = asked / 50;
    assert!(shop.gateway.count().await <= before + 2 * (tokens + 1), "something was written");
    for (path, query, status) in [
        (format!("/v1/stores/{}", shop.store.id), json!({}), 200),
        ("/v1/operations/webhook-subscriptions".into(), json!({"limit": 1}), 200),
        ("/v1/app-store/apps".into(), json!({"q": "an app"}), 200),
        ("/v1/storefront/no-such-store".into(), json!({}), 404),
    ] {
        let reply = page.post(BRIDGE).json(json!({"path": path, "query": query})).await;
        assert_eq!(reply.expect(200).int("/status"), status, "{path}");
    }
}

/// Gives a published app another URL behind everybody's back, as if it had got in before its host
/// was this API's.
async fn move_app(shop: &Shop, url: &str) {
    let app = shop.gateway.item("app", &shop.app.id).await;
    shop.gateway.change_item(&app, json!({"app_url": url})).await;
}

/// The ways to write this API's own origin.
fn own_origins(shop: &Shop) -> Vec<String> {
    let url = url::Url::parse(shop.gateway.url()).unwrap();
    let port = url.port().unwrap();
    ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("http://{host}:{port}")).into()
}

#[tokio::test]
async fn an_app_url_on_the_platforms_host_is_rejected() {
    let shop = Shop::with_installed_app().await;
    let own = format!("/v1/app-store/developers/apps/{}", shop.app.id);
    for origin in own_origins(&shop) {
        let mut fields = Developer::app_fields(&[]);
        fields["app_url"] = json!(format!("{origin}/x"));
        let rejected = shop.developer.post("/v1/app-store/developers/apps").json(fields).await;
        let rejected = rejected.expect(422);
        assert_eq!(rejected.field_errors(), [("/app_url".into(), "own_host".into())], "{origin}");
        let change = json!({"app_url": origin});
        shop.developer.patch(&own).json(change).await.expect(422);
    }
    let mut fields = Developer::app_fields(&[]);
    fields["redirect_uris"] = json!([format!("{}/v1/auth/me", shop.gateway.url())]);
    let rejected = shop.developer.post("/v1/app-store/developers/apps").json(fields).await;
    let errors = rejected.expect(422).field_errors();
    assert_eq!(errors, [("/redirect_uris/0".into(), "redirect_uri_invalid".into())]);
    let hook = json!({"webhook_url": format!("{}/v1/auth/signup", shop.gateway.url())});
    let rejected = shop.developer.patch(&own).json(hook).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/webhook_url".into(), "own_host".into())]);
    move_app(&shop, shop.gateway.url()).await;
    let input = Developer::submission_fields("2.0.0");
    let rejected = shop.developer.post(&format!("{own}/submissions")).json(input).await.expect(422);
    let checks = rejected.problem("checks_failed").at("/checks").as_array().unwrap().clone();
    let failed = |check: &&Value| check["check"] == "app_url_is_its_own";
    assert_eq!(checks.iter().find(failed).unwrap()["verdict"], "fail");
    let page = shop.embedded_client().await;
    for path in ["/v1/auth/me", "/v1/app-store/oauth/token", "/health", BRIDGE] {
        let input = json!({"target": "app", "path": path});
        page.post(BRIDGE).json(input).await.expect(400).problem("path_not_allowed");
    }
}

#[tokio::test]
async fn an_app_url_on_an_admin_origin_is_rejected() {
    let gateway = support::Gateway::start_with(|options| {
        options.embedded.admin_origins = vec!["https://admin.example".to_owned()];
    })
    .await;
    let developer = Developer::register(&gateway).await;
    for (origin, status) in [
        ("https://admin.example", 422),
        ("https://ADMIN.example.:8443", 422),
        ("https://other.admin.example", 201),
    ] {
        let mut fields = Developer::app_fields(&[]);
        fields["app_url"] = json!(origin);
        developer.post("/v1/app-store/developers/apps").json(fields).await.expect(status);
    }
}

/// Another name of the API: a server that passes every byte on.
async fn alias(shop: &Shop) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let target = shop.gateway.url().trim_start_matches("http://").to_owned();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((mut from, _)) = listener.accept().await {
            let target = target.clone();
            connections.spawn(async move {
                let mut to = TcpStream::connect(target).await.unwrap();
                let _ = copy_bidirectional(&mut from, &mut to).await;
            });
        }
    });
    (url, tasks)
}

async fn through(page: &Client, method: &str, path: &str, body: Value) -> Reply {
    let input = json!({"target": "app", "method": method, "path": path, "body": body});
    page.post(BRIDGE).json(input).await
}

#[tokio::test]
async fn bridged_requests_to_an_alias_of_the_api_are_rejected() {
    let shop = Shop::with_installed_app().await;
    let (url, _alias) = alias(&shop).await;
    move_app(&shop, &url).await;
    let page = shop.embedded_client().await;
    let before = shop.gateway.count().await;
    let credentials = json!({"email": "new@example.com", "password": support::PASSWORD});
    let nested = json!({"path": format!("/v1/stores/{}", shop.store.id)});
    for (method, path, body) in [
        ("POST", "/v1/auth/signup", credentials.clone()),
        ("POST", "/v1/auth/signin", credentials),
        ("POST", BRIDGE, nested.clone()),
        (
            "POST",
            BRIDGE,
            json!({"target": "app", "method": "POST", "path": BRIDGE, "body": nested}),
        ),
        ("POST", "/v1/app-store/oauth/introspect", json!({"token": "x"})),
        ("POST", "/v1/storefront/customer/login", json!({})),
    ] {
        let rejected = through(&page, method, path, body).await;
        rejected.expect(400).problem("path_not_allowed");
    }
    assert_eq!(shop.gateway.count().await, before);
    // Nobody gains by saying so: the mark only takes away.
    let marked = shop.gateway.client().post("/v1/auth/signin").header("x-service-bridge", "1");
    marked.json(json!({})).await.expect(400).problem("path_not_allowed");
}

#[tokio::test]
async fn the_bridge_splits_large_lists_into_more_pages() {
    let shop = Shop::with_published_app(&["read_products"]).await;
    shop.authorize().await;
    let owner = shop.owner();
    let description = "word ".repeat(12_000);
    for number in 0..30 {
        let input = json!({
            "title": format!("Book {number}"), "description": description,
            "variants": [{"price": support::inr(5)}],
        });
        owner.post("/v1/products").json(input).await.expect(201);
    }
    let plain = owner.get("/v1/products?limit=100").await.expect(200);
    assert_eq!((plain.data().len(), plain.at("/page/has_more").clone()), (30, json!(false)));
    let page = shop.embedded_client().await;
    let (mut seen, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let mut query = json!({"limit": 100});
        if cursor.is_string() {
            query["cursor"] = cursor;
        }
        let input = json!({"path": "/v1/products", "query": query});
        let reply = page.post(BRIDGE).json(input).await.expect(200);
        assert_eq!(reply.int("/status"), 200, "{}", reply.text);
        let data = reply.at("/body/data").as_array().unwrap();
        seen.extend(data.iter().map(|product| product["id"].clone()));
        pages += 1;
        cursor = reply.at("/body/page/next_cursor").clone();
        if cursor.is_null() {
            break;
        }
    }
    let all: Vec<_> = plain.data().iter().map(|product| product["id"].clone()).collect();
    assert_eq!((seen, pages), (all, 3), "each of them once, in the same order");
}

#[tokio::test]
async fn an_app_cannot_reach_another_store_by_any_parameter() {
    let shop = Shop::with_published_app(&["write_store", "write_webhooks"]).await;
    shop.authorize().await;
    let page = shop.embedded_client().await;
    let app = shop.app_client().await;
    let (own, other) = (shop.store.id.clone(), shop.merchant.open_store().await.id);
    let list = "/v1/operations/webhook-subscriptions";
    let hook = |store: &str| json!({"url": "http://127.0.0.1:9/", "event_types": ["store.*"], "store_id": store});
    let inner = |input: Value| {
        let send = page.post(BRIDGE).json(input);
        async move { send.await.expect(200).int("/status") }
    };
    for (store, read, written) in
        [(&own, 200, 201), (&other, 404, 404), (&"nonsense".to_owned(), 404, 404)]
    {
        assert_eq!(inner(json!({"path": list, "query": {"store_id": store}})).await, read);
        let input = json!({"method": "POST", "path": list, "body": hook(store)});
        assert_eq!(inner(input).await, written, "{store}");
        let path = format!("/v1/stores/{store}");
        assert_eq!(inner(json!({"path": path})).await, read);
        // Without the bridge, too, whatever else is said.
        let direct = app.get(&format!("{list}?store_id={store}")).store(&own).await;
        assert_eq!(i64::from(direct.status), read, "{store}");
        let direct = app.post(list).json(hook(store)).store(&own).await;
        assert_eq!(i64::from(direct.status), written, "{store}");
        let direct = app.get(list).store(store).await;
        assert_eq!(i64::from(direct.status), read, "{store}");
        let direct = app.get(&format!("/v1/stores/{own}?store_id={store}")).await;
        assert_eq!(i64::from(direct.status), read, "{store}");
    }
    app.get(list).store(&own).store(&other).await.expect(404);
    // The header is not the page's to set, and the bridge's own call obeys it.
    let input = json!({"path": list, "headers": {"X-Service-Store-Id": other}});
    page.post(BRIDGE).json(input).await.expect(422);
    page.post(BRIDGE).json(json!({"path": list})).store(&other).await.expect(404);
}

//! The pages of a local system: that each is there, loads nothing from elsewhere, and tells no secret.

mod activity;
mod demo;
mod mail;
mod reference;

use support::{Client, Gateway, Reply, json};

/// The pages that are there without a demo.
const PAGES: [&str; 13] = [
    "/_local/",
    "/_local/activity",
    "/_local/activity/events",
    "/_local/mail",
    "/_local/store/sell",
    "/_local/store/orders",
    "/_local/store/webhooks",
    "/_local/store/apps",
    "/_local/reference",
    "/_local/reference/createOrder",
    "/_local/docs/",
    "/_local/docs/quickstart",
    "/_local/operations",
];

/// Opens a page, which runs and loads nothing but what this server has.
async fn page(client: &Client, path: &str) -> Reply {
    let page = client.get(path).await.expect(200);
    assert!(page.header("content-type").unwrap().starts_with("text/html"), "{path}");
    let policy = page.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{path}: {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
    for absent in [" style=", "<style", "<script>", "onclick", "src=\"http", "src=\"//"] {
        assert!(!page.text.contains(absent), "{path}: {absent}");
    }
    page
}

#[tokio::test]
async fn every_page_is_served_and_loads_nothing_from_other_hosts() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    for path in PAGES {
        let shown = page(&client, path).await.text;
        assert!(shown.contains("aria-current=\"page\""), "{path} is not in the navigation");
        assert!(shown.contains("name=\"viewport\"") && shown.contains("<h1"), "{path}");
    }
    for (path, kind) in [("style.css", "text/css"), ("script.js", "text/javascript")] {
        let asset = client.get(&format!("/_local/assets/{path}")).await.expect(200);
        assert!(asset.header("content-type").unwrap().starts_with(kind));
        assert!(!asset.text.contains("http://") && !asset.text.contains("https://"), "{path}");
    }
}

#[tokio::test]
async fn the_root_leads_to_the_start_page_and_old_paths_to_new_ones() {
    let gateway = Gateway::start().await;
    for (from, to) in
        [("/", "/_local/"), ("/_local", "/_local/"), ("/_local/docs", "/_local/reference")]
    {
        let reply = gateway.get(from).await.expect(307);
        assert_eq!(reply.header("location"), Some(to), "{from}");
    }
}

#[tokio::test]
async fn an_unknown_path_of_the_pages_is_an_error_page_with_navigation() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    for path in ["/_local/nonexistent", "/_local/docs/a/b", "/_local/store/orders/x"] {
        let missing = client.get(path).await.expect(404).text;
        assert!(
            missing.contains("<h1>") && missing.contains("href=\"/_local/activity\""),
            "{path}"
        );
    }
    let posted = client.post("/_local/nonexistent").json(json!({})).await.expect(404);
    assert_eq!(posted.str("/code"), "not_found");
}

#[tokio::test]
async fn documents_have_the_addresses_of_the_running_system() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let shown = page(&client, "/_local/docs/quickstart").await.text;
    assert!(shown.contains(gateway.url()) && !shown.contains("http://127.0.0.1:3000"));
    assert!(shown.contains("href=\"/_local/docs/example-app\""));
    let app = page(&client, "/_local/docs/example-app").await.text;
    assert!(app.contains("href=\"/_local/docs/quickstart\"") && !app.contains("127.0.0.1:3000"));
}

#[tokio::test]
async fn other_sites_reach_no_route_by_a_name_of_theirs() {
    let market = support::Market::open().await;
    let client = market.gateway.client();
    for path in ["/v1/auth/me", "/v1/storefront/lookup", "/health", "/v1/nothing", "/_local/shop/x"]
    {
        for host in ["rebound.example:3000", "127.0.0.1.example", "shop.shops.example.com"] {
            let reply = client.get(path).header("host", host).await.expect(421);
            if !path.starts_with("/_local") {
                reply.problem("misdirected_request");
            }
        }
    }
    support::verify(&market.gateway, &market.store, "www.shop.example.com").await;
    let found = client.get("/v1/storefront/lookup").header("host", "www.shop.example.com:443");
    assert_eq!(found.await.expect(200).str("/store_id"), market.store.id);
    for host in ["localhost:3000", "LOCALHOST.", "127.0.0.2", "[::1]:3000", "packing.localhost"] {
        client.get("/health").header("host", host).await.expect(200);
    }
}

#[tokio::test]
async fn the_hosts_of_admin_origins_are_the_systems_own() {
    let origin = "https://admin.example.com:5173".to_owned();
    let gateway =
        Gateway::start_with(|options| options.embedded.admin_origins = vec![origin]).await;
    let client = gateway.client();
    for host in ["admin.example.com:5173", "admin.example.com"] {
        client.get("/health").header("host", host).await.expect(200);
    }
    client.get("/health").header("host", "example.com:5173").await.expect(421);
}

#[tokio::test]
async fn other_sites_open_no_private_page_and_get_no_token() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    for path in ["/_local/", "/_local/mail", "/_local/activity", "/_local/store/orders"] {
        client.get(path).header("host", "rebound.example:3000").await.expect(421);
        client.get(path).header("host", "localhost:3000").await.expect(200);
    }
    let post = || client.post("/_local/tokens").form(&[("who", "merchant")]);
    post().header("origin", "https://evil.example").await.expect(403);
    post().header("sec-fetch-site", "cross-site").await.expect(403);
    // There is no demo here.
    post().await.expect(409);
    client.post("/_local/tokens").form(&[("who", "nobody")]).await.expect(400);
}

#[tokio::test]
async fn other_machines_open_no_private_page() {
    // The address by which this machine would reach another one; a machine without a network has none.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    if socket.connect("192.0.2.1:9").is_err() {
        return;
    }
    let own = socket.local_addr().unwrap().ip();
    let gateway =
        Gateway::start_with(|options| options.host = Some("0.0.0.0".parse().unwrap())).await;
    let port = gateway.url().rsplit(':').next().unwrap();
    let client = gateway.client().at_url(&format!("http://{own}:{port}"));
    for private in ["mail", "activity", "store/orders", "operations"] {
        client.get(&format!("/_local/{private}")).await.expect(403);
    }
    client.post("/_local/tokens").form(&[("who", "merchant")]).await.expect(403);
    client.get("/_local/reference").await.expect(200);
    client.get("/health").await.expect(200);
}

#[tokio::test]
async fn a_system_for_others_has_no_private_page() {
    // Where it listens is not its base URL.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gateway = Gateway::start_with(|options| {
        options.port = Some(free.port());
        options.base_url = Some("https://shop.example".to_owned());
    })
    .await;
    let client = gateway.client().at_url(&format!("http://{free}"));
    let start = page(&client, "/_local/").await.text;
    for private in ["mail", "activity", "store/orders", "operations"] {
        assert!(!start.contains(&format!("/_local/{private}")), "{private}");
        let missing = client.get(&format!("/_local/{private}")).await.expect(404).text;
        assert!(!missing.contains("href=\"/_local/mail\""), "{private}");
    }
    client.post("/_local/tokens").form(&[("who", "merchant")]).await.expect(404);
    page(&client, "/_local/reference/listOrders").await;
    page(&client, "/_local/docs/quickstart").await;
}

#[tokio::test]
async fn documents_are_linked_with_each_other_and_no_path_leaves_them() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let architecture = page(&client, "/_local/docs/architecture").await.text;
    for part in [
        "href=\"/_local/docs/decisions#",
        "src=\"/_local/docs/crates.svg\"",
        "id=\"1-in-one-breath\"",
    ] {
        assert!(architecture.contains(part), "{part}");
    }
    let image = client.get("/_local/docs/crates.svg").await.expect(200);
    assert_eq!(image.header("content-type"), Some("image/svg+xml"));
    assert!(image.header("content-security-policy").unwrap().contains("sandbox"));
    for outside in ["..%2fCargo.toml", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "openapi.json", "Cargo"] {
        let reply = client.get(&format!("/_local/docs/{outside}")).await.expect(404);
        assert!(!reply.text.contains("[workspace]") && !reply.text.contains("root:"));
    }
}

#[tokio::test]
async fn an_admin_origin_may_send_what_a_session_sends_and_others_may_not() {
    let origin = "http://localhost:5173";
    let gateway = Gateway::start_with(|options| {
        options.embedded.admin_origins = vec![origin.to_owned()];
    })
    .await;
    let preflight = |from: &str| {
        let request = gateway.client().request("OPTIONS".parse().unwrap(), "/v1/orders");
        request.header("origin", from).header("access-control-request-method", "POST")
    };
    let allowed = preflight(origin).await.expect(204);
    assert_eq!(allowed.header("access-control-allow-origin"), Some(origin));
    assert_eq!(allowed.header("access-control-allow-credentials"), Some("true"));
    assert!(allowed.header("access-control-allow-headers").unwrap().contains("authorization"));
    let denied = preflight("http://localhost:5174").await;
    assert_eq!(denied.header("access-control-allow-origin"), None);
    let signed_in = gateway.client().post("/v1/auth/signup").header("origin", origin);
    let input = json!({"email": "admin@example.com", "password": "correct horse battery"});
    let signed_in = signed_in.json(input).await.expect(201);
    assert_eq!(signed_in.header("access-control-allow-origin"), Some(origin));
}

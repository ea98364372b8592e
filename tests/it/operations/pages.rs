//! Pages to look at: self-contained, without script, and the same numbers as the JSON.

use support::{Client, Gateway, Merchant, Operator, json};

/// What browsers send.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// What a browser is shown: a page that loads nothing and runs nothing.
pub(super) async fn page(client: &Client, path: &str) -> String {
    let page = client.get(path).header("accept", BROWSER).await.expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(
        page.header("vary").is_some_and(|names| names.split(", ").any(|name| name == "Accept"))
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    for absent in ["<script", " style=", "<link", "<img", "src=\"", "url(", "@import"] {
        assert!(!page.text.contains(absent), "{path}: {absent}");
    }
    assert!(page.text.contains("name=\"viewport\""));
    page.text
}

#[tokio::test]
async fn the_overview_page_is_served_to_operators_and_stores() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let input = json!({"title": "<i>Late</i>", "severity": "high", "components": ["api"]});
    operator.post("/v1/operations/runtime/incidents").key("one").json(input).await.expect(201);
    gateway.look().await;
    let overview = "/v1/operations/runtime/overview?window=1h";
    let shown = page(&operator, overview).await;
    for part in
        ["1 open incident", "&lt;i&gt;Late", "slow-webhooks", "app-store", "<svg", "Outbox lag"]
    {
        assert!(shown.contains(part), "{part}");
    }
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    let own = page(&owner, overview).await;
    assert!(own.contains(&store.id) && own.contains("no open incident"));
    assert!(!own.contains("slow-webhooks") && !own.contains("Late"));
    let json = operator.get(overview).await.expect(200);
    assert_eq!(
        (json.header("cache-control"), json.header("vary")),
        (Some("no-store"), Some("Accept"))
    );
}

#[tokio::test]
async fn operator_pages_are_served_in_the_demo_only() {
    let gateway = Gateway::start().await;
    // Without the demo's operator there are no operators' pages.
    let alone = gateway.client().get("/_local/").await.expect(200).text;
    assert!(alone.contains("/_local/reference") && !alone.contains("runtime/overview"));
    let operations = gateway.client().get("/_local/operations").await.expect(200).text;
    assert!(operations.contains("There is no demo") && !operations.contains("runtime/overview"));
    let overview = "/_local/operations/runtime/overview?window=5m";
    gateway.client().get(overview).await.expect(404);
}

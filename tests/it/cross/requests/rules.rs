//! Rules between fields, and of fields that only the application can validate, in every family.

use http::Method;
use support::{Client, Value, inr, json, unique};

use super::Callers;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table: one case a request type")]
async fn every_family_reports_all_field_errors_together() {
    let callers = Callers::all().await;
    let shop = &callers.shop;
    let owner = shop.owner();
    let market = |rest: &str| format!("/v1/storefront/{}{rest}", shop.store.subdomain);
    let providers = "/v1/payments/providers/razorpay";
    let (merchant, visitor): (&Client, Client) = (&shop.merchant, shop.gateway.client());
    let (developer, operator): (&Client, &Client) = (&shop.developer, &shop.operator);
    let product = json!({
        "title": "Mug", "status": "active",
        "variants": [{"price": inr(500), "inventory": {"levels": [{"quantity": 9}]}}],
    });
    let variant = owner.post("/v1/products").json(product).await.expect(201).str("/variants/0/id");
    let input =
        json!({"email": "ann@example.com", "items": [{"variant_id": variant, "quantity": 1}]});
    let order = owner.post("/v1/orders").key("one").json(input).await.expect(201).str("/id");
    let cases: Vec<(&Client, Method, String, Value, Vec<&str>)> = vec![
        (
            &owner,
            Method::POST,
            "/v1/operations/webhook-subscriptions".into(),
            json!({"url": "ftp://x", "event_types": []}),
            vec!["/event_types", "/url"],
        ),
        (
            merchant,
            Method::POST,
            "/v1/auth/signup".into(),
            json!({"email": "x", "password": "correct horse battery", "store_name": "A"}),
            vec!["/email", "/subdomain"],
        ),
        (
            merchant,
            Method::POST,
            "/v1/auth/signin/otp/verify".into(),
            json!({"code": 7}),
            vec!["/challenge_id", "/code", "/email"],
        ),
        (
            merchant,
            Method::POST,
            "/v1/auth/password/update".into(),
            json!({"token": "t", "current_password": "x", "new_password": "short"}),
            vec!["/current_password", "/new_password"],
        ),
        (
            merchant,
            Method::POST,
            "/v1/app-store/developers/register".into(),
            json!({"contact_email": "x", "country": "IN", "agree_terms": true}),
            vec!["/company", "/contact_email"],
        ),
        (
            developer,
            Method::POST,
            "/v1/app-store/developers/apps".into(),
            json!({
                "name": "", "slug": "a", "app_url": "https://app.example.com", "redirect_uris": [],
                "webhook_url": "ftp://x", "confidential": false, "require_pkce": false,
            }),
            vec!["/name", "/redirect_uris", "/require_pkce", "/webhook_url"],
        ),
        (
            operator,
            Method::POST,
            format!("/v1/app-store/submissions/sub_{}/reject", "0".repeat(32)),
            json!({"notes": [], "zzz": 1}),
            vec!["/notes", "/zzz"],
        ),
        (
            &owner,
            Method::POST,
            "/v1/products".into(),
            json!({
                "title": "", "options": [{"name": "Size", "values": ["S", "s"]}],
                "variants": [{"price": {"amount": 1, "currency": "INR"}, "options": ["L"]}],
            }),
            vec!["/options/0/values/1", "/title", "/variants/0/options/0"],
        ),
        (
            &owner,
            Method::POST,
            "/v1/products/collections".into(),
            json!({"title": "", "kind": "automated", "rules": []}),
            vec!["/rules", "/title"],
        ),
        (
            &owner,
            Method::POST,
            "/v1/products/gift-cards".into(),
            json!({"initial_value": {"amount": 0, "currency": "INR"}, "note": 7}),
            vec!["/initial_value", "/note"],
        ),
        (
            &owner,
            Method::POST,
            "/v1/inventory/levels/adjust".into(),
            json!({"reason": "", "changes": []}),
            vec!["/changes", "/reason"],
        ),
        (
            &owner,
            Method::POST,
            "/v1/media".into(),
            json!({"source_url": "ftp://x", "alt": ""}),
            vec!["/alt", "/source_url"],
        ),
        (
            &owner,
            Method::POST,
            format!("/v1/orders/{order}/refund"),
            json!({"items": [], "amount": {"amount": 1, "currency": "INR"}, "reason": "zzz"}),
            vec!["/amount", "/items", "/reason"],
        ),
        (
            &owner,
            Method::PUT,
            providers.into(),
            json!({"mode": "test", "enabled": 1, "credentials": {"key_id": "x", "key_secret": "y"}}),
            vec!["/credentials/key_id", "/enabled"],
        ),
        (
            &owner,
            Method::POST,
            market("/orders"),
            json!({"items": [], "email": "x"}),
            vec!["/email", "/items"],
        ),
        (
            &owner,
            Method::POST,
            market("/payments/razorpay/verify"),
            json!({"order_id": "x"}),
            vec!["/order_id", "/razorpay_order_id", "/razorpay_payment_id", "/razorpay_signature"],
        ),
        (
            &callers.embedded,
            Method::POST,
            "/v1/app-store/bridge/fetch".into(),
            json!({"path": "", "query": [], "headers": {"Cookie": "x"}}),
            vec!["/headers/Cookie", "/path", "/query"],
        ),
    ];
    for (client, method, path, body, expected) in cases {
        let client = if path.contains("/v1/storefront/") { &visitor } else { client };
        let reply = client
            .request(method, &path)
            .key(&unique("a-key-that-nobody-guesses"))
            .json(body)
            .await
            .expect(422);
        let named: Vec<String> = reply.field_errors().into_iter().map(|(at, _)| at).collect();
        assert_eq!(named, expected, "{path}: {}", reply.text);
    }
}

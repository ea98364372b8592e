//! What anybody may read is sent once: the same page is the same bytes under the same `ETag`.

use http::Method;
use support::clock::{RESPONSE_CACHE, STORE_CACHE};
use support::{
    Gateway, Merchant, Reply, Shop, Shopper, ThemeSource, Value, accept, json, routes, unique,
    upload,
};

/// Public reads whose answers nobody may keep, so that there is nothing to revalidate.
const NEVER_KEPT: [&str; 5] = [
    "/health",
    "/v1/app-store/oauth/authorize",
    "/v1/exports/{id}/parts/{part}",
    "/v1/storefront/{subdomain}/carts/{id}",
    "/v1/storefront/{subdomain}/orders/{id}",
];

/// A store with two of whatever its storefront lists, and two apps and two themes in their catalogues, of which
/// one is the store's.
struct World {
    shop: Shop,
    media: String,
    theme: String,
    file: String,
}

impl World {
    async fn made() -> Self {
        let shop = Shop::with_installed_app().await;
        let owner = shop.owner();
        let of_store = |rest: &str| format!("/v1/stores/{}{rest}", shop.store.id);
        shop.merchant.post(&of_store("/activate")).json(support::open_as_is()).await.expect(200);
        for name in ["a", "b"] {
            let made =
                async |path: &str, input: Value| owner.post(path).json(input).await.expect(201);
            made("/v1/products/categories", json!({"name": name})).await;
            let product = json!({
                "title": name, "status": "active",
                "variants": [{"price": {"amount": 100, "currency": "INR"}}],
            });
            made("/v1/products", product).await;
            let collection = json!({"title": name, "kind": "manual", "product_ids": []});
            made("/v1/products/collections", collection).await;
            let menu = owner.put(&of_store(&format!("/navigation/{name}")));
            menu.json(json!({"items": []})).await.expect(200);
            let shopper = Shopper::register(&shop.gateway, &shop.store).await;
            let reviews = format!("/v1/storefront/{}/products/a/reviews", shop.store.subdomain);
            if name == "a" {
                continue;
            }
            let review = json!({"rating": 4, "title": "Good", "body": "It is."});
            let review = shopper.post(&reviews).json(review).await.expect(201).str("/id");
            let approve = format!("/v1/reviews/{review}/approve");
            owner.post(&approve).json(json!({})).await.expect(200);
        }
        for handle in ["refund", "terms"] {
            let policy = json!({"body_html": "<p>Text</p>", "published": true});
            owner.put(&of_store(&format!("/policies/{handle}"))).json(policy).await.expect(200);
        }
        let review = json!({"rating": 4, "body": "It does what it says."});
        let reviews = format!("/v1/app-store/apps/{}/reviews", shop.app.id);
        owner.post(&reviews).json(review).await.expect(201);
        shop.developer.publish_app(&shop.operator, &["read_store"]).await;
        let image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and so on".to_vec();
        let media = owner.post("/v1/media").header("content-type", "image/png").body(image).await;
        let media = media.expect(201).str("/id");
        let theme = live_theme(&shop).await;
        shop.gateway.advance(STORE_CACHE);
        let front = format!("/v1/storefront/{}/theme", shop.store.subdomain);
        let file = shop.gateway.get(&front).await.expect(200).str("/files/0/sha256");
        Self { shop, media, theme, file }
    }

    /// A route's path, filled in with what is there.
    fn filled(&self, path: &str) -> String {
        let handle = if path.contains("policies") { "refund" } else { "a" };
        let id = if path.contains("/media/") { &self.media } else { &self.shop.app.id };
        let filled = path
            .replace("{subdomain}", &self.shop.store.subdomain)
            .replace("{handle}", handle)
            .replace("{type}", "store.updated")
            .replace("{id}", id)
            .replace("{slug}", &self.theme)
            .replace("{sha256}", &self.file);
        match path {
            "/v1/storefront/lookup" => {
                format!("{filled}?subdomain={}", self.shop.store.subdomain)
            }
            _ => filled,
        }
    }
}

/// Publishes two themes; the slug of the one that is live on the store.
async fn live_theme(shop: &Shop) -> String {
    let slugs = [unique("linen"), unique("linen")];
    for slug in &slugs {
        let package = upload(&shop.developer, ThemeSource::new(slug).zip()).await.expect(201);
        accept(&shop.developer, &shop.operator, &package.str("/package/id"), json!({})).await;
    }
    let [_, slug] = slugs;
    let (owner, path) = (shop.owner(), |rest: &str| format!("/v1/themes/{slug}/{rest}"));
    owner.post(&path("install")).json(json!({})).await.expect(201);
    let saved = owner.put(&path("editor/draft")).json(json!({"settings": {}})).await.expect(200);
    let input = json!({"draft_version": saved.int("/draft/version")});
    owner.post(&path("publish")).json(input).await.expect(201);
    slug
}

/// Demands that an answer is the same twice, and is not sent to whoever has it.
async fn revalidates(gateway: &Gateway, path: &str) -> Reply {
    let client = gateway.client();
    let first = client.get(path).await.expect(200);
    // It is made anew, and not served again because it is kept.
    gateway.advance(RESPONSE_CACHE);
    let again = client.get(path).await.expect(200);
    assert!(first.bytes == again.bytes, "{path}: {} {}", first.text, again.text);
    assert_eq!(first.etag(), again.etag(), "{path}");
    assert!(!first.etag().is_empty(), "{path}");
    let known = client.get(path).header("if-none-match", &first.etag()).await.expect(304);
    assert_eq!((known.text.as_str(), known.etag()), ("", first.etag()), "{path}");
    let other = client.get(path).header("if-none-match", "\"other\"").await.expect(200);
    assert!(other.bytes == first.bytes, "{path}");
    first
}

/// Whether answers like this one are kept for a moment: pages of a storefront, but not what is made of
/// its store alone, which is kept already.
fn is_kept(answer: &Reply, path: &str) -> bool {
    answer.header("cache-control") == Some("public, max-age=30") && path != "/v1/storefront/lookup"
}

#[tokio::test]
async fn a_read_with_another_tag_in_if_match_fails() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let shop = merchant.open_shop().await;
    let (owner, visitor) = (merchant.at(&shop), gateway.client());
    let store = format!("/v1/stores/{}", shop.id);
    let current = owner.get(&store).await.expect(200).etag();
    let public = format!("/v1/storefront/{}/products", shop.subdomain);
    let listed = visitor.get(&public).await.expect(200).etag();
    for (client, path, tag) in [(&owner, &store, &current), (&visitor, &public, &listed)] {
        for known in [tag.clone(), format!("\"zz\", {tag}"), "*".to_owned()] {
            client.get(path).header("if-match", &known).await.expect(200);
        }
        for other in ["\"zz\"", "zz", "W/\"zz\"", ""] {
            let rejected = client.get(path).header("if-match", other).await.expect(412);
            assert_eq!(rejected.header("etag"), None);
            assert!(!rejected.str("/request_id").is_empty());
            rejected.problem("precondition_failed");
        }
    }
    // What has no tag matches none.
    let orders = owner.get("/v1/orders").header("if-match", "\"1\"").await;
    orders.expect(412).problem("precondition_failed");
}

#[tokio::test]
async fn an_encoded_body_is_rejected_by_the_name_of_its_encoding() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let owner = merchant.at(&merchant.open_shop().await);
    for encoding in ["gzip", "br", "x-own"] {
        let sent = owner.post("/v1/products").header("content-encoding", encoding);
        let rejected = sent.body(b"\x1f\x8b".to_vec()).await.expect(415);
        assert_eq!(rejected.header("accept-encoding"), Some("identity"));
        assert!(rejected.str("/detail").contains(encoding), "{}", rejected.text);
        rejected.problem("unsupported_media_type");
    }
    let sent = owner.post("/v1/products/categories").header("content-encoding", "identity");
    sent.json(json!({"name": "As it is"})).await.expect(201);
}

#[tokio::test]
async fn every_public_read_supports_conditional_requests() {
    let world = World::made().await;
    let mut with_next = 0;
    for row in routes() {
        if row.method != Method::GET || !row.is_public {
            continue;
        }
        // The base URL of this system has no path, below which that document would be.
        if NEVER_KEPT.contains(&row.path) || row.path.ends_with("{issuer_path}") {
            continue;
        }
        let gateway = &world.shop.gateway;
        let path = world.filled(row.path);
        let whole = revalidates(gateway, &path).await;
        assert_eq!(row.is_cached, is_kept(&whole, row.path), "{path}");
        if whole.json.pointer("/page/limit").is_none() {
            continue;
        }
        let first = revalidates(gateway, &format!("{path}?limit=1")).await;
        if let Some(cursor) = first.at("/page/next_cursor").as_str() {
            with_next += 1;
            assert_ne!(first.etag(), whole.etag(), "{path}");
            revalidates(gateway, &format!("{path}?limit=1&cursor={cursor}")).await;
        }
    }
    // Products, categories, collections, menus, policies; apps; themes; event types.
    assert_eq!(with_next, 8);
    for path in NEVER_KEPT {
        assert!(routes().iter().any(|row| row.path == path), "{path}");
    }
    let health = world.shop.gateway.get("/health").await.expect(200);
    assert_eq!((health.header("cache-control"), health.header("etag")), (Some("no-store"), None));
}

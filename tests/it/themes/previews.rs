//! Previews: for who was invited, for a while, and no longer than wanted.

use std::time::Duration;

use support::{Merchant, Reply, ThemeShop, ThemeSource, json, unique, upload};

struct Preview {
    id: String,
    token: String,
}

async fn begin(shop: &ThemeShop, seconds: u64) -> Preview {
    let begun = shop.post("preview-session", json!({"expires_in": seconds})).await.expect(201);
    assert_eq!(begun.header("cache-control"), Some("no-store"));
    Preview { id: begun.str("/id"), token: begun.str("/preview_token") }
}

async fn look(shop: &ThemeShop, token: &str) -> Reply {
    let path = shop.front("theme");
    shop.gateway.client().get(&path).header("x-service-preview-token", token).await
}

#[tokio::test]
async fn a_preview_token_returns_the_draft_as_of_its_creation() {
    let shop = ThemeShop::open().await;
    shop.draft("Invited").await;
    let preview = begin(&shop, 600).await;
    shop.draft("Later").await;
    let seen = look(&shop, &preview.token).await.expect(200);
    assert_eq!(seen.str("/settings/heading"), "Invited");
    assert_eq!(seen.int("/draft_version"), 2);
    assert_eq!(seen.header("cache-control"), Some("private, no-store"));
    // In the query as well, and for its files.
    let path = shop.front(&format!("theme?preview_token={}", preview.token));
    assert_eq!(shop.gateway.client().get(&path).await.expect(200).json, seen.json);
    let digest = seen.str("/files/0/sha256");
    let path = shop.front(&format!("theme/files/{digest}?preview_token={}", preview.token));
    let file = shop.gateway.client().get(&path).await.expect(200);
    assert_eq!(file.header("cache-control"), Some("private, no-store"));
    let path = shop.front(&format!("theme/files/{digest}"));
    shop.gateway.client().get(&path).await.expect(404).problem("not_found");
    let input = json!({"draft_version": 2});
    // What shows no draft is stored by no cache either.
    let path = shop.front("payments/methods");
    let methods =
        shop.gateway.client().get(&path).header("x-service-preview-token", &preview.token);
    assert_eq!(methods.await.expect(200).header("cache-control"), Some("private, no-store"));
    let stale = shop.post("preview-session", input).await.expect(409);
    assert_eq!(stale.int("/current_version"), 3);
    stale.problem("draft_conflict");
    let shown = shop.get(&format!("preview-session/{}", preview.id)).await.expect(200);
    assert_eq!(shown.int("/draft_version"), 2);
    assert!(!shown.text.contains(&preview.token));
}

#[tokio::test]
async fn expired_foreign_or_revoked_preview_tokens_are_rejected() {
    let shop = ThemeShop::open().await;
    let (short, long) = (begin(&shop, 60).await, begin(&shop, 600).await);
    shop.gateway.advance(Duration::from_secs(58));
    look(&shop, &short.token).await.expect(200);
    shop.gateway.advance(Duration::from_secs(2));
    look(&shop, &short.token).await.expect(410).problem("preview_expired");
    let path = |preview: &Preview| shop.path(&format!("preview-session/{}", preview.id));
    shop.owner.get(&path(&short)).await.expect(410).problem("preview_expired");

    look(&shop, &long.token).await.expect(200);
    shop.owner.delete(&path(&long)).await.expect(204);
    look(&shop, &long.token).await.expect(410).problem("preview_expired");
    shop.owner.get(&path(&long)).await.expect(410).problem("preview_expired");
    shop.owner.delete(&path(&long)).await.expect(204);

    let other = Merchant::sign_up(&shop.gateway).await;
    let store = other.open_shop().await;
    let own = begin(&shop, 600).await;
    let at_other = format!("/v1/storefront/{}/theme", store.subdomain);
    let foreign =
        shop.gateway.client().get(&at_other).header("x-service-preview-token", &own.token);
    foreign.await.expect(400).problem("invalid_or_expired_token");
    let stranger = other.at(&store);
    stranger.get(&path(&own)).await.expect(404).problem("not_found");
    stranger.delete(&path(&own)).await.expect(404).problem("not_found");
    look(&shop, &own.token).await.expect(200);

    let mut altered = own.token.clone();
    altered.pop();
    for forged in [altered.as_str(), "thp_x.y", "nonsense"] {
        look(&shop, forged).await.expect(400).problem("invalid_or_expired_token");
    }
}

#[tokio::test]
async fn a_preview_applies_to_every_storefront_page() {
    let shop = ThemeShop::open().await;
    shop.publish("Public").await;
    shop.draft("Invited").await;
    let preview = begin(&shop, 600).await;
    let page = format!("/v1/storefront/{}", shop.store.subdomain);
    let invited = |path: String| {
        shop.gateway.client().get(&path).header("x-service-preview-token", &preview.token)
    };
    let seen = invited(page.clone()).await.expect(200);
    assert_eq!(seen.str("/theme_settings/heading"), "Invited");
    assert_eq!(seen.json["theme"], json!({"slug": shop.slug, "release": null, "draft_version": 3}));
    assert_eq!(seen.header("cache-control"), Some("private, no-store"));
    let linked = format!("{page}?preview_token={}", preview.token);
    assert_eq!(shop.gateway.client().get(&linked).await.expect(200).json, seen.json);
    let lookup = format!("/v1/storefront/lookup?subdomain={}", shop.store.subdomain);
    let found = invited(lookup.clone()).await.expect(200);
    assert_eq!(found.json["theme"], seen.json["theme"]);
    assert_eq!(found.header("cache-control"), Some("private, no-store"));

    for path in [page.clone(), lookup.clone()] {
        let public = shop.gateway.client().get(&path).await.expect(200);
        assert_eq!(public.json["theme"], json!({"slug": shop.slug, "release": 1}));
    }
    shop.owner.delete(&shop.path(&format!("preview-session/{}", preview.id))).await.expect(204);
    for path in [page.clone(), lookup, format!("{page}/products"), format!("{page}/policies")] {
        invited(path).await.expect(410).problem("preview_expired");
    }
}

#[tokio::test]
async fn previews_bypass_the_response_cache() {
    let shop = ThemeShop::open().await;
    shop.publish("Public").await;
    shop.draft("Secret").await;
    let preview = begin(&shop, 600).await;
    for _ in 0..2 {
        assert_eq!(shop.storefront_theme().await.expect(200).str("/settings/heading"), "Public");
        let seen = look(&shop, &preview.token).await.expect(200);
        assert_eq!(seen.str("/settings/heading"), "Secret");
    }
}

#[tokio::test]
async fn a_preview_token_opens_an_inactive_storefront() {
    let gateway = support::Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    let slug = unique("linen");
    upload(&merchant, ThemeSource::new(&slug).zip()).await.expect(201);
    owner.post(&format!("/v1/themes/{slug}/install")).json(json!({})).await.expect(201);
    let shop = ThemeShop { gateway, merchant, store, owner, slug };
    let preview = begin(&shop, 600).await;
    shop.storefront_theme().await.expect(404).problem("storefront_not_found");
    look(&shop, "thp_x.y").await.expect(404).problem("storefront_not_found");
    look(&shop, &preview.token).await.expect(200);
    let page = format!("/v1/storefront/{}", shop.store.subdomain);
    for below in ["", "/products", "/categories", "/collections", "/navigation", "/policies"] {
        let path = format!("{page}{below}");
        shop.gateway.client().get(&path).await.expect(404).problem("storefront_not_found");
        let invited =
            shop.gateway.client().get(&path).header("x-service-preview-token", &preview.token);
        assert_eq!(invited.await.expect(200).header("cache-control"), Some("private, no-store"));
    }
}

//! The store itself: by which names it is found, and when.

use support::{Reply, json, unique};

use super::{CACHE_TIME, Front};

#[tokio::test]
async fn a_store_lookup_accepts_subdomain_or_host() {
    let front = Front::open().await;
    let name = &front.store.subdomain;
    let by_name = front.visitor.get(&format!("/v1/storefront/lookup?subdomain={name}")).await;
    let by_name = by_name.expect(200);
    assert_eq!(by_name.str("/store_id"), front.store.id);
    assert_eq!(by_name.str("/storefront_status"), "active");
    assert_eq!(by_name.json.get("moved_to"), None);
    let by_host =
        format!("/v1/storefront/lookup?host={}.shops.example.com:443", name.to_uppercase());
    assert_eq!(front.visitor.get(&by_host).await.expect(200).text, by_name.text);
    let own = front.visitor.get("/v1/storefront/lookup");
    let own = own.header("host", &format!("{name}.localhost")).await.expect(200);
    assert_eq!(own.text, by_name.text);
    // The API's own host is no storefront.
    front.visitor.get("/v1/storefront/lookup").await.expect(400).problem("host_required");
    for unknown in ["subdomain=nobody-here", "host=nobody-here.example.com", "host=127.0.0.1"] {
        let reply = front.visitor.get(&format!("/v1/storefront/lookup?{unknown}")).await;
        reply.expect(404).problem("storefront_not_found");
    }
    front.visitor.get("/v1/storefront/lookup?shop=x").await.expect(422);
}

#[tokio::test]
async fn a_storefront_is_found_only_while_active_or_paused() {
    let front = Front::open().await;
    let draft = front.merchant.open_store().await;
    for path in ["", "/products", "/categories", "/navigation", "/policies"] {
        let path = format!("/v1/storefront/{}{path}", draft.subdomain);
        front.visitor.get(&path).await.expect(404).problem("storefront_not_found");
    }
    front.act("pause").await;
    assert_eq!(front.get("").await.expect(200).str("/storefront_status"), "paused");
    front.act("close").await;
    front.get("").await.expect(404).problem("storefront_not_found");
    front.act("reopen").await;
    front.get("/products").await.expect(200);
}

#[tokio::test]
async fn a_renamed_store_is_found_by_both_subdomains() {
    let front = Front::open().await;
    let new = unique("moved");
    let path = format!("/v1/stores/{}", front.store.id);
    front.merchant.patch(&path).json(json!({"subdomain": new})).await.expect(200);
    front.gateway.advance(CACHE_TIME);
    let lookup = |name: &str| format!("/v1/storefront/lookup?subdomain={name}");
    let old = front.visitor.get(&lookup(&front.store.subdomain)).await.expect(200);
    assert_eq!((old.str("/moved_to"), old.str("/subdomain")), (new.clone(), new.clone()));
    let now = front.visitor.get(&lookup(&new)).await.expect(200);
    assert_eq!(now.json.get("moved_to"), None);
    // Links keep leading to the store.
    assert_eq!(front.get("").await.expect(200).str("/store_id"), front.store.id);
}

#[tokio::test]
async fn the_store_page_includes_menus_policies_and_payment_methods() {
    let front = Front::open().await;
    let path = |rest: &str| format!("/v1/stores/{}{rest}", front.store.id);
    let menu = json!({"items": [{"title": "Home", "type": "home"}]});
    front.merchant.put(&path("/navigation/main")).json(menu).await.expect(200);
    for (handle, published) in [("refund", true), ("terms", false)] {
        let policy = json!({"title": handle, "body_html": "<p>Text</p>", "published": published});
        front.merchant.put(&path(&format!("/policies/{handle}"))).json(policy).await.expect(200);
    }
    let page = front.get("").await.expect(200);
    assert_eq!(page.at("/navigation"), &json!(["main"]));
    assert_eq!(page.str("/policies/0/handle"), "refund");
    assert_eq!(page.at("/policies").as_array().unwrap().len(), 1);
    assert_eq!(
        page.at("/payment_methods"),
        &json!([{"provider": "manual", "method": null, "name": null}])
    );
    assert!(page.trips() <= 2, "{} trips", page.trips());
    assert_eq!(front.get("/navigation").await.expect(200).data().len(), 1);
    front.get("/navigation/main").await.expect(200);
    front.get("/navigation/footer").await.expect(404).problem("not_found");
    assert_eq!(front.get("/policies").await.expect(200).data().len(), 1);
    assert!(front.get("/policies/refund").await.expect(200).text.contains("<p>Text</p>"));
    front.get("/policies/terms").await.expect(404).problem("not_found");
}

#[tokio::test]
async fn storefront_pages_have_cache_headers_and_answer_304() {
    let front = Front::open().await;
    let category = json!({"name": "Kitchen"});
    let category = front.owner.post("/v1/products/categories").json(category).await.expect(201);
    front.sell("Blue Mug", 500, 3, json!({"category_id": category.str("/id")})).await;
    let collection = json!({"title": "All", "kind": "manual", "product_ids": []});
    front.owner.post("/v1/products/collections").json(collection).await.expect(201);
    let path = |rest: &str| format!("/v1/stores/{}{rest}", front.store.id);
    let menu = json!({"items": []});
    front.merchant.put(&path("/navigation/main")).json(menu).await.expect(200);
    let policy = json!({"body_html": "<p>Text</p>"});
    front.merchant.put(&path("/policies/refund")).json(policy).await.expect(200);
    let lookup = format!("/v1/storefront/lookup?subdomain={}", front.store.subdomain);
    let rest = [
        "",
        "/products",
        "/products/blue-mug",
        "/categories",
        "/categories/kitchen",
        "/collections",
        "/navigation",
        "/navigation/main",
        "/policies",
        "/policies/refund",
    ];
    for path in rest.iter().map(|rest| front.path(rest)).chain([lookup]) {
        let fresh = front.visitor.get(&path).await.expect(200);
        assert_eq!(fresh.header("cache-control"), Some("public, max-age=30"), "{path}");
        assert_eq!(fresh.header("access-control-allow-origin"), Some("*"), "{path}");
        let tag = fresh.etag();
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".into()] {
            let same = front.visitor.get(&path).header("if-none-match", &known).await.expect(304);
            assert_eq!((same.text.as_str(), same.etag()), ("", tag.clone()), "{path}");
            assert_eq!(same.header("cache-control"), Some("public, max-age=30"), "{path}");
        }
        let other = front.visitor.get(&path).header("if-none-match", "\"x\"").await.expect(200);
        assert_eq!(other.text, fresh.text, "{path}");
    }
    // What changed is sent again.
    let before = front.get("/products").await.expect(200).etag();
    front.sell("Red Mug", 500, 3, json!({})).await;
    let after = front.visitor.get(&front.path("/products"));
    after.header("if-none-match", &before).await.expect(200);
}

#[tokio::test]
async fn anonymous_visitors_have_a_rate_limit_per_store() {
    let front = Front::open().await;
    let other = front.merchant.open_store().await;
    let activate = format!("/v1/stores/{}/activate", other.id);
    front.merchant.post(&activate).json(support::open_as_is()).await.expect(200);
    front.gateway.app().clock.stop();
    let available = |reply: &Reply| -> i64 {
        reply.header("x-service-cost-available").unwrap().parse().unwrap()
    };
    for _ in 0..3 {
        front.get("").await.expect(200);
    }
    let here = available(&front.get("").await.expect(200));
    let there = front.visitor.get(&format!("/v1/storefront/{}", other.subdomain)).await;
    assert_eq!((here, available(&there.expect(200))), (296, 299));
}

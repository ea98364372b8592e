//! What each page of a storefront costs the table, exactly, while the process knows the store. Lists of
//! products are in `product_summaries`, a product's page in `page`.

use support::{Gateway, json, unique};

use super::{CACHE_TIME, Front};

#[tokio::test]
async fn each_storefront_page_has_a_fixed_read_cost() {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let front = Front::open_on(gateway).await;
    let cups = json!({"name": "Cups"});
    let cups = front.owner.post("/v1/products/categories").json(cups).await.expect(201).str("/id");
    let mug = front.sell("Mug", 500, 3, json!({"category_id": cups})).await;
    let bowl = front.sell("Bowl", 500, 3, json!({"category_id": cups})).await;
    let picks = json!({"title": "Picks", "kind": "manual", "published": true,
        "sort_order": "manual", "product_ids": [mug.str("/id"), bowl.str("/id")]});
    front.owner.post("/v1/products/collections").json(picks).await.expect(201);
    let of_store = |rest: &str| format!("/v1/stores/{}{rest}", front.store.id);
    let menu = json!({"items": [{"title": "Home", "type": "home"}]});
    front.merchant.put(&of_store("/navigation/main")).json(menu).await.expect(200);
    let policy = json!({"title": "Refunds", "body_html": "<p>Text</p>", "published": true});
    front.merchant.put(&of_store("/policies/refund")).json(policy).await.expect(200);
    front.gateway.advance(CACHE_TIME);
    front.gateway.app().clock.stop();
    let mut found = Vec::new();
    let paths = [
        // The store by its subdomain; its policies with its ways to pay.
        ("", 10, 2),
        ("/navigation", 5, 1),
        ("/navigation/main", 5, 1),
        ("/policies", 5, 1),
        ("/policies/refund", 5, 1),
        ("/categories", 5, 1),
        ("/categories/cups", 5, 1),
        ("/collections", 5, 1),
        // Its handle; itself.
        ("/collections/picks", 10, 2),
        // The same with its list, and a card each.
        ("/products?collection=picks", 25, 3),
        // The categories, the list.
        ("/products?category=cups", 10, 2),
        // The word in titles, the card; the word elsewhere.
        ("/products?q=mug", 15, 3),
        // The handle; card and reviews.
        ("/products/mug/reviews", 15, 3),
    ];
    for (path, _, _) in paths {
        let page = front.get(path).await.expect(200);
        found.push((path, page.tenths(), page.trips()));
    }
    assert_eq!(found, paths);
    // Store, settings, account, zones, rates, discounts, sellable, level; the record of its key.
    let input = json!({"items": [{"variant_id": mug.str("/variants/0/id"), "quantity": 1}],
        "dry_run": true});
    let path = front.path("/orders");
    let quote = front.visitor.post(&path).key(&unique("dry")).json(input.clone()).await.expect(200);
    assert_eq!((quote.tenths(), quote.trips()), (60, 2));
    // What an eventually consistent read would say no to is looked at as it is.
    let mut more = input;
    more["items"][0]["quantity"] = json!(4);
    let quote = front.visitor.post(&path).key(&unique("dry")).json(more).await.expect(200);
    assert_eq!(quote.at("/availability/0/available"), &json!(false));
    assert_eq!((quote.tenths(), quote.trips()), (140, 3));
}

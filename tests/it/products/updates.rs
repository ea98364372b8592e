//! Products and variants changed, archived and removed.

use support::{Gateway, Value, inr, json, race};

use super::{PRODUCTS, kinds, make, owner, path, shirt, simple};

#[tokio::test]
async fn a_product_patch_updates_the_given_fields_and_the_sellables() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let input = json!({"title": "Linen blouse", "vendor": null, "tags": [], "images": []});
    let changed = owner.patch(&path(&made)).json(input).if_match("\"1\"").await.expect(200);
    assert_eq!(changed.str("/title"), "Linen blouse");
    assert_eq!(changed.str("/handle"), "linen-shirt");
    assert_eq!((changed.at("/vendor"), changed.int("/version")), (&Value::Null, 2));
    let stale = owner.patch(&path(&made)).json(json!({"title": "x"})).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    let items = gateway.items("STO#").await;
    let sellables: Vec<_> = items.iter().filter(|item| item["entity"] == "sellable").collect();
    assert_eq!(sellables.len(), 3);
    for sellable in sellables {
        assert_eq!(sellable["product_title"], "Linen blouse");
        assert!(sellable["image_url"].is_null());
    }
    // What changes nothing is no new version and no event.
    let same = owner.patch(&path(&made)).json(json!({"title": "Linen blouse"})).await.expect(200);
    assert_eq!((same.int("/version"), kinds(&gateway, "product.updated").await), (2, 1));
}

#[tokio::test]
async fn each_accepted_product_patch_raises_the_version_once() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let path = path(&made);
    let replies = race(10, || async {
        let vendor = support::unique("vendor");
        owner.patch(&path).json(json!({"vendor": vendor})).await
    })
    .await;
    let done = replies.iter().filter(|reply| reply.status == 200).count();
    let rejected = replies.iter().filter(|reply| reply.json["code"] == "version_conflict").count();
    assert_eq!(done + rejected, 10);
    let shown = owner.get(&path).await.expect(200);
    assert_eq!(shown.int("/version"), 1 + i64::try_from(done).unwrap());
    assert_eq!(kinds(&gateway, "product.updated").await, done);
}

#[tokio::test]
async fn variant_changes_update_the_price_range() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let variants = format!("{}/variants", path(&made));
    let input = json!({"price": inr(100), "options": ["S", "Blue"]});
    let twin = owner.post(&variants).json(input).await.expect(422);
    assert_eq!(twin.field_errors(), [("/options".to_owned(), "duplicate_variant".to_owned())]);
    let input = json!({"price": inr(100), "options": ["S", "White"], "sku": "SH-S-W"});
    let added = owner.post(&variants).json(input).await.expect(201);
    assert_eq!((added.str("/title"), added.int("/position")), ("S / White".into(), 4));
    let shown = owner.get(&path(&made)).await.expect(200);
    assert_eq!((shown.int("/price_range/min/amount"), shown.int("/version")), (100, 2));
    let one = format!("{variants}/{}", added.str("/id"));
    let input = json!({"price": inr(5_000), "sku": "NEW", "position": 1});
    let changed = owner.patch(&one).json(input).await.expect(200);
    assert_eq!((changed.int("/version"), changed.int("/position")), (2, 1));
    let shown = owner.get(&path(&made)).await.expect(200);
    assert_eq!(shown.int("/price_range/max/amount"), 5_000);
    assert_eq!(shown.str("/variants/0/sku"), "NEW");
    // The SKU that was given up is free, the new one is not.
    let taken = json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "NEW"}]});
    owner.post(PRODUCTS).json(taken).await.expect(409).problem("sku_taken");
    make(&owner, json!({"title": "Cup", "variants": [{"price": inr(5), "sku": "SH-S-W"}]})).await;
    owner.delete(&one).if_match("\"1\"").await.expect(412);
    owner.delete(&one).await.expect(204);
    owner.delete(&one).await.expect(404);
    let listed = owner.get(&variants).await.expect(200);
    assert_eq!(listed.data().len(), 3);
    for variant in &listed.data()[..2] {
        owner.delete(&format!("{variants}/{}", variant["id"].as_str().unwrap())).await.expect(204);
    }
    let last = format!("{variants}/{}", listed.data()[2]["id"].as_str().unwrap());
    owner.delete(&last).await.expect(409).problem("last_variant");
}

#[tokio::test]
async fn product_options_gain_values_but_keep_those_in_use() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    let options = |sizes: &[&str]| json!({"options": [{"name": "Fit", "values": sizes}, {"name": "Colour", "values": ["Blue", "White"]}]});
    let rejected = owner.patch(&path(&made)).json(options(&["S"])).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/options".to_owned(), "options_in_use".to_owned())]);
    owner.patch(&path(&made)).json(options(&["S", "M", "L"])).await.expect(200);
    // The only variant of a product takes the first value of what it never chose from.
    let mug = make(&owner, simple("Mug", 5)).await;
    let input = json!({"options": [{"name": "Size", "values": ["Small", "Large"]}]});
    let changed = owner.patch(&path(&mug)).json(input).await.expect(200);
    assert_eq!(*changed.at("/variants/0/options"), json!(["Small"]));
    assert_eq!(changed.str("/variants/0/title"), "Small");
    let input = json!({"price": inr(9), "options": ["Large"]});
    owner.post(&format!("{}/variants", path(&mug))).json(input).await.expect(201);
}

#[tokio::test]
async fn delete_archives_products_and_hard_delete_rejects_ordered_ones() {
    let gateway = Gateway::start().await;
    let owner = owner(&gateway).await;
    let made = make(&owner, shirt()).await;
    owner.delete(&path(&made)).await.expect(204);
    owner.delete(&path(&made)).await.expect(204);
    assert_eq!(owner.get(&path(&made)).await.expect(200).str("/status"), "archived");
    assert_eq!(kinds(&gateway, "product.archived").await, 1);
    owner.patch(&path(&made)).json(json!({"status": "active"})).await.expect(200);
    let order = json!({"items": [{"variant_id": made.str("/variants/0/id"), "quantity": 1}]});
    owner.post("/v1/orders").key("ordered").json(order).await.expect(201);
    let hard = format!("{}?hard=true", path(&made));
    owner.delete(&hard).await.expect(409).problem("product_has_orders");
    owner.get(&path(&made)).await.expect(200);
    // A change of the product keeps the mark.
    owner.patch(&path(&made)).json(json!({"title": "Other"})).await.expect(200);
    owner.delete(&hard).await.expect(409).problem("product_has_orders");
}

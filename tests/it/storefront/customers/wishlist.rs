//! Wishlists.

use support::{json, race};

use super::{Front, at};

#[tokio::test]
async fn a_wishlist_contains_each_product_once() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let path = at("/wishlist");
    let mug = front.product("Mug").await;
    let draft = json!({
        "title": "Hidden", "variants": [{"price": {"amount": 1, "currency": "INR"}}],
    });
    let draft = front.owner.post("/v1/products").json(draft).await.expect(201);
    let wish = json!({"product_id": mug.str("/id")});
    let made = shopper.post(&path).json(wish.clone()).await.expect(201);
    assert_eq!(made.str("/product/title"), "Mug");
    shopper.post(&path).json(wish.clone()).await.expect(200);
    let with_variant =
        json!({"product_id": mug.str("/id"), "variant_id": mug.str("/variants/0/id")});
    shopper.post(&path).json(with_variant).await.expect(201);
    for id in [draft.str("/id"), "prd_00000000000000000000000000000000".to_owned()] {
        shopper.post(&path).json(json!({"product_id": id})).await.expect(404);
    }
    let list = shopper.get(&path).await.expect(200);
    assert_eq!(list.data().len(), 2);
    assert_eq!(list.int("/data/0/product/price/amount"), 129_900);
    let named = format!("{path}/{}", mug.str("/id"));
    shopper.get(&named).await.expect(200);
    shopper.delete(&path).await.expect(400).problem("id_required");
    shopper.delete(&named).await.expect(204);
    shopper.delete(&named).await.expect(404);
    shopper.post(&path).json(wish.clone()).await.expect(201);
    shopper.delete(&path).json(wish).await.expect(204);
    shopper.get(&named).await.expect(404);
    assert!(shopper.get(&path).await.expect(200).data().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_requests_create_one_wishlist_entry() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let wish = json!({"product_id": front.product("Mug").await.str("/id")});
    let answers = race(25, || {
        let (shopper, wish) = (shopper.clone(), wish.clone());
        async move { shopper.post(&at("/wishlist")).json(wish).await }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 24);
    let customers = front.gateway.items_of("customer", "STO#").await;
    assert_eq!(customers[0]["wishes_count"], 1);
}

//! Their orders, and what they say of what they bought.

use support::{Reply, Shopper, json};

use super::{Front, address, at};

#[tokio::test]
async fn a_customer_without_orders_has_an_empty_list() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    assert!(shopper.get(&at("/orders")).await.expect(200).data().is_empty());
    let none = at("/orders/ord_00000000000000000000000000000000");
    shopper.get(&none).await.expect(404).problem("not_found");
}

/// An order of one unit of a product, placed by a signed-in customer.
async fn order(front: &Front, shopper: &Shopper, product: &Reply, key: &str) -> Reply {
    let input = json!({
        "items": [{"variant_id": product.str("/variants/0/id"), "quantity": 1}],
        "shipping_address": address("1 Main Street"),
    });
    shopper.post(&front.path("/orders")).json(input).key(key).await.expect(201)
}

#[tokio::test]
async fn a_customer_sees_their_orders_and_reviews_each_purchase_once() {
    let front = Front::open().await;
    let (shopper, other) = (front.shopper().await, front.shopper().await);
    let input = json!({
        "title": "Mug", "status": "active",
        "variants": [{
            "price": {"amount": 129_900, "currency": "INR"}, "inventory": {"tracked": false},
        }],
    });
    let product = front.owner.post("/v1/products").json(input).await.expect(201);
    let placed = order(&front, &shopper, &product, "k-1").await;
    let orders = shopper.get(&at("/orders")).await.expect(200);
    assert_eq!(orders.data().len(), 1);
    assert_eq!(orders.str("/data/0/id"), placed.str("/order/id"));
    let named = at(&format!("/orders/{}", placed.str("/order/id")));
    shopper.get(&named).await.expect(200);
    other.get(&named).await.expect(404);
    assert!(other.get(&at("/orders")).await.expect(200).data().is_empty());
    let customers = front.owner.get(&format!("/v1/customers?email={}", shopper.email)).await;
    assert_eq!(customers.expect(200).int("/data/0/orders_count"), 1);

    let pay = async |placed: &Reply| {
        let path = format!("/v1/orders/{}/mark-paid", placed.str("/order/id"));
        front.owner.post(&path).json(json!({})).key("pay").await.expect(200)
    };
    pay(&placed).await;
    let path = front.path(&format!("/products/{}/reviews", product.str("/handle")));
    let review = |line: Option<String>| json!({"rating": 5, "title": "Good", "body": "Good.", "order_item_id": line});
    let line = placed.str("/order/items/0/id");
    let written = shopper.post(&path).json(review(Some(line.clone()))).await.expect(201);
    assert_eq!(written.at("/verified_purchase"), true);
    let again = shopper.post(&path).json(review(Some(line.clone()))).await.expect(409);
    again.problem("already_reviewed");
    other.post(&path).json(review(Some(line))).await.expect(422);
    let second = order(&front, &shopper, &product, "k-2").await;
    pay(&second).await;
    let line = second.str("/order/items/0/id");
    shopper.post(&path).json(review(Some(line))).await.expect(201);
}

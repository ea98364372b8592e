//! Reviews.

use support::{json, race};

use super::Front;

#[tokio::test]
async fn a_review_is_published_and_counted_when_approved() {
    let front = Front::open().await;
    let (shopper, other) = (front.shopper().await, front.shopper().await);
    let product = front.product("Mug").await;
    let path = front.path(&format!("/products/{}/reviews", product.str("/handle")));
    let input = json!({"rating": 4, "title": "Good", "body": "Keeps tea warm."});
    let written = shopper.post(&path).json(input.clone()).await.expect(201);
    assert_eq!(written.str("/status"), "pending");
    assert_eq!(written.str("/author"), "Cleo C.");
    let again = shopper.post(&path).json(input.clone()).await.expect(409);
    again.problem("already_reviewed");
    front.gateway.client().post(&path).json(input.clone()).await.expect(401);
    let not_bought = json!({
        "rating": 4, "title": "Good", "body": "x",
        "order_item_id": "itm_00000000000000000000000000000000",
    });
    let rejected = shopper.post(&path).json(not_bought).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/order_item_id".into(), "unknown_order_item".into())]);
    other.post(&path).json(json!({"rating": 5, "title": "T", "body": "B"})).await.expect(201);

    let visitor = front.gateway.client();
    assert!(visitor.get(&path).await.expect(200).data().is_empty());
    let pending = front.owner.get("/v1/reviews?status=pending").await.expect(200);
    assert_eq!(pending.data().len(), 2);
    let act = |id: &str, action: &str| {
        front.owner.post(&format!("/v1/reviews/{id}/{action}")).json(json!({}))
    };
    let id = written.str("/id");
    act(&id, "approve").await.expect(200);
    let twice = act(&id, "approve").await.expect(409).problem("invalid_state_transition");
    assert_eq!(twice.at("/allowed_actions"), &json!(["reject", "reply"]));
    let reply = json!({"body": "Thank you!"});
    front.owner.post(&format!("/v1/reviews/{id}/reply")).json(reply).await.expect(200);
    let shown = visitor.get(&path).await.expect(200);
    assert_eq!(shown.data().len(), 1);
    assert_eq!(shown.str("/data/0/reply/body"), "Thank you!");
    assert_eq!(shown.int("/rating/count"), 1);
    assert!(!shown.text.contains(&shopper.id), "a customer's id is nobody else's business");
    assert_eq!(front.owner.get("/v1/reviews").await.expect(200).data().len(), 2);
    assert_eq!(front.owner.get("/v1/reviews?status=approved").await.expect(200).data().len(), 1);

    act(&id, "reject").await.expect(200);
    let hidden = visitor.get(&path).await.expect(200);
    assert_eq!((hidden.data().len(), hidden.int("/rating/count")), (0, 0));
    for name in ["created", "approved", "rejected", "replied"] {
        let count = front.gateway.events(&format!("review.{name}")).await.len();
        assert_eq!(count, if name == "created" { 2 } else { 1 }, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_review_counts_once_for_25_parallel_approvals() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let product = front.product("Mug").await;
    let path = front.path(&format!("/products/{}/reviews", product.str("/handle")));
    let input = json!({"rating": 4, "title": "Good", "body": "Good."});
    let id = shopper.post(&path).json(input).await.expect(201).str("/id");
    let approve = format!("/v1/reviews/{id}/approve");
    let answers = race(25, || front.owner.post(&approve).json(json!({})).into_future()).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 24);
    let shown = front.owner.get(&format!("/v1/products/{}", product.str("/id"))).await.expect(200);
    assert_eq!(shown.int("/rating/count"), 1);
    assert_eq!(front.gateway.events("review.approved").await.len(), 1);
}

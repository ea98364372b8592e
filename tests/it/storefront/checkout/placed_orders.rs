//! Orders after checkout, as their shopper sees them: reading, cancelling and expiry.

use std::time::Duration;

use support::{Market, Placed, Reply, Shopper, cart, json};

#[tokio::test]
async fn an_order_is_readable_only_with_its_order_token() {
    let market = Market::open().await;
    let book = market.stock(100, 5).await;
    let (mine, other) =
        (market.order(cart(&[(&book, 1)])).await, market.order(cart(&[(&book, 1)])).await);
    let shown = market.look(&mine).await.expect(200);
    assert_eq!(shown.str("/number"), mine.reply.str("/order/number"));
    assert_eq!(*shown.at("/allowed_actions"), json!(["pay", "cancel"]));
    let wrong = Placed { token: other.token.clone(), ..mine.clone() };
    let unknown = Placed { id: format!("ord_{}", "0".repeat(32)), ..mine.clone() };
    let body = |reply: Reply| {
        let mut json = reply.expect(404).problem("not_found").json;
        json.as_object_mut().unwrap().retain(|name, _| name != "request_id" && name != "instance");
        json
    };
    let path = format!("{}/{}", market.orders_path(), mine.id);
    let bare = body(market.gateway.client().get(&path).await);
    assert_eq!(body(market.look(&wrong).await), bare);
    assert_eq!(body(market.look(&unknown).await), bare);
    let stranger = Shopper::register(&market.gateway, &market.store).await;
    assert_eq!(body(stranger.get(&path).await), bare);
}

#[tokio::test]
async fn a_shopper_cancels_unpaid_orders_only() {
    let market = Market::open().await;
    let book = market.stock(100, 5).await;
    let (card, code) = market.gift_card(50).await;
    let mut input = cart(&[(&book, 2)]);
    input["gift_card_codes"] = json!([code]);
    let mine = market.order(input).await;
    assert_eq!(market.balance(&card).await, 0);
    let cancel = |placed: &Placed| {
        let path = format!("{}/{}/cancel", market.orders_path(), placed.id);
        let input = market.gateway.client().post(&path).json(json!({}));
        input.header("x-service-order-token", &placed.token)
    };
    let done = cancel(&mine).await.expect(200);
    assert_eq!(*done.at("/status"), json!("cancelled"));
    assert_eq!(*done.at("/financial_status"), json!("voided"));
    assert_eq!((market.levels(&book).await, market.balance(&card).await), ([5, 0, 0, 5], 50));
    cancel(&mine).await.expect(409).problem("invalid_state_transition");
    let paid = market.paid(&book, 1).await;
    cancel(&paid).await.expect(409).problem("invalid_state_transition");
    assert_eq!(market.levels(&book).await, [4, 0, 1, 5]);
    assert_eq!(market.gateway.events("order.cancelled").await.len(), 1);
}

#[tokio::test]
async fn an_unpaid_order_expires_after_30_minutes_and_releases_its_stock() {
    let market = Market::open().await;
    let book = market.stock(100, 5).await;
    let (card, code) = market.gift_card(50).await;
    market.gateway.app().clock.stop();
    let mut input = cart(&[(&book, 2)]);
    input["gift_card_codes"] = json!([code]);
    let unpaid = market.order(input).await;
    let paid = market.paid(&book, 1).await;
    assert_eq!(market.levels(&book).await, [2, 2, 1, 5]);
    market.gateway.advance(Duration::from_millis(30 * 60_000 - 1));
    assert_eq!(market.gateway.sweep().await.orders, 0);
    assert_eq!(market.levels(&book).await, [2, 2, 1, 5]);
    market.gateway.advance(Duration::from_millis(1));
    assert_eq!(market.gateway.sweep().await.orders, 1);
    assert_eq!(market.levels(&book).await, [4, 0, 1, 5]);
    assert_eq!(market.balance(&card).await, 50);
    let shown = market.look(&unpaid).await.expect(200);
    assert_eq!(*shown.at("/status"), json!("expired"));
    assert_eq!(*shown.at("/financial_status"), json!("expired"));
    assert_eq!(*shown.at("/allowed_actions"), json!([]));
    assert_eq!(*market.look(&paid).await.expect(200).at("/status"), json!("open"));
    assert_eq!(market.gateway.sweep().await.orders, 0);
    assert_eq!(market.gateway.events("order.expired").await.len(), 1);
    market.act(&unpaid.id, "mark-paid", json!({})).await.expect(409);
    market.audit(&book).await;
}

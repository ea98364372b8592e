//! Authorizations that lapse, are voided or captured late, and payments of orders that need no more.

use support::clock::MINUTE;
use support::{cart, deliver, inr, json};

use super::{Begun, Connected, PRICE, actions, can};

#[tokio::test]
async fn a_lapsed_authorization_makes_the_order_payable_again() {
    let connected = Connected::open("manual").await;
    let market = &connected.market;
    for at_provider in [false, true] {
        let (placed, begun) = connected.paid_by_stripe().await;
        let order = market.show(&placed.id).await;
        assert_eq!(order.str("/financial_status"), "authorized");
        assert!(can(&order, "fulfill") && *order.at("/expires_at") == json!(null));
        assert_eq!(market.levels(&connected.book).await, [9, 0, 1, 10]);
        market.gateway.advance(MINUTE * 60);
        if at_provider {
            let path = format!("payment_intents/{}/cancel", begun.reference);
            connected.at_stripe(&path, &[]).await;
            connected.hear_stripe("payment_intent.canceled", &begun).await;
        } else {
            connected.act(&begun, "void", json!({})).await.expect(200);
        }
        let order = market.show(&placed.id).await;
        assert_eq!(
            (order.str("/status"), order.str("/financial_status")),
            ("open".into(), "pending".into())
        );
        assert!(!can(&order, "fulfill") && can(&order, "confirm"), "{:?}", actions(&order));
        assert_eq!(market.levels(&connected.book).await, [9, 1, 0, 10]);
        if at_provider {
            // In time, and through a payment of its own.
            let again = connected.begin("stripe", &placed).await;
            assert_ne!(again.id, begun.id);
            connected.providers.pay_stripe(&again.reference);
            connected.sync(&again).await;
            assert_eq!(market.levels(&connected.book).await, [9, 0, 1, 10]);
            connected.act(&again, "capture", json!({})).await.expect(200);
            market.gateway.advance(MINUTE * 31);
            market.gateway.sweep().await;
            assert_eq!(market.show(&placed.id).await.str("/financial_status"), "paid");
        } else {
            market.gateway.advance(MINUTE * 29);
            market.gateway.sweep().await;
            assert_eq!(market.show(&placed.id).await.str("/status"), "open");
            market.gateway.advance(MINUTE * 2);
            market.gateway.sweep().await;
            assert_eq!(market.show(&placed.id).await.str("/status"), "expired");
            assert_eq!(market.levels(&connected.book).await, [10, 0, 0, 10]);
        }
    }
    market.audit(&connected.book).await;
}

#[tokio::test]
async fn reopening_an_order_with_a_lapsed_authorization_restores_payment_due() {
    let connected = Connected::open("manual").await;
    let market = &connected.market;
    for pays in [true, false] {
        let (placed, begun) = connected.paid_by_stripe().await;
        market.act(&placed.id, "close", json!({})).await.expect(200);
        market.gateway.advance(MINUTE * 60);
        let path = format!("payment_intents/{}/cancel", begun.reference);
        connected.at_stripe(&path, &[]).await;
        connected.hear_stripe("payment_intent.canceled", &begun).await;
        market.gateway.advance(MINUTE * 60);
        market.gateway.sweep().await;
        let order = market.show(&placed.id).await;
        assert_eq!(order.str("/status"), "closed");
        assert_eq!(*order.at("/expires_at"), json!(null));
        market.act(&placed.id, "reopen", json!({})).await.expect(200);
        let order = market.show(&placed.id).await;
        assert_eq!(
            (order.str("/status"), order.str("/financial_status")),
            ("open".into(), "pending".into())
        );
        assert!(order.at("/expires_at").is_string());
        assert!(!can(&order, "fulfill") && can(&order, "confirm"), "{:?}", actions(&order));
        if pays {
            assert_eq!(market.levels(&connected.book).await, [9, 1, 0, 10]);
            let again = connected.begin("stripe", &placed).await;
            connected.providers.pay_stripe(&again.reference);
            connected.sync(&again).await;
            assert_eq!(market.levels(&connected.book).await, [9, 0, 1, 10]);
            assert!(can(&market.show(&placed.id).await, "fulfill"));
        } else {
            assert_eq!(market.levels(&connected.book).await, [8, 1, 1, 10]);
            market.gateway.advance(MINUTE * 31);
            market.gateway.sweep().await;
            assert_eq!(market.show(&placed.id).await.str("/status"), "expired");
            assert_eq!(market.levels(&connected.book).await, [9, 0, 1, 10]);
        }
    }
    market.audit(&connected.book).await;
}

#[tokio::test]
async fn a_confirmed_order_stays_confirmed_without_its_authorization() {
    let connected = Connected::open("manual").await;
    let market = &connected.market;
    // By the merchant's word.
    let placed = connected.order().await;
    market.act(&placed.id, "confirm", json!({})).await.expect(200);
    let begun = connected.begin("stripe", &placed).await;
    connected.providers.pay_stripe(&begun.reference);
    connected.sync(&begun).await;
    connected.act(&begun, "void", json!({})).await.expect(200);
    let order = market.show(&placed.id).await;
    assert!(can(&order, "fulfill") && *order.at("/expires_at") == json!(null));
    // By what has left already.
    let placed = market.order(cart(&[(&connected.book, 2)])).await;
    let begun = connected.begin("stripe", &placed).await;
    connected.providers.pay_stripe(&begun.reference);
    connected.sync(&begun).await;
    let line = json!({"items": [{"order_item_id": placed.line(0), "quantity": 1}]});
    market.act(&placed.id, "fulfill", line).await.expect(201);
    connected.act(&begun, "void", json!({})).await.expect(200);
    market.gateway.advance(MINUTE * 60);
    market.gateway.sweep().await;
    let order = market.show(&placed.id).await;
    assert_eq!(order.str("/status"), "open");
    assert!(can(&order, "fulfill"));
    assert_eq!(market.levels(&connected.book).await, [7, 0, 2, 9]);
    market.audit(&connected.book).await;
}

#[tokio::test]
async fn an_authorization_is_voided_when_the_order_is_paid_otherwise() {
    let connected = Connected::open("manual").await;
    let market = &connected.market;
    let placed = connected.order().await;
    let promise = connected.begin("stripe", &placed).await;
    let money = connected.begin("razorpay", &placed).await;
    connected.providers.pay_stripe(&promise.reference);
    connected.sync(&promise).await;
    connected.providers.pay_razorpay(&money.reference);
    connected.sync(&money).await;
    let order = market.show(&placed.id).await;
    assert_eq!(order.str("/financial_status"), "paid");
    assert!(!can(&order, "capture"), "{:?}", actions(&order));
    let rejected = market.act(&placed.id, "capture", json!({})).await.expect(409);
    rejected.problem("not_capturable");
    assert_eq!(connected.stripe_status(&promise), "canceled");
    assert_eq!(connected.payment(&promise).await.str("/status"), "voided");
    connected.act(&promise, "capture", json!({})).await.expect(409).problem("not_capturable");
    assert!(connected.providers.refunds().is_empty());
    assert_eq!(market.levels(&connected.book).await, [9, 0, 1, 10]);
}

#[tokio::test]
async fn a_failed_void_is_repeated_by_sync() {
    let connected = Connected::open("manual").await;
    let placed = connected.order().await;
    let promise = connected.begin("stripe", &placed).await;
    let money = connected.begin("razorpay", &placed).await;
    connected.providers.pay_stripe(&promise.reference);
    connected.sync(&promise).await;
    let paid = connected.providers.pay_razorpay(&money.reference);
    connected.providers.next([support::Trouble::Reject(500, "api_error")]);
    let event = connected.providers.razorpay_event("payment.captured", &paid);
    let client = connected.market.gateway.client();
    deliver(&event, &client, &connected.market.store.subdomain).await.expect(200);
    let shown = connected.payment(&promise).await;
    assert_eq!(
        (shown.str("/status"), shown.str("/attention")),
        ("authorized".into(), "duplicate_payment".into())
    );
    connected.act(&promise, "capture", json!({})).await.expect(409).problem("order_already_paid");
    connected.sync(&promise).await;
    assert_eq!(connected.stripe_status(&promise), "canceled");
    assert_eq!(connected.market.show(&placed.id).await.str("/financial_status"), "paid");
}

#[tokio::test]
async fn an_order_accepts_no_more_than_its_outstanding_amount() {
    let connected = Connected::open("manual").await;
    let market = &connected.market;
    let placed = connected.order().await;
    let part = connected.begin("stripe", &placed).await;
    let (all, cash) =
        (connected.begin("razorpay", &placed).await, connected.begin("manual", &placed).await);
    connected.providers.pay_stripe(&part.reference);
    connected.sync(&part).await;
    connected.act(&part, "capture", json!({"amount": inr(600)})).await.expect(200);
    assert_eq!(market.show(&placed.id).await.str("/financial_status"), "partially_paid");
    // A payment over all of it, begun before: it goes back.
    connected.providers.pay_razorpay(&all.reference);
    connected.sync(&all).await;
    let shown = connected.payment(&all).await;
    assert_eq!(shown.str("/status"), "refunded");
    let order = market.show(&placed.id).await;
    assert_eq!(*order.at("/captured_total"), inr(600));
    let over = connected.act(&cash, "capture", json!({"amount": inr(401)})).await.expect(422);
    assert_eq!(over.field_errors(), [("/amount".into(), "out_of_range".into())]);
    connected.act(&cash, "capture", json!({})).await.expect(200);
    let order = market.show(&placed.id).await;
    assert_eq!(
        (order.str("/financial_status"), order.at("/captured_total")),
        ("paid".into(), &inr(PRICE))
    );
}

#[tokio::test]
async fn a_payment_of_an_ended_order_cannot_be_captured() {
    let connected = Connected::open("manual").await;
    let market = &connected.market;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let half_an_hour = json!({"checkout": {"manual_payment_window_minutes": 30}});
    market.owner.patch(&settings).json(half_an_hour).await.expect(200);
    let (late, off) = (connected.order().await, connected.order().await);
    let begun = [connected.begin("manual", &late).await, connected.begin("manual", &off).await];
    market.act(&off.id, "cancel", json!({})).await.expect(200);
    market.gateway.advance(MINUTE * 31);
    market.gateway.sweep().await;
    assert_eq!(market.show(&late.id).await.str("/status"), "expired");
    for payment in &begun {
        connected.act(payment, "capture", json!({})).await.expect(409).problem("not_capturable");
    }
    assert!(market.gateway.events("payment.captured").await.is_empty());
}

/// What was opened to be taken at once, and was only promised for all that.
async fn taken_at_once(connected: &Connected, payment: &Begun) {
    let gateway = &connected.market.gateway;
    let stored = gateway.item("payment", &payment.id).await;
    gateway.change_item(&stored, json!({"capture_method": "automatic"})).await;
}

#[tokio::test]
async fn an_uncaptured_automatic_payment_is_captured_by_sync() {
    let connected = Connected::open("manual").await;
    let market = &connected.market;
    let placed = connected.order().await;
    let begun = connected.begin("stripe", &placed).await;
    taken_at_once(&connected, &begun).await;
    connected.providers.pay_stripe(&begun.reference);
    connected.hear_stripe("payment_intent.amount_capturable_updated", &begun).await;
    assert_eq!(connected.payment(&begun).await.str("/status"), "authorized");
    connected.sync(&begun).await;
    assert_eq!(connected.payment(&begun).await.str("/status"), "captured");
    assert_eq!(market.show(&placed.id).await.str("/financial_status"), "paid");
    // Not for an order that was paid meanwhile.
    let placed = connected.order().await;
    let begun = connected.begin("stripe", &placed).await;
    taken_at_once(&connected, &begun).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    connected.providers.pay_stripe(&begun.reference);
    connected.sync(&begun).await;
    assert_eq!(connected.stripe_status(&begun), "canceled");
    assert_eq!(connected.providers.calls("/capture").len(), 1);
    assert!(connected.providers.refunds().is_empty());
}

//! How long orders wait to be paid, by the way they are to be paid.

use std::time::Duration;

use support::clock::Timestamp;
use support::{Market, Placed, Reply, cart, json};

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// The minutes that an order has from when it was placed.
fn minutes(placed: &Placed) -> u64 {
    let time = |pointer: &str| Timestamp::parse(&placed.reply.str(pointer)).unwrap();
    time("/order/created_at").until(time("/expires_at")).as_secs() / 60
}

async fn paid_manually(market: &Market, variant: &str) -> Placed {
    let mut input = cart(&[(variant, 1)]);
    input["payment"] = json!({"provider": "manual"});
    market.order(input).await
}

/// The shopper begins to pay manually.
async fn begin(market: &Market, placed: &Placed) -> Reply {
    let path = format!("/v1/storefront/{}/payments/manual/order", market.store.subdomain);
    let input = market.gateway.client().post(&path).json(json!({"order_id": placed.id}));
    input.header("x-service-order-token", &placed.token).await.expect(201)
}

async fn status(market: &Market, placed: &Placed) -> String {
    market.look(placed).await.expect(200).str("/status")
}

async fn later(market: &Market, by: Duration) {
    market.gateway.advance(by);
    market.gateway.sweep().await;
}

/// So many of a variant can be sold: as it is in the table, since sessions do not last as long.
async fn available(market: &Market, variant: &str) -> i64 {
    let prefix = format!("STO#{}#INV#{variant}", market.store.id);
    let levels = market.gateway.items_of("level", &prefix).await;
    levels.iter().map(|level| level["available"].as_i64().unwrap()).sum()
}

async fn set_window(market: &Market, minutes: i64) -> Reply {
    let path = format!("/v1/stores/{}/settings", market.store.id);
    let input = json!({"checkout": {"manual_payment_window_minutes": minutes}});
    market.owner.patch(&path).json(input).await
}

#[tokio::test]
async fn a_manual_payment_is_awaited_for_seven_days() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let undecided = market.order(cart(&[(&book, 1)])).await;
    let placed = paid_manually(&market, &book).await;
    assert_eq!((minutes(&undecided), minutes(&placed)), (30, 7 * 24 * 60));
    later(&market, MINUTE * 31).await;
    assert_eq!(status(&market, &undecided).await, "expired");
    assert_eq!(status(&market, &placed).await, "open");
    let begun = begin(&market, &placed).await;
    assert_eq!(begun.at("/expires_at"), placed.reply.at("/expires_at"), "it begins no new wait");
    later(&market, DAY * 7 - MINUTE * 32).await;
    assert_eq!(status(&market, &placed).await, "open");
    assert_eq!(available(&market, &book).await, 9);
    later(&market, MINUTE).await;
    assert_eq!(status(&market, &placed).await, "expired");
    assert_eq!(available(&market, &book).await, 10);
}

#[tokio::test]
async fn choosing_manual_payment_later_extends_the_payment_window() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.order(cart(&[(&book, 1)])).await;
    market.gateway.advance(MINUTE * 29);
    let begun = begin(&market, &placed).await;
    let seen = market.look(&placed).await.expect(200);
    assert_eq!(begun.at("/expires_at"), seen.at("/expires_at"));
    let until = Timestamp::parse(&seen.str("/expires_at")).unwrap();
    let left = market.gateway.now().until(until);
    assert!(left <= DAY * 7 && left > DAY * 7 - MINUTE, "{left:?}");
    // Asked again, it is the same payment, and the wait is not drawn out.
    market.gateway.advance(DAY);
    let again = begin(&market, &placed).await;
    assert_eq!(again.at("/payment_id"), begun.at("/payment_id"));
    assert_eq!(again.at("/expires_at"), begun.at("/expires_at"));
    later(&market, DAY * 5).await;
    assert_eq!(status(&market, &placed).await, "open");
    later(&market, DAY).await;
    assert_eq!(status(&market, &placed).await, "expired");
    assert_eq!(available(&market, &book).await, 10);
}

#[tokio::test]
async fn a_manual_payment_window_is_up_to_thirty_days_or_unlimited() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let field_error = [("/checkout/manual_payment_window_minutes".into(), "out_of_range".into())];
    for minutes in [-1, 43_201] {
        assert_eq!(set_window(&market, minutes).await.expect(422).field_errors(), field_error);
    }
    let set = set_window(&market, 43_200).await.expect(200);
    assert_eq!(set.int("/checkout/payment_window_minutes"), 30);
    let long = paid_manually(&market, &book).await;
    assert_eq!(minutes(&long), 43_200);
    set_window(&market, 0).await.expect(200);
    let ever = paid_manually(&market, &book).await;
    assert_eq!(*ever.reply.at("/expires_at"), json!(null));
    let decided_later = market.order(cart(&[(&book, 1)])).await;
    assert_eq!(minutes(&decided_later), 30);
    assert_eq!(*begin(&market, &decided_later).await.at("/expires_at"), json!(null));
    later(&market, DAY * 30).await;
    assert_eq!(status(&market, &long).await, "expired");
    for placed in [&ever, &decided_later] {
        assert_eq!(status(&market, placed).await, "open");
    }
    assert_eq!(available(&market, &book).await, 8);
}

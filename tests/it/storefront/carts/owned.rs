//! The cart of a signed-in customer: found by their session, merged when they sign in, gone with their account.

use std::time::Duration;

use support::{Market, Reply, Shopper, Value, address, eventually, json, unique};

use super::{HEADER, Held, can, carts, line};

const OWN: &str = "/v1/storefront/customer/cart";

async fn merge(shopper: &Shopper, guests: &Held) -> Reply {
    let path = format!("{}/merge", guests.path);
    shopper.post(&path).header(HEADER, guests.token.as_deref().unwrap()).json(json!({})).await
}

#[tokio::test]
async fn a_customer_has_one_cart_that_their_session_finds() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    shopper.get(OWN).await.expect(404).problem("not_found");
    let cart = Held::of_customer(&market, &shopper, json!({"lines": [line(&book, 1)]})).await;
    assert_eq!(cart.token, None);
    let other = shopper.post(&carts(&market)).json(json!({})).await;
    assert_eq!(other.expect(409).problem("cart_exists").str("/cart_id"), cart.id);
    let again = shopper.log_in_again(&market.store).await;
    assert_eq!(again.get(OWN).await.expect(200).str("/id"), cart.id);
    let stranger = Shopper::register(&market.gateway, &market.store).await;
    stranger.get(&cart.path).await.expect(404).problem("not_found");
    // The order is the customer's, at their address.
    let ready = cart.patch(json!({"shipping_address": address()})).await.expect(200);
    assert!(can(&ready, "checkout"), "{}", ready.text);
    let placed = cart.check_out(json!({})).await.expect(201);
    let order = market.show(&placed.str("/order/id")).await;
    assert_eq!(
        (order.str("/customer_id"), order.str("/email")),
        (shopper.id.clone(), shopper.email.clone())
    );
    shopper.get(OWN).await.expect(404);
    Held::of_customer(&market, &shopper, json!({})).await;
}

#[tokio::test]
async fn a_guests_cart_becomes_that_of_whoever_signs_in() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let guests =
        Held::of_guest(&market, json!({"lines": [line(&book, 2)], "email": "g@example.com"})).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let merged = merge(&shopper, &guests).await.expect(200);
    assert_eq!(
        (merged.str("/id"), merged.str("/customer_id")),
        (guests.id.clone(), shopper.id.clone())
    );
    assert_eq!(shopper.get(OWN).await.expect(200).int("/lines/0/quantity"), 2);
    guests.get().await.expect(404);
}

#[tokio::test]
async fn merged_carts_add_up_and_the_guests_ends() {
    let market = Market::open().await;
    let (book, pen) = (market.stock(1_000, 9).await, market.stock(50, 2_000).await);
    let off = json!({"title": "Off", "kind": "percentage", "code": "OFF",
        "value": {"basis_points": 1_000}});
    market.owner.post("/v1/discounts").json(off).await.expect(201);
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let input = json!({"lines": [line(&pen, 990)], "note": "mine"});
    let own = Held::of_customer(&market, &shopper, input).await;
    let input = json!({"lines": [line(&book, 2), line(&pen, 20)], "note": "theirs",
        "discount_codes": ["off"], "shipping_address": address()});
    let guests = Held::of_guest(&market, input).await;
    let merged = merge(&shopper, &guests).await.expect(200);
    assert_eq!(merged.str("/id"), own.id);
    assert_eq!((merged.int("/lines/0/quantity"), merged.int("/lines/1/quantity")), (999, 2));
    assert_eq!(
        (merged.at("/discount_codes"), merged.str("/note")),
        (&json!(["OFF"]), "mine".into())
    );
    assert_eq!(merged.str("/shipping_address/city"), "Bengaluru");
    guests.get().await.expect(404);
    merge(&shopper, &guests).await.expect(404).problem("not_found");
    assert_eq!(shopper.get(OWN).await.expect(200).int("/version"), 2);
}

#[tokio::test]
async fn a_deleted_account_takes_its_cart_along() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    Held::of_customer(&market, &shopper, json!({"lines": [line(&book, 1)]})).await;
    let input = json!({"current_password": support::PASSWORD});
    shopper.delete("/v1/storefront/customer/me").json(input).await.expect(202);
    assert_eq!(market.gateway.items("STO#").await.iter().filter(|item| is_cart(item)).count(), 0);
}

#[tokio::test]
async fn a_customer_whom_the_merchant_deletes_takes_the_cart_along() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    Held::of_customer(&market, &shopper, json!({"lines": [line(&book, 1)]})).await;
    market.owner.delete(&format!("/v1/customers/{}", shopper.id)).await.expect(202);
    assert_eq!(market.gateway.items("STO#").await.iter().filter(|item| is_cart(item)).count(), 0);
}

fn is_cart(item: &Value) -> bool {
    item["entity"].as_str().is_some_and(|kind| kind == "cart" || kind == "customer_cart")
}

async fn over(market: &Market, path: &str) {
    eventually(Duration::from_secs(40), || async {
        let shown = market.owner.get(path).await.expect(200);
        if shown.str("/status") == "succeeded" {
            return Some(());
        }
        market.gateway.sweep().await;
        None
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn carts_are_exported_and_redacted_with_their_person() {
    let market = Market::open().await;
    let at_once = json!({"privacy": {"redaction_days": 0}});
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    market.merchant.patch(&settings).json(at_once).await.expect(200);
    let book = market.stock(1_000, 9).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    Held::of_customer(&market, &shopper, json!({"lines": [line(&book, 1)], "note": "Own cart"}))
        .await;
    let theirs = json!({"lines": [line(&book, 2)], "email": shopper.email, "note": "As a guest"});
    Held::of_guest(&market, theirs).await;
    let others = json!({"lines": [line(&book, 2)], "email": "other@example.com"});
    let others = Held::of_guest(&market, others).await;
    let path = format!("/v1/customers/{}", shopper.id);
    let asked =
        market.owner.post(&format!("{path}/data-request")).json(json!({})).await.expect(202);
    let export = format!("/v1/exports/{}", asked.str("/id"));
    over(&market, &export).await;
    let url = market.owner.get(&export).await.expect(200).str("/parts/0/url");
    let file = format!("/v1/{}", url.split_once("/v1/").unwrap().1);
    let file = market.gateway.client().get(&file).await.expect(200).text;
    for said in ["Own cart", "As a guest"] {
        assert!(file.contains(said), "{said}: {file}");
    }
    assert!(!file.contains("other@example.com"));
    market.owner.post(&format!("{path}/redact")).json(json!({})).await.expect(202);
    over(&market, &format!("{path}/redaction")).await;
    let left = market.gateway.items("STO#").await;
    let left: Vec<_> = left.iter().filter(|item| is_cart(item)).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    others.get().await.expect(200);
}

#[tokio::test]
async fn a_cart_follows_its_customer_into_another_account() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let (stays, goes) = (
        Shopper::register(&market.gateway, &market.store).await,
        Shopper::register(&market.gateway, &market.store).await,
    );
    let cart = Held::of_customer(&market, &goes, json!({"lines": [line(&book, 1)]})).await;
    let path = format!("/v1/customers/{}/merges", stays.id);
    let input = json!({"source_id": goes.id});
    market.owner.post(&path).json(input).key(&unique("merge")).await.expect(202);
    eventually(Duration::from_secs(40), || async {
        market.gateway.advance(Duration::from_secs(5));
        market.gateway.sweep().await;
        (stays.get(OWN).await.status == 200).then_some(())
    })
    .await;
    assert_eq!(stays.get(OWN).await.expect(200).str("/id"), cart.id);
}

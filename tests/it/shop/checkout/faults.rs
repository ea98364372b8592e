//! What a checkout says of a cart that cannot be ordered as it is, and what it does not choose for a shopper.

use std::time::Duration;

use support::{Browser, Review, Shown, json, race, with_address};

use super::payments::{choose, to_bank, with_stripe};
use crate::shop::pickups::with_pickup;
use crate::shop::{a_tenth_off, shop, shop_with_cart};

/// The rate that a page has chosen; none if it has chosen none.
fn chosen_rate(page: &Shown) -> Option<String> {
    let rates = page.text.split("name=\"rate\" value=\"").skip(1);
    let chosen =
        rates.into_iter().find(|rate| rate.split('>').next().unwrap().contains(" checked"));
    chosen.map(|rate| rate.split('"').next().unwrap().to_owned())
}

/// A form with an address whose button orders at once.
async fn at_once(browser: &mut Browser) -> Shown {
    let page = browser.open("/checkout").await.expect(200);
    let (key, total, cart) = (page.input("key"), page.input("total"), page.input("cart"));
    let form = with_address(&[
        ("email", "asha@example.com"),
        ("key", &key),
        ("total", &total),
        ("cart", &cart),
        ("payment", "manual"),
        ("act", "place"),
    ]);
    browser.submit("/checkout", &form).await
}

#[tokio::test]
async fn a_pickup_is_nobodys_choice_but_the_shoppers() {
    let (market, mut browser) = shop().await;
    let variant = with_pickup(&market).await;
    browser.add(&variant, 1).await;
    let page = at_once(&mut browser).await.expect(422).shows("Shipping was added.");
    let chosen = chosen_rate(&page).unwrap();
    let rate = page.text.split(&format!("value=\"{chosen}\"")).nth(1).unwrap();
    assert!(rate.split("</label>").next().unwrap().contains("Parcel"), "{rate}");
    assert!(market.owner.get("/v1/orders").await.expect(200).data().is_empty());
}

#[tokio::test]
async fn the_only_rate_is_ordered_at_once_if_it_costs_nothing() {
    let (market, mut browser, _) = shop_with_cart().await;
    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [{"name": "Bicycle", "kind": "flat", "price": support::inr(0)}],
    });
    let zones = format!("/v1/stores/{}/shipping-zones", market.store.id);
    market.owner.post(&zones).json(zone).await.expect(201);
    // The total is the one that the page showed.
    at_once(&mut browser).await.expect(200).shows("Your order is placed");
}

#[tokio::test]
async fn a_code_that_does_not_apply_is_told_at_its_field_and_not_kept() {
    let (market, mut browser, _) = shop_with_cart().await;
    super::with_rates(&market).await;
    let much = json!({
        "title": "Much", "code": "MUCH", "kind": "percentage", "value": {"basis_points": 1_000},
        "minimum": {"subtotal": support::inr(1_000_000)},
    });
    market.owner.post("/v1/discounts").json(much).await.expect(201);
    let review = Review::of(&mut browser).await;
    let tried = review.with("code", "MUCH").with("act", "apply").place(&mut browser).await;
    let page = tried.expect(422).shows("id=\"code-error\"").shows("minimum").shows("Standard");
    assert!(chosen_rate(&page).is_some(), "{}", page.text);
    page.lacks("value=\"code:MUCH\"");
    assert_eq!(browser.cart().await["total_discount"], 0);
    // Beside one that applies.
    let review = Review::of(&mut browser).await;
    let both = review.with("code", "TENTH").with("act", "apply").place(&mut browser).await;
    let both = review.renewed(both.expect(200)).with("code", "MUCH").with("act", "apply");
    let both = both.place(&mut browser).await.expect(422).shows("value=\"code:TENTH\"");
    both.lacks("value=\"code:MUCH\"").shows("Discount: A tenth");
}

/// A cart has known codes alone, so that pages with it guess none.
#[tokio::test]
async fn guesses_of_a_network_lock_no_cart_with_a_code() {
    let (market, mut browser, variant) = shop_with_cart().await;
    super::with_rates(&market).await;
    let review = Review::of(&mut browser).await;
    let coded = review.with("code", "TENTH").with("act", "apply").place(&mut browser).await;
    let review = review.renewed(coded.expect(200));
    let mut neighbour = browser.at(browser.host());
    neighbour.add(&variant, 1).await;
    market.gateway.app().clock.stop();
    let guess = json!({"discount": "GUESS"});
    while neighbour.script("/cart/update.js", &guess).await.status != 429 {}
    browser.open("/checkout").await.expect(200).shows("value=\"code:TENTH\"");
    review.place(&mut browser).await.expect(200).shows("Your order is placed");
}

#[tokio::test]
async fn what_is_wrong_is_said_of_which_line_or_code_once() {
    let (market, mut browser) = shop().await;
    a_tenth_off(&market).await;
    let (scarce, plenty) = (market.stock(50_000, 2).await, market.stock(10_000, 9).await);
    browser.add(&scarce, 2).await;
    browser.add(&plenty, 1).await;
    let review = Review::of(&mut browser).await;
    let coded = review.with("code", "TENTH").with("act", "apply").place(&mut browser).await;
    let review = review.renewed(coded.expect(200));
    let cart = browser.cart().await;
    let title = cart["items"][0]["product_title"].as_str().unwrap();
    let mut rival = market.browser();
    rival.add(&scarce, 1).await;
    Review::of(&mut rival).await.place(&mut rival).await.expect(200);
    let discounts = market.owner.get("/v1/discounts").await.expect(200);
    let discount = format!("/v1/discounts/{}", discounts.str("/data/0/id"));
    market.owner.delete(&discount).await.expect(204);
    market.gateway.advance(Duration::from_mins(1));
    let page = review.place(&mut browser).await.expect(422).shows(&format!("{title}</bdi>: "));
    let page = page.shows("<p><bdi>TENTH</bdi>: ");
    for said in [format!("<p><bdi>{title}</bdi>: "), "<p><bdi>TENTH</bdi>: ".to_owned()] {
        assert_eq!(page.text.matches(&said).count(), 1, "{said}: {}", page.text);
    }
}

#[tokio::test]
async fn what_is_not_sold_any_more_leaves_the_checkout() {
    let (market, mut browser) = shop().await;
    let (gone, left) = (market.stock(50_000, 2).await, market.stock(10_000, 9).await);
    browser.add(&gone, 1).await;
    browser.add(&left, 1).await;
    let review = Review::of(&mut browser).await;
    let product = browser.cart().await["items"][0]["product_id"].as_str().unwrap().to_owned();
    let product = format!("/v1/products/{product}");
    market.owner.delete(&product).await.expect(204);
    market.gateway.advance(Duration::from_mins(1));
    // Two tabs at once remove it once.
    let press = || {
        let (mut tab, review) = (browser.elsewhere(), review.clone());
        async move { review.place(&mut tab).await.status }
    };
    let statuses = race(2, press).await;
    assert!(statuses.iter().all(|status| *status == 422), "{statuses:?}");
    let page = browser.open("/checkout").await.expect(200).lacks("500.00").lacks("not sold");
    let done = review.renewed(page).place(&mut browser).await.expect(200);
    done.shows("Your order is placed").shows("100.00");
    // Alone in the cart, it leaves nothing to order.
    browser.add(&left, 1).await;
    let product = browser.cart().await["items"][0]["product_id"].as_str().unwrap().to_owned();
    market.owner.delete(&format!("/v1/products/{product}")).await.expect(204);
    market.gateway.advance(Duration::from_mins(1));
    let page = browser.open("/checkout").await.expect(200);
    assert_eq!(page.path, "/cart");
}

#[tokio::test]
async fn every_field_that_lacks_is_marked_in_one_round() {
    let (_market, mut browser, _) = shop_with_cart().await;
    let empty = [
        ("email", ""),
        ("ship[country]", "US"),
        ("ship[last_name]", "\u{200b}"),
        ("bill_choice", "other"),
        ("bill[country]", "US"),
        ("act", "place"),
    ];
    let page = browser.submit("/checkout", &empty).await.expect(422);
    let mut page = page.shows("id=\"email-error\"").shows("Please choose a state.");
    for field in ["last_name", "line1", "city", "postal_code", "region"] {
        for address in ["ship", "bill"] {
            page = page.shows(&format!("id=\"{address}-{field}-error\""));
        }
    }
    page.shows("value=\"other\" checked").lacks("ship-first_name-error");
}

#[tokio::test]
async fn a_mistake_in_one_address_for_both_is_said_once() {
    let (_market, mut browser, _) = shop_with_cart().await;
    let mut wrong = with_address(&[("email", "asha@example.com"), ("act", "to:shipping")]);
    wrong.retain(|(name, _)| *name != "ship[postal_code]");
    wrong.extend([("ship[postal_code]", "1"), ("ship[phone]", "12")]);
    let page = browser.submit("/checkout", &wrong).await.expect(422);
    let invalid: Vec<&str> = page
        .text
        .split("<input ")
        .filter(|input| input.split('>').next().unwrap().contains("aria-invalid=\"true\""))
        .map(|input| input.split("name=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    assert_eq!(invalid, ["ship[postal_code]", "ship[phone]"]);
}

#[tokio::test]
async fn an_order_that_is_paid_says_so_wherever_it_is_looked_at() {
    let (market, _providers, mut browser) = with_stripe().await;
    let (_, code) = market.gift_card(20_000).await;
    let variant = market.stock(50_000, 9).await;
    browser.add(&variant, 1).await;
    let review = Review::paid_by(&mut browser, "stripe").await;
    let carded = review.with("code", &code).with("act", "apply").place(&mut browser).await;
    let review = review.renewed(carded.expect(200).shows("To pay"));
    let page = review.place(&mut browser).await.expect(200);
    let bank = page.quoted_after("id=\"to-provider\" href=\"").replace("&amp;", "&");
    let id = page.path.split('/').nth(2).unwrap().to_owned();
    browser.open(&format!("/orders/{id}")).await.expect(200).shows("To pay");
    let back = choose(&mut browser, &bank, "pay").await;
    let page = browser.open(&back).await.expect(200).shows("Gift cards");
    page.shows("paid").lacks("To pay");
    // An address of the history, from before it was paid.
    let old = format!("/orders/{id}/return?error=abandoned");
    let page = browser.open(&old).await.expect(200).lacks("Nothing was charged");
    assert_eq!(page.path, format!("/orders/{id}"));
}

#[tokio::test]
async fn an_order_that_gift_cards_pay_is_paid_by_gift_card() {
    let (market, mut browser, _) = shop_with_cart().await;
    let (_, code) = market.gift_card(90_000).await;
    let review = Review::of(&mut browser).await;
    let carded = review.with("code", &code).with("act", "apply").place(&mut browser).await;
    let done = review.renewed(carded.expect(200)).place(&mut browser).await.expect(200);
    done.shows("Payment method: Gift card").lacks("arrangement");
}

#[tokio::test]
async fn a_bank_that_was_left_is_said_of_an_unpaid_order() {
    let (market, _providers, mut browser) = with_stripe().await;
    let bank = to_bank(&market, &mut browser).await;
    let back = choose(&mut browser, &bank, "decline").await;
    browser.open(&back).await.expect(200).shows("Nothing was charged");
}

//! Hostile, hasty and unlucky carts: nothing wrong is sold, every answer says what happened, and none is a failure of
//! the shop.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use support::{Browser, Market, Review, Shown, ThemeShop, Value, json, race, with_address};

use super::shop;

/// More than a network's burst is restored within it.
const PAUSE: Duration = Duration::from_mins(1);

async fn item_count(browser: &mut Browser) -> i64 {
    browser.cart().await["item_count"].as_i64().unwrap()
}

async fn orders(market: &Market) -> usize {
    market.owner.get("/v1/orders").await.expect(200).data().len()
}

/// Whether a rejection says that the quantity is at fault: in its sentence, or by the pointer of a field.
fn says_quantity(said: &Value) -> bool {
    let has = |member: &str| said[member].to_string().to_lowercase().contains("quantity");
    has("description") || has("errors") || has("fields")
}

#[tokio::test]
async fn a_quantity_that_is_none_changes_nothing() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 2).await;
    let nonsense = [
        "-1",
        "-0.5",
        "0x10",
        "1e9",
        "2.5",
        "2,5",
        "٣",
        "３",
        "NaN",
        "one",
        "2;3",
        "99999999999999999999",
        "1000000000",
    ];
    for quantity in nonsense {
        market.gateway.advance(PAUSE);
        let body = json!({"id": variant, "quantity": quantity});
        for path in ["/cart/add.js", "/cart/change.js"] {
            let said = browser.script(path, &body).await.expect(422).json();
            assert!(says_quantity(&said), "{path} {quantity}: {said}");
        }
        let body = json!({"updates": {variant.clone(): quantity}});
        let said = browser.script("/cart/update.js", &body).await.expect(422).json();
        assert!(says_quantity(&said), "{quantity}: {said}");
        let form = [("id", &*variant), ("quantity", quantity)];
        browser.submit_once("/cart/add", &form).await.expect(422);
    }
    // As numbers of JSON, too; none of nothing is added, nor a part of a list.
    market.gateway.advance(PAUSE);
    for quantity in [json!(-1), json!(2.5), json!(1e9), json!(1_000_000_000), json!(0)] {
        let body = json!({"id": variant, "quantity": quantity});
        browser.script("/cart/add.js", &body).await.expect(422);
    }
    let part = json!({"items": [{"id": variant}, {"quantity": 3}]});
    browser.script("/cart/add.js", &part).await.expect(422);
    market.gateway.advance(PAUSE);
    assert_eq!(item_count(&mut browser).await, 2);
    assert_eq!(market.levels(&variant).await, [9, 0, 0, 9]);
}

#[tokio::test]
async fn a_price_in_a_form_is_not_the_price() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    let cheap = [
        ("id", &*variant),
        ("price", "1"),
        ("unit_price", "1"),
        ("line_price", "1"),
        ("properties[price]", "1"),
        ("items_subtotal_price", "1"),
    ];
    browser.submit_once("/cart/add", &cheap).await.expect(303);
    let review = Review::of(&mut browser).await;
    let page = review.with("total", "1").place(&mut browser).await;
    page.expect(422).shows("The total has changed");
    for total in ["-50000", "0", "500.00", "1e9", "", "five"] {
        market.gateway.advance(PAUSE);
        let shown = review.with("total", total).place(&mut browser).await;
        // A total that is none expects nothing: the price is the server's all the same.
        if shown.status == 200 {
            let order = market.show(&shown.order()).await.expect(200);
            assert_eq!(order.at("/totals/total/amount"), 50_000, "{total}");
            browser.add(&variant, 1).await;
        }
    }
    market.audit(&variant).await;
}

#[tokio::test]
async fn properties_of_a_hundred_kilobytes_are_too_large() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 1).await;
    for bytes in [100 << 10, 300 << 10] {
        let long = "x".repeat(bytes);
        let form = [("id", &*variant), ("properties[Engraving]", &*long)];
        let shown = browser.submit_once("/cart/add", &form).await;
        assert!([413, 422].contains(&shown.status), "{bytes}: {}", shown.status);
        assert!(shown.text.len() < 20_000, "it is not repeated: {}", shown.text.len());
        let body = json!({"id": variant, "properties": {"Engraving": long}});
        let shown = browser.script("/cart/add.js", &body).await;
        assert!([413, 422].contains(&shown.status), "{bytes}: {}", shown.status);
        assert!(shown.text.len() < 20_000, "it is not repeated: {}", shown.text.len());
    }
    let many: BTreeMap<String, u8> = (0..3_000).map(|number| (format!("p{number}"), 1)).collect();
    let body = json!({"id": variant, "properties": many});
    browser.script("/cart/add.js", &body).await.expect(413);
    assert_eq!(item_count(&mut browser).await, 1);
}

#[tokio::test]
async fn a_carts_token_opens_nothing_at_another_store() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 2).await;
    let other = market.merchant.open_shop().await;
    let mut there = browser.at(&market.host_of(&other.subdomain));
    there.cookies = browser.cookies.clone();
    assert_eq!(item_count(&mut there).await, 0);
    let change = json!({"line": 1, "quantity": 7});
    there.script("/cart/change.js", &change).await.expect(422);
    there.script("/cart/update.js", &json!({"updates": {variant.clone(): 7}})).await.expect(200);
    there.script("/cart/clear.js", &json!({})).await.expect(200);
    let all = with_address(&[("email", "a@example.com"), ("payment", "manual"), ("act", "place")]);
    let shown = there.submit("/checkout", &all).await;
    assert!(shown.status < 500 && !shown.path.starts_with("/orders"), "{shown:?}");
    assert_eq!((item_count(&mut browser).await, orders(&market).await), (2, 0));
}

#[tokio::test]
async fn a_tab_orders_what_it_shows_and_not_what_another_put_into_the_cart() {
    let (market, mut browser) = shop().await;
    let (tea, pot) = (market.stock(1_000, 9).await, market.stock(1_000, 9).await);
    browser.add(&tea, 1).await;
    let review = Review::of(&mut browser).await;
    // The same total, of something else.
    let mut tab = browser.clone();
    let swap = json!({"updates": {tea.clone(): 0}});
    tab.script("/cart/update.js", &swap).await.expect(200);
    tab.add(&pot, 1).await;
    let page = review.place(&mut browser).await.expect(422);
    let page = page.shows("The cart has changed");
    assert_eq!(orders(&market).await, 0);
    // It shows the cart as it is now, and orders that.
    market.gateway.advance(PAUSE);
    let review = review.renewed(page);
    let order = market.show(&review.place(&mut browser).await.expect(200).order()).await;
    assert_eq!(order.str("/items/0/variant_id"), pot);
    assert_eq!(market.levels(&tea).await, [9, 0, 0, 9]);
}

#[tokio::test]
async fn a_tab_of_an_earlier_cart_does_not_order_the_next() {
    let (market, mut browser) = shop().await;
    let (tea, pot) = (market.stock(1_000, 9).await, market.stock(1_000, 9).await);
    browser.add(&tea, 1).await;
    let review = Review::of(&mut browser).await;
    let first = review.place(&mut browser).await.expect(200).order();
    market.gateway.advance(PAUSE);
    // The back button, and the button again: the same order.
    assert_eq!(review.place(&mut browser).await.expect(200).order(), first);
    // After something new is in the cart, it is not ordered by the old form.
    browser.add(&pot, 1).await;
    market.gateway.advance(PAUSE);
    review.place(&mut browser).await.expect(422).shows("The cart has changed");
    assert_eq!((orders(&market).await, item_count(&mut browser).await), (1, 1));
    assert_eq!(market.levels(&pot).await, [9, 0, 0, 9]);
}

#[tokio::test]
async fn an_item_sold_out_between_review_and_order_is_named() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1_000, 1).await;
    let mut other = market.browser();
    for visitor in [&mut browser, &mut other] {
        visitor.add(&variant, 1).await;
    }
    let (mine, theirs) = (Review::of(&mut browser).await, Review::of(&mut other).await);
    theirs.place(&mut other).await.expect(200);
    let page = mine.place(&mut browser).await.expect(422);
    assert!(page.text.contains("role=\"alert\""), "{}", page.text);
    assert_eq!(orders(&market).await, 1);
    assert_eq!(market.levels(&variant).await[0], 0);
    market.audit(&variant).await;
}

#[tokio::test]
async fn a_discount_used_up_between_review_and_order_changes_the_total() {
    let (market, mut browser) = shop().await;
    let once = json!({
        "title": "Once", "code": "ONCE", "kind": "percentage", "value": {"basis_points": 1_000},
        "usage_limit": 1,
    });
    market.owner.post("/v1/discounts").json(once).await.expect(201);
    let variant = market.stock(10_000, 9).await;
    let mut other = market.browser();
    let mut reviews = Vec::new();
    for visitor in [&mut browser, &mut other] {
        visitor.add(&variant, 1).await;
        let apply = [("code", "ONCE"), ("act", "apply")];
        visitor.submit("/checkout", &apply).await.expect(200).shows("90.00");
        reviews.push(Review::of(visitor).await);
        market.gateway.advance(PAUSE);
    }
    let first = reviews[1].place(&mut other).await.expect(200);
    let paid = market.show(&first.order()).await;
    assert_eq!(paid.at("/totals/total/amount"), 9_000);
    let page = reviews[0].place(&mut browser).await.expect(422);
    assert!(page.text.contains("role=\"alert\""), "{}", page.text);
    assert_eq!(orders(&market).await, 1, "not at a price that was not shown");
    // Without the code it costs what the page says now.
    market.gateway.advance(PAUSE);
    browser.submit("/checkout", &[("act", "code:ONCE")]).await.expect(200).lacks("ONCE");
    let review = Review::of(&mut browser).await;
    let order = market.show(&review.place(&mut browser).await.expect(200).order()).await;
    assert_eq!(order.at("/totals/total/amount"), 10_000);
}

#[tokio::test]
async fn a_review_of_a_theme_that_is_replaced_is_ordered() {
    let shop = ThemeShop::open().await;
    shop.publish("Hello").await;
    let paths = ["editor/draft", "publish"].map(|rest| shop.path(rest));
    let ThemeShop { gateway, merchant, store, owner, .. } = shop;
    let market = Market { gateway, merchant, store, owner };
    let mut browser = market.browser();
    browser.open("/").await.expect(200);
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 1).await;
    let review = Review::of(&mut browser).await;
    let [draft, publish] = paths;
    let changed = json!({"settings": {"heading": "Another"}});
    let version = market.owner.put(&draft).json(changed).await.expect(200).int("/draft/version");
    market.owner.post(&publish).json(json!({"draft_version": version})).await.expect(201);
    market.gateway.advance(PAUSE);
    browser.open("/").await.expect(200);
    assert_eq!(item_count(&mut browser).await, 1);
    let order = review.place(&mut browser).await.expect(200).order();
    market.show(&order).await.expect(200);
}

#[tokio::test]
async fn a_button_pressed_ten_times_at_once_places_one_order() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 1).await;
    let review = Review::of(&mut browser).await;
    market.gateway.advance(PAUSE);
    let press = || {
        let (mut tab, review) = (browser.clone(), review.clone());
        async move { review.place(&mut tab).await }
    };
    let shown = race(10, press).await;
    for one in &shown {
        assert!(one.status < 500, "{}: {}", one.status, one.text);
    }
    assert!(shown.iter().any(|one| one.path.starts_with("/orders/")));
    assert_eq!(orders(&market).await, 1);
    assert_eq!(market.levels(&variant).await[0], 8);
    // A form from before the shop was changed has no digest of its cart, and orders what is in it.
    market.gateway.advance(PAUSE);
    browser.add(&variant, 1).await;
    let review = Review::of(&mut browser).await.without("cart");
    review.place(&mut browser).await.expect(200);
    assert_eq!(orders(&market).await, 2);
}

/// The number of answers of each status.
fn statuses(shown: &[Shown]) -> BTreeMap<u16, usize> {
    shown.iter().fold(BTreeMap::new(), |mut all, one| {
        *all.entry(one.status).or_default() += 1;
        all
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn six_hundred_carts_of_one_visitor_are_limited_and_of_many_are_made() {
    let (market, browser) = shop().await;
    let variant = market.stock(1_000, 9).await;
    let body = json!({"id": variant});
    for _ in 0..3 {
        let flood = || {
            let (mut visitor, body) = (browser.clone(), body.clone());
            async move { visitor.script("/cart/add.js", &body).await }
        };
        let shown = race(200, flood).await;
        let counts = statuses(&shown);
        assert!(counts.keys().all(|status| [200, 429].contains(status)), "{counts:?}");
        assert!(counts.contains_key(&429), "{counts:?}");
        for one in shown.iter().filter(|one| one.status == 429) {
            assert!(!one.header("retry-after").is_empty(), "{one:?}");
        }
    }
    // Somebody else is not affected, and a crowd is served.
    market.browser().add(&variant, 1).await;
    let crowd = || {
        let (mut visitor, body) = (market.browser(), body.clone());
        async move { visitor.script("/cart/add.js", &body).await }
    };
    let counts = statuses(&race(200, crowd).await);
    assert_eq!(counts, BTreeMap::from([(200, 200)]));
    // Carts hold no stock.
    assert_eq!(market.levels(&variant).await, [9, 0, 0, 9]);
}

#[tokio::test]
async fn an_odd_request_is_no_failure_of_the_shop() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1_000, 9).await;
    browser.add(&variant, 1).await;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let bodies = [
        ("application/json", "{".to_owned()),
        ("application/json", deep),
        ("application/json", "[1, null, \"x\"]".to_owned()),
        ("application/json", "{\"items\": {\"id\": 1}}".to_owned()),
        ("multipart/form-data; boundary=x", "--y\r\n".to_owned()),
        ("text/plain", "id=1".to_owned()),
        ("application/x-www-form-urlencoded", "id=%ff%fe&quantity=%00".to_owned()),
        ("application/x-www-form-urlencoded", "items[0][id]=&items[x]=&items[][id]=1".to_owned()),
        ("application/x-www-form-urlencoded", "updates[]=&updates[%00]=1&line=-1".to_owned()),
    ];
    for path in ["/cart/add", "/cart/add.js", "/cart/change.js", "/cart/update.js", "/checkout"] {
        for (kind, body) in &bodies {
            market.gateway.advance(PAUSE);
            let request = browser
                .request(Method::POST, path)
                .header("sec-fetch-mode", "navigate")
                .header("sec-fetch-dest", "document")
                .header("sec-fetch-site", "same-origin")
                .header("content-type", *kind)
                .body(body.clone());
            let shown = browser.send(request, path).await;
            assert!(shown.status < 500, "{path} {body}: {} {}", shown.status, shown.text);
        }
    }
    market.gateway.advance(PAUSE);
    assert_eq!((item_count(&mut browser).await, orders(&market).await), (1, 0));
}

//! The Ajax API of themes.

use support::{Shown, Value, json};

use super::shop;

fn quantities(cart: &Value) -> Vec<i64> {
    let items = cart["items"].as_array().expect("items").iter();
    items.map(|item| item["quantity"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_form_adds_to_the_cart_of_this_browser() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1250, 9).await;
    let empty = browser.cart().await;
    assert_eq!((empty["item_count"].as_i64(), quantities(&empty)), (Some(0), vec![]));
    let form = [("id", &*variant), ("quantity", "2"), ("properties[Engraving]", "Ada")];
    let added = browser.submit_once("/cart/add", &form).await.expect(303);
    assert_eq!(added.header("location"), "/cart");
    let cookie = added.header("set-cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let full = browser.cart().await;
    assert_eq!((full["item_count"].as_i64(), full["total_price"].as_i64()), (Some(2), Some(2500)));
    assert_eq!(full["items"][0]["properties"], json!({"Engraving": "Ada"}));
    assert_eq!(full["items"][0]["variant_id"], json!(variant));
    // Another browser has another cart.
    assert_eq!(market.browser().cart().await["item_count"], 0);
}

#[tokio::test]
async fn a_script_adds_changes_and_empties() {
    let (market, mut browser) = shop().await;
    let (first, second) = (market.stock(1000, 9).await, market.stock(300, 9).await);
    let one = json!({"id": first, "quantity": 1});
    let line = browser.script("/cart/add.js", &one).await.expect(200).json();
    assert_eq!((line["variant_id"].clone(), line["quantity"].clone()), (json!(first), json!(1)));
    let more = json!({"items": [{"id": first, "quantity": 2}, {"id": second}]});
    let added = browser.script("/cart/add.js", &more).await.expect(200).json();
    assert_eq!(added["items"].as_array().unwrap().len(), 2);
    assert_eq!(quantities(&browser.cart().await), [3, 1]);

    let key = browser.cart().await["items"][0]["key"].clone();
    let change = json!({"id": key, "quantity": 5});
    let changed = browser.script("/cart/change.js", &change).await.expect(200).json();
    assert_eq!(quantities(&changed), [5, 1]);
    let change = json!({"line": 2, "quantity": 0});
    let changed = browser.script("/cart/change.js", &change).await.expect(200).json();
    assert_eq!(quantities(&changed), [5]);

    let update = json!({
        "updates": {first.clone(): 2}, "note": "Ring twice", "attributes": {"gift": "yes"},
    });
    let updated = browser.script("/cart/update.js", &update).await.expect(200).json();
    assert_eq!((quantities(&updated), updated["note"].clone()), (vec![2], json!("Ring twice")));
    assert_eq!(updated["attributes"], json!({"gift": "yes"}));
    let emptied = browser.script("/cart/clear.js", &json!({})).await.expect(200).json();
    assert_eq!((quantities(&emptied), emptied["note"].clone()), (vec![], json!("Ring twice")));
}

/// Dawn's scripts post to the forms' own addresses, and say by their headers alone that they read JSON.
#[tokio::test]
async fn a_script_at_a_forms_address_reads_json() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    let form = [("id", &*variant), ("quantity", "2"), ("sections", "none"), ("sections_url", "/")];
    let line = browser.form_by_script("/cart/add", &form).await.expect(200).json();
    assert_eq!((line["id"].clone(), line["quantity"].clone()), (json!(variant), json!(2)));
    assert!(line.get("sections").is_some(), "{line}");
    let change = json!({"line": 1, "quantity": 3});
    let cart = browser.script("/cart/change", &change).await.expect(200).json();
    assert_eq!(quantities(&cart), [3]);
    let cart = browser.script("/cart/update", &json!({"note": "Hi"})).await.expect(200).json();
    assert_eq!(cart["note"], "Hi");
    let wrong = browser.script("/cart/change", &json!({"line": 9, "quantity": 1})).await;
    let wrong = wrong.expect(422).json();
    // Themes show `errors` as a text.
    assert!(wrong["errors"].is_string() && wrong["errors"] == wrong["description"], "{wrong}");
    let cart = browser.script("/cart/clear", &json!({})).await.expect(200).json();
    assert_eq!(quantities(&cart), [0; 0]);
    browser.submit_once("/cart/clear", &[]).await.expect(303);
}

#[tokio::test]
async fn the_cart_page_changes_quantities_in_order() {
    let (market, mut browser) = shop().await;
    let (first, second) = (market.stock(1000, 9).await, market.stock(300, 9).await);
    for variant in [&first, &second] {
        browser.add(variant, 1).await;
    }
    let form = [("updates[]", "0"), ("updates[]", "4"), ("note", "Hi")];
    let done = browser.submit_once("/cart", &form).await.expect(303);
    assert_eq!(done.header("location"), "/cart");
    assert_eq!(quantities(&browser.cart().await), [4]);
    let done = browser.submit_once("/cart", &[("checkout", "")]).await.expect(303);
    assert_eq!(done.header("location"), "/checkout");
}

#[tokio::test]
async fn what_cannot_be_added_is_said_as_themes_expect() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 2).await;
    for (body, word) in [
        (json!({}), "choose a variant"),
        (json!({"id": "var_00000000000000000000000000000000"}), "does not exist"),
        (json!({"id": "nonsense"}), ""),
    ] {
        let rejected = browser.script("/cart/add.js", &body).await.expect(422).json();
        assert_eq!(rejected["status"], 422);
        assert_eq!(rejected["message"], rejected["description"]);
        assert!(rejected["description"].as_str().unwrap().contains(word), "{rejected}");
    }
    browser.script("/cart/add.js", &json!({"id": variant})).await.expect(200);
    let wrong = json!({"id": "no such line", "quantity": 1});
    browser.script("/cart/change.js", &wrong).await.expect(422);
    browser.script("/cart/change.js", &json!({"line": 0, "quantity": 1})).await.expect(422);
}

#[tokio::test]
async fn a_cart_of_another_shop_is_not_shown() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    browser.add(&variant, 1).await;
    let other = market.merchant.open_shop().await;
    let mut there = browser.at(&market.host_of(&other.subdomain));
    there.cookies = browser.cookies.clone();
    assert_eq!(there.cart().await["item_count"], 0);
    // Neither does a variant of another shop get into a cart.
    let mut stranger = market.browser().at(&market.host_of(&other.subdomain));
    stranger.script("/cart/add.js", &json!({"id": variant})).await.expect(422);
}

#[tokio::test]
async fn a_link_fills_a_cart() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    let page = browser.open(&format!("/cart/{variant}:3")).await.expect(200);
    page.shows("Checkout").shows("Quantity 3");
    browser.open("/cart/nonsense").await.expect(404);
}

#[tokio::test]
async fn the_cart_of_an_order_is_over() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(0, 9).await;
    browser.add(&variant, 1).await;
    browser.order().await;
    assert_eq!(browser.cart().await["item_count"], 0);
    browser.script("/cart/add.js", &json!({"id": variant})).await.expect(200);
    assert_eq!(quantities(&browser.cart().await), [1]);
}

#[tokio::test]
async fn a_link_twice_is_the_same_cart_with_its_code() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    let other = market.stock(300, 9).await;
    super::a_tenth_off(&market).await;
    browser.add(&other, 1).await;
    let link = format!("/cart/{variant}:2?discount=TENTH");
    for _ in 0..2 {
        browser.open(&link).await.expect(200);
        assert_eq!(quantities(&browser.cart().await), [2]);
    }
    let full = browser.cart().await;
    let at = |name: &str| full[name].as_i64().unwrap();
    assert_eq!(
        (at("items_subtotal_price"), at("total_discount"), at("total_price")),
        (2000, 200, 1800)
    );
    assert_eq!(full["items"][0]["final_line_price"], 2000);
    assert_eq!(full["cart_level_discount_applications"][0]["total_allocated_amount"], 200);
    // A code that is none is left out.
    browser.open(&format!("/cart/{variant}:1?discount=NONE")).await.expect(200);
    assert_eq!(quantities(&browser.cart().await), [1]);
}

#[tokio::test]
async fn a_code_that_is_none_is_told_with_the_cart() {
    let (market, mut browser) = shop().await;
    super::a_tenth_off(&market).await;
    browser.add(&market.stock(1000, 9).await, 1).await;
    let code = |code: &str, applicable: bool| json!({"code": code, "applicable": applicable});
    let update = json!({"discount": "TENTH,NOPE", "note": "Ring twice"});
    let cart = browser.script("/cart/update.js", &update).await.expect(200).json();
    assert_eq!(cart["discount_codes"], json!([code("TENTH", true), code("NOPE", false)]));
    assert_eq!((&cart["total_price"], &cart["note"]), (&json!(900), &json!("Ring twice")));
    assert_eq!(browser.cart().await["discount_codes"], json!([code("TENTH", true)]));
    let update = json!({"discount": "NOPE"});
    let cart = browser.script("/cart/update.js", &update).await.expect(200).json();
    assert_eq!(cart["discount_codes"], json!([code("NOPE", false)]));
    // Beside another fault nothing is changed, and a form is told by a page.
    let update = json!({"discount": "NOPE", "note": "x".repeat(5_001)});
    browser.script("/cart/update.js", &update).await.expect(422);
    browser.submit_once("/cart/update", &[("discount", "NOPE")]).await.expect(422);
    assert_eq!(browser.cart().await["note"], "Ring twice");
}

#[tokio::test]
async fn a_discount_of_products_reduces_their_lines() {
    let (market, mut browser) = shop().await;
    let (first, second) = (market.stock(1000, 9).await, market.stock(500, 9).await);
    browser
        .script("/cart/add.js", &json!({"items": [{"id": first}, {"id": second}]}))
        .await
        .expect(200);
    let product = browser.cart().await["items"][0]["product_id"].clone();
    let discount = json!({
        "title": "Cups", "kind": "percentage", "value": {"basis_points": 1_000},
        "applies_to": {"product_ids": [product]},
    });
    market.owner.post("/v1/discounts").json(discount).await.expect(201);
    let full = browser.cart().await;
    assert_eq!(full["items"][0]["final_line_price"], 900);
    assert_eq!(full["items"][0]["line_level_discount_allocations"][0]["amount"], 100);
    assert_eq!(full["items"][1]["final_line_price"], 500);
    assert_eq!(full["cart_level_discount_applications"], json!([]));
    assert_eq!((&full["items_subtotal_price"], &full["total_price"]), (&json!(1400), &json!(1400)));
    assert_eq!(
        (&full["original_total_price"], &full["total_discount"]),
        (&json!(1500), &json!(100))
    );
}

#[tokio::test]
async fn more_than_there_are_is_not_added() {
    let (market, mut browser) = shop().await;
    let (few, none) = (market.stock(1000, 2).await, market.stock(300, 0).await);
    let sold_out = browser.script("/cart/add.js", &json!({"id": none})).await.expect(422).json();
    assert!(sold_out["description"].as_str().unwrap().contains("sold out"), "{sold_out}");
    browser.script("/cart/add.js", &json!({"id": few, "quantity": 2})).await.expect(200);
    for (path, body) in [
        ("/cart/add.js", json!({"id": few})),
        ("/cart/add.js", json!({"items": [{"id": few}, {"id": none}]})),
        ("/cart/change.js", json!({"line": 1, "quantity": 3})),
        ("/cart/update.js", json!({"updates": {few.clone(): 9}})),
    ] {
        let rejected = browser.script(path, &body).await.expect(422).json();
        assert_eq!(rejected["code"], "insufficient_stock");
        assert_eq!(quantities(&browser.cart().await), [2], "{path} {body}");
    }
    browser.script("/cart/change.js", &json!({"line": 1, "quantity": 1})).await.expect(200);
}

#[tokio::test]
async fn what_is_not_sold_any_more_leaves_the_cart() {
    let (market, mut browser) = shop().await;
    let (kept, gone) = (market.stock(1000, 9).await, market.stock(300, 9).await);
    browser
        .script("/cart/add.js", &json!({"items": [{"id": gone}, {"id": kept}]}))
        .await
        .expect(200);
    let full = browser.cart().await;
    let item = full["items"].as_array().unwrap().iter().find(|item| item["id"] == json!(gone));
    let product = item.unwrap()["product_id"].as_str().unwrap().to_owned();
    let archived = json!({"status": "archived"});
    market.owner.patch(&format!("/v1/products/{product}")).json(archived).await.expect(200);
    let left = browser.cart().await;
    assert_eq!((quantities(&left), left["item_count"].as_i64()), (vec![1], Some(1)));
    let changed = browser.script("/cart/change.js", &json!({"line": 1, "quantity": 4})).await;
    assert_eq!(quantities(&changed.expect(200).json()), [4]);
    browser.open("/checkout").await.expect(200).lacks("does not sell");
}

#[tokio::test]
async fn a_session_that_is_over_is_a_guest_again() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(1000, 9).await;
    for path in ["/", "/cart", "/cart.js", "/search?q=cup", "/checkout"] {
        browser.cookies.insert("shop_session".to_owned(), "cst_bad".to_owned());
        let page = browser.fetch(path).await;
        assert_ne!(page.status, 401, "{path}");
    }
    browser.cookies.insert("shop_session".to_owned(), "cst_bad".to_owned());
    let shown = browser.fetch("/cart.js").await.expect(200);
    assert!(
        shown.header("set-cookie").starts_with("shop_session=;"),
        "{}",
        shown.header("set-cookie")
    );
    browser.cookies.insert("shop_session".to_owned(), "cst_bad".to_owned());
    let added = browser.script("/cart/add.js", &json!({"id": variant})).await;
    added.expect(200);
    assert_eq!(quantities(&browser.cart().await), [1]);
    browser.cookies.insert("shop_session".to_owned(), "cst_bad".to_owned());
    let account = browser.open("/account").await.expect(200);
    assert!(account.path.starts_with("/account/login"), "{}", account.path);
}

#[tokio::test]
async fn a_script_reads_json_whatever_was_wrong() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 9).await;
    let told = |said: Shown| {
        let body = said.json();
        assert_eq!(body["status"], said.status, "{body}");
        assert!(body["message"].is_string() && body["description"].is_string(), "{body}");
        body
    };
    for (path, body) in [("/cart/add.js", "{"), ("/cart/change.js", ""), ("/cart/update.js", "[1")]
    {
        let request = browser.request(reqwest::Method::POST, path);
        let request = request.header("content-type", "application/json").body(body);
        let said = browser.send(request, path).await;
        assert!((400..500).contains(&said.status), "{path}: {}", said.status);
        told(said);
    }
    // Another site's script may not, and is told in its language.
    let request = browser
        .request(reqwest::Method::POST, "/cart/add.js")
        .header("origin", "https://evil.example");
    let request = request.json(&json!({"id": variant}));
    told(browser.send(request, "/cart/add.js").await.expect(403));
    // What there is not was never in the cart.
    for id in ["var_00000000000000000000000000000000", "123"] {
        let said = browser.script("/cart/add.js", &json!({"id": id})).await.expect(422);
        let said = told(said)["description"].as_str().unwrap().to_owned();
        assert!(!said.contains("remove") && said.contains("exist"), "{said}");
    }
}

#[tokio::test]
async fn a_form_that_changed_nothing_leads_back_to_the_cart() {
    let (market, mut browser) = shop().await;
    let variant = market.stock(50_000, 2).await;
    browser.add(&variant, 1).await;
    let form = [("updates[]", "99"), ("update", "")];
    let page = browser.submit_once("/cart", &form).await.expect(422);
    page.shows("href=\"/cart\">Back");
    assert_eq!(quantities(&browser.cart().await), [1]);
}

//! Amounts of money as people read them.

use support::{Market, cart, inr, json, unique};

const LOCALE: &str = "x-service-locale";

#[tokio::test]
async fn amounts_are_formatted_in_the_requested_locale() {
    let market = Market::open().await;
    let input = json!({"title": "Tee", "handle": "tee", "status": "active",
        "variants": [{"price": inr(12_990_000), "inventory": {"levels": [{"quantity": 9}]}}]});
    let tee =
        market.owner.post("/v1/products").header(LOCALE, "en-IN").json(input).await.expect(201);
    assert_eq!(tee.str("/variants/0/price/formatted"), "\u{20b9}1,29,900.00");
    let visitor = market.gateway.client();
    let page = format!("/v1/storefront/{}/products/tee", market.store.subdomain);
    let plain = visitor.get(&page).await.expect(200);
    assert_eq!(*plain.at("/variants/0/price"), inr(12_990_000));
    assert!(plain.header("vary").unwrap().contains("X-Service-Locale"));
    let german = visitor.get(&page).header(LOCALE, "de").await.expect(200);
    assert_eq!(german.str("/variants/0/price/formatted"), "129.900,00\u{a0}\u{20b9}");
    assert_eq!(german.int("/variants/0/price/amount"), 12_990_000);
    // Each language has a tag of its own.
    assert_ne!(plain.etag(), german.etag());
    let kept = |locale: &'static str, tag: String| {
        visitor.get(&page).header(LOCALE, locale).header("if-none-match", &tag)
    };
    kept("de", german.etag()).await.expect(304);
    kept("fr", german.etag()).await.expect(200);
    kept("de", plain.etag()).await.expect(200);
    // What is kept for others has no language.
    assert_eq!(*visitor.get(&page).await.at("/variants/0/price"), inr(12_990_000));
}

#[tokio::test]
async fn formatted_amounts_are_accepted_as_input() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let mut input = cart(&[(&book, 2)]);
    input["dry_run"] = json!(true);
    let visitor = market.gateway.client();
    let orders = market.orders_path();
    let quote = visitor.post(&orders).key(&unique("q")).header(LOCALE, "en").json(input).await;
    let total = quote.expect(200).at("/totals/total").clone();
    assert_eq!(total["formatted"], "\u{20b9}20.00");
    let mut input = cart(&[(&book, 2)]);
    input["expected_total"] = total;
    let key = unique("order-with-a-long-enough-key");
    let order = |locale| visitor.post(&orders).key(&key).header(LOCALE, locale).json(input.clone());
    let first = order("en").await.expect(201);
    let again = order("de").await.expect(201);
    assert_eq!(first.str("/order/totals/total/formatted"), "\u{20b9}20.00");
    assert_eq!(again.str("/order/totals/total/formatted"), "20,00\u{a0}\u{20b9}");
    assert_eq!(first.str("/order/id"), again.str("/order/id"));
    let variant = format!("/v1/products/{}", "none");
    let rejected = market.owner.get(&variant).header(LOCALE, "not a language").await.expect(400);
    rejected.problem("invalid_header");
    // What happened is told in amounts.
    market.gateway.quiet().await;
    let told = market.gateway.events("order.created").await;
    assert_eq!(told[0]["data"]["totals"]["total"], inr(2_000));
}

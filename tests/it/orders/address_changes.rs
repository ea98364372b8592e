//! The tax of an order whose shipping address changes.

use support::{Market, Placed, Reply, Value, cart, inr, json};

/// A German store with German and French rates.
pub(super) async fn market(prices_include_tax: bool) -> Market {
    let market = Market::open().await;
    let store = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&store).json(json!({"country": "DE"})).await.expect(200);
    let taxes = json!({"taxes": {"prices_include_tax": prices_include_tax}});
    market.owner.patch(&format!("{store}/settings")).json(taxes).await.expect(200);
    for (name, country, percent) in [("MwSt", "DE", "19"), ("TVA", "FR", "20")] {
        let rate = json!({"name": name, "country": country, "percent": percent});
        market.owner.post(&format!("{store}/tax-rates")).json(rate).await.expect(201);
    }
    market
}

pub(super) fn address(country: &str) -> Value {
    let (line1, city, postal_code) = match country {
        "DE" => ("Lindenstr. 1", "Berlin", "10969"),
        "FR" => ("1 rue de Rivoli", "Paris", "75001"),
        _ => ("1 Main St", "Austin", "78701"),
    };
    let region = if country == "US" { json!("TX") } else { Value::Null };
    json!({
        "first_name": "Ann", "last_name": "Example", "line1": line1, "city": city,
        "region": region, "postal_code": postal_code, "country": country,
    })
}

async fn order(market: &Market, variant: &str, country: &str) -> Placed {
    let mut input = cart(&[(variant, 1)]);
    input["shipping_address"] = address(country);
    market.order(input).await
}

pub(super) async fn moved(market: &Market, order: &Placed, country: &str) -> Reply {
    let path = format!("/v1/orders/{}", order.id);
    let change = json!({"shipping_address": address(country)});
    market.owner.patch(&path).json(change).await.expect(200)
}

fn amounts(reply: &Reply) -> (i64, i64, i64) {
    let of = |name: &str| reply.int(&format!("/totals/{name}/amount"));
    (of("total"), of("tax"), reply.int("/items/0/price/amount"))
}

#[tokio::test]
async fn an_unpaid_order_is_retaxed_when_its_address_changes() {
    let market = market(false).await;
    let book = market.stock(10_000, 10).await;
    let placed = order(&market, &book, "DE").await;
    assert_eq!(placed.reply.int("/order/totals/total/amount"), 11_900);
    let to_france = moved(&market, &placed, "FR").await;
    assert_eq!(amounts(&to_france), (12_000, 2_000, 10_000));
    assert_eq!(to_france.str("/totals/tax_lines/0/name"), "TVA");
    assert_eq!(*to_france.at("/taxed_at/country"), json!("FR"));
    // The shopper who still expects the old amount is told.
    let path = format!("/v1/storefront/{}/payments/manual/order", market.store.subdomain);
    let open = |expected: i64| {
        let input = json!({"order_id": placed.id, "expected_amount": inr(expected)});
        let input = market.gateway.client().post(&path).json(input);
        input.header("x-service-order-token", &placed.token)
    };
    let rejected = open(11_900).await.expect(409);
    assert_eq!(rejected.int("/totals/total/amount"), 12_000);
    rejected.problem("price_changed");
    assert_eq!(open(12_000).await.expect(201).int("/amount/amount"), 12_000);
    assert_eq!(amounts(&moved(&market, &placed, "US").await), (10_000, 0, 10_000));

    // The tax of a paid one stays, and the order says so.
    let paid = order(&market, &book, "DE").await;
    market.act(&paid.id, "mark-paid", json!({})).await.expect(200);
    let elsewhere = moved(&market, &paid, "FR").await;
    assert_eq!(amounts(&elsewhere), (11_900, 1_900, 10_000));
    assert_eq!(*elsewhere.at("/tax_is_outdated"), json!(true));
    assert_eq!(*elsewhere.at("/taxed_at/country"), json!("DE"));
    let back = moved(&market, &paid, "DE").await;
    assert_eq!(*back.at("/tax_is_outdated"), json!(false));
}

#[tokio::test]
async fn an_address_change_keeps_the_shipping_rate() {
    let market = market(true).await;
    let zones = format!("/v1/stores/{}/shipping-zones", market.store.id);
    let mut rates = Vec::new();
    for (country, price) in [("DE", 1_000), ("US", 4_000)] {
        let rate = json!({"name": country, "kind": "flat", "price": inr(price)});
        let zone = json!({"name": country, "countries": [country], "rates": [rate]});
        rates
            .push(market.owner.post(&zones).json(zone).await.expect(201).at("/rates/0/id").clone());
    }
    let book = market.stock(11_900, 10).await;
    let mut input = cart(&[(&book, 2)]);
    input["shipping_address"] = address("DE");
    input["shipping_rate_id"] = rates[0].clone();
    let placed = market.order(input).await;
    let abroad = moved(&market, &placed, "US").await;
    assert_eq!(*abroad.at("/shipping_line/shipping_rate_id"), rates[0]);
    // Without the tax of the store's country, as everything is.
    assert_eq!(abroad.int("/shipping_line/price/amount"), 840);
    assert_eq!(abroad.int("/totals/total/amount"), 20_840);
}

#[tokio::test]
async fn inclusive_tax_is_removed_abroad_and_restored_at_home() {
    let market = market(true).await;
    let book = market.stock(11_900, 10).await;
    let half = json!({
        "title": "Half", "kind": "percentage", "code": "HALF", "value": {"basis_points": 5_000},
    });
    market.owner.post("/v1/discounts").json(half).await.expect(201);
    let mut input = cart(&[(&book, 2)]);
    input["shipping_address"] = address("DE");
    input["discount_codes"] = json!(["HALF"]);
    let placed = market.order(input).await;
    assert_eq!(placed.reply.int("/order/totals/total/amount"), 11_900);
    let abroad = moved(&market, &placed, "US").await;
    assert_eq!(amounts(&abroad), (10_000, 0, 10_000));
    assert_eq!(abroad.int("/discounts/0/amount/amount"), 10_000);
    let home = moved(&market, &placed, "DE").await;
    assert_eq!(amounts(&home), (11_900, 1_900, 11_900));
    assert_eq!(home.int("/discounts/0/amount/amount"), 11_900);
    let in_france = moved(&market, &placed, "FR").await;
    assert_eq!(amounts(&in_france), (11_900, 1_983, 11_900));
}

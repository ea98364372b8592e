//! Units that are cancelled or returned before they are paid: no amount of the order has them any more.

use support::{Market, Placed, Reply, Value, cart, inr, json};

use super::address_changes::{address, market, moved};

/// An order of so many units, sent to Germany, which its merchant has confirmed.
async fn confirmed(market: &Market, variant: &str, quantity: i64, fields: Value) -> Placed {
    let mut input = cart(&[(variant, quantity)]);
    input["shipping_address"] = address("DE");
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let placed = market.order(input).await;
    market.act(&placed.id, "confirm", json!({})).await.expect(200);
    placed
}

fn units(placed: &Placed, quantity: i64) -> Value {
    json!({"items": [{"order_item_id": placed.line(0), "quantity": quantity}]})
}

async fn cancelled(market: &Market, placed: &Placed, quantity: i64) -> Reply {
    market.act(&placed.id, "lines/cancel", units(placed, quantity)).await.expect(200)
}

/// Subtotal, discount, shipping, tax and total.
fn totals(reply: &Reply) -> [i64; 5] {
    let of = |name: &str| reply.int(&format!("/totals/{name}/amount"));
    ["subtotal", "discount", "shipping", "tax", "total"].map(of)
}

/// The taxable amount and the tax of each rate.
fn taxes(reply: &Reply) -> Vec<(i64, i64)> {
    let lines = reply.at("/totals/tax_lines").as_array().unwrap().clone();
    let of = |line: &Value, name: &str| line[name]["amount"].as_i64().unwrap();
    lines.iter().map(|line| (of(line, "taxable"), of(line, "amount"))).collect()
}

#[tokio::test]
async fn totals_follow_units_that_are_cancelled_before_the_payment() {
    let market = market(true).await;
    let book = market.stock(11_900, 10).await;
    let placed = confirmed(&market, &book, 3, json!({})).await;
    let less = cancelled(&market, &placed, 1).await;
    assert_eq!(totals(&less), [23_800, 0, 0, 3_800, 23_800]);
    assert_eq!(taxes(&less), [(20_000, 3_800)]);
    assert_eq!((less.int("/items/0/quantity"), less.int("/items/0/unsold")), (3, 1));
    for (name, amount) in [("subtotal", 23_800), ("tax", 3_800), ("total", 23_800)] {
        assert_eq!(less.int(&format!("/items/0/{name}/amount")), amount, "{name}");
    }
    assert_eq!((less.int("/totals/due/amount"), less.int("/outstanding/amount")), (23_800, 23_800));
    let paid = market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    assert_eq!(paid.int("/captured_total/amount"), 23_800);
    let over = market.act(&placed.id, "refund", units(&placed, 3)).await.expect(409);
    assert_eq!(over.problem("quantity_exceeds_remaining").int("/items/0/remaining"), 2);
    let refund = market.act(&placed.id, "refund", units(&placed, 2)).await.expect(201);
    assert_eq!(refund.int("/refund/amount/amount"), 23_800);
    assert_eq!(refund.int("/refund/tax_lines/0/amount/amount"), 3_800);
    assert_eq!(refund.str("/order/financial_status"), "refunded");
    assert_eq!(totals(&market.show(&placed.id).await)[3..], [3_800, 23_800]);
}

#[tokio::test]
async fn discounts_keep_their_share_and_shipping_ends_with_the_last_unit() {
    let market = market(false).await;
    let store = format!("/v1/stores/{}", market.store.id);
    let rate = json!({"name": "DHL", "kind": "flat", "price": inr(1_000)});
    let zone = json!({"name": "Everywhere", "countries": [], "rates": [rate]});
    let zone = market.owner.post(&format!("{store}/shipping-zones")).json(zone).await.expect(201);
    let tenth = json!({
        "title": "Tenth", "kind": "percentage", "code": "TENTH", "value": {"basis_points": 1_000},
    });
    market.owner.post("/v1/discounts").json(tenth).await.expect(201);
    let book = market.stock(1_005, 10).await;
    let fields = json!({"shipping_rate_id": zone.at("/rates/0/id"), "discount_codes": ["TENTH"]});
    let placed = confirmed(&market, &book, 3, fields).await;
    let before = market.show(&placed.id).await;
    // A tenth of 30.15 is 3.02; 19 % of 27.13 and of 10.00.
    assert_eq!(totals(&before), [3_015, 302, 1_000, 515 + 190, 4_418]);
    let less = cancelled(&market, &placed, 1).await;
    // Two thirds of 3.02 are 2.01; 19 % of 18.09 is 3.44.
    assert_eq!(totals(&less), [2_010, 201, 1_000, 344 + 190, 3_343]);
    assert_eq!(taxes(&less), [(1_809 + 1_000, 344 + 190)]);
    assert_eq!(less.int("/discounts/0/amount/amount"), 201);
    let none = cancelled(&market, &placed, 2).await;
    assert_eq!((totals(&none), taxes(&none)), ([0; 5], Vec::new()));
    assert_eq!(none.int("/shipping_line/total/amount"), 0);
    assert_eq!(none.str("/financial_status"), "voided");
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
}

#[tokio::test]
async fn units_that_are_returned_unpaid_leave_the_totals() {
    let market = market(true).await;
    let book = market.stock(11_900, 10).await;
    let placed = confirmed(&market, &book, 3, json!({})).await;
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let back = market.act(&placed.id, "lines/return", units(&placed, 2)).await.expect(200);
    assert_eq!(totals(&back), [11_900, 0, 0, 1_900, 11_900]);
    // Units of a paid order are refunded, with their tax.
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let back = market.act(&placed.id, "lines/return", units(&placed, 1)).await.expect(200);
    assert_eq!(
        (totals(&back)[3..].to_vec(), back.int("/items/0/unsold")),
        (vec![1_900, 11_900], 2)
    );
    let refund = market.act(&placed.id, "refund", json!({})).await.expect(201);
    assert_eq!(refund.int("/refund/tax_lines/0/amount/amount"), 1_900);
}

#[tokio::test]
async fn gift_cards_are_credited_with_what_exceeds_the_new_total() {
    let market = market(true).await;
    let book = market.stock(11_900, 10).await;
    let (card, code) = market.gift_card(20_000).await;
    let placed = confirmed(&market, &book, 3, json!({"gift_card_codes": [code]})).await;
    let less = cancelled(&market, &placed, 1).await;
    assert_eq!(
        (less.int("/totals/gift_cards/amount"), less.int("/totals/due/amount")),
        (20_000, 3_800)
    );
    assert_eq!(market.balance(&card).await, 0);
    let paid = cancelled(&market, &placed, 1).await;
    assert_eq!(
        (paid.int("/totals/gift_cards/amount"), paid.int("/totals/due/amount")),
        (11_900, 0)
    );
    assert_eq!(paid.int("/captured_total/amount"), 11_900);
    assert_eq!(
        (paid.str("/financial_status"), market.balance(&card).await),
        ("paid".into(), 8_100)
    );
    assert_eq!(market.gateway.events("order.paid").await.len(), 1);
    // What is left is refunded to the card, with its tax.
    let ended = market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(ended.str("/financial_status"), "refunded");
    assert_eq!(ended.int("/refund/tax_lines/0/amount/amount"), 1_900);
    assert_eq!(market.balance(&card).await, 20_000);
}

#[tokio::test]
async fn an_order_is_taxed_again_after_units_were_cancelled() {
    let market = market(true).await;
    let book = market.stock(11_900, 10).await;
    let placed = confirmed(&market, &book, 3, json!({})).await;
    cancelled(&market, &placed, 1).await;
    let abroad = moved(&market, &placed, "US").await;
    assert_eq!(totals(&abroad), [20_000, 0, 0, 0, 20_000]);
    assert_eq!(*abroad.at("/tax_is_outdated"), json!(false));
    assert_eq!(totals(&moved(&market, &placed, "FR").await)[3..], [3_967, 23_800]);
}

#[tokio::test]
async fn a_gift_card_that_pays_more_than_the_new_tax_is_credited() {
    let market = market(true).await;
    let book = market.stock(11_900, 10).await;
    let (card, code) = market.gift_card(11_000).await;
    let mut input = cart(&[(&book, 1)]);
    input["shipping_address"] = address("DE");
    input["gift_card_codes"] = json!([code]);
    let placed = market.order(input).await;
    let abroad = moved(&market, &placed, "US").await;
    assert_eq!(totals(&abroad), [10_000, 0, 0, 0, 10_000]);
    assert_eq!(*abroad.at("/tax_is_outdated"), json!(false));
    assert_eq!(abroad.int("/captured_total/amount"), 10_000);
    assert_eq!(
        (abroad.str("/financial_status"), market.balance(&card).await),
        ("paid".into(), 1_000)
    );
    // It is firm, as an order that gift cards pay is.
    assert_eq!(*abroad.at("/expires_at"), Value::Null);
    assert_eq!(market.levels(&book).await, [9, 0, 1, 10]);
    assert_eq!(market.gateway.events("order.paid").await.len(), 1);
}

#[tokio::test]
async fn refunds_of_parts_are_rounded_half_up_and_add_up() {
    let market = market(true).await;
    let off = json!({
        "title": "Off", "kind": "fixed", "code": "OFF", "value": {"amount": inr(100)},
    });
    market.owner.post("/v1/discounts").json(off).await.expect(201);
    let book = market.stock(100, 10).await;
    let placed = confirmed(&market, &book, 3, json!({"discount_codes": ["OFF"]})).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let mut parts = Vec::new();
    for _ in 0..3 {
        let part = market.act(&placed.id, "refund", units(&placed, 1)).await.expect(201);
        let tax = part.int("/refund/tax_lines/0/amount/amount");
        parts.push((part.int("/refund/amount/amount"), tax));
    }
    // 2.00 and 0.32 of tax in three: up to each unit half up.
    assert_eq!(parts, [(67, 11), (66, 10), (67, 11)]);
}

//! Orders that their shopper collects.

use support::{Market, inr, json};

use super::shop;

/// A location in Mumbai that has stock, and a rate to collect it there. The variant.
pub async fn with_pickup(market: &Market) -> String {
    let variant = market.stock(50_000, 9).await;
    let found = market.owner.get("/v1/inventory/locations").await.expect(200);
    let location = found.str("/data/0/id");
    let address = json!({
        "name": "The shop at the port",
        "address": {"line1": "1 Harbour Road", "city": "Mumbai", "region": "MH", "postal_code": "400001", "country": "IN"},
    });
    market
        .owner
        .patch(&format!("/v1/inventory/locations/{location}"))
        .json(address)
        .await
        .expect(200);
    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [
            {"name": "Parcel", "kind": "flat", "price": inr(9_900)},
            {"name": "At the counter", "kind": "pickup", "price": inr(0), "location_id": location},
        ],
    });
    let zones = format!("/v1/stores/{}/shipping-zones", market.store.id);
    market.owner.post(&zones).json(zone).await.expect(201);
    variant
}

#[tokio::test]
async fn an_order_is_collected_without_an_address() {
    let (market, mut browser) = shop().await;
    let variant = with_pickup(&market).await;
    browser.submit_once("/cart/add", &[("id", &variant)]).await.expect(303);
    let page = browser.open("/checkout").await.expect(200).lacks("Parcel");
    let page = page.shows("At the counter").shows("The shop at the port, 1 Harbour Road");
    let rate = page.text.split("name=\"rate\" value=\"").nth(1).unwrap();
    let rate = rate.split('"').next().unwrap();
    let step = [
        ("email", "asha@example.com"),
        ("ship[country]", "IN"),
        ("bill_choice", "same"),
        ("rate", rate),
        ("payment", "manual"),
        ("act", "to:shipping"),
    ];
    let page = browser.submit("/checkout", &step).await.expect(200).lacks("class=\"error\"");
    let (key, total) = (page.input("key"), page.input("total"));
    let mut last = step.to_vec();
    last.extend([("key", &*key), ("total", &total)]);
    last.retain(|(name, _)| *name != "act");
    last.push(("act", "place"));
    let order = browser.submit("/checkout", &last).await.expect(200);
    assert!(order.path.starts_with("/orders/ord_"), "{}: {}", order.path, order.text);
    order.shows("Pickup").shows("1 Harbour Road").shows("500.00");
}

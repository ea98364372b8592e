//! Telephone numbers: kept as they were written, and in E.164 in a member alongside.

use support::{Reply, cart, json, unique};

use super::{Front, at};

fn both(reply: &Reply, parent: &str) -> (Option<String>, Option<String>) {
    let text = |name: &str| reply.at(&format!("{parent}/{name}")).as_str().map(str::to_owned);
    (text("phone"), text("phone_e164"))
}

fn pair(written: &str, e164: Option<&str>) -> (Option<String>, Option<String>) {
    (Some(written.to_owned()), e164.map(str::to_owned))
}

/// A German store.
async fn german() -> Front {
    let front = Front::open().await;
    let store = format!("/v1/stores/{}", front.store.id);
    let contact = json!({"phone": "030/1234567"});
    let change = json!({"country": "DE", "contact": contact});
    let changed = front.owner.patch(&store).json(change).await.expect(200);
    assert_eq!(both(&changed, "/contact"), pair("030/1234567", Some("+49301234567")));
    front
}

#[tokio::test]
async fn customer_phone_numbers_are_parsed_by_the_stores_country() {
    let front = german().await;
    let shopper = front.shopper().await;
    for (written, e164) in [
        ("030/1234567", Some("+49301234567")),
        ("0049 30 1234567", Some("+49301234567")),
        ("+44 20 7946 0958", Some("+442079460958")),
        ("１２３４５", None),
    ] {
        let changed = shopper.patch(&at("/me")).json(json!({"phone": written})).await.expect(200);
        assert_eq!(both(&changed, ""), pair(written, e164));
    }
    for wrong in ["12", "nobody", "030<1>234567"] {
        let rejected = shopper.patch(&at("/me")).json(json!({"phone": wrong})).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/phone".into(), "invalid_phone".into())]);
    }
    let cleared = shopper.patch(&at("/me")).json(json!({"phone": null})).await.expect(200);
    assert_eq!(both(&cleared, ""), (None, None));

    let email = format!("{}@example.com", unique("called"));
    let input = json!({"email": email, "name": "Łukasz Ørsted", "phone": "030/1234567"});
    let made = front.owner.post("/v1/customers").json(input).await.expect(201);
    assert_eq!(both(&made, ""), pair("030/1234567", Some("+49301234567")));
    for (text, count) in [
        ("+49301234567", 1),
        ("030 1234567", 1),
        ("0049 30/1234", 1),
        ("030/1234567", 1),
        ("0301234568", 0),
        ("lukasz orsted", 1),
    ] {
        let list = front.owner.get("/v1/customers").query(&[("q", text)]).await.expect(200);
        assert_eq!(list.data().len(), count, "{text}");
    }
    let path = format!("/v1/customers/{}", made.str("/id"));
    let changed = front.owner.patch(&path).json(json!({"phone": "089 12345678"})).await;
    assert_eq!(both(&changed.expect(200), ""), pair("089 12345678", Some("+498912345678")));
}

#[tokio::test]
async fn address_phone_numbers_are_parsed_by_the_address_country() {
    let front = german().await;
    let shopper = front.shopper().await;
    let place = |country: &str, code: &str, phone: &str| {
        json!({
            "line1": "1 Main Street", "city": "Town", "country": country, "postal_code": code,
            "phone": phone,
        })
    };
    let french = place("FR", "75001", "06.12.34.56.78");
    let made = shopper.post(&at("/addresses")).json(french.clone()).await.expect(201);
    assert_eq!(both(&made, ""), pair("06.12.34.56.78", Some("+33612345678")));
    let path = format!("{}/{}", at("/addresses"), made.str("/id"));
    let moved = shopper.patch(&path).json(json!({"country": "DE", "postal_code": "10115"})).await;
    assert_eq!(both(&moved.expect(200), "").0.as_deref(), Some("06.12.34.56.78"));

    let location = json!({"name": "Lyon", "address": place("FR", "69001", "04 72 10 30 30")});
    let made = front.owner.post("/v1/inventory/locations").json(location).await.expect(201);
    assert_eq!(both(&made, "/address"), pair("04 72 10 30 30", Some("+33472103030")));

    let product = front.product("Mug").await;
    let mut order = cart(&[(&product.str("/variants/0/id"), 1)]);
    order.as_object_mut().unwrap().remove("email");
    order["customer"] = json!({"email": "ann@example.com", "phone": "01 23 45 67 89"});
    order["shipping_address"] = french;
    let path = front.path("/orders");
    let client = front.gateway.client();
    let placed = client.post(&path).key(&unique("order")).json(order).await.expect(201);
    let contact = both(&placed, "/order/contact");
    assert_eq!(contact, pair("01 23 45 67 89", Some("+33123456789")));
    let to = both(&placed, "/order/shipping_address");
    assert_eq!(to, pair("06.12.34.56.78", Some("+33612345678")));
}

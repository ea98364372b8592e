//! Mails about an order say what was bought, what it costs, where it goes and who sells it.

use support::{Mail, Market, Value, cart, json, unique};

/// A store with an address, a tax number, terms, a shipping rate, an inclusive tax and two manual methods.
async fn market() -> Market {
    let market = Market::proven().await;
    let store = format!("/v1/stores/{}", market.store.id);
    let address = json!({
        "company": "Asha's Books Ltd", "line1": "7 Church Street", "city": "Bengaluru", "region": "KA",
        "postal_code": "560001", "country": "IN",
    });
    let patch = json!({
        "tax_number": "29 AAGCB 7383 J1Z4",
        "contact": {"phone": "+918040000000", "address": address},
    });
    market.owner.patch(&store).json(patch).await.expect(200);
    let settings = json!({
        "taxes": {"prices_include_tax": true},
        "notifications": {"terms": "Goods can be returned within 14 days.", "delivery_confirmation": true},
    });
    market.owner.patch(&format!("{store}/settings")).json(settings).await.expect(200);
    let rate = json!({"name": "GST", "country": "IN", "percent": "18"});
    market.owner.post(&format!("{store}/tax-rates")).json(rate).await.expect(201);
    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [{"name": "Standard", "kind": "flat", "price": {"amount": 5_000, "currency": "INR"}}],
    });
    market.owner.post(&format!("{store}/shipping-zones")).json(zone).await.expect(201);
    let methods = json!({"methods": [
        {"id": "bank", "name": "Bank transfer", "instructions": "Transfer to account 42.\nName the order."},
        {"id": "cash", "name": "Cash on delivery"},
    ]});
    market.owner.put("/v1/payments/providers/manual").json(methods).await.expect(200);
    market
}

async fn rate(market: &Market) -> Value {
    let zones = format!("/v1/stores/{}/shipping-zones", market.store.id);
    market.owner.get(&zones).await.expect(200).at("/data/0/rates/0/id").clone()
}

fn says_in_text(mail: &Mail, lines: &[&str]) {
    for line in lines {
        assert!(mail.text.lines().any(|said| said.trim() == *line), "{line} in {}", mail.text);
    }
}

fn says(mail: &Mail, lines: &[&str]) {
    says_in_text(mail, lines);
    let html = mail.html.as_deref().expect("a mail about an order has HTML");
    assert!(html.starts_with("<!doctype html>") && html.contains("</table>"), "{html}");
}

#[tokio::test]
async fn order_mails_itemize_the_order_and_name_the_seller() {
    let market = market().await;
    let book = market.stock(11_800, 10).await;
    let email = format!("{}@example.com", unique("buyer"));
    let mut input = cart(&[(&book, 2)]);
    input["email"] = json!(email);
    input["tax_number"] = json!("29ABCDE1234F1Z5");
    input["shipping_rate_id"] = rate(&market).await;
    input["payment"] = json!({"provider": "manual", "method": "bank"});
    let placed = market.order(input).await;
    assert_eq!(*placed.reply.at("/order/store_tax_number"), json!("29AAGCB7383J1Z4"));
    assert_eq!(*placed.reply.at("/order/tax_number"), json!("29ABCDE1234F1Z5"));
    let mailbox = market.gateway.mailbox(&email);
    let confirmed = mailbox.nth(1).await;
    says(
        &confirmed,
        &[
            "Subtotal: 236.00 INR",
            "Shipping, Standard: 50.00 INR",
            "Includes GST 18 %: 43.63 INR",
            "Total: 286.00 INR",
            "Left to pay: 286.00 INR",
            "Payment: Bank transfer",
            "Transfer to account 42.",
            "Name the order.",
            "Your tax number: 29ABCDE1234F1Z5",
            "Asha's Books Ltd",
            "7 Church Street",
            "Tax number of the shop: 29AAGCB7383J1Z4",
            "Telephone: +918040000000",
            "Goods can be returned within 14 days.",
        ],
    );
    assert!(confirmed.text.contains("2 x "), "{}", confirmed.text);

    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    // Whoever ships says so to the customer, unless they want it otherwise.
    let one = json!({"items": [{"order_item_id": placed.line(0), "quantity": 1}]});
    let shipped = market.act(&placed.id, "fulfill", one.clone()).await.expect(201);
    let mail = mailbox.nth(2).await;
    assert!(mail.subject.ends_with("is on its way") && mail.text.contains("1 x "), "{}", mail.text);
    let path = format!("/v1/orders/{}/fulfillments", placed.id);
    let path = format!("{path}/{}/deliver", shipped.str("/fulfillment/id"));
    market.owner.post(&path).json(json!({})).await.expect(200);
    let mail = mailbox.nth(3).await;
    assert!(mail.subject.ends_with("has arrived") && mail.text.contains("1 x "), "{}", mail.text);
    let refund = json!({
        "items": [{"order_item_id": placed.line(0), "quantity": 1, "restock_type": "return"}],
    });
    market.act(&placed.id, "refund", refund).await.expect(201);
    let refunded = mailbox.nth(4).await;
    says(&refunded, &["Includes GST 18 %: 18.00 INR", "Refunded: 118.00 INR"]);
    let mut silent = one;
    silent["notify_customer"] = json!(false);
    market.act(&placed.id, "fulfill", silent).await.expect(201);
    market.gateway.quiet().await;
    assert_eq!(mailbox.mails().len(), 4);
}

#[tokio::test]
async fn a_refund_mail_shows_the_restocking_fee() {
    let market = market().await;
    let book = market.stock(11_800, 10).await;
    let email = format!("{}@example.com", unique("buyer"));
    let mut input = cart(&[(&book, 2)]);
    input["email"] = json!(email);
    input["shipping_rate_id"] = rate(&market).await;
    input["payment"] = json!({"provider": "manual", "method": "bank"});
    let placed = market.order(input).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let mailbox = market.gateway.mailbox(&email);
    mailbox.nth(1).await;
    let mut refund = json!({
        "items": [{"order_item_id": placed.line(0), "quantity": 1, "restock_type": "cancel"}],
        "restocking_fee": {"amount": 1_500, "currency": "INR"},
    });
    market.act(&placed.id, "refund", refund.clone()).await.expect(201);
    let refunded = mailbox.nth(2).await;
    says(&refunded, &["Restocking fee: -15.00 INR", "Refunded: 103.00 INR"]);
    assert!(refunded.text.contains(": 118.00 INR"), "{}", refunded.text);
    refund["restocking_fee"] = Value::Null;
    market.act(&placed.id, "refund", refund).await.expect(201);
    let refunded = mailbox.nth(3).await;
    assert!(!refunded.text.contains("Restocking fee"), "{}", refunded.text);
}

#[tokio::test]
async fn a_pickup_mail_has_the_address_of_its_location() {
    let market = market().await;
    let locations = "/v1/inventory/locations";
    let counter = json!({"name": "Counter", "address": {
        "line1": "12 Brigade Road", "city": "Bengaluru", "region": "KA", "postal_code": "560025",
        "country": "IN",
    }});
    let counter = market.owner.post(locations).json(counter).await.expect(201).str("/id");
    let zones = format!("/v1/stores/{}/shipping-zones", market.store.id);
    let pickup = json!({"name": "Nepal", "countries": ["NP"], "rates": [{
        "name": "At the counter", "kind": "pickup", "location_id": counter,
        "price": {"amount": 0, "currency": "INR"},
    }]});
    let zone = market.owner.post(&zones).json(pickup).await.expect(201);
    let levels = json!([{"location_id": counter, "quantity": 5}]);
    let inventory = json!({"tracked": true, "policy": "deny", "levels": levels});
    let book = market.product(11_800, Some(inventory)).await;
    let email = format!("{}@example.com", unique("buyer"));
    let mut input = cart(&[(&book, 1)]);
    input["email"] = json!(email);
    input["shipping_rate_id"] = zone.at("/rates/0/id").clone();
    input["payment"] = json!({"provider": "manual", "method": "cash"});
    market.order(input.clone()).await;
    let said = market.gateway.mailbox(&email).nth(1).await;
    says(&said, &["Pick it up at", "Counter", "12 Brigade Road", "Bengaluru 560025", "Karnataka"]);
    // What is sent is picked up nowhere; a text of the store's names the place, too.
    let path = format!("/v1/stores/{}/notifications/order_placed/en", market.store.id);
    let text = json!({"subject": "Thanks", "body": "{% if pickup_address %}Here:\n\n{{ pickup_address }}{% else %}We send it.{% endif %}"});
    market.owner.put(&path).json(text).await.expect(200);
    market.order(input.clone()).await;
    let said = market.gateway.mailbox(&email).nth(2).await;
    says_in_text(&said, &["Here:", "Counter", "12 Brigade Road"]);
    let sent = market.stock(11_800, 10).await;
    input["items"] = cart(&[(&sent, 1)])["items"].clone();
    input["shipping_rate_id"] = rate(&market).await;
    market.order(input).await;
    says_in_text(&market.gateway.mailbox(&email).nth(3).await, &["We send it."]);
}

#[tokio::test]
async fn a_custom_mail_template_loops_over_lines() {
    let market = market().await;
    let book = market.stock(10_000, 10).await;
    let path = format!("/v1/stores/{}/notifications/order_placed", market.store.id);
    let text = json!({
        "subject": "Danke",
        "body": "{% for line in lines %}\n{{ line.quantity }} mal {{ line.title }}\t{{ line.total }}\n{% endfor %}\n\
                 {% for tax in taxes %}{{ tax.name }} {{ tax.percent }} %{% endfor %}",
    });
    market.owner.put(&format!("{path}/de")).json(text.clone()).await.expect(200);
    let preview = market.owner.post(&format!("{path}/preview")).json(text).await.expect(200);
    assert_eq!(preview.str("/rendered/text"), "2 mal Blue mug: 1000.00 INR\nGST 18 %\n");
    assert!(preview.str("/rendered/html").contains("<th scope=\"row\""), "{}", preview.text);
    for (body, code) in [
        ("{{ line.title }}", "placeholder_not_allowed"),
        ("{% for line in lines %}{{ line.cost }}{% endfor %}", "unknown_placeholder"),
        ("{% for entry in lines %}{% endfor %}", "unknown_placeholder"),
        (
            "{% for line in lines %}{% for tax in taxes %}{% endfor %}{% endfor %}",
            "invalid_template",
        ),
    ] {
        let wrong = json!({"subject": "Danke", "body": body});
        let rejected = market.owner.put(&format!("{path}/de")).json(wrong).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/body".to_owned(), code.to_owned())], "{body}");
    }
    let email = format!("{}@example.com", unique("buyer"));
    let mut input = cart(&[(&book, 3)]);
    input["email"] = json!(email);
    input["locale"] = json!("de-AT");
    input["shipping_rate_id"] = rate(&market).await;
    input["payment"] = json!({"provider": "manual", "method": "cash"});
    market.order(input).await;
    let mail = market.gateway.mailbox(&email).nth(1).await;
    assert!(mail.text.starts_with("3 mal ") && mail.text.contains(": 300,00 INR"), "{}", mail.text);
    assert!(mail.html.unwrap().contains("<html lang=\"de\">"));
}

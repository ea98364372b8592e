//! A store offers several manual payment methods, each with its name, instructions and payment window.

use support::clock::Timestamp;
use support::{Reply, Value, json, unique};

use super::connected::{Connected, provider_path};

fn methods() -> Value {
    json!({"methods": [
        {"id": "bank-transfer", "name": "Bank transfer", "instructions": "IBAN 42.", "payment_window_minutes": 20_160},
        {"id": "cash-on-delivery", "name": "Cash on delivery", "payment_window_minutes": 0},
        {"id": "cheque", "name": "Cheque", "enabled": false},
    ]})
}

impl Connected {
    async fn set_methods(&self, methods: Value) -> Reply {
        self.owner.put(&provider_path("manual")).json(methods).await
    }

    async fn place(&self, payment: Value) -> Reply {
        let shop = format!("/v1/storefront/{}/orders", self.store.subdomain);
        let cart = json!({
            "email": "shopper@example.com",
            "items": [{"variant_id": self.variant, "quantity": 1}],
            "shipping_address": {
                "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN",
            },
            "payment": payment,
        });
        self.gateway.client().post(&shop).key(&unique("order")).json(cart).await
    }
}

#[tokio::test]
async fn several_manual_payment_methods_are_offered_and_one_is_chosen() {
    let connected = Connected::bare().await;
    let saved = connected.set_methods(methods()).await.expect(200);
    assert_eq!(saved.at("/methods").as_array().unwrap().len(), 3);
    let shop = format!("/v1/storefront/{}", connected.store.subdomain);
    let offered =
        connected.gateway.client().get(&format!("{shop}/payments/methods")).await.expect(200);
    let offered: Vec<_> = offered
        .data()
        .iter()
        .map(|one| {
            (
                one["id"].clone(),
                one["method"].clone(),
                one["name"].clone(),
                one["instructions"].clone(),
            )
        })
        .collect();
    let expected = [
        (
            json!("manual:bank-transfer"),
            json!("bank-transfer"),
            json!("Bank transfer"),
            json!("IBAN 42."),
        ),
        (
            json!("manual:cash-on-delivery"),
            json!("cash-on-delivery"),
            json!("Cash on delivery"),
            Value::Null,
        ),
    ];
    assert_eq!(offered, expected);
    let page = connected.gateway.client().get(&shop).await.expect(200);
    assert_eq!(page.at("/payment_methods").as_array().unwrap().len(), 2);

    let fault = |reply: Reply| reply.expect(422).field_errors();
    let missing = fault(connected.place(json!({"provider": "manual"})).await);
    assert_eq!(missing, [("/payment/method".into(), "required".into())]);
    for id in ["cheque", "paypal"] {
        let unknown = fault(connected.place(json!({"provider": "manual", "method": id})).await);
        assert_eq!(unknown, [("/payment/method".into(), "payment_method_unavailable".into())]);
    }

    let chosen = |id: &str| json!({"provider": "manual", "method": id});
    let transfer = connected.place(chosen("bank-transfer")).await.expect(201);
    assert_eq!(
        *transfer.at("/order/payment_method"),
        json!({"id": "bank-transfer", "name": "Bank transfer"})
    );
    let time = |pointer: &str| Timestamp::parse(&transfer.str(pointer)).unwrap();
    let window = time("/order/created_at").until(time("/expires_at"));
    assert_eq!(window.as_secs(), 14 * 24 * 60 * 60);
    let cash = connected.place(chosen("cash-on-delivery")).await.expect(201);
    assert_eq!(*cash.at("/expires_at"), Value::Null);

    // The payment has the instructions and the id of the order's method, unless another one is chosen.
    let order = super::connected::Order {
        id: transfer.str("/order/id"),
        token: transfer.str("/order_token"),
    };
    let begun = connected.begin("manual", &order).await.expect(201);
    assert_eq!(begun.str("/client/options/instructions"), "IBAN 42.");
    let paid = connected.act(&begun.str("/payment_id"), "capture", json!({})).await.expect(200);
    assert_eq!(paid.str("/method"), "bank-transfer");
    let path = format!("/v1/orders/{}/mark-paid", cash.str("/order/id"));
    let marked = connected.owner.post(&path).json(json!({})).await.expect(200);
    let payment = connected.payment(&marked.str("/payments/0/payment_id")).await;
    assert_eq!(payment.str("/method"), "cash-on-delivery");
}

#[tokio::test]
async fn payment_methods_have_unique_ids_and_belong_to_the_manual_provider() {
    let connected = Connected::bare().await;
    let twice = json!({"methods": [
        {"id": "cash", "name": "Cash"}, {"id": "cash", "name": "Cash again"},
    ]});
    let rejected = connected.set_methods(twice).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/methods/1/id".into(), "duplicate".into())]);
    let mut stripe = super::connected::stripe();
    stripe["methods"] = json!([{"id": "card", "name": "Card"}]);
    let rejected = connected.owner.put(&provider_path("stripe")).json(stripe).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/methods".into(), "not_applicable".into())]);
    // With one method nobody has to choose, and with none enabled nobody can.
    connected.set_methods(json!({"methods": [{"id": "cash", "name": "Cash"}]})).await.expect(200);
    let placed = connected.place(json!({"provider": "manual"})).await.expect(201);
    assert_eq!(placed.str("/order/payment_method/id"), "cash");
    let off = json!({"methods": [{"id": "cash", "name": "Cash", "enabled": false}]});
    connected.set_methods(off).await.expect(200);
    let rejected = connected.place(json!({"provider": "manual"})).await.expect(422);
    let fault = ("/payment/provider".to_owned(), "payment_method_unavailable".to_owned());
    assert_eq!(rejected.field_errors(), [fault]);
    connected.set_methods(json!({"methods": []})).await.expect(200);
    let placed = connected.place(json!({"provider": "manual"})).await.expect(201);
    assert_eq!(*placed.at("/order/payment_method"), Value::Null);
}

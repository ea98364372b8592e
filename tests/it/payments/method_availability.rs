//! A way to pay that the store cannot use is rejected before anything is held, and an account that
//! is still needed stays.

use support::{Client, Reply, STRIPE_KEY_ID, Value, json, unique};

use super::connected::{Connected, provider_path, razorpay, stripe};

impl Connected {
    fn cart(&self, payment: Option<Value>) -> Value {
        let mut cart = json!({
            "email": "shopper@example.com",
            "items": [{"variant_id": self.variant, "quantity": 1}],
            "shipping_address": {
                "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN",
            },
        });
        if let Some(payment) = payment {
            cart["payment"] = payment;
        }
        cart
    }

    /// A cart is ordered in the shop, and by the merchant; a try beforehand says the same.
    async fn order_both_ways(&self, payment: Option<Value>) -> [Reply; 2] {
        let client = self.gateway.client();
        let shop = format!("/v1/storefront/{}/orders", self.store.subdomain);
        let places: [(&Client, &str); 2] = [(&client, &shop), (&self.owner, "/v1/orders")];
        let mut answers = Vec::new();
        for (who, path) in places {
            let mut input = self.cart(payment.clone());
            let placed = who.post(path).key(&unique("order")).json(input.clone()).await;
            input["dry_run"] = true.into();
            let tried = who.post(path).key(&unique("try")).json(input).await;
            assert_eq!(placed.status == 201, tried.status == 200, "{}", tried.text);
            if placed.status != 201 {
                assert_eq!(placed.field_errors(), tried.field_errors());
            }
            answers.push(placed);
        }
        answers.try_into().expect("two")
    }

    async fn rejected_both_ways(&self, payment: Option<Value>, fault: (&str, &str)) {
        let before = (self.stock().await, self.gateway.count().await);
        for rejected in self.order_both_ways(payment).await {
            let rejected = rejected.expect(422);
            assert_eq!(rejected.field_errors(), [(fault.0.into(), fault.1.into())]);
        }
        assert_eq!((self.stock().await, self.gateway.count().await), before, "nothing is held");
    }
}

#[tokio::test]
async fn an_unavailable_payment_method_is_rejected_before_stock_is_reserved() {
    let connected = Connected::bare().await;
    let unusable = ("/payment/provider", "payment_method_unavailable");
    connected.rejected_both_ways(Some(json!({"provider": "stripe"})), unusable).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    for placed in connected.order_both_ways(Some(json!({"provider": "stripe"}))).await {
        placed.expect(201);
    }
    let off = json!({"enabled": false});
    connected.owner.put(&provider_path("stripe")).json(off.clone()).await.expect(200);
    connected.rejected_both_ways(Some(json!({"provider": "stripe"})), unusable).await;
    connected.owner.put(&provider_path("manual")).json(off).await.expect(200);
    connected.rejected_both_ways(Some(json!({"provider": "manual"})), unusable).await;
    // A shopper who may choose later must have something to choose; the merchant takes it somehow.
    let before = connected.stock().await;
    let [shop, made] = {
        let client = connected.gateway.client();
        let shop = format!("/v1/storefront/{}/orders", connected.store.subdomain);
        let shop = client.post(&shop).key(&unique("order")).json(connected.cart(None)).await;
        let made = connected
            .owner
            .post("/v1/orders")
            .key(&unique("order"))
            .json(connected.cart(None))
            .await;
        [shop, made]
    };
    let fault = ("/payment".to_owned(), "payment_method_unavailable".to_owned());
    assert_eq!(shop.expect(422).field_errors(), [fault]);
    made.expect(201);
    assert_eq!(connected.stock().await, (before.0 - 1, before.1 + 1, before.2));
}

#[tokio::test]
async fn a_total_is_rounded_to_the_providers_minor_unit() {
    // Dinars have thousandths, and no card counts the last of them.
    let connected = Connected::bare_in("KWD", 1_234).await;
    connected.owner.put(&provider_path("stripe")).json(stripe()).await.expect(200);
    connected.owner.put(&provider_path("razorpay")).json(razorpay()).await.expect(200);
    for (provider, total) in [("stripe", 1_230), ("razorpay", 1_230), ("manual", 1_234)] {
        for placed in connected.order_both_ways(Some(json!({"provider": provider}))).await {
            let placed = placed.expect(201);
            let of_shopper = placed.json["order"].is_object();
            let at = if of_shopper { "/order/totals/total/amount" } else { "/totals/total/amount" };
            assert_eq!(placed.int(at), total, "{provider}");
        }
    }
}

#[tokio::test]
async fn an_amount_below_the_minimum_is_rejected_before_stock_is_reserved() {
    for (provider, account, currency, least) in [
        ("razorpay", razorpay(), "INR", 100),
        ("stripe", stripe(), "INR", 50),
        ("stripe", stripe(), "USD", 50),
        ("stripe", stripe(), "HUF", 17_500),
    ] {
        let chosen = || Some(json!({"provider": provider}));
        let connected = Connected::bare_in(currency, least - 1).await;
        connected.owner.put(&provider_path(provider)).json(account.clone()).await.expect(200);
        let fault = ("/payment/provider", "amount_not_supported");
        connected.rejected_both_ways(chosen(), fault).await;
        let offered = async |amount: i64| {
            let path = format!("/v1/storefront/{}/payments/methods", connected.store.subdomain);
            let path = format!("{path}?amount={amount}");
            connected.gateway.client().get(&path).await.expect(200).data().len()
        };
        assert_eq!((offered(least - 1).await, offered(least).await), (1, 2), "{provider}");
        // Two of them are enough; cash is taken in any amount.
        let order = connected.order().await;
        connected.begin(provider, &order).await.expect(201);
        for placed in connected.order_both_ways(Some(json!({"provider": "manual"}))).await {
            placed.expect(201);
        }
    }
}

#[tokio::test]
async fn a_provider_account_with_open_payments_is_not_deleted() {
    let connected = Connected::open_with("manual").await;
    let path = provider_path("stripe");
    let (open, held) = (connected.order().await, connected.order().await);
    let open_id = connected.begin("stripe", &open).await.expect(201).str("/payment_id");
    let (held_id, _) = connected.paid("stripe", &held).await;
    connected.begin("razorpay", &open).await.expect(201);
    let named = |reply: &Reply| {
        let ids = reply.at("/payment_ids").as_array().unwrap().clone();
        ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rejected = connected.owner.delete(&path).await.expect(409);
    assert_eq!(rejected.int("/open_payments"), 2);
    let mut both = [open_id.clone(), held_id.clone()];
    both.sort();
    let mut ids = named(&rejected);
    ids.sort();
    assert_eq!(ids, both);
    rejected.problem("provider_in_use");
    let kept = connected.owner.get(&path).await.expect(200);
    assert_eq!(kept.str("/credentials/key_id"), STRIPE_KEY_ID, "it is as it was");
    // One is given up, the other taken; what was taken keeps nothing.
    connected.act(&open_id, "void", json!({})).await.expect(200);
    let rejected = connected.owner.delete(&path).await.expect(409);
    assert_eq!(named(&rejected), std::slice::from_ref(&held_id));
    connected.act(&held_id, "capture", json!({})).await.expect(200);
    connected.providers.next([support::Trouble::Pending]);
    let part = json!({"amount": {"amount": 100, "currency": "INR"}});
    connected.act(&held_id, "refunds", part).await.expect(201);
    let rejected = connected.owner.delete(&path).await.expect(409);
    assert_eq!(named(&rejected), std::slice::from_ref(&held_id), "a refund is on its way");
    let reference = connected.providers.refunds()[0]["id"].as_str().unwrap().to_owned();
    connected.providers.finish_refund(&reference, true).expect("it comes through");
    let intent = connected.payment(&held_id).await.str("/provider_reference");
    connected.tell_refund("refund.updated", &intent).await;
    connected.owner.delete(&path).await.expect(204);
    connected
        .begin("stripe", &connected.order().await)
        .await
        .expect(409)
        .problem("provider_not_connected");
    // Nor does cash, which nobody else is asked about.
    let order = connected.order().await;
    connected
        .owner
        .put(&provider_path("manual"))
        .json(json!({"instructions": "Here."}))
        .await
        .expect(200);
    connected.begin("manual", &order).await.expect(201);
    connected.owner.delete(&provider_path("manual")).await.expect(204);
}

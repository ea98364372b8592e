//! An order that its merchant made, paid through a provider by the link in a mail.

use support::{json, unique, verify};

use super::connected::{Connected, Order};

const PAGE: &str = "https://shop.example/pay/{order_id}#{token}";

#[tokio::test]
async fn an_order_is_paid_at_the_provider_through_its_mailed_link() {
    for provider in ["stripe", "razorpay"] {
        let connected = Connected::open().await;
        connected.merchant.prove(&connected.gateway).await;
        let settings = format!("/v1/stores/{}/settings", connected.store.id);
        verify(&connected.gateway, &connected.store, "shop.example").await;
        let page = json!({"notifications": {"payment_url": PAGE}});
        connected.owner.patch(&settings).json(page).await.expect(200);
        let email = format!("{}@example.com", unique("buyer"));
        let items = json!([{"variant_id": connected.variant, "quantity": 2}]);
        let input = json!({"draft": true, "email": email, "items": items});
        let draft = connected.owner.post("/v1/orders").key("draft").json(input).await.expect(201);
        let id = draft.str("/id");
        let act = async |action: &str| {
            let path = format!("/v1/orders/{id}/{action}");
            connected.owner.post(&path).key(&unique(action)).json(json!({})).await
        };
        act("confirm").await.expect(200);
        let mail = connected.gateway.mailbox(&email).nth(1).await;
        let begin = format!("https://shop.example/pay/{id}#");
        let link = mail.text.lines().find_map(|line| line.strip_prefix(&begin));
        let order = Order { id: id.clone(), token: link.expect("a link").to_owned() };
        let forged = Order { token: unique("forged-token-of-some-length"), ..order.clone() };
        connected.begin(provider, &forged).await.expect(404).problem("not_found");
        connected.paid(provider, &order).await;
        assert_eq!(connected.order_as_stored(&order).await["financial_status"], "paid");
        act("send-payment-link").await.expect(409).problem("order_already_paid");
    }
}

//! Customers: their accounts, address books and wishlists, and what they write.

mod accounts;
mod addresses;
mod boundaries;
mod email;
mod forms;
mod guest_orders;
mod mails;
mod orders;
mod phones;
mod reviews;
mod squatters;
mod wishlist;

use support::{Client, Gateway, Merchant, Reply, Shopper, Store, Value, json};

const CUSTOMER: &str = "/v1/storefront/customer";

fn at(path: &str) -> String {
    format!("{CUSTOMER}{path}")
}

/// An open store, and its owner.
struct Front {
    gateway: Gateway,
    store: Store,
    owner: Client,
}

impl Front {
    async fn open() -> Self {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        merchant.prove(&gateway).await;
        let store = merchant.open_shop().await;
        let owner = merchant.at(&store);
        Self { gateway, store, owner }
    }

    async fn shopper(&self) -> Shopper {
        Shopper::register(&self.gateway, &self.store).await
    }

    /// A product for sale.
    async fn product(&self, title: &str) -> Reply {
        let input = json!({
            "title": title, "status": "active",
            "variants": [{"price": {"amount": 129_900, "currency": "INR"}}],
        });
        self.owner.post("/v1/products").json(input).await.expect(201)
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/storefront/{}{rest}", self.store.subdomain)
    }
}

async fn me(client: &Client) -> u16 {
    client.get(&at("/me")).await.status
}

fn without_ids(reply: &Reply) -> Value {
    let mut body = reply.json.clone();
    for name in ["request_id", "challenge_id"] {
        body[name] = json!(null);
    }
    // A minute, of which a busy machine may have used a second before it answers.
    if body["resend_after"] == 59 {
        body["resend_after"] = json!(60);
    }
    body
}

fn address(line: &str) -> Value {
    json!({
        "first_name": "Cleo", "last_name": "Cruz", "line1": line, "city": "Mumbai",
        "region": "Maharashtra", "postal_code": "400001", "country": "IN",
    })
}

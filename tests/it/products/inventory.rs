//! Stock: locations, levels, manual changes and the ledger.

mod access;
mod levels;
mod locations;
mod orders;

use std::sync::atomic::{AtomicU32, Ordering};

use support::{Client, Gateway, Merchant, Reply, Value, json, unique};

const LOCATIONS: &str = "/v1/inventory/locations";
const LEVELS: &str = "/v1/inventory/levels";

static KEY: AtomicU32 = AtomicU32::new(0);

/// A merchant's store with one location.
struct Stock {
    gateway: Gateway,
    owner: Client,
    main: String,
}

impl Stock {
    async fn new() -> Self {
        let gateway = Gateway::start().await;
        let merchant = Merchant::sign_up(&gateway).await;
        let owner = merchant.at(&merchant.open_store().await);
        let locations = owner.get(LOCATIONS).await.expect(200);
        let main = locations.data()[0]["id"].as_str().unwrap().to_owned();
        Self { gateway, owner, main }
    }

    async fn location(&self, name: &str) -> String {
        let input = json!({"name": name, "address": {"country": "IN"}});
        self.owner.post(LOCATIONS).json(input).await.expect(201).str("/id")
    }

    /// A new variant with so many at the main location.
    async fn item(&self, quantity: i64) -> String {
        self.item_of(json!({
            "tracked": true, "levels": [{"location_id": self.main, "quantity": quantity}],
        }))
        .await
    }

    async fn item_of(&self, inventory: Value) -> String {
        let input = json!({
            "title": unique("Thing"),
            "variants": [{
                "price": {"amount": 1_000, "currency": "INR"}, "inventory": inventory,
            }],
        });
        let product = self.owner.post("/v1/products").json(input).await.expect(201);
        product.str("/variants/0/id")
    }

    /// An item that can be ordered, and where.
    async fn on_sale(&self, inventory: Value) -> (String, String) {
        let store = self.owner.get("/v1/stores").await.expect(200);
        let (id, subdomain) = (store.str("/data/0/id"), store.str("/data/0/subdomain"));
        self.owner
            .post(&format!("/v1/stores/{id}/activate"))
            .json(support::open_as_is())
            .await
            .expect(200);
        let input = json!({
            "title": "Lamp", "status": "active", "variants": [{
                "price": {"amount": 1_000, "currency": "INR"}, "inventory": inventory,
            }],
        });
        let product = self.owner.post("/v1/products").json(input).await.expect(201);
        (product.str("/variants/0/id"), format!("/v1/storefront/{subdomain}/orders"))
    }

    /// So many levels at the main location, as if made long ago.
    async fn fill(&self, levels: usize) {
        let like = self.item_of(json!({"tracked": false})).await;
        self.gateway.add_levels(&like, &self.main, levels).await;
    }

    async fn change(&self, how: &str, changes: Value) -> Reply {
        let input = json!({"reason": "test", "changes": changes});
        let key = format!("k{}", KEY.fetch_add(1, Ordering::Relaxed));
        self.owner.post(&format!("{LEVELS}/{how}")).json(input).key(&key).await
    }

    async fn quantities(&self, item: &str, location: &str) -> Value {
        let path = format!("{LEVELS}?item_ids={item}&location_ids={location}");
        let levels = self.owner.get(&path).await.expect(200);
        levels.data().first().map(|level| level["quantities"].clone()).unwrap_or_default()
    }

    async fn verify(&self, item: &str, location: &str) -> Reply {
        let path = format!("{LEVELS}/{item}/{location}/verify");
        let reply = self.owner.get(&path).await.expect(200);
        assert_eq!(*reply.at("/consistent"), json!(true), "{}", reply.text);
        reply
    }
}

fn counts(available: i64, reserved: i64, committed: i64) -> Value {
    json!({
        "available": available, "reserved": reserved, "committed": committed,
        "on_hand": available + reserved + committed,
    })
}

/// A cart at the storefront.
fn cart(items: &Value) -> Value {
    json!({
        "email": "shopper@example.com", "items": items,
        "shipping_address": {"line1": "1 MG Road", "city": "Bengaluru", "region": "KA",
            "postal_code": "560001", "country": "IN"},
    })
}

//! A store with things to sell, its merchant, and the people who buy.

use serde_json::{Value, json};

use crate::{Browser, Client, Gateway, Merchant, Reply, Shop, Store, unique};

/// An open store.
pub struct Market {
    pub gateway: Gateway,
    pub merchant: Merchant,
    pub store: Store,
    /// The merchant at the store.
    pub owner: Client,
}

/// An order, and what its shopper may show.
#[derive(Debug, Clone)]
pub struct Placed {
    pub id: String,
    pub token: String,
    pub reply: Reply,
}

impl Market {
    pub async fn open() -> Self {
        Self::open_with(|_| {}).await
    }

    /// As [`Market::open`], of a merchant whose address is proven: its mails go out.
    pub async fn proven() -> Self {
        let market = Self::open().await;
        market.merchant.prove(&market.gateway).await;
        market
    }

    /// As [`Market::open`], on a system with other options.
    pub async fn open_with(change: impl FnOnce(&mut local::Options)) -> Self {
        let gateway = Gateway::start_with(change).await;
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_shop().await;
        let owner = merchant.at(&store);
        Self { gateway, merchant, store, owner }
    }

    /// A market, and an app with these scopes that acts on its store: another budget.
    pub async fn with_app(scopes: &[&str]) -> (Self, Client) {
        let shop = Shop::with_published_app(scopes).await;
        let app = shop.app_client().await;
        let (owner, id) = (shop.owner(), &shop.store.id);
        owner
            .post(&format!("/v1/stores/{id}/activate"))
            .json(crate::open_as_is())
            .await
            .expect(200);
        let Shop { gateway, merchant, store, .. } = shop;
        (Self { gateway, merchant, store, owner }, app)
    }

    /// A browser at the store's shop. The system has a port for shops.
    pub fn browser(&self) -> Browser {
        self.gateway.browser(&self.host_of(&self.store.subdomain))
    }

    /// The name of a store's shop.
    pub fn host_of(&self, subdomain: &str) -> String {
        let port = self.gateway.system().shop_port().unwrap_or_default();
        format!("{subdomain}.localhost:{port}")
    }

    /// A variant at this price with so many to sell.
    pub async fn stock(&self, amount: i64, quantity: i64) -> String {
        let inventory = json!({"levels": [{"quantity": quantity}]});
        self.product(amount, Some(inventory)).await
    }

    /// A variant at this price; what is said about its stock.
    pub async fn product(&self, amount: i64, inventory: Option<Value>) -> String {
        let mut variant = json!({"price": inr(amount)});
        if let Some(inventory) = inventory {
            variant["inventory"] = inventory;
        }
        let input = json!({"title": unique("Thing"), "status": "active", "variants": [variant]});
        let asked = self.owner.post("/v1/products").json(input).key(&unique("thing"));
        asked.await.expect(201).str("/variants/0/id")
    }

    /// A gift card with so much on it: its id and its code.
    pub async fn gift_card(&self, amount: i64) -> (String, String) {
        let input = json!({"initial_value": inr(amount)});
        let key = unique("card");
        let reply = self.owner.post("/v1/products/gift-cards").json(input).key(&key).await;
        let reply = reply.expect(201);
        (reply.str("/id"), reply.str("/code"))
    }

    pub async fn balance(&self, card: &str) -> i64 {
        let path = format!("/v1/products/gift-cards/{card}");
        self.owner.get(&path).await.expect(200).int("/balance/amount")
    }

    pub fn orders_path(&self) -> String {
        format!("/v1/storefront/{}/orders", self.store.subdomain)
    }

    /// A stranger, somewhere else each time, orders.
    pub async fn try_order(&self, cart: Value) -> Reply {
        let client = self.gateway.client();
        client.post(&self.orders_path()).key(&unique("checkout")).json(cart).await
    }

    pub async fn order(&self, cart: Value) -> Placed {
        Placed::of(self.try_order(cart).await.expect(201))
    }

    /// What its shopper sees of an order.
    pub async fn look(&self, placed: &Placed) -> Reply {
        let path = format!("{}/{}", self.orders_path(), placed.id);
        self.gateway.client().get(&path).header("x-service-order-token", &placed.token).await
    }

    /// The merchant does something with an order.
    pub async fn act(&self, order: &str, action: &str, fields: Value) -> Reply {
        let path = format!("/v1/orders/{order}/{action}");
        self.owner.post(&path).key(&unique(action)).json(fields).await
    }

    pub async fn show(&self, order: &str) -> Reply {
        self.owner.get(&format!("/v1/orders/{order}")).await.expect(200)
    }

    /// An order of so many that was paid manually.
    pub async fn paid(&self, variant: &str, quantity: i64) -> Placed {
        let placed = self.order(cart(&[(variant, quantity)])).await;
        self.act(&placed.id, "mark-paid", json!({})).await.expect(200);
        placed
    }

    /// The store's account with a provider is lost: no request takes one whose payments are open.
    pub async fn lose_account(&self, provider: &str) {
        let store = core_types::id::StoreId::parse(&self.store.id).expect("an id");
        let write = self.gateway.app().table.write();
        let lost = write.delete(&core_types::key::payment_provider(&store, provider));
        lost.commit().await.expect("it is lost");
    }

    /// The store has this host, as after a TXT record has shown that it is its own.
    pub async fn verify(&self, host: &str) {
        verify(&self.gateway, &self.store, host).await;
    }

    /// Available, reserved, committed and on hand, at all locations together.
    pub async fn levels(&self, variant: &str) -> [i64; 4] {
        let path = format!("/v1/inventory/levels?item_ids={variant}");
        let levels = self.owner.get(&path).await.expect(200);
        let sum = |name: &str| {
            let of = |level: &Value| level["quantities"][name].as_i64().unwrap();
            levels.data().iter().map(of).sum()
        };
        let found = [sum("available"), sum("reserved"), sum("committed"), sum("on_hand")];
        assert_eq!(found[0] + found[1] + found[2], found[3], "a level is in balance");
        found
    }

    /// Whether every level of a variant is what its ledger adds up to.
    pub async fn audit(&self, variant: &str) {
        let path = format!("/v1/inventory/levels?item_ids={variant}");
        for level in self.owner.get(&path).await.expect(200).data() {
            let location = level["location_id"].as_str().unwrap();
            let path = format!("/v1/inventory/levels/{variant}/{location}/verify");
            let verdict = self.owner.get(&path).await.expect(200);
            assert_eq!(*verdict.at("/consistent"), json!(true), "{}", verdict.text);
        }
    }
}

/// A store has this host, as after a TXT record has shown that it is its own.
pub async fn verify(gateway: &Gateway, store: &Store, host: &str) {
    let host = identity::domain::Host::of(host).expect("a host");
    let store = core_types::id::StoreId::parse(&store.id).expect("an id");
    let none = identity::domain::Domains::of(&store, None);
    let (mut domains, _) = none.add(&host, false, gateway.now()).expect("room for a host");
    domains.domains[0].verified_at = Some(gateway.now());
    let write = domains.write(gateway.app().table.write());
    let write = identity::domain::UniqueHost::claim(write, &host, &store);
    write.commit().await.expect("it is verified");
}

impl Placed {
    pub fn of(reply: Reply) -> Self {
        Self { id: reply.str("/order/id"), token: reply.str("/order_token"), reply }
    }

    /// The id of a line.
    pub fn line(&self, place: usize) -> String {
        self.reply.str(&format!("/order/items/{place}/id"))
    }
}

pub fn inr(amount: i64) -> Value {
    json!({"amount": amount, "currency": "INR"})
}

pub fn address() -> Value {
    json!({
        "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road", "city": "Bengaluru",
        "region": "KA", "postal_code": "560001", "country": "IN", "phone": "+91 80 5550 1234",
    })
}

/// A cart of these variants and quantities.
pub fn cart(lines: &[(&str, i64)]) -> Value {
    let line =
        |(variant, quantity): &(&str, i64)| json!({"variant_id": variant, "quantity": quantity});
    json!({
        "email": "shopper@example.com",
        "items": lines.iter().map(line).collect::<Vec<_>>(),
        "shipping_address": address(),
    })
}

//! The store that every simulation begins with: made once, and copied for each sequence.

use std::time::Duration;

use core_types::id::MerchantId;
use emulators::AnyError;
use http::Method;
use local::providers::{
    RAZORPAY_KEY_ID, RAZORPAY_SECRET, STRIPE_KEY_ID, STRIPE_SECRET, WEBHOOK_SECRET,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::client::{Call, Reply, list, text};
use crate::network::RECEIVER;
use crate::step::Trouble;
use crate::world::{Files, Scratch, World};

/// The merchant's sign-in.
const EMAIL: &str = "merchant@example.com";
const PASSWORD: &str = "correct horse battery";
/// The prices of the products, and their units at the two locations.
const PRODUCTS: [(i64, [i64; 2]); 3] = [(1_000, [12, 6]), (2_555, [8, 0]), (99, [60, 40])];
/// The price of a variant, by its place.
pub(crate) fn price(place: usize) -> Option<i64> {
    PRODUCTS.get(place).map(|(price, _)| *price)
}

/// The gift cards' values.
const CARDS: [i64; 3] = [700, 2_500, 40_000];

/// A store: its files, and the names of what is in it.
pub struct Base {
    pub(crate) files: Files,
    pub(crate) store: String,
    pub(crate) subdomain: &'static str,
    /// Another open store of the same merchant.
    pub(crate) elsewhere: &'static str,
    pub(crate) merchant: MerchantId,
    pub(crate) token: String,
    /// The variants, with their units.
    pub(crate) variants: Vec<(String, i64)>,
    pub(crate) locations: Vec<String>,
    /// The gift cards: id, code and value.
    pub(crate) cards: Vec<(String, String, i64)>,
    /// The discounts: id, code and limit.
    pub(crate) discounts: Vec<(String, &'static str)>,
    pub(crate) customers: Vec<String>,
}

/// The merchant who sets the store up.
struct Setup<'a> {
    world: &'a World,
    token: String,
    store: String,
    keys: std::cell::Cell<u32>,
}

impl Setup<'_> {
    /// Opens another store; its subdomain.
    async fn another(&mut self, open: Value) -> Result<&'static str, AnyError> {
        let subdomain = "elsewhere";
        let store = json!({
            "name": "Another Shop", "subdomain": subdomain, "currency": "INR", "country": "IN",
        });
        let other = self.post("/v1/stores", store).await?.text("/id");
        let own = std::mem::replace(&mut self.store, other);
        let activated = self.post(&format!("/v1/stores/{}/activate", self.store), open).await;
        self.store = own;
        activated.map(|_| subdomain)
    }

    async fn done(&self, method: Method, path: &str, body: Value) -> Result<Reply, AnyError> {
        let number = self.keys.get().saturating_add(1);
        self.keys.set(number);
        let mut call = Call::new(method, path).json(body);
        call = call.header("idempotency-key", format!("the-setup-of-the-store-{number}"));
        if !self.token.is_empty() {
            call = call.header("authorization", format!("Bearer {}", self.token));
        }
        if !self.store.is_empty() {
            call = call.header("x-service-store-id", self.store.clone());
        }
        self.world.advance(Duration::from_secs(2));
        let (reply, _) = self.world.call(&call, Trouble::None).await;
        if reply.is_success() { Ok(reply) } else { Err(format!("{path}: {}", reply.json).into()) }
    }

    async fn post(&self, path: &str, body: Value) -> Result<Reply, AnyError> {
        self.done(Method::POST, path, body).await
    }
}

impl Base {
    /// Sets the store up.
    ///
    /// # Errors
    /// A request that is rejected, or a system that does not start.
    pub fn prepared() -> Result<Self, AnyError> {
        runtime()?.block_on(Self::set_up())
    }

    async fn set_up() -> Result<Self, AnyError> {
        let directory = Scratch::new()?;
        let world = World::stored_in(directory.path()).await?;
        let subdomain = "simulated";
        let mut setup = Setup {
            world: &world,
            token: String::new(),
            store: String::new(),
            keys: std::cell::Cell::default(),
        };
        let account = json!({"email": EMAIL, "password": PASSWORD, "name": "Ann Example"});
        let signed_up = setup.post("/v1/auth/signup", account).await?;
        setup.token = signed_up.text("/session/access_token");
        let merchant = MerchantId::parse(&signed_up.text("/merchant/id")).ok_or("no merchant")?;
        let store = json!({
            "name": "A Shop", "subdomain": subdomain, "currency": "INR", "country": "IN",
        });
        setup.store = setup.post("/v1/stores", store).await?.text("/id");
        let path = format!("/v1/stores/{}", setup.store);
        let open = json!({"accept_missing": ["shipping", "payments", "taxes"]});
        setup.post(&format!("{path}/activate"), open.clone()).await?;
        let elsewhere = setup.another(open).await?;
        let settings = json!({"privacy": {"redaction_days": 0}});
        setup.done(Method::PATCH, &format!("{path}/settings"), settings).await?;
        let tax = json!({"country": "IN", "name": "GST", "percent": "12.5"});
        setup.post(&format!("{path}/tax-rates"), tax).await?;
        setup.connect().await?;
        let hooks = json!({"url": RECEIVER, "event_types": ["*"], "ordering": "entity"});
        setup.post("/v1/operations/webhook-subscriptions", hooks).await?;
        let locations = setup.locations().await?;
        let variants = setup.products(&locations).await?;
        let mut cards = Vec::new();
        for value in CARDS {
            let issued = json!({"initial_value": {"amount": value, "currency": "INR"}});
            let card = setup.post("/v1/products/gift-cards", issued).await?;
            cards.push((card.text("/id"), card.text("/code"), value));
        }
        let discounts = setup.discounts().await?;
        let mut customers = Vec::new();
        for name in ["ada", "bob", "cleo", "dan"] {
            let customer = json!({"email": format!("{name}@example.com"), "name": name});
            customers.push(setup.post("/v1/customers", customer).await?.text("/id"));
        }
        let (store, token) = (setup.store.clone(), setup.token.clone());
        // What was announced so far is delivered: a sequence begins with nothing under way.
        for _ in 0..4 {
            while world.stream(0, false, Trouble::None).await > 0 {}
            world.queues(false, false, Trouble::None).await;
            world.advance(Duration::from_secs(90));
            world.sweep(Trouble::None).await;
        }
        drop(world);
        let base = Self {
            files: directory.files()?,
            store,
            subdomain,
            elsewhere,
            merchant,
            token,
            variants,
            locations,
            cards,
            discounts,
            customers,
        };
        Ok(base)
    }
}

impl Setup<'_> {
    async fn connect(&self) -> Result<(), AnyError> {
        let razorpay = json!({"capture_method": "automatic", "credentials": {
            "key_id": RAZORPAY_KEY_ID, "key_secret": RAZORPAY_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }});
        let stripe = json!({"capture_method": "manual", "credentials": {
            "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        }});
        for (provider, account) in [("razorpay", razorpay), ("stripe", stripe)] {
            let path = format!("/v1/payments/providers/{provider}");
            self.done(Method::PUT, &path, account).await?;
        }
        Ok(())
    }

    async fn locations(&self) -> Result<Vec<String>, AnyError> {
        let room = json!({"name": "Back room", "address": {"country": "IN"}});
        let room = self.post("/v1/inventory/locations", room).await?.text("/id");
        let all = self.done(Method::GET, "/v1/inventory/locations", json!({})).await?;
        let ids = list(&all.json, "/data").iter().map(|one| text(one, "/id"));
        let mut ids: Vec<String> = ids.filter(|id| *id != room).collect();
        ids.push(room);
        Ok(ids)
    }

    async fn products(&self, locations: &[String]) -> Result<Vec<(String, i64)>, AnyError> {
        let mut variants = Vec::new();
        for (number, (price, units)) in PRODUCTS.into_iter().enumerate() {
            let levels = locations.iter().zip(units);
            let levels = levels.map(|(id, units)| json!({"location_id": id, "quantity": units}));
            let product = json!({
                "title": format!("Thing {number}"), "status": "active",
                "variants": [{
                    "price": {"amount": price, "currency": "INR"},
                    "inventory": {"levels": levels.collect::<Vec<_>>()},
                }],
            });
            let made = self.post("/v1/products", product).await?;
            variants.push((made.text("/variants/0/id"), units.iter().sum()));
        }
        Ok(variants)
    }

    async fn discounts(&self) -> Result<Vec<(String, &'static str)>, AnyError> {
        let tenth = json!({
            "title": "A tenth off", "code": "TENTH", "kind": "percentage",
            "value": {"basis_points": 1_000}, "usage_limit": 4,
        });
        let once = json!({
            "title": "Once", "code": "ONCE", "kind": "fixed",
            "value": {"amount": {"amount": 150, "currency": "INR"}}, "per_customer_limit": 1,
        });
        let mut discounts = Vec::new();
        for (code, discount) in [("TENTH", tenth), ("ONCE", once)] {
            discounts.push((self.post("/v1/discounts", discount).await?.text("/id"), code));
        }
        Ok(discounts)
    }
}

/// A runtime of one thread, in which waiting takes no time.
pub(crate) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().start_paused(true).build()
}

//! The stores that are written to, each with a merchant of its own, and with a receiver of all events.

use std::sync::Arc;
use std::time::Duration;

use benches::AnyError;
use benches::http::{Connection, Input, Reply};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::receiver::{Heard, listen};

/// The password of all merchants.
const PASSWORD: &str = "correct horse battery";
/// The stock of each variant: more than any run sells.
pub const STOCK: i64 = 10_000_000;
/// Variants of a store.
pub const VARIANTS: usize = 4;
/// How long an unpaid order reserves its stock, in minutes: the longest setting, so that no reservation
/// expires while stock and orders are compared.
const PAYMENT_WINDOW: u64 = 1_440;
/// Attempts of a request that is rejected temporarily.
const TRIES: u32 = 400;

/// A store.
pub struct Shop {
    email: String,
    network: String,
    token: Mutex<String>,
    /// The id.
    pub id: String,
    /// The subdomain.
    pub subdomain: String,
    /// The ids of its variants.
    pub variants: Vec<String>,
    /// The id of its location.
    pub location: String,
}

/// Creates the stores and their receivers.
pub async fn open(
    address: &str,
    stores: u8,
    heard: &Arc<Heard>,
) -> Result<(Vec<Arc<Shop>>, JoinSet<()>), AnyError> {
    let (mut shops, mut tasks) = (Vec::new(), JoinSet::new());
    for number in 1..=stores {
        let url = listen(number, heard, &mut tasks).await?;
        shops.push(Arc::new(Shop::open(address, number, &url).await?));
    }
    Ok((shops, tasks))
}

impl Shop {
    async fn open(address: &str, number: u8, receiver: &str) -> Result<Self, AnyError> {
        let mut shop = Self {
            email: format!("merchant-{number}@example.com"),
            network: format!("12.0.0.{number}"),
            token: Mutex::default(),
            id: String::new(),
            subdomain: format!("crash-{number}"),
            variants: Vec::new(),
            location: String::new(),
        };
        let mut connection = Connection::to(address);
        let who = json!({"email": shop.email, "password": PASSWORD, "name": "Ann Example"});
        let session = shop.request(&mut connection, Input::post("/v1/auth/signup", who)).await?;
        *shop.token.lock().await = text(&session, "/session/access_token")?;
        let store = json!({
            "name": "A Shop", "subdomain": shop.subdomain, "currency": "INR", "country": "IN",
        });
        let store = shop.request(&mut connection, Input::post("/v1/stores", store)).await?;
        shop.id = text(&store, "/id")?;
        let activate = format!("/v1/stores/{}/activate", shop.id);
        let as_is = json!({"accept_missing": ["shipping", "payments", "taxes"]});
        shop.request(&mut connection, Input::post(activate, as_is)).await?;
        let settings = json!({"checkout": {"payment_window_minutes": PAYMENT_WINDOW}});
        let path = format!("/v1/stores/{}/settings", shop.id);
        shop.request(&mut connection, Input::patch(path, settings)).await?;
        let locations =
            shop.request(&mut connection, Input::get("/v1/inventory/locations")).await?;
        shop.location = text(&locations, "/data/0/id")?;
        for number in 0..VARIANTS {
            let product = json!({
                "title": format!("Thing {number}"), "status": "active",
                "variants": [{
                    "price": {"amount": 1_000, "currency": "INR"},
                    "inventory": {"tracked": true, "levels": [{"quantity": STOCK}]},
                }],
            });
            let made = shop.request(&mut connection, Input::post("/v1/products", product)).await?;
            shop.variants.push(text(&made, "/variants/0/id")?);
        }
        let events =
            ["order.created", "order.cancelled", "gift_card.created", "inventory.adjusted"];
        let subscription = json!({"url": receiver, "event_types": events});
        let path = "/v1/operations/webhook-subscriptions";
        shop.request(&mut connection, Input::post(path, subscription)).await?;
        Ok(shop)
    }

    /// Sends a request as its merchant, once.
    pub async fn send(&self, connection: &mut Connection, input: Input) -> Result<Reply, AnyError> {
        let token = self.token.lock().await.clone();
        let mut input = input.header("x-forwarded-for", &self.network);
        if !token.is_empty() {
            input = input.header("authorization", format!("Bearer {token}"));
        }
        if !self.id.is_empty() {
            input = input.header("x-service-store-id", &self.id);
        }
        let reply = connection.send(&input).await?;
        if reply.status == 401 {
            self.sign_in(connection, &token).await?;
        }
        Ok(reply)
    }

    /// Sends a request as its merchant until there is a final response.
    pub async fn request(
        &self,
        connection: &mut Connection,
        input: Input,
    ) -> Result<Value, AnyError> {
        let what = format!("{} {}", input.method, input.path);
        for _ in 0..TRIES {
            let again = Input {
                method: input.method,
                path: input.path.clone(),
                headers: input.headers.clone(),
                body: input.body.clone(),
            };
            match self.send(connection, again).await {
                Ok(reply) if !matches!(reply.status, 401 | 429 | 503) => {
                    let reply = reply.success(&what)?;
                    return if reply.body.is_empty() { Ok(Value::Null) } else { reply.json() };
                }
                Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
        Err(format!("{what} is not answered").into())
    }

    /// Begins a new session, unless another client has done so meanwhile.
    async fn sign_in(&self, connection: &mut Connection, old: &str) -> Result<(), AnyError> {
        let mut token = self.token.lock().await;
        if *token == old {
            let input = json!({"email": self.email, "password": PASSWORD});
            let input =
                Input::post("/v1/auth/signin", input).header("x-forwarded-for", &self.network);
            let session = connection.send(&input).await?.success("sign-in")?.json()?;
            *token = text(&session, "/session/access_token")?;
        }
        Ok(())
    }
}

/// The text at a JSON pointer.
pub fn text(value: &Value, pointer: &str) -> Result<String, AnyError> {
    let found = value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| format!("no text at {pointer} in {value}").into())
}

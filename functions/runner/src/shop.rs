//! The canary's storefront with its products, which load tests read and order.
//!
//! Its products are created by requests like a merchant's, under fixed handles, so that a repetition
//! creates nothing twice. The session for that is begun and ended here: nobody can sign in to the
//! canary's account.

use std::time::Duration;

use bytes::Bytes;
use core_types::id::MerchantId;
use core_types::key;
use egress::{Destination, Incoming, Outgoing};
use gateway::bridged;
use http::{HeaderMap, HeaderValue, Method, header};
use identity::merchant::Merchant;
use identity::session::{CreatedVia, Session};
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use reliability::canary;
use serde_json::{Value, json};
use services::Services;
use table::item::Item;

/// The number of products: several, so that their stock is not one hot item.
const PRODUCTS: usize = 10;
/// The initial stock of each; more may be ordered.
const STOCK: u32 = 1_000_000;
/// The time limit of a request.
const DEADLINE: Duration = Duration::from_secs(10);
/// The largest part of a response that is read, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// The address of these requests: in a network reserved for such tests (RFC 2544 §C.2.2).
const NETWORK: [u8; 4] = [198, 19, 255, 1];

/// A storefront with products.
#[derive(Debug, Clone)]
pub(crate) struct Shop {
    subdomain: String,
    /// The handles of products, and the ids of the variants that are ordered.
    products: Vec<(String, String)>,
}

impl Shop {
    /// The path of checkouts.
    pub(crate) fn orders(&self) -> String {
        format!("/v1/storefront/{}/orders", self.subdomain)
    }

    /// The path that the shopper of this number reads: the store, its products, or one of them.
    pub(crate) fn page(&self, number: u64) -> String {
        let rest = match (number.rem_euclid(3), self.product(number)) {
            (0, _) | (_, None) => String::new(),
            (1, _) => "/products".to_owned(),
            (_, Some((handle, _))) => format!("/products/{handle}"),
        };
        format!("/v1/storefront/{}{rest}", self.subdomain)
    }

    /// The order of the shopper of this number.
    pub(crate) fn cart(&self, number: u64) -> Value {
        let variant = self.product(number).map(|(_, variant)| variant.as_str());
        json!({
            "email": format!("shopper-{number}@canary.invalid"),
            "items": [{"variant_id": variant, "quantity": 1}],
        })
    }

    fn product(&self, number: u64) -> Option<&(String, String)> {
        let place = usize::try_from(number).unwrap_or(0).checked_rem(self.products.len())?;
        self.products.get(place)
    }
}

/// Returns the canary's storefront, after creating missing products.
///
/// # Errors
/// 503 when a part of it cannot be reached.
pub(crate) async fn open(services: &Services) -> Result<Shop, Problem> {
    let store = canary::ensure(services).await?;
    let subdomain = store.subdomain.as_str().to_owned();
    let mut products = Vec::new();
    let mut missing = Vec::new();
    for number in 0..PRODUCTS {
        let handle = format!("canary-{number}");
        let path = format!("/v1/storefront/{subdomain}/products/{handle}");
        match variant_of(&call(services, Method::GET, &path, HeaderMap::new(), None).await?)? {
            Some(variant) => products.push((handle, variant)),
            None => missing.push(handle),
        }
    }
    if !missing.is_empty() {
        products.extend(make(services, &store, missing).await?);
    }
    Ok(Shop { subdomain, products })
}

/// The id of a product's variant; none if the product does not exist.
fn variant_of(answer: &Incoming) -> Result<Option<String>, Problem> {
    if answer.status == 404 {
        return Ok(None);
    }
    let view: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let variant = view.pointer("/variants/0/id").and_then(Value::as_str);
    match variant.filter(|_| answer.status < 300) {
        Some(id) => Ok(Some(id.to_owned())),
        None => Err(Problem::unavailable(format!(
            "the canary's storefront answers with status {}",
            answer.status
        ))),
    }
}

async fn make(
    services: &Services,
    store: &Store,
    handles: Vec<String>,
) -> Result<Vec<(String, String)>, Problem> {
    let (session, token) = sign_in(services, services.clock.now()).await?;
    let mut made = Vec::new();
    let mut outcome = Ok(());
    for handle in handles {
        match make_one(services, store, &token, &handle).await {
            Ok(variant) => made.push((handle, variant)),
            Err(problem) => outcome = Err(problem),
        }
    }
    services.table.write().delete(&session.key()).commit().await?;
    outcome.map(|()| made)
}

async fn sign_in(services: &Services, now: Timestamp) -> Result<(Session, String), Problem> {
    let account: Option<Merchant> =
        services.table.get(&key::merchant(&MerchantId::canary())).await?;
    let account = account.ok_or_else(|| Problem::internal("the canary store does not exist"))?;
    let network = "198.19.255.0/24".to_owned();
    let (session, token) = Session::begin(&account, CreatedVia::Refresh, network, None, now);
    services.table.write().create(&session, Code::VersionConflict).commit().await?;
    Ok((session, token))
}

async fn make_one(
    services: &Services,
    store: &Store,
    token: &str,
    handle: &str,
) -> Result<String, Problem> {
    let product = json!({
        "title": handle, "handle": handle, "status": "active",
        "variants": [{
            "sku": handle,
            "price": {"amount": 1_000, "currency": store.currency},
            "requires_shipping": false,
            "inventory": {"policy": "continue", "levels": [{"quantity": STOCK}]},
        }],
    });
    let mut headers = HeaderMap::new();
    let bearer = HeaderValue::from_str(&format!("Bearer {token}")).map_err(Problem::internal)?;
    headers.insert(header::AUTHORIZATION, bearer);
    headers.insert("x-service-store-id", HeaderValue::from_static(table::canary::STORE));
    // A key of this moment: a rejected request can be sent again.
    let key = format!("{handle}-{}", services.clock.now().millis());
    headers.insert("idempotency-key", HeaderValue::from_str(&key).map_err(Problem::internal)?);
    let answer = call(services, Method::POST, "/v1/products", headers, Some(product)).await?;
    variant_of(&answer)?.ok_or_else(|| Problem::unavailable("the canary's product was not created"))
}

/// Sends one request, as a client does.
async fn call(
    services: &Services,
    method: Method,
    path: &str,
    mut headers: HeaderMap,
    body: Option<Value>,
) -> Result<Incoming, Problem> {
    bridged::vouch(services, Some(NETWORK.into()), &mut headers).await?;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let url = format!("{}{path}", *services.config.base_url);
    let destination = Destination::parse(&url, services.egress.policy())
        .map_err(|rejection| Problem::internal(format!("{url}: {rejection}")))?;
    let body = body.map_or_else(Bytes::new, |json| Bytes::from(json.to_string()));
    let (deadline, max_body) = (DEADLINE, MAX_ANSWER);
    let request = Outgoing { method, destination, headers, body, deadline, max_body };
    services.egress.send_pooled(request).await.map_err(Problem::unavailable)
}

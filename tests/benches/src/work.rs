//! The requests to the demo store.

use std::process;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::load::Work;
use crate::system::{Owner, text};
use benches::AnyError;
use benches::http::Input;

const STORE: &str = "demo-store";
/// The demo's merchant, who owns its store.
pub const MERCHANT: (&str, &str) = ("demo@example.com", "demo-merchant-1");
/// The demo's operator: another merchant.
pub const OPERATOR: (&str, &str) = ("operator@example.com", "demo-operator-1");
/// The stock of each product: more than any run sells.
const STOCK: u32 = 1_000_000;
/// Products that orders are spread over.
const GOODS: usize = 16;

/// Reads from the table, and from the response cache. A request with a cookie bypasses the cache, so that it
/// is the same work from the table.
pub fn reads() -> Vec<Arc<Work>> {
    let list = format!("/v1/storefront/{STORE}/products");
    let page = format!("{list}/linen-napkins-set-of-four");
    let search = format!("{list}?q=linen");
    let lookup = format!("/v1/storefront/lookup?subdomain={STORE}");
    let cached = |path: &str| {
        let path = path.to_owned();
        move |_| Input::get(path.clone())
    };
    let read = |path: &str| {
        let path = path.to_owned();
        move |_| Input::get(path.clone()).header("cookie", "visit=1")
    };
    vec![
        Work::new("product list of 20, from the table", 50, read(&list)),
        Work::new("product list of 20, cached", 50, cached(&list)),
        Work::new("product page, from the table", 150, read(&page)),
        Work::new("product page, cached", 150, cached(&page)),
        Work::new("search, from the table", 25, read(&search)),
        Work::new("search, cached", 25, cached(&search)),
        Work::new("store lookup", 150, cached(&lookup)),
        Work::new("GET /health, no table", usize::MAX, cached("/health")),
    ]
}

/// Pages of the demo store's shop. A page is kept for two seconds for each query, so that one with a query of
/// its own is rendered.
pub fn pages() -> Vec<Arc<Work>> {
    let kept = |path: &'static str| move |_| Input::get(path);
    let read = |path: &'static str| move |number| Input::get(format!("{path}visit={number}"));
    vec![
        Work::new("shop: home page", 50, read("/?")),
        Work::new("shop: home page, cached", 50, kept("/")),
        Work::new("shop: collection", 50, read("/collections/all?")),
        Work::new("shop: product", 50, read("/products/linen-napkins-set-of-four?")),
        Work::new("shop: search", 25, read("/search?q=linen&")),
    ]
}

/// A sign-in with a password.
pub fn sign_in() -> Arc<Work> {
    let input = json!({"email": MERCHANT.0, "password": MERCHANT.1});
    Work::new("sign-in (Argon2id, 19 MiB)", 10, move |_| {
        Input::post("/v1/auth/signin", input.clone())
    })
}

/// Creates products in the owner's store with enough stock. Returns their variants.
pub async fn stock_up(owner: &mut Owner) -> Result<Vec<String>, AnyError> {
    let mut variants = Vec::new();
    for number in 0..GOODS {
        let price = json!({"amount": 10_000, "currency": "INR"});
        let inventory = json!({"tracked": true, "levels": [{"quantity": STOCK}]});
        let input = json!({
            "title": format!("Sold by the Dozen {number}"), "status": "active",
            "variants": [{"price": price, "inventory": inventory}],
        });
        let made = owner.send(Input::post("/v1/products", input)).await?;
        variants.push(text(&made, "/variants/0/id")?);
    }
    Ok(variants)
}

/// A checkout of two lines.
pub fn checkout(variants: Vec<String>) -> Arc<Work> {
    let path = format!("/v1/storefront/{STORE}/orders");
    Work::new("checkout of 2 lines", 10, move |number| {
        let line = |place: usize| -> Value {
            let variant = variants.get(place.rem_euclid(variants.len()));
            json!({"variant_id": variant, "quantity": 1})
        };
        let input = json!({
            "email": "shopper@example.com",
            "items": [line(number), line(number + 1)],
            "shipping_address": {
                "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN",
            },
        });
        let key = format!("benchmark-{:0>12}-{number:0>12}", process::id());
        Input::post(path.clone(), input).header("idempotency-key", key)
    })
}

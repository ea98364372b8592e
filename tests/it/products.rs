//! The catalogue: products, variants, collections and categories.

mod bulk;
mod collections_and_categories;
mod creation;
mod customers;
mod discontinued;
mod discounts;
mod exports;
mod gift_cards;
mod guest_list;
mod guests;
mod imports;
mod inventory;
mod many_variants;
mod media;
mod merges;
mod metadata;
mod phones;
mod reading;
mod redaction;
mod reviews;
mod updates;

use support::{Client, Gateway, Merchant, Reply, Value, inr, json};

const PRODUCTS: &str = "/v1/products";
const COLLECTIONS: &str = "/v1/products/collections";
const CATEGORIES: &str = "/v1/products/categories";

async fn owner(gateway: &Gateway) -> Client {
    let merchant = Merchant::sign_up(gateway).await;
    let store = merchant.open_store().await;
    merchant.at(&store)
}

/// A product with one variant of this price.
fn simple(title: &str, price: i64) -> Value {
    json!({"title": title, "variants": [{"price": inr(price)}]})
}

/// A shirt in two sizes and two colours, without one of the combinations.
fn shirt() -> Value {
    json!({
        "title": "Linen shirt",
        "description": "<p onclick=\"x()\">Light.</p><script>alert(1)</script>",
        "status": "active",
        "vendor": "Acme",
        "tags": ["summer", "Summer", "linen"],
        "options": [
            {"name": "Size", "values": ["S", "M"]},
            {"name": "Colour", "values": ["Blue", "White"]},
        ],
        "variants": [
            {"sku": "SH-S-B", "price": inr(1_000), "compare_at": inr(1_500), "options": ["S", "Blue"]},
            {"sku": "SH-M-B", "price": inr(1_200), "options": ["M", "Blue"]},
            {"sku": "SH-M-W", "price": inr(900), "options": ["M", "White"],
             "inventory": {"tracked": true, "policy": "continue"}},
        ],
        "images": [{"url": "https://images.example.com/shirt.png", "alt": "A shirt"}],
        "metadata": {"season": "2026"},
    })
}

async fn make(owner: &Client, body: Value) -> Reply {
    owner.post(PRODUCTS).json(body).await.expect(201)
}

fn path(reply: &Reply) -> String {
    format!("{PRODUCTS}/{}", reply.str("/id"))
}

async fn kinds(gateway: &Gateway, name: &str) -> usize {
    gateway.events(name).await.len()
}

async fn category(owner: &Client, name: &str, parent: Option<&Reply>) -> Reply {
    let parent = parent.map(|parent| parent.str("/id"));
    let body = json!({"name": name, "parent_id": parent});
    owner.post(CATEGORIES).json(body).await.expect(201)
}

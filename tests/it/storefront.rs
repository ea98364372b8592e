//! The storefront as anybody sees it: the store, its pages, its catalogue.

mod carts;
mod charges;
mod checkout;
mod conditional_requests;
mod costs;
mod customers;
mod facets;
mod filter_costs;
mod lists;
mod page;
mod product_summaries;
mod response_cache;
mod search;
mod store;

use std::time::Duration;

use support::{Client, Gateway, Merchant, Reply, Store, Value, eventually, json};

/// As long as a process shows a store as it was.
const CACHE_TIME: Duration = Duration::from_secs(6);

/// As long as a process chooses what is beside a product among the same others.
const CHOSEN: Duration = Duration::from_secs(31);

/// The stream takes a moment, on a busy machine a long one.
const SOON: Duration = Duration::from_secs(30);

/// An open store, its owner, and somebody who looks.
struct Front {
    gateway: Gateway,
    merchant: Merchant,
    store: Store,
    owner: Client,
    visitor: Client,
}

impl Front {
    async fn open() -> Self {
        Self::open_on(Gateway::start().await).await
    }

    async fn open_on(gateway: Gateway) -> Self {
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let owner = merchant.at(&store);
        let visitor = gateway.client();
        let front = Self { gateway, merchant, store, owner, visitor };
        front.act("activate").await;
        front
    }

    async fn act(&self, action: &str) {
        let path = format!("/v1/stores/{}/{action}", self.store.id);
        let input = if action == "activate" { support::open_as_is() } else { json!({}) };
        self.merchant.post(&path).json(input).await.expect(200);
        self.gateway.advance(CACHE_TIME);
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/storefront/{}{rest}", self.store.subdomain)
    }

    async fn get(&self, rest: &str) -> Reply {
        self.visitor.get(&self.path(rest)).await
    }

    async fn location(&self) -> String {
        let list = self.owner.get("/v1/inventory/locations").await.expect(200);
        list.str("/data/0/id")
    }

    /// A product for sale with one variant and this stock; `more` changes it.
    async fn sell(&self, title: &str, price: i64, stock: i64, more: Value) -> Reply {
        let mut input = json!({
            "title": title, "status": "active",
            "variants": [{
                "price": {"amount": price, "currency": "INR"},
                "inventory": {"tracked": true, "levels": [
                    {"location_id": self.location().await, "quantity": stock}]},
            }],
        });
        for (name, value) in more.as_object().expect("fields") {
            input[name] = value.clone();
        }
        self.owner.post("/v1/products").json(input).await.expect(201)
    }

    /// What is beside a product as soon as it is so many: each look is somebody's first.
    async fn alongside(&self, handle: &str, count: usize) -> Reply {
        let path = self.path(&format!("/products/{handle}"));
        eventually(SOON, || async {
            self.gateway.advance(CHOSEN);
            let page = self.gateway.client().get(&path).await.expect(200);
            (related(&page).len() == count).then_some(page)
        })
        .await
    }

    /// Waits until so many products are candidates for related products, and everybody knows.
    async fn has_candidates(&self, count: usize) {
        let candidates = |item: &Value| item["products"].as_array().map(Vec::len);
        eventually(SOON, || async {
            let items = self.gateway.items_of("shelf", "SHF#").await;
            items.iter().any(|item| candidates(item) == Some(count)).then_some(())
        })
        .await;
        self.gateway.advance(CHOSEN);
    }

    /// The titles of a list, in its order.
    async fn titles(&self, query: &str) -> Vec<String> {
        titles(&self.get(&format!("/products{query}")).await.expect(200))
    }
}

fn titles(list: &Reply) -> Vec<String> {
    list.data().iter().map(|product| product["title"].as_str().unwrap().to_owned()).collect()
}

/// The titles of the products beside a product.
fn related(page: &Reply) -> Vec<String> {
    let related = page.at("/related").as_array().expect("products").iter();
    related.map(|product| product["title"].as_str().unwrap().to_owned()).collect()
}

/// Walks a list by its cursors; answers with the titles in the order shown.
async fn walk(client: &Client, first: &str) -> Vec<String> {
    let mut shown = Vec::new();
    let mut path = first.to_owned();
    for _ in 0..200 {
        let page = client.get(&path).await.expect(200);
        shown.extend(titles(&page));
        let Some(cursor) = page.at("/page/next_cursor").as_str() else { return shown };
        path = format!("{first}&cursor={cursor}");
    }
    panic!("{first} never ends");
}

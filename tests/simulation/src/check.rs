//! What must be true once everything is at rest, whatever has happened.

mod carts;
mod customers;
mod events;
mod money;
mod store;

use serde_json::Value;

use crate::client::{Call, list, text};
use crate::run::Run;
use crate::step::Trouble;

/// What the API shows in the end.
struct Books {
    orders: Vec<Value>,
    payments: Vec<Value>,
}

impl Run<'_> {
    /// Compares what the API, the providers and the receiver have with each other and with the model.
    pub(crate) async fn check(&self) {
        let books = self.books().await;
        self.check_orders(&books);
        self.check_carts(&books).await;
        self.check_payments(&books);
        self.check_cards(&books).await;
        self.check_stock(&books).await;
        self.check_discounts(&books).await;
        self.check_products().await;
        self.check_customers(&books).await;
        self.check_redactions(&books).await;
        self.check_events(&books).await;
    }

    async fn show(&self, path: &str) -> Value {
        let reply = self.merchant(Call::get(path), Trouble::None).await;
        if !reply.is_success() {
            self.fail(format!("GET {path} is {}: {}", reply.status, reply.json));
        }
        self.world.advance(std::time::Duration::from_secs(1));
        reply.json
    }

    /// All that a list has.
    async fn all(&self, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        loop {
            let sign = if path.contains('?') { '&' } else { '?' };
            let page = self.show(&format!("{path}{sign}limit=100{cursor}")).await;
            all.extend_from_slice(list(&page, "/data"));
            let next = text(&page, "/page/next_cursor");
            if next.is_empty() {
                return all;
            }
            cursor = format!("&cursor={next}");
        }
    }

    async fn books(&self) -> Books {
        let mut orders = Vec::new();
        for order in self.all("/v1/orders").await {
            orders.push(self.show(&format!("/v1/orders/{}", text(&order, "/id"))).await);
        }
        Books { orders, payments: self.all("/v1/payments").await }
    }
}

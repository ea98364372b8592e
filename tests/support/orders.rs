//! Orders as they are after months, and what nobody is shown of them.

use core_types::id::{OrderId, PaymentId, StoreId};
use identity::store::Store;
use primitives::problem::Code;
use sales::order::{Order, OrderStatus};
use serde_json::{Value, json};

use crate::Gateway;
use crate::clock::MINUTE;
use crate::table::read;

/// How the ids of a store's orders follow from their numbers.
pub struct OrderNumbers(Store);

impl Gateway {
    pub async fn order_numbers(&self, store: &str) -> OrderNumbers {
        OrderNumbers(read(&self.item("store", store).await))
    }

    /// So many closed orders like this one, made later.
    pub async fn add_closed_orders(&self, like: &str, count: u32) {
        let table = &self.app().table;
        let like: Order = read(&self.item("order", like).await);
        let numbers: Vec<u32> = (1..=count).collect();
        for hundred in numbers.chunks(100) {
            let mut write = table.write();
            for number in hundred {
                let created_at = like.created_at.plus(MINUTE * *number);
                let (id, status) = (OrderId::mint(created_at), OrderStatus::Closed);
                let order = Order { id, status, created_at, expires_at: None, ..like.clone() };
                write = write.create(&order, Code::VersionConflict);
            }
            write.commit().await.expect("they are added");
        }
    }

    /// An order as a redaction of its customer would leave it now.
    pub async fn redacted_order(&self, id: &str) -> Value {
        let order: Order = read(&self.item("order", id).await);
        json!(order.redacted(self.now()).expect("it can be redacted"))
    }
}

impl OrderNumbers {
    /// The id of the order of this number.
    pub fn order(&self, number: u64) -> String {
        self.0.order_id(number).to_string()
    }

    /// The id that the order of this number would have for anybody who does not know the store's secret.
    pub fn guessed(&self, number: u64) -> String {
        OrderId::numbered(&self.0.id, "", number).to_string()
    }

    /// The id of a payment of the order of this number that nobody has begun.
    pub fn no_payment_of(&self, number: u64) -> String {
        PaymentId::of_order(&self.0.order_id(number), &["nobody"]).to_string()
    }

    /// The id of the order that a payment's id leads to.
    pub fn order_of(&self, payment: &str) -> String {
        let payment = PaymentId::parse(payment).expect("a payment's id");
        self.order(payment.order_number())
    }

    /// The store's secret.
    pub fn secret(&self) -> &str {
        &self.0.order_secret
    }
}

/// The id of a store that nobody has opened.
pub fn no_store(seed: &str) -> String {
    StoreId::derive(&[seed]).to_string()
}

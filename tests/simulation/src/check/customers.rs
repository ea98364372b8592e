//! Customers and guests: what is known of them, and what is forgotten.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Books;
use crate::client::{int, list, text};
use crate::run::Run;

impl Run<'_> {
    /// A customer or a guest has as many orders as name them, and has spent what those have brought in.
    pub(super) async fn check_customers(&self, books: &Books) {
        for customer in self.all("/v1/customers").await {
            let id = text(&customer, "/id");
            let own = |order: &&Value| text(order, "/customer_id") == id;
            self.check_spending(books, &customer, own);
        }
        let mut known = BTreeSet::new();
        for guest in self.all("/v1/customers/guests").await {
            let email = text(&guest, "/email");
            let own = |order: &&Value| is_guests(order) && text(order, "/email") == email;
            self.check_spending(books, &guest, own);
            known.insert(email);
        }
        for order in books.orders.iter().filter(|order| is_guests(order)) {
            if !known.contains(&text(order, "/email")) {
                self.fail(format!("customers: the guest of {} is unknown", text(order, "/id")));
            }
        }
    }

    fn check_spending(&self, books: &Books, person: &Value, own: impl Fn(&&Value) -> bool) {
        let orders: Vec<&Value> = books.orders.iter().filter(own).collect();
        let revenue: i64 = orders.iter().map(|order| revenue_of(order)).sum();
        let should = (i64::try_from(orders.len()).unwrap_or(0), revenue);
        let found = (int(person, "/orders_count"), int(person, "/total_spent/amount"));
        if found != should {
            let email = text(person, "/email");
            self.fail(format!(
                "customers: {email} has orders and spending {found:?}, should {should:?}"
            ));
        }
    }

    /// A redaction that has not begun waits for an order that is not finished.
    pub(super) async fn check_redactions(&self, books: &Books) {
        for due in self.world.due().await {
            let Some(redaction) = self.world.waiting_redaction(&due).await else { continue };
            let customer = text(&redaction, "/customer_id");
            let emails = list(&redaction, "/emails");
            let own = |order: &&Value| match text(order, "/customer_id") {
                id if id.is_empty() => {
                    order.get("email").is_some_and(|email| emails.contains(email))
                }
                id => id == customer,
            };
            if !books.orders.iter().filter(own).any(is_unfinished) {
                self.fail(format!("redaction: it waits for no order: {redaction}"));
            }
        }
    }
}

/// Whether an order is of a guest who is still known: neither a customer's nor redacted.
fn is_guests(order: &Value) -> bool {
    text(order, "/customer_id").is_empty() && !text(order, "/email").is_empty()
}

/// What an order has brought in. Gift cards that cover a part of it bring in nothing before the rest is paid.
fn revenue_of(order: &Value) -> i64 {
    let has_money = list(order, "/payments").iter().any(|payment| {
        let is_held = payment.get("voided") == Some(&Value::Bool(false));
        int(payment, "/captured/amount") > 0 || is_held && int(payment, "/authorized/amount") > 0
    });
    let is_paid = has_money || int(order, "/outstanding/amount") == 0;
    if is_paid { int(order, "/refundable/amount") } else { 0 }
}

/// Whether goods or money are owed for an order.
fn is_unfinished(order: &Value) -> bool {
    let left: i64 = list(order, "/items").iter().map(|line| int(line, "/remaining")).sum();
    match text(order, "/status").as_str() {
        "draft" => true,
        "open" => left > 0 || int(order, "/outstanding/amount") > 0,
        _ => false,
    }
}

//! What the merchant has: stock, codes and products.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Books;
use crate::actions::orders::units_of;
use crate::client::{int, list, text};
use crate::run::Run;

impl Run<'_> {
    /// Every unit is where the orders and the merchant have put it.
    pub(super) async fn check_stock(&self, books: &Books) {
        let (units, held) = {
            let model = self.model.borrow();
            (model.units.clone(), model.held.clone())
        };
        for ((variant, _), (units, held)) in
            self.base.variants.iter().zip(units.into_iter().zip(held))
        {
            let path = format!("/v1/inventory/levels?item_ids={variant}");
            let levels = self.all(&path).await;
            let sum = |name: &str| -> i64 {
                levels.iter().map(|level| int(level, &format!("/quantities/{name}"))).sum()
            };
            let of_orders = |count: &dyn Fn(&Value) -> i64| -> i64 {
                books.orders.iter().map(|order| units_of(order, variant, count)).sum()
            };
            let sent = of_orders(&|line| int(line, "/fulfilled"));
            let back =
                of_orders(&|line| int(line, "/restocked").saturating_sub(int(line, "/cancelled")));
            let waiting: i64 = books
                .orders
                .iter()
                .filter(|order| is_waiting(order))
                .map(|order| units_of(order, variant, |line| int(line, "/remaining")))
                .sum();
            let should = units.saturating_sub(sent).saturating_add(back);
            let (on_hand, available) = (sum("on_hand"), sum("available"));
            let taken = sum("reserved").saturating_add(sum("committed"));
            if on_hand != should {
                self.fail(format!(
                    "stock: {variant} has {on_hand} on hand, should {should} ({units} - {sent} + {back})"
                ));
            }
            if taken != waiting.saturating_add(held) {
                self.fail(format!(
                    "stock: {variant} has {taken} reserved and committed, should {waiting} + {held}"
                ));
            }
            if available < 0 || available.saturating_add(taken) != on_hand {
                self.fail(format!("stock: {variant} is out of balance: {levels:?}"));
            }
        }
    }

    /// A discount is used as often as there are orders that use it.
    pub(super) async fn check_discounts(&self, books: &Books) {
        for (id, code) in &self.base.discounts {
            let shown = self.show(&format!("/v1/discounts/{id}")).await;
            let uses = |order: &&Value| {
                let has = list(order, "/discounts").iter().any(|one| text(one, "/code") == *code);
                has && !gives_back(order)
            };
            let should = books.orders.iter().filter(uses).count();
            let used = int(&shown, "/used");
            if i64::try_from(should) != Ok(used) {
                self.fail(format!("codes: {code} is used {used} times, should {should}"));
            }
            let limit = int(&shown, "/usage_limit");
            if limit > 0 && used > limit {
                self.fail(format!("codes: {code} is used {used} times of {limit}"));
            }
        }
    }

    /// An imported product is there once.
    pub(super) async fn check_products(&self) {
        let imported = self.model.borrow().imported.clone();
        if imported.is_empty() {
            return;
        }
        let products = self.all("/v1/products").await;
        let mut found = BTreeMap::new();
        for product in &products {
            let count: &mut u32 = found.entry(text(product, "/handle")).or_default();
            *count = count.saturating_add(1);
        }
        for handle in imported {
            let count = found.get(&handle).copied().unwrap_or(0);
            if count != 1 {
                self.fail(format!("imports: {handle} is there {count} times"));
            }
        }
    }
}

/// Whether units of an order wait to be sent.
fn is_waiting(order: &Value) -> bool {
    !["cancelled", "expired"].contains(&text(order, "/status").as_str())
}

/// Whether an order has given its uses back: it ended, and nothing of what was paid for it is left.
fn gives_back(order: &Value) -> bool {
    let sum = |name: &str| int(order, &format!("/{name}/amount"));
    !is_waiting(order) && sum("captured_total") <= sum("refunded_total")
}

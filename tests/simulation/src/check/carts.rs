//! Carts: each becomes one order, at the total that was shown, and loses nothing on its way there.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::Value;

use super::Books;
use crate::client::{Call, Reply, int, list, text};
use crate::model::Cart;
use crate::run::Run;
use crate::step::Trouble;

impl Run<'_> {
    /// Each cart has become the order that its shopper was told of, or is none, and an order is of one cart.
    pub(super) async fn check_carts(&self, books: &Books) {
        let carts = self.model.borrow().carts.clone();
        let mut orders = BTreeSet::new();
        for cart in carts {
            let (id, order) = (&cart.id, cart.order.clone().unwrap_or_default());
            if !order.is_empty() && !orders.insert(order.clone()) {
                self.fail(format!("carts: {order} is of {id} and of another"));
            }
            if !order.is_empty() && !books.orders.iter().any(|one| text(one, "/id") == order) {
                self.fail(format!("carts: {order} of {id} is not there"));
            }
            let reply = self.call(self.of_cart(Method::GET, &cart, ""), Trouble::None).await;
            self.world.advance(std::time::Duration::from_secs(1));
            // It may have expired, have been deleted, or its customer's session is over.
            if reply.is_success() && reply.text("/order_id") != order {
                self.fail(format!("carts: {id} should be the order `{order}`: {}", reply.json));
            }
        }
    }

    /// An order costs what its cart was shown to cost, at the prices that the server has.
    pub(crate) fn check_price(&self, cart: &Cart, shown: &Reply, placed: &Reply) {
        let (before, after) = (
            int(&shown.json, "/totals/total/amount"),
            int(&placed.json, "/order/totals/total/amount"),
        );
        if shown.is_success() && before != after {
            self.fail(format!("carts: {} was shown at {before}, and ordered at {after}", cart.id));
        }
        for line in list(&placed.json, "/order/items") {
            let variant = text(line, "/variant_id");
            let place = self.base.variants.iter().position(|(id, _)| *id == variant);
            let price = place.and_then(crate::base::price);
            if price != Some(int(line, "/price/amount")) {
                self.fail(format!("carts: {} has a line at a price of nobody: {line}", cart.id));
            }
        }
    }

    /// What a guest's and the customer's cart have together before they are merged; unknown while others may change them.
    pub(crate) async fn units_to_merge(&self, cart: &Cart, session: &str) -> Option<Units> {
        if !self.is_alone.get() {
            return None;
        }
        let guests = self.call(self.of_cart(Method::GET, cart, ""), Trouble::None).await;
        let own = Call::get("/v1/storefront/customer/cart").from(cart.shopper.saturating_add(1));
        let own = own.header("authorization", format!("Bearer {session}"));
        let own = self.call(own, Trouble::None).await;
        let is_known = guests.is_success() && (own.is_success() || own.status == 404);
        is_known.then(|| units_of([&guests.json, &own.json]))
    }

    /// A merged cart has what both have had.
    pub(crate) fn check_merged(&self, cart: &Cart, before: &Units, merged: &Reply) {
        let after = units_of([&merged.json]);
        if after != *before {
            let id = &cart.id;
            self.fail(format!("carts: {id} and the customer's had {before:?}, and have {after:?}"));
        }
    }
}

/// Units by variant.
pub(crate) type Units = BTreeMap<String, i64>;

/// The units of carts.
fn units_of<'a>(carts: impl IntoIterator<Item = &'a Value>) -> Units {
    let mut units = Units::new();
    for line in carts.into_iter().flat_map(|cart| list(cart, "/lines")) {
        let count = units.entry(text(line, "/variant_id")).or_default();
        *count = count.saturating_add(int(line, "/quantity"));
    }
    units
}

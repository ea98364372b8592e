//! Bugs of carts: each is what a gateway that has it would do with a request, instead of what the gateway does.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use core_types::id::{CartId, StoreId};
use core_types::key;
use emulators::TABLE;
use http::Method;
use serde_json::json;
use table::item::Key;

use super::Plant;
use crate::client::{Call, Reply};
use crate::run::Run;
use crate::step::Trouble;

/// The header of an idempotency key.
const KEY: &str = "idempotency-key";

/// An item as the table has it.
pub(super) type Stored = HashMap<String, AttributeValue>;

/// The cart that a request is about, and what follows it in the path.
fn about(call: &Call) -> Option<(CartId, &str)> {
    let (_, cart) = call.path.split_once("/carts/")?;
    let (id, below) = cart.split_once('/').unwrap_or((cart, ""));
    Some((CartId::parse(id)?, below))
}

impl Run<'_> {
    /// Sends a request to the gateway, or to one that has the planted bug.
    pub(crate) async fn send(&self, call: &Call, trouble: Trouble) -> (Reply, u32) {
        let (plant, world) = (self.planted.borrow().plant, &self.world);
        let (Some(plant), Some((cart, below))) = (plant, about(call)) else {
            return world.call(call, trouble).await;
        };
        match (plant, below) {
            (Plant::DoubledConversion, "checkout") => {
                self.remember(&cart).await;
                self.send_as_if_open(&cart, call, trouble).await
            }
            (Plant::ChangedConversion, "checkout") => {
                self.remember(&cart).await;
                world.call(call, trouble).await
            }
            (Plant::ChangedConversion, "") => self.send_as_if_open(&cart, call, trouble).await,
            (Plant::ChangedTotal, "checkout") => {
                self.add_a_unit(call).await;
                world.call(&expecting_nothing(call), trouble).await
            }
            (Plant::IgnoredTotal, "checkout") => {
                world.call(&expecting_nothing(call), trouble).await
            }
            (Plant::LostLines, "merge") => {
                self.empty(call).await;
                world.call(call, trouble).await
            }
            (Plant::SharedCart, _) => {
                let path = call.path.replacen(self.base.elsewhere, self.base.subdomain, 1);
                world.call(&Call { path, ..call.clone() }, trouble).await
            }
            _ => world.call(call, trouble).await,
        }
    }

    /// Remembers a cart as it is before it is ordered.
    async fn remember(&self, cart: &CartId) {
        let Some(item) = self.stored(cart).await else { return };
        self.planted.borrow_mut().ordered.entry(cart.to_string()).or_insert(item);
    }

    /// Sends a request; if the cart is an order, as if it were none.
    async fn send_as_if_open(&self, cart: &CartId, call: &Call, trouble: Trouble) -> (Reply, u32) {
        let answer = self.world.call(call, trouble).await;
        let open = self.planted.borrow().ordered.get(cart.as_str()).cloned();
        let (Some(open), "cart_converted") = (open, answer.0.code()) else { return answer };
        let Some(converted) = self.stored(cart).await else { return answer };
        self.put(open).await;
        // The rejection is stored under the key.
        let mut again = call.clone();
        for (_, key) in again.headers.iter_mut().filter(|(name, _)| *name == KEY) {
            key.push_str("-again");
        }
        let answer = self.world.call(&again, trouble).await;
        self.put(converted).await;
        answer
    }

    /// Another unit gets into a cart that is about to be ordered.
    async fn add_a_unit(&self, checkout: &Call) {
        let Some((variant, _)) = self.base.variants.last() else { return };
        let line = json!({"variant_id": variant, "quantity": 1});
        let path = checkout.path.replace("/checkout", "/lines");
        let mut add = Call { path, ..checkout.clone() }.json(json!({"lines": [line]}));
        add.headers.retain(|(name, _)| *name != KEY);
        drop(self.world.call(&add, Trouble::None).await);
    }

    /// A guest's cart that is about to be merged is empty.
    async fn empty(&self, merge: &Call) {
        let (path, method) = (merge.path.replace("/merge", ""), Method::PATCH);
        let mut empty = Call { method, path, ..merge.clone() }.json(json!({"lines": []}));
        empty.headers.retain(|(name, _)| *name != "authorization");
        drop(self.world.call(&empty, Trouble::None).await);
    }

    async fn stored(&self, cart: &CartId) -> Option<Stored> {
        let Key { pk, sk } = key::cart(&StoreId::parse(&self.base.store)?, cart);
        let get = self.world.embedded.dynamodb().get_item().table_name(TABLE);
        let get = get.key("PK", AttributeValue::S(pk)).key("SK", AttributeValue::S(sk));
        get.consistent_read(true).send().await.ok()?.item
    }

    async fn put(&self, item: Stored) {
        let put = self.world.embedded.dynamodb().put_item().table_name(TABLE);
        let _ = put.set_item(Some(item)).send().await;
    }
}

/// The checkout of a cart by a shopper who expects no total.
fn expecting_nothing(checkout: &Call) -> Call {
    checkout.clone().json(json!({}))
}

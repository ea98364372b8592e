//! What shoppers and the merchant do with orders.

use serde_json::{Value, json};

use crate::client::{Call, Reply, list, text};
use crate::model::Placed;
use crate::run::Run;
use crate::step::{Action, Method, Step, Trouble};

/// Where goods go.
pub(super) fn address() -> Value {
    json!({
        "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road", "city": "Bengaluru",
        "region": "KA", "postal_code": "560001", "country": "IN",
    })
}

impl Run<'_> {
    /// Takes a step that is about orders; whether it is.
    pub(super) async fn take_of_orders(&self, step: &Step) -> bool {
        match &step.action {
            Action::Checkout { .. } => self.check_out(step).await,
            Action::Draft { .. } => self.draft(step).await,
            Action::Confirm { order } => {
                drop(self.of_order(step, *order, "confirm", json!({})).await);
            }
            Action::MarkPaid { order } => {
                drop(self.of_order(step, *order, "mark-paid", json!({})).await);
            }
            Action::Close { order, is_reopened } => {
                let verb = if *is_reopened { "reopen" } else { "close" };
                drop(self.of_order(step, *order, verb, json!({})).await);
            }
            Action::Fulfill { order, quantity } => self.fulfill(step, *order, *quantity).await,
            Action::Unfulfill { order } => {
                if let Some((order, parcel)) = self.one(|model| &model.parcels, *order) {
                    let path = format!("/v1/orders/{order}/fulfillments/{parcel}/cancel");
                    drop(self.act(step, path, json!({})).await);
                }
            }
            Action::Cancel { order, is_refunded } => {
                let refund = if *is_refunded { "full" } else { "none" };
                let body = json!({"refund": refund, "unusable_gift_cards": "credit"});
                if let Some(reply) = self.of_order(step, *order, "cancel", body).await {
                    self.count_cancelled(&reply);
                }
            }
            Action::GiveUp { order } => self.give_up(step, *order).await,
            Action::CancelUnits { order, quantity } => {
                if let Some(body) = self.units(*order, *quantity, None).await {
                    drop(self.of_order(step, *order, "lines/cancel", body).await);
                }
            }
            Action::ReturnUnits { order, quantity } => {
                if let Some(body) = self.units(*order, *quantity, None).await {
                    drop(self.of_order(step, *order, "lines/return", body).await);
                }
            }
            _ => return false,
        }
        true
    }

    /// The merchant does something with an order, if there is one.
    pub(super) async fn of_order(
        &self,
        step: &Step,
        order: u64,
        verb: &str,
        body: Value,
    ) -> Option<Reply> {
        let order = self.one(|model| &model.orders, order)?;
        Some(self.act(step, format!("/v1/orders/{}/{verb}", order.id), body).await)
    }

    fn count_cancelled(&self, reply: &Reply) {
        if reply.is_success() {
            let mut model = self.model.borrow_mut();
            model.cancelled = model.cancelled.saturating_add(1);
        }
    }

    /// So many units of the first line of an order.
    pub(super) async fn units(
        &self,
        order: u64,
        quantity: i64,
        restock: Option<&str>,
    ) -> Option<Value> {
        let order = self.one(|model| &model.orders, order)?;
        let path = format!("/v1/orders/{}", order.id);
        let shown = self.merchant(Call::get(path), Trouble::None).await;
        let line = shown.text("/items/0/id");
        let mut item = json!({"order_item_id": line, "quantity": quantity});
        if let (Some(restock), Some(item)) = (restock, item.as_object_mut()) {
            item.insert("restock_type".to_owned(), json!(restock));
        }
        Some(json!({ "items": [item] }))
    }

    async fn check_out(&self, step: &Step) {
        let Action::Checkout { shopper, lines, code, card, method } = &step.action else { return };
        let variant = |number: &u64| {
            let place = usize::try_from(*number).unwrap_or(0);
            self.base.variants.get(place).map(|(id, _)| id.clone())
        };
        let line = |(number, quantity): &(u64, i64)| json!({"variant_id": variant(number), "quantity": quantity});
        let mut cart = json!({
            "email": format!("shopper{shopper}@example.com"),
            "items": lines.iter().map(line).collect::<Vec<_>>(),
            "shipping_address": address(),
            "payment": {"provider": method.name()},
        });
        let code = code.and_then(|number| crate::model::pick(&self.base.discounts, number));
        let card = card.and_then(|number| self.one(|model| &model.cards, number));
        if let Some(cart) = cart.as_object_mut() {
            if let Some((_, code)) = &code {
                cart.insert("discount_codes".to_owned(), json!([code]));
            }
            if let Some(card) = &card {
                cart.insert("gift_card_codes".to_owned(), json!([card.code]));
            }
        }
        let path = format!("/v1/storefront/{}/orders", self.base.subdomain);
        let call = Call::post(path, cart).from(shopper.saturating_add(1));
        let call = call.header("idempotency-key", self.key(step.number));
        let reply = self.call(call, step.trouble).await;
        if reply.is_success() {
            let token = Some(reply.text("/order_token"));
            self.placed(reply.text("/order/id"), token, Some(*method), code.is_some());
        }
    }

    async fn draft(&self, step: &Step) {
        let Action::Draft { customer, line, card } = &step.action else { return };
        let (Some(customer), Some((variant, _))) = (
            crate::model::pick(&self.base.customers, *customer),
            crate::model::pick(&self.base.variants, line.0),
        ) else {
            return;
        };
        let mut order = json!({
            "customer_id": customer, "items": [{"variant_id": variant, "quantity": line.1}],
            "shipping_address": address(),
        });
        let card = card.and_then(|number| self.one(|model| &model.cards, number));
        if let (Some(order), Some(card)) = (order.as_object_mut(), card) {
            order.insert("gift_card_codes".to_owned(), json!([card.code]));
        }
        let reply = self.act(step, "/v1/orders".to_owned(), order).await;
        if reply.is_success() {
            self.placed(reply.text("/id"), None, None, false);
        }
    }

    pub(super) fn placed(
        &self,
        id: String,
        token: Option<String>,
        method: Option<Method>,
        is_coded: bool,
    ) {
        let mut model = self.model.borrow_mut();
        if id.is_empty() || model.orders.iter().any(|order| order.id == id) {
            drop(model);
            return self.fail(format!("two checkouts have made one order, `{id}`"));
        }
        model.coded = model.coded.saturating_add(u64::from(is_coded));
        model.orders.push(Placed { id, token, method });
    }

    async fn fulfill(&self, step: &Step, order: u64, quantity: Option<i64>) {
        let body = match quantity {
            Some(quantity) => self.units(order, quantity, None).await,
            None => Some(json!({})),
        };
        let Some(body) = body else { return };
        let Some(reply) = self.of_order(step, order, "fulfill", body).await else { return };
        if reply.is_success() {
            let parcel = (reply.text("/order/id"), reply.text("/fulfillment/id"));
            self.model.borrow_mut().parcels.push(parcel);
        }
    }

    async fn give_up(&self, step: &Step, order: u64) {
        let Some(order) = self.one(|model| &model.orders, order) else { return };
        let Some(token) = order.token else { return };
        let path = format!("/v1/storefront/{}/orders/{}/cancel", self.base.subdomain, order.id);
        let call = Call::post(path, json!({})).from(40).header("x-service-order-token", token);
        let call = call.header("idempotency-key", self.key(step.number));
        let reply = self.call(call, step.trouble).await;
        self.count_cancelled(&reply);
    }
}

/// The units of a list that is in an order's lines.
pub(crate) fn units_of(order: &Value, variant: &str, count: impl Fn(&Value) -> i64) -> i64 {
    let lines = list(order, "/items").iter();
    lines.filter(|line| text(line, "/variant_id") == variant).map(count).sum()
}

//! Orders and money: what the orders, the providers and the gift cards have.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Books;
use crate::client::{int, list, text};
use crate::plant::Plant;
use crate::run::Run;

impl Run<'_> {
    /// Each checkout that succeeded is one order, and there is no other.
    pub(super) fn check_orders(&self, books: &Books) {
        let known = self.model.borrow();
        let known: BTreeSet<String> = known.orders.iter().map(|order| order.id.clone()).collect();
        let found: BTreeSet<String> = books.orders.iter().map(|order| text(order, "/id")).collect();
        for id in known.symmetric_difference(&found) {
            self.fail(format!("orders: {id} is only asked for, or only there"));
        }
        let refunds: BTreeSet<String> = books
            .orders
            .iter()
            .flat_map(|order| list(order, "/refunds"))
            .map(|refund| text(refund, "/id"))
            .collect();
        for id in self.model.borrow().refunds.difference(&refunds) {
            self.fail(format!("refunds: {id} was made, and is not there"));
        }
        for order in &books.orders {
            self.check_order(order);
        }
    }

    /// Of an order: what came in is what went back, is held by banks, or can still go back.
    fn check_order(&self, order: &Value) {
        let id = text(order, "/id");
        let sum = |name: &str| int(order, &format!("/{name}/amount"));
        let of = |list_of: &str, name: &str| -> i64 {
            let parts = list(order, list_of).iter();
            parts.map(|part| int(part, &format!("/{name}/amount"))).sum()
        };
        let captured = of("/payments", "captured").saturating_add(of("/gift_cards", "amount"));
        let refunded = of("/payments", "refunded").saturating_add(of("/gift_cards", "refunded"));
        let there = (sum("captured_total"), sum("refunded_total"));
        if (captured, refunded) != there {
            self.fail(format!(
                "money: {id} has captured and refunded {there:?}, its parts {captured}, {refunded}: {order}"
            ));
        }
    }

    /// What a payment says is what its provider has.
    pub(super) fn check_payments(&self, books: &Books) {
        let providers = &self.world.providers;
        let (all, mut refunds) = (providers.payments(), providers.refunds());
        refunds.retain(|refund| text(refund, "/status") != "failed");
        if self.planted.borrow().plant == Some(Plant::LostRefund) {
            refunds.pop();
        }
        for payment in &books.payments {
            let (id, reference) = (text(payment, "/id"), text(payment, "/provider_reference"));
            let there = match text(payment, "/provider").as_str() {
                "razorpay" => razorpay(&reference, &all, &refunds),
                "stripe" => stripe(&reference, &all, &refunds),
                _ => continue,
            };
            let here = (int(payment, "/captured/amount"), int(payment, "/refunded/amount"));
            if here != there {
                self.fail(format!(
                    "money: {id} has captured and refunded {here:?}, {} {there:?}: {payment}",
                    text(payment, "/provider"),
                ));
            }
            let (captured, refunded) = here;
            let disputed = int(payment, "/disputed/amount");
            let left = captured.saturating_sub(refunded).saturating_sub(disputed).max(0);
            if text(payment, "/status") != "voided" && left != int(payment, "/refundable/amount") {
                self.fail(format!("money: {id} can refund something else than {left}: {payment}"));
            }
        }
        let known = self.model.borrow();
        for opened in &known.payments {
            let is_there = |payment: &&Value| text(payment, "/id") == opened.id;
            let found = books.payments.iter().find(is_there);
            if found.is_none_or(|payment| text(payment, "/order_id") != opened.order) {
                self.fail(format!("money: {} of {} is gone", opened.id, opened.order));
            }
        }
    }

    /// A gift card has what was put on it, less what orders hold of it.
    pub(super) async fn check_cards(&self, books: &Books) {
        let cards = self.model.borrow().cards.clone();
        for card in cards {
            let shown = self.show(&format!("/v1/products/gift-cards/{}", card.id)).await;
            let balance = int(&shown, "/balance/amount");
            let held: i64 = books.orders.iter().map(|order| held_of(order, &card.id)).sum();
            let should = card.value.saturating_sub(held);
            if balance != should || balance < 0 {
                let id = &card.id;
                self.fail(format!("gift cards: {id} has {balance}, should {should} ({held} held)"));
            }
            let path = format!("/v1/products/gift-cards/{}/transactions", card.id);
            let entries = self.all(&path).await;
            let sum: i64 = entries.iter().map(signed).sum();
            if sum != balance {
                self.fail(format!("gift cards: {} has {balance}, its ledger {sum}", card.id));
            }
        }
    }
}

/// What Razorpay has of the payments of an order: captured and refunded.
fn razorpay(reference: &str, payments: &[Value], refunds: &[Value]) -> (i64, i64) {
    let own = payments.iter().filter(|payment| {
        text(payment, "/order_id") == reference
            && payment.get("captured").and_then(Value::as_bool) == Some(true)
    });
    let mut sums = (0_i64, 0_i64);
    for payment in own {
        let id = text(payment, "/id");
        let back = refunds.iter().filter(|refund| text(refund, "/payment_id") == id);
        let back: i64 = back.map(|refund| int(refund, "/amount")).sum();
        sums = (sums.0.saturating_add(int(payment, "/amount")), sums.1.saturating_add(back));
    }
    sums
}

/// What Stripe has of an intent: captured and refunded.
fn stripe(reference: &str, payments: &[Value], refunds: &[Value]) -> (i64, i64) {
    let own = payments.iter().find(|payment| text(payment, "/id") == reference);
    let captured = own.map_or(0, |intent| int(intent, "/amount_received"));
    let back = refunds.iter().filter(|refund| text(refund, "/payment_intent") == reference);
    (captured, back.map(|refund| int(refund, "/amount")).sum())
}

/// What an order holds of a gift card.
fn held_of(order: &Value, card: &str) -> i64 {
    let own = |one: &&Value| text(one, "/gift_card_id") == card;
    let uses = list(order, "/gift_cards").iter().filter(own);
    uses.map(|one| int(one, "/amount/amount").saturating_sub(int(one, "/refunded/amount"))).sum()
}

/// The amount of a ledger's entry, by its kind.
fn signed(entry: &Value) -> i64 {
    let amount = int(entry, "/amount/amount");
    let is_taken = ["debited", "redeemed"].contains(&text(entry, "/kind").as_str());
    if is_taken { amount.saturating_neg() } else { amount }
}

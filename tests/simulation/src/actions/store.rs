//! What the merchant does with gift cards, codes, stock, customers and files.

use std::fmt::Write as _;

use http::Method as Verb;
use serde_json::{Value, json};

use crate::client::{Call, Reply, int, list, text};
use crate::model::{Card, pick};
use crate::run::Run;
use crate::step::{Action, Step, Trouble};

impl Run<'_> {
    /// Takes a step that is about the store.
    pub(super) async fn take_of_store(&self, step: &Step) {
        match &step.action {
            Action::Issue { value } => self.issue(step, *value).await,
            Action::Adjust { card, amount } => self.adjust(step, *card, *amount).await,
            Action::SwitchCard { card, is_enabled } => {
                if let Some(card) = self.one(|model| &model.cards, *card) {
                    self.switch(step, &format!("/v1/products/gift-cards/{}", card.id), *is_enabled)
                        .await;
                }
            }
            Action::SwitchCode { code, is_enabled } => {
                if let Some((id, _)) = pick(&self.base.discounts, *code) {
                    self.switch(step, &format!("/v1/discounts/{id}"), *is_enabled).await;
                }
            }
            Action::Stock { variant, location, delta } => {
                let change = json!({"delta": delta});
                self.count(step, "adjust", (*variant, *location), change).await;
            }
            Action::SetStock { variant, location, quantity } => {
                let change = json!({"quantity": quantity, "compare_quantity": null});
                self.count(step, "set", (*variant, *location), change).await;
            }
            Action::MoveStock { variant, location, quantity, is_back } => {
                let (from, to) =
                    if *is_back { ("reserved", "available") } else { ("available", "reserved") };
                let change = json!({"quantity": quantity, "from_state": from, "to_state": to});
                self.count(step, "move", (*variant, *location), change).await;
            }
            Action::Redact { shopper, customer } => self.redact(step, *shopper, *customer).await,
            Action::Merge { one, other } => {
                let customers = &self.base.customers;
                if let (Some(one), Some(other)) = (pick(customers, *one), pick(customers, *other)) {
                    let path = format!("/v1/customers/{one}/merges");
                    drop(self.act(step, path, json!({"source_id": other})).await);
                }
            }
            Action::Import { products } => self.import(step, *products).await,
            _ => {}
        }
    }

    async fn switch(&self, step: &Step, path: &str, is_enabled: bool) {
        let verb = if is_enabled { "enable" } else { "disable" };
        drop(self.act(step, format!("{path}/{verb}"), json!({})).await);
    }

    async fn issue(&self, step: &Step, value: i64) {
        let body = json!({"initial_value": {"amount": value, "currency": "INR"}});
        let reply = self.act(step, "/v1/products/gift-cards".to_owned(), body).await;
        if reply.is_success() {
            let (id, code) = (reply.text("/id"), reply.text("/code"));
            self.model.borrow_mut().cards.push(Card { id, code, value });
        }
    }

    async fn adjust(&self, step: &Step, card: u64, amount: i64) {
        let Some(card) = self.one(|model| &model.cards, card) else { return };
        let verb = if amount < 0 { "debit" } else { "credit" };
        let sum = json!({"amount": amount.saturating_abs().max(1), "currency": "INR"});
        let body = json!({"amount": sum, "reason": "counted"});
        let path = format!("/v1/products/gift-cards/{}/{verb}", card.id);
        let reply = self.act(step, path, body).await;
        if reply.is_success() {
            let moved = if amount == 0 { 1 } else { amount };
            let mut model = self.model.borrow_mut();
            if let Some(card) = model.cards.iter_mut().find(|known| known.id == card.id) {
                card.value = card.value.saturating_add(moved);
            }
        }
    }

    /// The merchant changes the stock of a variant at a location.
    async fn count(&self, step: &Step, verb: &str, at: (u64, u64), mut change: Value) {
        let place = usize::try_from(at.0).unwrap_or(0);
        let (Some((variant, _)), Some(location)) =
            (self.base.variants.get(place), pick(&self.base.locations, at.1))
        else {
            return;
        };
        if let Some(change) = change.as_object_mut() {
            change.insert("item_id".to_owned(), json!(variant));
            change.insert("location_id".to_owned(), json!(location));
        }
        let body = json!({"reason": "counted", "changes": [change]});
        let reply = self.act(step, format!("/v1/inventory/levels/{verb}"), body).await;
        self.counted(place, &reply);
    }

    fn counted(&self, place: usize, reply: &Reply) {
        if !reply.is_success() {
            return;
        }
        let changes = || list(&reply.json, "/changes").iter();
        let all: i64 = changes().map(|change| int(change, "/delta")).sum();
        let aside = changes().filter(|change| text(change, "/state") == "reserved");
        let aside: i64 = aside.map(|change| int(change, "/delta")).sum();
        let mut model = self.model.borrow_mut();
        if let Some(units) = model.units.get_mut(place) {
            *units = units.saturating_add(all);
        }
        if let Some(held) = model.held.get_mut(place) {
            *held = held.saturating_add(aside);
        }
    }

    async fn redact(&self, step: &Step, shopper: u64, customer: Option<u64>) {
        let customer = customer.and_then(|number| pick(&self.base.customers, number));
        let (path, body) = if let Some(id) = customer {
            (format!("/v1/customers/{id}/redact"), json!({}))
        } else {
            let email = format!("shopper{shopper}@example.com");
            ("/v1/customers/guests/redact".to_owned(), json!({ "email": email }))
        };
        drop(self.act(step, path, body).await);
    }

    async fn import(&self, step: &Step, products: i64) {
        let mut file = "Handle,Title,Variant SKU,Variant Price,Variant Inventory Tracker,\
                        Variant Inventory Qty\n"
            .to_owned();
        let mut handles = Vec::new();
        for number in 0..products {
            let handle = format!("imported-{}-{number}", step.number);
            let _ = writeln!(file, "{handle},Imported {number},S-{handle},10,shopify,3");
            handles.push(handle);
        }
        let made = self.act(step, "/v1/imports".to_owned(), json!({"kind": "products"})).await;
        let id = text(&made.json, "/id");
        if id.is_empty() {
            return;
        }
        let call = Call::new(Verb::PUT, format!("/v1/imports/{id}/parts/1"));
        let call = call.bytes("text/csv", file.into_bytes());
        drop(self.merchant(call, Trouble::None).await);
        let begun = self.act(step, format!("/v1/imports/{id}/start"), json!({})).await;
        if begun.is_success() {
            self.model.borrow_mut().imported.extend(handles);
        }
    }
}

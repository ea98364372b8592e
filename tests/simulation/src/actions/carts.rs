//! What shoppers do with carts, by the requests that a shop makes of the storefront.

use std::collections::BTreeSet;

use core_types::id::{CustomerId, StoreId};
use core_types::key;
use futures_util::future::join_all;
use http::Method as Verb;
use identity::customer::Customer;
use identity::customer::CustomerSession;
use identity::session::CreatedVia;
use primitives::problem::Code;
use serde_json::{Value, json};

use super::orders::address;
use crate::client::{Call, Reply, int, list, text};
use crate::model::{Cart, pick};
use crate::run::Run;
use crate::step::{Method, OfCart, Step, Trouble};

impl Run<'_> {
    pub(super) async fn add_to_cart(&self, step: &Step, shopper: u64, line: (u64, i64)) {
        let own = |cart: &&Cart| cart.shopper == shopper && cart.order.is_none() && !cart.is_gone;
        let open = self.model.borrow().carts.iter().rev().find(own).cloned();
        let lines = json!({"lines": [self.line(&line)]});
        if let Some(cart) = open {
            let call = self.of_cart(Verb::POST, &cart, "/lines").json(lines);
            drop(self.call(call, step.trouble).await);
            return;
        }
        self.create_cart(step, shopper, lines, None).await;
    }

    /// A cart of a guest, or of the customer with this session, who may have one already.
    async fn create_cart(&self, step: &Step, shopper: u64, lines: Value, session: Option<&str>) {
        let path = format!("/v1/storefront/{}/carts", self.base.subdomain);
        let mut call = Call::post(path, lines).from(shopper.saturating_add(1));
        call = call.header("idempotency-key", self.key(step.number));
        if let Some(session) = session {
            call = call.header("authorization", format!("Bearer {session}"));
        }
        let reply = self.call(call, step.trouble).await;
        if reply.is_success() {
            self.model.borrow_mut().carts.push(Cart {
                id: reply.text("/cart/id"),
                token: reply.text("/cart_token"),
                session: session.map(str::to_owned),
                shopper,
                order: None,
                is_gone: false,
            });
        }
    }

    pub(super) async fn take_of_cart(&self, step: &Step, number: u64, what: &OfCart) {
        let Some(cart) = self.one(|model| &model.carts, number) else { return };
        match what {
            OfCart::Change(lines) => {
                let lines: Vec<Value> = lines.iter().map(|line| self.line(line)).collect();
                self.change(step, &cart, json!({ "lines": lines })).await;
            }
            OfCart::Code(code) => {
                let code = code.and_then(|number| pick(&self.base.discounts, number));
                let codes: Vec<&str> = code.iter().map(|(_, code)| *code).collect();
                self.change(step, &cart, json!({ "discount_codes": codes })).await;
            }
            OfCart::Card(card) => {
                if let Some(card) = self.one(|model| &model.cards, *card) {
                    self.change(step, &cart, json!({"add_gift_card_codes": [card.code]})).await;
                }
            }
            OfCart::Merge { customer, own } => self.merge(step, &cart, (*customer, *own)).await,
            OfCart::Order { method, tabs, is_doubled } => {
                self.order_cart(step, &cart, *method, (*tabs, *is_doubled)).await;
            }
            OfCart::Haggle => self.haggle(step, &cart).await,
            OfCart::Elsewhere => self.try_elsewhere(step, &cart).await,
            OfCart::Abandon => {
                let call = self.of_cart(Verb::DELETE, &cart, "");
                let reply = self.call(call, step.trouble).await;
                if reply.is_success() {
                    self.mark(&cart.id, |cart| cart.is_gone = true);
                }
            }
        }
    }

    fn line(&self, (variant, quantity): &(u64, i64)) -> Value {
        let place = usize::try_from(*variant).unwrap_or(0);
        let variant = self.base.variants.get(place).map(|(id, _)| id.clone());
        json!({"variant_id": variant, "quantity": quantity})
    }

    /// A request about a cart, by whoever has it.
    pub(crate) fn of_cart(&self, verb: Verb, cart: &Cart, below: &str) -> Call {
        Self::of_cart_at(self.base.subdomain, verb, cart, below)
    }

    fn of_cart_at(subdomain: &str, verb: Verb, cart: &Cart, below: &str) -> Call {
        let path = format!("/v1/storefront/{subdomain}/carts/{}{below}", cart.id);
        let call = Call::new(verb, path).from(cart.shopper.saturating_add(1));
        match &cart.session {
            Some(session) => call.header("authorization", format!("Bearer {session}")),
            None => call.header("x-service-cart-token", cart.token.clone()),
        }
    }

    async fn change(&self, step: &Step, cart: &Cart, body: Value) -> Reply {
        let call = self.of_cart(Verb::PATCH, cart, "").json(body);
        let reply = self.call(call, step.trouble).await;
        if cart.order.is_some() && reply.is_success() {
            self.fail(format!("carts: {} is an order, and was changed: {}", cart.id, reply.json));
        }
        reply
    }

    /// Notes what has become of a cart.
    fn mark(&self, id: &str, change: impl FnOnce(&mut Cart)) {
        let mut model = self.model.borrow_mut();
        if let Some(cart) = model.carts.iter_mut().find(|cart| cart.id == id) {
            change(cart);
        }
    }

    /// A customer signs in, without their password, whose hash would take most of the time.
    async fn session(&self, number: u64) -> Option<String> {
        let (store, id) = (StoreId::parse(&self.base.store)?, pick(&self.base.customers, number)?);
        let (table, now) = (&self.world.embedded.app().table, self.world.clock.now());
        let customer = key::customer(&store, &CustomerId::parse(&id)?);
        let customer: Customer = table.get(&customer).await.ok()??;
        let (session, token) =
            CustomerSession::begin(&customer, CreatedVia::Password, String::new(), now);
        table.write().create(&session, Code::VersionConflict).commit().await.ok()?;
        Some(token)
    }

    async fn merge(&self, step: &Step, cart: &Cart, (customer, own): (u64, Option<(u64, i64)>)) {
        if cart.session.is_some() {
            return;
        }
        let Some(session) = self.session(customer).await else { return };
        if let Some(line) = own {
            let lines = json!({"lines": [self.line(&line)]});
            self.create_cart(step, cart.shopper, lines, Some(&session)).await;
        }
        let units = self.units_to_merge(cart, &session).await;
        let call = self.of_cart(Verb::POST, cart, "/merge");
        let call = call.header("authorization", format!("Bearer {session}"));
        let reply = self.call(call, step.trouble).await;
        if !reply.is_success() {
            return;
        }
        if let Some(units) = units {
            self.check_merged(cart, &units, &reply);
        }
        let id = reply.text("/id");
        if id == cart.id {
            self.mark(&id, |cart| cart.session = Some(session));
            return;
        }
        // It is a part of the customer's own cart now, which they open by this session as well.
        self.mark(&cart.id, |cart| cart.is_gone = true);
        self.mark(&id, |cart| cart.session = Some(session));
    }

    /// Fills in what an order needs, as the checkout's form does; the cart as it is shown then.
    async fn review(&self, step: &Step, cart: &Cart, method: Method) -> Reply {
        let mut form =
            json!({"shipping_address": address(), "payment": {"provider": method.name()}});
        if cart.session.is_none()
            && let Some(form) = form.as_object_mut()
        {
            let email = format!("shopper{}@example.com", cart.shopper);
            form.insert("email".to_owned(), json!(email));
        }
        self.change(step, cart, form).await
    }

    /// Orders a cart from several tabs at once. In each the button may be pressed twice: the same key.
    async fn order_cart(
        &self,
        step: &Step,
        cart: &Cart,
        method: Method,
        (tabs, is_doubled): (u64, bool),
    ) {
        let shown = self.review(step, cart, method).await;
        let total = shown.json.pointer("/totals/total").cloned();
        // An order by now: the form is sent once more after the back button, and expects nothing.
        let body = total.map_or_else(|| json!({}), |total| json!({ "expected_total": total }));
        let presses = (0..tabs).flat_map(|_| {
            let key = self.key(step.number);
            std::iter::repeat_n(key, if is_doubled { 2 } else { 1 })
        });
        let calls = presses.map(|key| {
            let call = self.of_cart(Verb::POST, cart, "/checkout").json(body.clone());
            self.call(call.header("idempotency-key", key), step.trouble)
        });
        let replies = join_all(calls).await;
        let mut orders: BTreeSet<String> = cart.order.iter().cloned().collect();
        for reply in &replies {
            let code = text(&reply.json, "/code");
            if reply.is_success() {
                orders.insert(reply.text("/order/id"));
            } else if code == "cart_converted" {
                orders.insert(reply.text("/order_id"));
            }
        }
        let converted = replies.iter().find(|reply| reply.is_success());
        if orders.len() > 1 {
            self.fail(format!("carts: {} has become several orders: {orders:?}", cart.id));
        }
        let Some(order) = orders.into_iter().next() else { return };
        let is_known = self.model.borrow().orders.iter().any(|known| known.id == order);
        match converted {
            Some(reply) if !is_known => {
                let is_coded = !list(&reply.json, "/order/discounts").is_empty();
                self.placed(
                    order.clone(),
                    Some(reply.text("/order_token")),
                    Some(method),
                    is_coded,
                );
                self.check_price(cart, &shown, reply);
            }
            Some(_) => {
                self.fail(format!("carts: {} was ordered again: {order}", cart.id));
            }
            None => {}
        }
        self.mark(&cart.id, |cart| cart.order = Some(order));
    }

    /// A total that nobody has shown orders nothing.
    async fn haggle(&self, step: &Step, cart: &Cart) {
        let shown = self.review(step, cart, Method::Manual).await;
        let total = int(&shown.json, "/totals/total/amount");
        if !shown.is_success() || total == 0 {
            return;
        }
        let body =
            json!({"expected_total": {"amount": total.saturating_sub(1), "currency": "INR"}});
        let call = self.of_cart(Verb::POST, cart, "/checkout").json(body);
        let call = call.header("idempotency-key", self.key(step.number));
        let reply = self.call(call, Trouble::None).await;
        // Somebody may have changed the cart meanwhile, so that it costs just that.
        if reply.is_success() && int(&reply.json, "/order/totals/total/amount") == total {
            self.fail(format!("carts: {} was ordered at a total that was not expected", cart.id));
        }
        if reply.is_success() {
            let order = reply.text("/order/id");
            let is_coded = !list(&reply.json, "/order/discounts").is_empty();
            let token = Some(reply.text("/order_token"));
            self.placed(order.clone(), token, Some(Method::Manual), is_coded);
            self.mark(&cart.id, |cart| cart.order = Some(order));
        }
    }

    /// Another store knows no cart of this one, whatever is tried.
    async fn try_elsewhere(&self, step: &Step, cart: &Cart) {
        let subdomain = self.base.elsewhere;
        for (verb, below) in [(Verb::GET, ""), (Verb::PATCH, ""), (Verb::POST, "/checkout")] {
            let mut call = Self::of_cart_at(subdomain, verb.clone(), cart, below);
            if verb != Verb::GET {
                call = call.json(json!({})).header("idempotency-key", self.key(step.number));
            }
            let reply = self.call(call, Trouble::None).await;
            if ![401, 404].contains(&reply.status) {
                let (id, status) = (&cart.id, reply.status);
                self.fail(format!("carts: {id} is {status} at another store: {}", reply.json));
            }
        }
    }
}

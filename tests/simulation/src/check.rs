//! What must be true once everything is at rest, whatever has happened.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::actions::orders::units_of;
use crate::client::{Call, int, list, text};
use crate::network::Arrival;
use crate::plant::Plant;
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

    /// Each checkout that succeeded is one order, and there is no other.
    fn check_orders(&self, books: &Books) {
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

    /// Each cart has become the order that its shopper was told of, or is none, and an order is of one cart.
    async fn check_carts(&self, books: &Books) {
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
            let reply = self.call(self.of_cart(http::Method::GET, &cart, ""), Trouble::None).await;
            self.world.advance(std::time::Duration::from_secs(1));
            // It may have expired, have been deleted, or its customer's session is over.
            if reply.is_success() && reply.text("/order_id") != order {
                self.fail(format!("carts: {id} should be the order `{order}`: {}", reply.json));
            }
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
    fn check_payments(&self, books: &Books) {
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
    async fn check_cards(&self, books: &Books) {
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

    /// Every unit is where the orders and the merchant have put it.
    async fn check_stock(&self, books: &Books) {
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
    async fn check_discounts(&self, books: &Books) {
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
    async fn check_products(&self) {
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

    /// A customer or a guest has as many orders as name them, and has spent what those have brought in.
    async fn check_customers(&self, books: &Books) {
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
    async fn check_redactions(&self, books: &Books) {
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

    /// Every event has arrived, those of an entity in order, and the last of an order is about the order as it is.
    async fn check_events(&self, books: &Books) {
        let mut arrivals = self.world.receiver.arrivals();
        if self.planted.borrow().plant == Some(Plant::SwappedEvents) {
            swap(&mut arrivals);
        }
        let mut versions: BTreeMap<&str, u64> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for arrival in &arrivals {
            let Arrival { event, kind, entity, version } = arrival;
            if !seen.insert(event.as_str()) {
                continue;
            }
            let last = versions.entry(entity).or_default();
            if *version < *last {
                self.fail(format!("events: {kind} {version} of {entity} came after {last}"));
            }
            *last = (*last).max(*version);
        }
        let mut expunged = BTreeSet::new();
        for event in self.all("/v1/operations/outbox").await {
            let (id, kind) = (text(&event, "/id"), text(&event, "/type"));
            let is_old = text(&event, "/created_at") < self.begun.to_string();
            // A redaction takes what an event says of a person, and nobody gets it then.
            if event.get("payload_expunged").and_then(Value::as_bool) == Some(true) {
                expunged.insert(text(&event, "/entity/id"));
            } else if !seen.contains(id.as_str()) && !is_old {
                let path = format!("/v1/operations/webhook-deliveries?event_id={id}");
                let deliveries = self.all(&path).await;
                self.fail(format!(
                    "events: {kind} {id} has never arrived: {deliveries:?}, {event}"
                ));
            }
        }
        for order in &books.orders {
            let (id, version) = (text(order, "/id"), order.get("version").and_then(Value::as_u64));
            let last = versions.get(id.as_str()).copied();
            if last != version && !expunged.contains(&id) {
                self.fail(format!("events: {id} has version {version:?}, and {last:?} came last"));
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

/// Whether units of an order wait to be sent.
fn is_waiting(order: &Value) -> bool {
    !["cancelled", "expired"].contains(&text(order, "/status").as_str())
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

/// Whether an order has given its uses back: it ended, and nothing of what was paid for it is left.
fn gives_back(order: &Value) -> bool {
    let sum = |name: &str| int(order, &format!("/{name}/amount"));
    !is_waiting(order) && sum("captured_total") <= sum("refunded_total")
}

/// Swaps the first two events of one entity.
fn swap(arrivals: &mut [Arrival]) {
    for place in 0..arrivals.len() {
        let later = arrivals.iter().enumerate().skip(place).find(|(_, later)| {
            arrivals
                .get(place)
                .is_some_and(|one| one.entity == later.entity && one.version < later.version)
        });
        if let Some((other, _)) = later {
            return arrivals.swap(place, other);
        }
    }
}

//! The checks at the end of a run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use benches::AnyError;
use benches::http::{Connection, Input};
use serde_json::Value;

use crate::clients::{CARD, Done, History};
use crate::receiver::Heard;
use crate::shops::{STOCK, Shop, text};

/// The time without a new event after which no more are expected: the sweep runs once a minute, and
/// interrupted work is repeated after its lease.
const QUIET: Duration = Duration::from_secs(150);
/// Faults that are printed at most.
const SHOWN: usize = 200;

/// The result of the checks.
#[derive(Debug, Default)]
pub struct Verdict {
    faults: Vec<String>,
    orders: usize,
    cards: usize,
    events: usize,
    /// The time from the last write to the last event.
    settled: Duration,
}

impl Verdict {
    /// Whether nothing was lost or done twice.
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    fn ensure(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(otherwise());
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { orders, cards, events, settled, .. } = self;
        let settled = settled.as_secs();
        writeln!(
            f,
            "{orders} orders and {cards} gift cards are there, {events} events were heard, the last \
             {settled} s after the last write."
        )?;
        for fault in self.faults.iter().take(SHOWN) {
            writeln!(f, "- {fault}")?;
        }
        match self.faults.len() {
            0 => write!(f, "Nothing is lost, nothing was done twice; stock and money add up."),
            count => write!(f, "{count} faults."),
        }
    }
}

/// Runs all checks.
pub async fn all(
    address: &str,
    shops: &[Arc<Shop>],
    history: &History,
    heard: &Heard,
) -> Result<Verdict, AnyError> {
    let mut verdict = Verdict { settled: hear_all(history, heard).await, ..Verdict::default() };
    let mut expected = HashSet::new();
    for shop in shops {
        let mut connection = Connection::to(address);
        let orders = list(shop, &mut connection, "/v1/orders").await?;
        let cards = list(shop, &mut connection, "/v1/products/gift-cards").await?;
        verdict.orders += orders.len();
        verdict.cards += cards.len();
        {
            let mut all = history.done();
            let done = all.entry(shop.id.clone()).or_default();
            same(&mut verdict, "order", &done.orders, &orders)?;
            same(&mut verdict, "gift card", &done.cards, &cards)?;
            let is_cancelled = |order: &Value| order["status"] == "cancelled";
            let cancelled: Vec<Value> =
                orders.iter().filter(|o| is_cancelled(o)).cloned().collect();
            same(&mut verdict, "cancelled order", &done.cancelled, &cancelled)?;
            money(&mut verdict, shop, &orders, &cards);
            expected.extend(wanted(done));
        }
        stock(&mut verdict, shop, &mut connection, history, &orders).await?;
    }
    events(&mut verdict, &expected, history, heard);
    Ok(verdict)
}

/// The events of the acknowledged writes: their types and subjects.
fn wanted(done: &Done) -> Vec<(String, String)> {
    let kinds = [
        ("order.created", &done.orders),
        ("order.cancelled", &done.cancelled),
        ("gift_card.created", &done.cards),
    ];
    let each = kinds.into_iter().flat_map(|(kind, ids)| ids.iter().map(move |id| (kind, id)));
    each.map(|(kind, id)| (kind.to_owned(), id.clone())).collect()
}

/// Waits until every event was received, or no more arrive. Returns the time until the last event.
async fn hear_all(history: &History, heard: &Heard) -> Duration {
    let begun = Instant::now();
    let expected: Vec<_> = history.done().values().flat_map(wanted).collect();
    let changes: u64 = history.done().values().map(|done| done.changes).sum();
    let (mut last, mut seen) = (begun, 0);
    loop {
        {
            let events = heard.events();
            let adjusted = adjustments(&events);
            let is_all = expected.iter().all(|event| events.contains_key(event));
            if (is_all && adjusted >= changes) || last.elapsed() > QUIET {
                return last.duration_since(begun);
            }
            if events.len() > seen {
                (last, seen) = (Instant::now(), events.len());
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn adjustments(events: &HashMap<(String, String), HashSet<String>>) -> u64 {
    let all = events.iter().filter(|((kind, _), _)| kind == "inventory.adjusted");
    all.map(|(_, ids)| u64::try_from(ids.len()).unwrap_or(0)).sum()
}

/// Checks that each expected event was received, with one id.
fn events(
    verdict: &mut Verdict,
    expected: &HashSet<(String, String)>,
    history: &History,
    heard: &Heard,
) {
    let events = heard.events();
    verdict.events = events.values().map(HashSet::len).sum();
    for event @ (kind, about) in expected {
        let ids = events.get(event).map_or(0, HashSet::len);
        verdict.ensure(ids == 1, || format!("{kind} of {about}: {ids} events were heard"));
    }
    for (kind, about) in events.keys().filter(|event| !expected.contains(*event)) {
        let is_expected = kind == "inventory.adjusted";
        verdict.ensure(is_expected, || format!("{kind} of {about}, which nobody acknowledged"));
    }
    let changes: u64 = history.done().values().map(|done| done.changes).sum();
    let adjusted = adjustments(&events);
    verdict.ensure(adjusted == changes, || {
        format!("{adjusted} events of {changes} changes of stock were heard")
    });
}

/// Checks that a list has exactly the acknowledged objects.
fn same(
    verdict: &mut Verdict,
    what: &str,
    acknowledged: &HashSet<String>,
    listed: &[Value],
) -> Result<(), AnyError> {
    let ids: Vec<String> = listed.iter().map(|one| text(one, "/id")).collect::<Result<_, _>>()?;
    let there: HashSet<&String> = ids.iter().collect();
    verdict.ensure(there.len() == ids.len(), || format!("a list has a {what} twice"));
    for lost in acknowledged.iter().filter(|id| !there.contains(id)) {
        verdict.faults.push(format!("the {what} {lost} was acknowledged and is lost"));
    }
    for more in there.iter().filter(|id| !acknowledged.contains(**id)) {
        verdict.faults.push(format!("the {what} {more} is there, and nobody was told of it"));
    }
    Ok(())
}

/// Checks that the issued amounts are on the gift cards, or have paid for orders.
fn money(verdict: &mut Verdict, shop: &Shop, orders: &[Value], cards: &[Value]) {
    let amount = |one: &Value, pointer: &str| one.pointer(pointer).and_then(Value::as_i64);
    let sum = |all: &[Value], pointer: &str| -> i64 {
        all.iter().map(|one| amount(one, pointer).unwrap_or(0)).sum()
    };
    let issued = CARD * i64::try_from(cards.len()).unwrap_or(0);
    let left = sum(cards, "/balance/amount");
    let paid = sum(orders, "/captured_total/amount") - sum(orders, "/refunded_total/amount");
    verdict.ensure(issued == left + paid, || {
        format!("{}: of {issued} issued, {left} are left and {paid} were paid", shop.subdomain)
    });
    let over = orders.iter().filter(|order| {
        let parts = ["captured_total", "outstanding"].map(|part| &order[part]["amount"]);
        let [captured, outstanding] = parts.map(|part| part.as_i64().unwrap_or(0));
        let total = amount(order, "/totals/total/amount").unwrap_or(0);
        order["status"] != "cancelled" && captured + outstanding != total
    });
    let over = over.count();
    verdict.ensure(over == 0, || {
        format!("{}: {over} orders are not what is paid and outstanding", shop.subdomain)
    });
}

/// Checks that the stock on hand is the initial stock with all changes, and that the orders' quantities are
/// reserved or committed.
async fn stock(
    verdict: &mut Verdict,
    shop: &Shop,
    connection: &mut Connection,
    history: &History,
    orders: &[Value],
) -> Result<(), AnyError> {
    let mut held: BTreeMap<&str, i64> = BTreeMap::new();
    for order in orders.iter().filter(|order| order["status"] != "cancelled") {
        for line in order["items"].as_array().into_iter().flatten() {
            let variant = line["variant_id"].as_str().unwrap_or_default();
            *held.entry(variant).or_default() += line["remaining"].as_i64().unwrap_or(0);
        }
    }
    for variant in &shop.variants {
        let path = format!("/v1/inventory/levels?item_ids={variant}");
        let levels = shop.request(connection, Input::get(path)).await?;
        let number = |name: &str| levels["data"][0]["quantities"][name].as_i64().unwrap_or(-1);
        let [available, reserved, committed, on_hand] =
            ["available", "reserved", "committed", "on_hand"].map(number);
        let added = history.done().get(&shop.id).and_then(|done| done.added.get(variant).copied());
        let expected = STOCK + added.unwrap_or(0);
        verdict.ensure(on_hand == expected, || {
            format!("{variant}: {on_hand} on hand, and not {expected}")
        });
        let held = held.get(variant.as_str()).copied().unwrap_or(0);
        verdict.ensure(reserved + committed == held, || {
            format!("{variant}: {reserved} reserved, {committed} committed; orders hold {held}")
        });
        verdict.ensure(available + reserved + committed == on_hand, || {
            format!("{variant}: {available} available and {held} held of {on_hand}")
        });
    }
    Ok(())
}

/// Loads all items of a list.
async fn list(
    shop: &Shop,
    connection: &mut Connection,
    path: &str,
) -> Result<Vec<Value>, AnyError> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = Input::get(format!("{path}?limit=100{cursor}"));
        let page = shop.request(connection, page).await?;
        all.extend(page["data"].as_array().cloned().unwrap_or_default());
        match page["page"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(all),
        }
    }
}

//! The clients that write, and the record of acknowledged writes.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use benches::AnyError;
use benches::http::{Connection, Input, Reply};
use serde_json::{Value, json};

use crate::shops::{Shop, VARIANTS, text};

/// The timeout of a request.
const DEADLINE: Duration = Duration::from_secs(20);
/// The wait before an unanswered request is repeated.
const SOON: Duration = Duration::from_millis(50);
/// Writes of one client that wait to be repeated at most; new ones begin only below that.
const MOST_WAITING: usize = 32;
/// The longest time for a write to be answered; after that the run fails.
const PATIENCE: Duration = Duration::from_mins(5);
/// The initial balance of a gift card.
pub const CARD: i64 = 2_500;

/// The acknowledged writes of a store.
#[derive(Debug, Default)]
pub struct Done {
    /// Created orders.
    pub orders: HashSet<String>,
    /// Cancelled orders.
    pub cancelled: HashSet<String>,
    /// Issued gift cards.
    pub cards: HashSet<String>,
    /// The sum of stock changes of each variant.
    pub added: BTreeMap<String, i64>,
    /// The number of stock changes.
    pub changes: u64,
}

/// The progress of the run: begun, acknowledged and rejected writes.
pub struct History {
    writes: u64,
    seed: u64,
    next: AtomicU64,
    acknowledged: AtomicU64,
    open: AtomicU64,
    unanswered: AtomicU64,
    is_over: AtomicBool,
    put_off: Mutex<BTreeMap<String, u64>>,
    rejected: Mutex<BTreeMap<String, u64>>,
    done: Mutex<BTreeMap<String, Done>>,
}

impl History {
    /// The beginning of a run with this number of writes.
    pub fn new(writes: u64, seed: u64) -> Self {
        Self {
            writes,
            seed,
            next: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            open: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            put_off: Mutex::default(),
            rejected: Mutex::default(),
            done: Mutex::default(),
        }
    }

    /// The number of acknowledged writes.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// The number of unanswered writes.
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Stops new writes.
    pub fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// The acknowledged writes, by store.
    pub fn done(&self) -> MutexGuard<'_, BTreeMap<String, Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next write; none if no more are to begin.
    fn next(&self) -> Option<u64> {
        // A finally rejected write is replaced by another.
        let rejected: u64 =
            self.rejected.lock().unwrap_or_else(PoisonError::into_inner).values().sum();
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let most = self.writes.saturating_add(rejected);
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            (next < most).then_some(next + 1)
        });
        taken.ok()
    }

    /// A summary of the run.
    pub fn summary(&self, took: Duration) -> String {
        let done = self.done();
        let sum = |of: fn(&Done) -> usize| done.values().map(of).sum::<usize>();
        let put_off = self.put_off.lock().unwrap_or_else(PoisonError::into_inner);
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        format!(
            "{} writes acknowledged in {} s: {} orders, {} cancellations, {} gift cards, {} changes \
             of stock; {} attempts without an answer, and these, sent again: {put_off:?}; \
             rejected for good: {rejected:?}",
            self.acknowledged(),
            took.as_secs(),
            sum(|done| done.orders.len()),
            sum(|done| done.cancelled.len()),
            sum(|done| done.cards.len()),
            sum(|done| usize::try_from(done.changes).unwrap_or(usize::MAX)),
            self.unanswered.load(Ordering::Relaxed),
        )
    }
}

/// A write, which is repeated until it is answered.
struct Write {
    number: u64,
    what: What,
    first: Instant,
    not_before: Instant,
}

enum What {
    Order(Value),
    Cancel(String),
    Card,
    Change(String, i64),
}

/// One client of one store.
pub struct Client {
    connection: Connection,
    shop: Arc<Shop>,
    history: Arc<History>,
    waiting: VecDeque<Write>,
    orders: Vec<String>,
    codes: Vec<String>,
}

impl Client {
    /// Creates a client of this store.
    pub fn new(address: &str, shop: Arc<Shop>, history: Arc<History>) -> Self {
        Self {
            connection: Connection::to(address),
            shop,
            history,
            waiting: VecDeque::new(),
            orders: Vec::new(),
            codes: Vec::new(),
        }
    }

    /// Writes until all writes are answered.
    pub async fn write_all(mut self) -> Result<(), AnyError> {
        loop {
            let now = Instant::now();
            let due = self.waiting.iter().position(|write| write.not_before <= now);
            let write = match due.and_then(|due| self.waiting.remove(due)) {
                Some(write) => write,
                None if self.waiting.len() >= MOST_WAITING => {
                    tokio::time::sleep(SOON).await;
                    continue;
                }
                None => match self.history.next() {
                    Some(number) => {
                        self.history.open.fetch_add(1, Ordering::Relaxed);
                        Write { number, what: self.choose(number), first: now, not_before: now }
                    }
                    None if self.waiting.is_empty() => return Ok(()),
                    None => {
                        tokio::time::sleep(SOON).await;
                        continue;
                    }
                },
            };
            if write.first.elapsed() > PATIENCE {
                return Err(format!("write {} is not answered", write.number).into());
            }
            self.attempt(write).await?;
        }
    }

    /// Chooses a write. Of ten, seven are orders, one of them paid with a gift card; the others are a
    /// cancellation, a gift card, and a stock change.
    fn choose(&mut self, number: u64) -> What {
        let draw = mix(self.history.seed.wrapping_add(mix(number)));
        let variant = |shift: u32| {
            let place = usize::try_from((draw >> shift) % 64).unwrap_or(0) % VARIANTS;
            self.shop.variants[place].clone()
        };
        match number % 10 {
            7 if !self.orders.is_empty() => {
                let place = usize::try_from(draw % 1_000).unwrap_or(0) % self.orders.len();
                What::Cancel(self.orders.swap_remove(place))
            }
            8 => What::Card,
            9 => {
                let delta = i64::try_from(draw % 20).unwrap_or(0) + 1;
                What::Change(variant(8), if draw & 32 == 0 { delta } else { -delta })
            }
            other => {
                let (one, more) = (variant(8), variant(16));
                let mut lines = vec![json!({"variant_id": one, "quantity": draw % 3 + 1})];
                if more != one {
                    lines.push(json!({"variant_id": more, "quantity": 1}));
                }
                let mut order = json!({
                    "email": "shopper@example.com",
                    "items": lines,
                    "shipping_address": {
                        "first_name": "Asha", "last_name": "Rao", "line1": "1 MG Road",
                        "city": "Bengaluru", "region": "KA", "postal_code": "560001", "country": "IN",
                    },
                });
                if other == 3
                    && let Some(code) = self.codes.pop()
                {
                    order["gift_card_codes"] = json!([code]);
                }
                What::Order(order)
            }
        }
    }

    async fn attempt(&mut self, write: Write) -> Result<(), AnyError> {
        let sent = tokio::time::timeout(DEADLINE, self.send(&write)).await;
        let Ok(Ok(reply)) = sent else {
            self.history.unanswered.fetch_add(1, Ordering::Relaxed);
            self.later(write, SOON);
            return Ok(());
        };
        let code = reply.json().ok().and_then(|json| text(&json, "/code").ok()).unwrap_or_default();
        let passing = ["request_in_progress", "version_conflict"].contains(&code.as_str());
        if passing || matches!(reply.status, 401 | 429 | 500..) {
            let header = reply.headers.iter().find(|(name, _)| name == "retry-after");
            let wait =
                header.and_then(|(_, seconds)| seconds.parse().ok()).map(Duration::from_secs);
            self.later(write, wait.unwrap_or(SOON));
            count(&self.history.put_off, format!("{} {code}", reply.status));
            return Ok(());
        }
        self.history.open.fetch_sub(1, Ordering::Relaxed);
        if !(200..300).contains(&reply.status) {
            count(&self.history.rejected, format!("{} {code}", reply.status));
            return Ok(());
        }
        self.note(&write.what, &reply)?;
        self.history.acknowledged.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn later(&mut self, write: Write, wait: Duration) {
        self.waiting.push_back(Write { not_before: Instant::now() + wait, ..write });
    }

    async fn send(&mut self, write: &Write) -> Result<Reply, AnyError> {
        let key = format!("crash-{:0>22}", write.number);
        let input = match &write.what {
            What::Order(order) => {
                let path = format!("/v1/storefront/{}/orders", self.shop.subdomain);
                // Each order has a network of its own, also when it is repeated.
                let network = Ipv4Addr::from((20 << 24) + u32::try_from(write.number)?).to_string();
                let input = Input::post(path, order.clone()).header("x-forwarded-for", network);
                return self.connection.send(&input.header("idempotency-key", key)).await;
            }
            What::Cancel(order) => {
                let reason = json!({"reason": "customer_request"});
                Input::post(format!("/v1/orders/{order}/cancel"), reason)
            }
            What::Card => {
                let value = json!({"amount": CARD, "currency": "INR"});
                Input::post("/v1/products/gift-cards", json!({"initial_value": value}))
            }
            What::Change(item, delta) => {
                let change =
                    json!({"item_id": item, "location_id": self.shop.location, "delta": delta});
                let input = json!({"reason": "counted", "changes": [change]});
                Input::post("/v1/inventory/levels/adjust", input)
            }
        };
        self.shop.send(&mut self.connection, input.header("idempotency-key", key)).await
    }

    /// Records an acknowledged write.
    fn note(&mut self, what: &What, reply: &Reply) -> Result<(), AnyError> {
        let json = reply.json()?;
        let mut all = self.history.done();
        let done = all.entry(self.shop.id.clone()).or_default();
        match what {
            What::Order(_) => {
                let id = text(&json, "/order/id")?;
                done.orders.insert(id.clone());
                self.orders.push(id);
            }
            What::Cancel(order) => {
                done.cancelled.insert(order.clone());
            }
            What::Card => {
                done.cards.insert(text(&json, "/id")?);
                self.codes.push(text(&json, "/code")?);
            }
            What::Change(item, delta) => {
                *done.added.entry(item.clone()).or_default() += delta;
                done.changes += 1;
            }
        }
        Ok(())
    }
}

fn count(answers: &Mutex<BTreeMap<String, u64>>, answer: String) {
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    *answers.entry(answer).or_default() += 1;
}

/// Mixes the bits of a number: the finalizer of `SplitMix64`.
pub fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

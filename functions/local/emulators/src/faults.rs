//! What `DynamoDB` does to its callers and the emulator never does: throttling, transactions that meet
//! others, replies that are lost or slow, indexes that are behind, pages that end early and batches that
//! are done in part (docs/platform.md §1).
//!
//! A layer between the SDK and the emulator. It is planned, call by call, by a test that wants a certain
//! fault at a certain place; or drawn, at rates and from a seed: the same seed has the same call go wrong
//! in the same way.

mod answers;
mod connector;
mod late;
mod pages;
mod plan;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use serde_json::Value;
use tokio::sync::watch;

use late::Late;
pub use plan::{Plan, PlanError};

/// How far a read is behind when it is (our choice): more than a request takes.
const BEHIND: Duration = Duration::from_millis(100);
/// How far it is where that is planned: more than a busy machine takes for what a test does meanwhile.
const FAR_BEHIND: Duration = Duration::from_secs(2);
/// The longest that a slow reply takes more than others (our choice): less than an attempt's time limit.
const SLOW: Duration = Duration::from_millis(250);

/// What happens to one call of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Rejected for its rate: `ProvisionedThroughputExceededException`, `ThrottlingException`, or a
    /// transaction that is cancelled for it.
    Throttled,
    /// A transaction, or a write, that met a transaction of somebody else's.
    Conflict,
    /// Done, and the reply is lost: the connection ends, or the answer is 500.
    LostReply,
    /// Done, and the reply takes its time.
    Slow,
    /// An index, or a read that is not consistent, that answers as it was a moment before.
    Stale,
    /// A page that ends before it should, perhaps before its first item, with a key to go on from.
    Short,
    /// A batch of which a part is left undone.
    Leftover,
    /// Rejected for good, as where a permission is missing. Only planned.
    Denied,
    /// A write that the table never takes, as of an item that is too large. Only planned.
    Invalid,
    /// Not handed on before so many calls of this operation have come. Only planned.
    Behind(&'static str, usize),
}

/// Which calls the table never takes: by their operation, and what they ask.
type Rejecting = Box<dyn FnMut(&str, &Value) -> bool + Send>;

impl Fault {
    /// Those that are drawn.
    pub const DRAWN: [Self; 7] = [
        Self::Throttled,
        Self::Conflict,
        Self::LostReply,
        Self::Slow,
        Self::Stale,
        Self::Short,
        Self::Leftover,
    ];

    /// As a plan has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throttled => "throttle",
            Self::Conflict => "conflict",
            Self::LostReply => "lost",
            Self::Slow => "slow",
            Self::Stale => "stale",
            Self::Short => "short",
            Self::Leftover => "leftover",
            Self::Denied => "denied",
            Self::Invalid => "invalid",
            Self::Behind(..) => "behind",
        }
    }

    /// Whether it can happen to a call like this.
    fn suits(self, call: &Call) -> bool {
        let operation = call.operation.as_str();
        match self {
            Self::Invalid => call.is_write(),
            Self::Conflict => call.is_write() || operation == "TransactGetItems",
            Self::Stale => {
                call.may_be_late && ["Query", "GetItem", "BatchGetItem"].contains(&operation)
            }
            Self::Short => operation == "Query",
            Self::Leftover => ["BatchGetItem", "BatchWriteItem"].contains(&operation),
            Self::Throttled | Self::LostReply | Self::Slow | Self::Denied | Self::Behind(..) => {
                true
            }
        }
    }
}

/// What is looked at to tell which faults suit a call.
#[derive(Debug)]
struct Call {
    operation: String,
    /// Whether it reads what may be a moment old.
    may_be_late: bool,
}

impl Call {
    fn is_write(&self) -> bool {
        let operation = self.operation.as_str();
        matches!(operation, "PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems")
    }
}

/// Mixes the bits of a number: the finalizer of `SplitMix64`.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A way to the table on which calls go wrong. Cheap to clone; clones count together.
#[derive(Debug, Clone)]
pub struct Faults(Arc<Inner>);

/// What no plan draws: writes that are rejected for good.
#[derive(Default)]
struct Rejected(Option<Rejecting>);

impl fmt::Debug for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refused({})", self.0.is_some())
    }
}

#[derive(Debug)]
struct Inner {
    plan: Option<Plan>,
    is_held: AtomicBool,
    /// Calls of one operation that go wrong, in order.
    planned: Mutex<VecDeque<(&'static str, Fault)>>,
    rejecting: Mutex<Rejected>,
    calls: AtomicU64,
    /// How many calls of each operation have come.
    came: watch::Sender<BTreeMap<String, usize>>,
    happened: Mutex<BTreeMap<&'static str, u64>>,
    late: Late,
}

impl Default for Faults {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Faults {
    /// Calls go wrong as [`Faults::will`] says.
    pub fn planned() -> Self {
        Self::default()
    }

    /// Calls go wrong as they are drawn.
    pub fn drawn(plan: Plan) -> Self {
        Self::new(Some(plan))
    }

    fn new(plan: Option<Plan>) -> Self {
        let late = Late::by(if plan.is_some() { BEHIND } else { FAR_BEHIND });
        Self(Arc::new(Inner {
            plan,
            is_held: AtomicBool::new(false),
            planned: Mutex::default(),
            rejecting: Mutex::default(),
            calls: AtomicU64::new(0),
            came: watch::Sender::default(),
            happened: Mutex::default(),
            late,
        }))
    }

    /// Has nothing go wrong, or things go wrong again: what a system is made with is to be whole.
    pub fn hold(&self, is_held: bool) {
        self.0.is_held.store(is_held, Ordering::Relaxed);
    }

    /// The next calls of these operations go wrong, in this order.
    pub fn will(&self, faults: impl IntoIterator<Item = (&'static str, Fault)>) {
        lock(&self.0.planned).extend(faults);
    }

    /// From now on, writes of which this is so are rejected as the table rejects what it can never take
    /// ([`Fault::Invalid`]). It is asked about each write once, so that it can count them.
    pub fn reject(&self, rejecting: impl FnMut(&str, &Value) -> bool + Send + 'static) {
        lock(&self.0.rejecting).0 = Some(Box::new(rejecting));
    }

    /// Whether a write is one that the table never takes.
    fn rejects(&self, call: &Call, input: &Value) -> bool {
        let is_held = self.0.is_held.load(Ordering::Relaxed);
        let mut rejecting = lock(&self.0.rejecting);
        let asked = rejecting.0.as_mut().filter(|_| call.is_write() && !is_held);
        asked.is_some_and(|rejecting| rejecting(&call.operation, input))
    }

    /// How many planned faults have not happened.
    pub fn left(&self) -> usize {
        lock(&self.0.planned).len()
    }

    /// How many calls of this operation have come.
    pub fn came(&self, operation: &str) -> usize {
        self.0.came.borrow().get(operation).copied().unwrap_or(0)
    }

    /// How many calls have come.
    pub fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// How often what has happened, by the names of a plan.
    pub fn happened(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.0.happened).clone()
    }

    /// Waits until no read can be behind what was written before.
    pub async fn settle(&self) {
        if let Some(rest) = self.0.late.rest() {
            tokio::time::sleep(rest).await;
        }
    }

    /// Lays this between the SDK and the table.
    pub(super) fn before(&self, client: &SharedHttpClient) -> SharedHttpClient {
        connector::client(self.clone(), client.clone())
    }

    /// What happens to a call that comes now, and a number that its details follow from.
    fn next(&self, call: &Call) -> (Option<Fault>, u64) {
        if self.0.is_held.load(Ordering::Relaxed) {
            return (None, 0);
        }
        let number = self.0.calls.fetch_add(1, Ordering::Relaxed);
        self.0.came.send_modify(|came| {
            let count = came.entry(call.operation.clone()).or_default();
            *count = count.saturating_add(1);
        });
        let planned = {
            let mut planned = lock(&self.0.planned);
            let is_due = planned.front().is_some_and(|(operation, _)| *operation == call.operation);
            if is_due { planned.pop_front().map(|(_, fault)| fault) } else { None }
        };
        match (planned, &self.0.plan) {
            (Some(fault), _) => (Some(fault).filter(|fault| fault.suits(call)), mix(number)),
            (None, Some(plan)) => plan.draw(number, call),
            (None, None) => (None, 0),
        }
    }

    /// Counts what has happened.
    fn count(&self, fault: Fault) {
        let mut happened = lock(&self.0.happened);
        let count = happened.entry(fault.name()).or_default();
        *count = count.saturating_add(1);
    }

    /// Whether reads may be behind: what there was is remembered only then.
    fn may_be_stale(&self) -> bool {
        let is_planned = || lock(&self.0.planned).iter().any(|(_, fault)| *fault == Fault::Stale);
        self.0.plan.as_ref().is_some_and(|plan| plan.has(Fault::Stale)) || is_planned()
    }

    /// Waits until so many calls of this operation have come.
    async fn until(&self, operation: &str, calls: usize) {
        let mut came = self.0.came.subscribe();
        // An error says that the sender is gone, which it is not while this is here.
        let _ = came.wait_for(|came| came.get(operation).is_some_and(|n| *n >= calls)).await;
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.plan {
            Some(plan) => plan.fmt(f),
            None => f.write_str("as planned"),
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

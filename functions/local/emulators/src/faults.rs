//! Injected faults of `DynamoDB` that the emulator never has: throttling, transaction conflicts, lost and
//! slow replies, stale indexes, pages that end early, and batches that are processed in part
//! (docs/platform.md §1).
//!
//! They are a layer between the SDK and the emulator. A test plans them call by call, or they are drawn at
//! rates and from a seed: the same seed injects the same fault into the same call.

mod answers;
mod connector;
mod fault;
mod late;
mod pages;
mod plan;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use fault::Call;
pub use fault::Fault;
use late::Late;
use plan::mix;
pub use plan::{Plan, PlanError};

/// How far a drawn stale read is behind (our choice): longer than a request takes.
const BEHIND: Duration = Duration::from_millis(100);
/// How far a planned stale read is behind: longer than a busy machine takes for a test's steps.
const FAR_BEHIND: Duration = Duration::from_secs(2);

/// Selects the writes that are rejected as invalid, by operation and input.
type Rejecting = Box<dyn FnMut(&str, &Value) -> bool + Send>;

/// The faults between clients and the table. Cheap to clone; clones share their state.
#[derive(Debug, Clone)]
pub struct Faults(Arc<Inner>);

/// The selection of writes that are rejected as invalid, if there is one.
#[derive(Default)]
struct Rejected(Option<Rejecting>);

impl fmt::Debug for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rejected({})", self.0.is_some())
    }
}

#[derive(Debug)]
struct Inner {
    plan: Mutex<Option<Plan>>,
    is_held: AtomicBool,
    /// The planned faults, each with its operation, in order.
    planned: Mutex<VecDeque<(&'static str, Fault)>>,
    rejecting: Mutex<Rejected>,
    calls: AtomicU64,
    /// The number of calls of each operation so far.
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
    /// Faults that are planned with [`Faults::will`].
    pub fn planned() -> Self {
        Self::default()
    }

    /// Faults that are drawn from a plan.
    pub fn drawn(plan: Plan) -> Self {
        Self::new(Some(plan))
    }

    fn new(plan: Option<Plan>) -> Self {
        let late = Late::by(if plan.is_some() { BEHIND } else { FAR_BEHIND });
        Self(Arc::new(Inner {
            plan: Mutex::new(plan),
            is_held: AtomicBool::new(false),
            planned: Mutex::default(),
            rejecting: Mutex::default(),
            calls: AtomicU64::new(0),
            came: watch::Sender::default(),
            happened: Mutex::default(),
            late,
        }))
    }

    /// Suspends or resumes all faults, for the setup of a system.
    pub fn hold(&self, is_held: bool) {
        self.0.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Draws from this plan from now on, as if no call had come before.
    pub fn redraw(&self, plan: Plan) {
        *lock(&self.0.plan) = Some(plan);
        self.0.calls.store(0, Ordering::Relaxed);
    }

    /// Plans faults for the next calls of these operations, in this order.
    pub fn will(&self, faults: impl IntoIterator<Item = (&'static str, Fault)>) {
        lock(&self.0.planned).extend(faults);
    }

    /// Rejects all writes from now on for which `rejecting` is true, with [`Fault::Invalid`]. It is called
    /// once for each write, so that it can count them.
    pub fn reject(&self, rejecting: impl FnMut(&str, &Value) -> bool + Send + 'static) {
        lock(&self.0.rejecting).0 = Some(Box::new(rejecting));
    }

    /// Whether a call is a write that [`Faults::reject`] selects.
    fn rejects(&self, call: &Call, input: &Value) -> bool {
        let is_held = self.0.is_held.load(Ordering::Relaxed);
        let mut rejecting = lock(&self.0.rejecting);
        let active = rejecting.0.as_mut().filter(|_| call.is_write() && !is_held);
        active.is_some_and(|rejecting| rejecting(&call.operation, input))
    }

    /// The number of planned faults that have not happened yet.
    pub fn left(&self) -> usize {
        lock(&self.0.planned).len()
    }

    /// The number of calls of this operation so far.
    pub fn came(&self, operation: &str) -> usize {
        self.0.came.borrow().get(operation).copied().unwrap_or(0)
    }

    /// The number of calls so far.
    pub fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// The number of injected faults so far, by their names in a plan.
    pub fn happened(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.0.happened).clone()
    }

    /// Waits until no read can be behind the writes so far.
    pub async fn settle(&self) {
        if let Some(rest) = self.0.late.rest() {
            tokio::time::sleep(rest).await;
        }
    }

    /// The fault of the next call, and a random number for its details.
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
        match (planned, &*lock(&self.0.plan)) {
            (Some(fault), _) => (Some(fault).filter(|fault| fault.suits(call)), mix(number)),
            (None, Some(plan)) => plan.draw(number, call),
            (None, None) => (None, 0),
        }
    }

    /// Counts an injected fault.
    fn count(&self, fault: Fault) {
        let mut happened = lock(&self.0.happened);
        let count = happened.entry(fault.name()).or_default();
        *count = count.saturating_add(1);
    }

    /// Whether reads may be stale: only then are old items recorded.
    fn may_be_stale(&self) -> bool {
        let is_planned = || lock(&self.0.planned).iter().any(|(_, fault)| *fault == Fault::Stale);
        lock(&self.0.plan).as_ref().is_some_and(|plan| plan.has(Fault::Stale)) || is_planned()
    }

    /// Waits until this many calls of this operation have come.
    async fn until(&self, operation: &str, calls: usize) {
        let mut came = self.0.came.subscribe();
        // An error says that the sender was dropped, which it is not while `self` exists.
        let _ = came.wait_for(|came| came.get(operation).is_some_and(|n| *n >= calls)).await;
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*lock(&self.0.plan) {
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

//! The leases of a process, by their buckets.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bucket::Bucket;
use super::lease::Lease;

/// Buckets that are remembered; when all of them still count, all are forgotten (our choice). What
/// was left of their leases is restored in its time.
const MAX_ENTRIES: usize = 10_000;
/// Leases that are ended beside one charge, at most.
const ENDED_AT_ONCE: usize = 4;

/// What a process holds and knows of buckets.
#[derive(Debug, Default)]
pub struct Leases(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// By the bucket's key.
    slots: HashMap<String, Arc<Slot>>,
    /// What is to end, each at its time or later.
    ending: VecDeque<(i64, Arc<Slot>)>,
}

/// The lease of one bucket.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) bucket: Bucket,
    lease: Mutex<Lease>,
    /// Held by the one charge that asks the table; the others wait for what it brings.
    pub(super) asking: tokio::sync::Mutex<()>,
    /// How often the table did not answer.
    failures: AtomicU32,
    /// Whether it is listed to end.
    listed: AtomicBool,
}

impl Slot {
    fn new(bucket: Bucket) -> Self {
        let lease = Mutex::new(Lease::new(bucket.tier));
        let (failures, listed) = (AtomicU32::default(), AtomicBool::default());
        Self { bucket, lease, asking: tokio::sync::Mutex::default(), failures, listed }
    }

    pub(super) fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failures(&self) -> u32 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(super) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}

impl Leases {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lease of a bucket, if something is known of it.
    pub(super) fn known(&self, bucket: &Bucket) -> Option<Arc<Slot>> {
        self.memory().slots.get(bucket.name()).map(Arc::clone)
    }

    /// The lease of a bucket.
    pub(super) fn of(&self, bucket: &Bucket, now: i64) -> Arc<Slot> {
        let mut memory = self.memory();
        if let Some(slot) = memory.slots.get(bucket.name()) {
            return Arc::clone(slot);
        }
        if memory.slots.len() >= MAX_ENTRIES {
            memory.slots.retain(|_, slot| slot.lease().counts(now));
            if memory.slots.len() >= MAX_ENTRIES {
                memory.slots.clear();
                memory.ending.clear();
            }
        }
        let slot = Arc::new(Slot::new(bucket.clone()));
        memory.slots.insert(bucket.name().to_owned(), Arc::clone(&slot));
        slot
    }

    /// Sees to it that what a lease holds goes back.
    pub(super) fn will_end(&self, slot: &Arc<Slot>, now: i64) {
        let Some(until) = slot.lease().ends(now) else { return };
        if !slot.listed.swap(true, Ordering::Relaxed) {
            self.memory().ending.push_back((until, Arc::clone(slot)));
        }
    }

    /// Takes some of the leases whose time is over.
    pub(super) fn ended(&self, now: i64) -> Vec<Arc<Slot>> {
        let mut ended = Vec::new();
        let mut memory = self.memory();
        for _ in 0..ENDED_AT_ONCE {
            if memory.ending.front().is_none_or(|(until, _)| now < *until) {
                break;
            }
            let Some((_, slot)) = memory.ending.pop_front() else { break };
            let ends = slot.lease().ends(now);
            match ends {
                // It was renewed meanwhile.
                Some(until) if now < until => memory.ending.push_back((until, slot)),
                Some(_) => {
                    slot.listed.store(false, Ordering::Relaxed);
                    ended.push(slot);
                }
                None => slot.listed.store(false, Ordering::Relaxed),
            }
        }
        ended
    }
}

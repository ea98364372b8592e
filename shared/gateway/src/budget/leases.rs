//! The leases of a process, by their buckets.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bucket::Bucket;
use super::lease::Lease;

/// The most buckets in memory (our choice). When all of them still matter, all are removed. The rest of
/// their leases is restored by time.
const MAX_ENTRIES: usize = 10_000;
/// The most leases that are ended alongside one charge.
const ENDED_AT_ONCE: usize = 4;

/// The leases and readings of a process.
#[derive(Debug, Default)]
pub struct Leases(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// By the bucket's key.
    slots: HashMap<String, Arc<BucketLease>>,
    /// The leases that will end, each at its time or later.
    ending: VecDeque<(i64, Arc<BucketLease>)>,
}

/// The lease of one bucket.
#[derive(Debug)]
pub(super) struct BucketLease {
    pub(super) bucket: Bucket,
    lease: Mutex<Lease>,
    /// Held by the one charge that takes points from the table; the others wait for it.
    pub(super) refilling: tokio::sync::Mutex<()>,
    /// The number of requests that the table did not answer.
    failures: AtomicU32,
    /// Whether it is listed to end.
    listed: AtomicBool,
}

impl BucketLease {
    fn new(bucket: Bucket) -> Self {
        let lease = Mutex::new(Lease::new(bucket.tier));
        let (failures, listed) = (AtomicU32::default(), AtomicBool::default());
        Self { bucket, lease, refilling: tokio::sync::Mutex::default(), failures, listed }
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

    /// The lease of a bucket, if there is one in memory.
    pub(super) fn find(&self, bucket: &Bucket) -> Option<Arc<BucketLease>> {
        self.memory().slots.get(bucket.name()).map(Arc::clone)
    }

    /// The lease of a bucket; a new one if there is none in memory.
    pub(super) fn of(&self, bucket: &Bucket, now: i64) -> Arc<BucketLease> {
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
        let slot = Arc::new(BucketLease::new(bucket.clone()));
        memory.slots.insert(bucket.name().to_owned(), Arc::clone(&slot));
        slot
    }

    /// Schedules the return of the points that a lease holds.
    pub(super) fn will_end(&self, slot: &Arc<BucketLease>, now: i64) {
        let Some(until) = slot.lease().ends(now) else { return };
        if !slot.listed.swap(true, Ordering::Relaxed) {
            self.memory().ending.push_back((until, Arc::clone(slot)));
        }
    }

    /// Removes and returns some of the expired leases.
    pub(super) fn ended(&self, now: i64) -> Vec<Arc<BucketLease>> {
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

#[cfg(test)]
mod tests {
    use super::super::lease::LIFE;
    use super::*;
    use crate::caller::Identity;

    fn bucket(number: usize) -> Bucket {
        Bucket::of(&Identity::of_network(&number.to_string()))
    }

    #[test]
    fn it_never_grows_beyond_its_bound() {
        let leases = Leases::default();
        let see = |number: usize, tat: i64, now: i64| {
            leases.of(&bucket(number), now).lease().rejected(tat);
            leases.memory().slots.len()
        };
        for number in 0..MAX_ENTRIES {
            assert_eq!(see(number, i64::MAX, 0), number + 1);
        }
        assert_eq!(see(0, i64::MAX, 0), MAX_ENTRIES, "what is known already is no loss");
        assert_eq!(see(MAX_ENTRIES, i64::MAX, 0), 1);
        // What is full again goes first.
        for number in 0..MAX_ENTRIES - 1 {
            see(number, 1, 0);
        }
        assert_eq!(see(MAX_ENTRIES + 1, i64::MAX, 1), 2);
        assert!(leases.find(&bucket(MAX_ENTRIES)).is_some());
        assert!(leases.find(&bucket(0)).is_none());
    }

    #[test]
    fn a_lease_is_ended_once_when_its_last_renewal_is_a_second_old() {
        let leases = Leases::default();
        let slot = leases.of(&bucket(0), 0);
        let tier = slot.bucket.tier;
        leases.will_end(&slot, 0);
        assert!(leases.memory().ending.is_empty(), "nothing is held");
        let plan = slot.lease().plan(0, tier.micros(100));
        let mark = slot.lease().granted(&plan, plan.increment);
        slot.lease().refund(0, tier.micros(90), mark);
        leases.will_end(&slot, 0);
        leases.will_end(&slot, 0);
        assert_eq!(leases.memory().ending.len(), 1);
        assert!(leases.ended(LIFE - 1).is_empty());
        let renewed = slot.lease().plan(500_000, tier.micros(20));
        slot.lease().granted(&renewed, plan.increment + renewed.increment);
        assert!(leases.ended(LIFE).is_empty());
        let ended = leases.ended(500_000 + LIFE);
        assert!(ended.len() == 1 && Arc::ptr_eq(&ended[0], &slot));
        assert!(leases.memory().ending.is_empty());
        // It is listed again when it holds something again.
        leases.will_end(&slot, 500_000);
        assert_eq!(leases.memory().ending.len(), 1);
    }
}

//! The deadline of a sweep for calls of payment providers, which may be slow.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::Capabilities;

/// The most timeouts of the same provider in one sweep, of ten seconds each. The rest of its work is left to
/// the next sweep.
const MAX_TIMEOUTS: u32 = 8;
/// The time after its start in which a sweep still calls providers: the last call has to end within the minute that
/// the sweep has.
const CALL_WINDOW: Duration = Duration::from_secs(35);

/// The deadline of a sweep, and the timeouts of each provider: one that does not respond must not keep the
/// sweep from calling another.
#[derive(Debug)]
pub struct ProviderDeadline {
    until: Timestamp,
    timeouts: Vec<(ProviderName, AtomicU32)>,
}

impl ProviderDeadline {
    /// The deadline of a sweep that began at `began`.
    pub fn of_sweep(began: Timestamp) -> Self {
        let online = ProviderName::ALL.iter().filter(|name| Capabilities::of(**name).is_online);
        let timeouts = online.map(|name| (*name, AtomicU32::new(0))).collect();
        Self { until: began.plus(CALL_WINDOW), timeouts }
    }

    /// The number of a provider's timeouts; none for manual payments, which call no provider.
    fn timeouts(&self, provider: ProviderName) -> Option<&AtomicU32> {
        self.timeouts.iter().find(|(name, _)| *name == provider).map(|(_, timeouts)| timeouts)
    }

    /// Whether the sweep must not call this provider any more.
    pub fn has_passed(&self, provider: ProviderName, now: Timestamp) -> bool {
        self.timeouts(provider).is_some_and(|timeouts| {
            self.until <= now || timeouts.load(Ordering::Relaxed) >= MAX_TIMEOUTS
        })
    }

    /// Counts the failure of a call of this provider, if it is a timeout.
    pub fn note(&self, provider: ProviderName, problem: &Problem) {
        if problem.code == Code::ProviderTimeout
            && let Some(timeouts) = self.timeouts(provider)
        {
            timeouts.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    #[test]
    fn a_deadline_passes_by_timeouts_of_one_provider_or_by_time() {
        let (manual, razorpay, stripe) =
            (ProviderName::Manual, ProviderName::Razorpay, ProviderName::Stripe);
        let deadline = ProviderDeadline::of_sweep(NOW);
        deadline.note(stripe, &Code::ProviderNotConnected.into());
        for _ in 0..MAX_TIMEOUTS {
            assert!(!deadline.has_passed(stripe, NOW));
            deadline.note(stripe, &Code::ProviderTimeout.into());
            deadline.note(manual, &Code::ProviderTimeout.into());
        }
        let passed = |now| [manual, razorpay, stripe].map(|one| deadline.has_passed(one, now));
        assert_eq!(passed(NOW), [false, false, true]);
        assert_eq!(passed(NOW.plus(CALL_WINDOW)), [false, true, true]);
    }
}

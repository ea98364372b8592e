//! How long a job asks payment providers, who may be slow.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

/// How often one sweep waits in vain for the same provider, ten seconds each time; the rest of its
/// work waits for the next.
const MOST_TIMEOUTS: u32 = 8;
/// How long after its beginning a sweep still asks providers: what it asks last has to come to its
/// end within the minute that the sweep is given.
const ASKING: Duration = Duration::from_secs(35);

/// How much longer a sweep waits for providers: one that does not answer is no reason not to ask
/// another.
#[derive(Debug)]
pub struct ProviderDeadline {
    until: Timestamp,
    razorpay: AtomicU32,
    stripe: AtomicU32,
}

impl ProviderDeadline {
    /// That of a sweep which began then.
    pub fn since(began: Timestamp) -> Self {
        let (razorpay, stripe) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { until: began.plus(ASKING), razorpay, stripe }
    }

    /// How often a provider was waited for in vain; nobody waits for manual payments.
    const fn timeouts(&self, provider: ProviderName) -> Option<&AtomicU32> {
        match provider {
            ProviderName::Manual => None,
            ProviderName::Razorpay => Some(&self.razorpay),
            ProviderName::Stripe => Some(&self.stripe),
        }
    }

    /// Whether this provider is not to be asked any more.
    pub fn has_passed(&self, provider: ProviderName, now: Timestamp) -> bool {
        self.timeouts(provider).is_some_and(|timeouts| {
            self.until <= now || timeouts.load(Ordering::Relaxed) >= MOST_TIMEOUTS
        })
    }

    /// Notes how a call of this provider has failed.
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
    fn a_job_gives_one_provider_up_at_a_time_and_in_time_with_all() {
        let (manual, razorpay, stripe) =
            (ProviderName::Manual, ProviderName::Razorpay, ProviderName::Stripe);
        let deadline = ProviderDeadline::since(NOW);
        deadline.note(stripe, &Code::ProviderNotConnected.into());
        for _ in 0..MOST_TIMEOUTS {
            assert!(!deadline.has_passed(stripe, NOW));
            deadline.note(stripe, &Code::ProviderTimeout.into());
            deadline.note(manual, &Code::ProviderTimeout.into());
        }
        let spent = |now| [manual, razorpay, stripe].map(|one| deadline.has_passed(one, now));
        assert_eq!(spent(NOW), [false, false, true]);
        assert_eq!(spent(NOW.plus(ASKING)), [false, true, true]);
    }
}

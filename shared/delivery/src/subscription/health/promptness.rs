//! Response times of a receiver: they decide whether its attempts need concurrency permits, and on which
//! queue they are.
//!
//! The latest attempts are recorded, but only if they change anything: while a receiver answers within a
//! second, one such answer stands for all that follow.

use std::time::Duration;

use super::ReceiverHealth;

/// The number of attempts that are recorded.
const REMEMBERED: usize = 5;
/// A receiver that answers within this is prompt (our choice): at a hundred attempts a second it occupies
/// a hundred workers at most.
pub const PROMPT: Duration = Duration::from_secs(1);
/// A receiver whose median is at least this is slow: it is the deadline of the fast queue.
pub const SLOW: Duration = Duration::from_secs(5);

impl ReceiverHealth {
    /// Whether its attempts need no concurrency permits: at least one is recorded, and all recorded ones
    /// were prompt.
    pub fn is_prompt(&self) -> bool {
        !self.recent_ms.is_empty() && self.recent_ms.iter().all(|millis| *millis <= ms(PROMPT))
    }

    /// Whether the median of the recorded attempts is too long for the fast queue.
    pub fn is_slow(&self) -> bool {
        let mut sorted = self.recent_ms.clone();
        sorted.sort_unstable();
        let median = sorted.len().saturating_sub(1).div_euclid(2);
        sorted.get(median).is_some_and(|millis| *millis >= ms(SLOW))
    }

    /// The health with an attempt of this duration; none when it changes nothing.
    pub fn timed(&self, took: Duration) -> Option<Self> {
        if self.is_prompt() && took <= PROMPT {
            return None;
        }
        let mut recent_ms = self.recent_ms.clone();
        recent_ms.push(ms(took));
        let first = recent_ms.len().saturating_sub(REMEMBERED);
        Some(Self { recent_ms: recent_ms.split_off(first), ..self.next() })
    }

    /// The health with a pending attempt that has exceeded a prompt receiver's time; none when the
    /// receiver is not prompt anyway.
    pub fn late(&self) -> Option<Self> {
        let more = PROMPT.saturating_add(Duration::from_millis(1));
        if self.is_prompt() { self.timed(more) } else { None }
    }
}

fn ms(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: &[u64]) -> ReceiverHealth {
        millis.iter().fold(ReceiverHealth::default(), |health, millis| {
            health.timed(Duration::from_millis(*millis)).unwrap_or(health)
        })
    }

    #[test]
    fn a_receiver_is_neither_prompt_nor_slow_before_its_first_attempt() {
        let health = ReceiverHealth::default();
        assert!(!health.is_prompt() && !health.is_slow());
        assert_eq!(health.late(), None);
    }

    #[test]
    fn one_answer_of_a_prompt_receiver_is_recorded() {
        let health = after(&[40, 50, 1_000, 3]);
        assert_eq!((health.recent_ms.clone(), health.revision), (vec![40], 1));
        assert!(health.is_prompt() && !health.is_slow());
    }

    #[test]
    fn one_late_answer_counts_until_five_prompt_ones_follow() {
        let mut health = after(&[40, 1_001]);
        for _ in 0..5 {
            assert!(!health.is_prompt());
            health = health.timed(PROMPT).unwrap();
        }
        assert!(health.is_prompt());
        assert_eq!(health.timed(PROMPT), None);
    }

    #[test]
    fn a_receiver_is_slow_while_its_median_is() {
        assert!(after(&[5_000]).is_slow());
        assert!(!after(&[4_999]).is_slow());
        assert!(!after(&[40, 5_000]).is_slow(), "as many were prompt");
        assert!(after(&[40, 5_000, 13_500]).is_slow());
        assert!(after(&[9_000, 9_000, 9_000, 40, 40]).is_slow());
        assert!(!after(&[9_000, 9_000, 9_000, 40, 40, 40]).is_slow(), "the first is forgotten");
    }

    #[test]
    fn a_late_receiver_is_no_longer_prompt_and_is_written_once() {
        let late = after(&[40]).late().unwrap();
        assert!(!late.is_prompt() && !late.is_slow());
        assert_eq!((late.revision, late.late()), (2, None));
    }
}

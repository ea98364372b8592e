//! The retry schedule of failed deliveries (docs/conventions.md §10): 10 attempts over 51.6 hours.

use std::time::Duration;

/// The number of attempts of one run.
pub const MAX_ATTEMPTS: u32 = 10;

/// Seconds between an attempt and the next: +5 s, 1 m, 5 m, 30 m, 2 h, 5 h, 10 h, 10 h, 24 h.
const SLOTS: [u64; 9] = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 86_400];

/// The nominal wait after this many attempts; none after the last.
pub fn slot(made: u32) -> Option<Duration> {
    let position = usize::try_from(made.checked_sub(1)?).ok()?;
    SLOTS.get(position).copied().map(Duration::from_secs)
}

/// The actual wait: the slot ± 20 %, spread by `draw` over all of `u32`. A longer `Retry-After` of the
/// receiver takes precedence, up to twice the slot.
pub fn wait(slot: Duration, retry_after: Option<Duration>, draw: u32) -> Duration {
    let millis = u64::try_from(slot.as_millis()).unwrap_or(u64::MAX);
    let spread = millis.saturating_mul(2).div_euclid(5);
    let share = (u128::from(spread).saturating_mul(u128::from(draw))) >> 32_u32;
    let least = millis.saturating_sub(spread.div_euclid(2));
    let jittered = least.saturating_add(u64::try_from(share).unwrap_or(0));
    let requested = retry_after.unwrap_or_default().min(slot.saturating_mul(2));
    Duration::from_millis(jittered).max(requested)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_schedule_is_the_published_one() {
        let minutes = |m: u64| seconds(m * 60);
        let hours = |h: u64| seconds(h * 3_600);
        let expected = [
            seconds(5),
            minutes(1),
            minutes(5),
            minutes(30),
            hours(2),
            hours(5),
            hours(10),
            hours(10),
            hours(24),
        ];
        let found: Vec<_> = (1..MAX_ATTEMPTS).filter_map(slot).collect();
        assert_eq!(found, expected);
        assert_eq!(found.iter().sum::<Duration>().as_secs(), 185_765); // 51.6 hours
        assert_eq!((slot(0), slot(MAX_ATTEMPTS)), (None, None));
    }

    #[test]
    fn jitter_is_20_percent() {
        let slot = seconds(300);
        assert_eq!(wait(slot, None, 0), seconds(240));
        assert_eq!(wait(slot, None, 1 << 31), seconds(300));
        let longest = wait(slot, None, u32::MAX);
        assert!(longest <= seconds(360) && longest > seconds(359));
    }

    #[test]
    fn retry_after_is_honoured_up_to_twice_the_slot_and_never_shortens() {
        let slot = seconds(60);
        assert_eq!(wait(slot, Some(seconds(90)), 0), seconds(90));
        assert_eq!(wait(slot, Some(seconds(86_400)), 0), seconds(120));
        assert_eq!(wait(slot, Some(seconds(1)), 0), seconds(48));
    }
}

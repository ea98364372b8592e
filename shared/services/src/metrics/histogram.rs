//! Durations in fixed buckets, so that the counts of several processes can be added. The caller chooses
//! the unit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Durations below this many units have a bucket each.
const EXACT: u64 = 16;
/// Buckets of each doubling above that: a bucket is an eighth of its octave, so that a percentile is at most
/// an eighth too large.
const PER_OCTAVE: u32 = 8;
/// The exponent of the first octave: `2^4` is [`EXACT`].
const FIRST: u32 = 4;
/// The longest duration with a bucket of its own: a day and a half of milliseconds, two minutes of
/// microseconds. Longer ones are counted with it.
const LONGEST: u64 = (1 << 27) - 1;

/// The number of durations in each bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, u64)>", into = "Vec<(u32, u64)>")]
pub struct Histogram(BTreeMap<u32, u64>);

impl From<Vec<(u32, u64)>> for Histogram {
    fn from(buckets: Vec<(u32, u64)>) -> Self {
        Self(buckets.into_iter().collect())
    }
}

impl From<Histogram> for Vec<(u32, u64)> {
    fn from(histogram: Histogram) -> Self {
        histogram.0.into_iter().collect()
    }
}

/// Percentiles of durations, in their unit. Each is the end of the bucket that it falls into.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Percentiles {
    /// The median; `null` without durations.
    pub p50: Option<u64>,
    /// The 95th percentile.
    pub p95: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
}

impl Histogram {
    /// Counts a duration.
    pub fn note(&mut self, duration: u64) {
        self.add(bucket(duration), 1);
    }

    /// Adds to the count of a bucket.
    pub fn add(&mut self, bucket: u32, count: u64) {
        let slot = self.0.entry(bucket).or_default();
        *slot = slot.saturating_add(count);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.0 {
            self.add(*bucket, *count);
        }
    }

    /// The buckets that are not empty, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().map(|(bucket, count)| (*bucket, *count))
    }

    /// The end of the bucket of the nearest rank; none without durations.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let all = self.0.values().fold(0, |all: u64, count| all.saturating_add(*count));
        let rank = all.saturating_mul(percent).div_ceil(100).max(1);
        let mut seen = 0_u64;
        self.0.iter().find_map(|(bucket, count)| {
            seen = seen.saturating_add(*count);
            (seen >= rank).then(|| end(*bucket))
        })
    }

    /// The reported percentiles.
    pub fn percentiles(&self) -> Percentiles {
        let [p50, p95, p99] = [50, 95, 99].map(|percent| self.percentile(percent));
        Percentiles { p50, p95, p99 }
    }
}

/// The bucket of a duration.
fn bucket(duration: u64) -> u32 {
    let duration = duration.min(LONGEST);
    let Some(exponent) = duration.checked_ilog2().filter(|_| duration >= EXACT) else {
        return u32::try_from(duration).unwrap_or(0);
    };
    let eighth = duration.checked_shr(exponent.saturating_sub(3)).unwrap_or(0) & 7;
    let octave = exponent.saturating_sub(FIRST).saturating_mul(PER_OCTAVE);
    let first = u32::try_from(EXACT).unwrap_or(0);
    first.saturating_add(octave).saturating_add(u32::try_from(eighth).unwrap_or(0))
}

/// The longest duration of a bucket.
fn end(bucket: u32) -> u64 {
    let Some(place) = u64::from(bucket).checked_sub(EXACT) else { return u64::from(bucket) };
    let per_octave = u64::from(PER_OCTAVE);
    let (octave, eighth) = (place.div_euclid(per_octave), place.rem_euclid(per_octave));
    let shift = u32::try_from(octave).unwrap_or(0).saturating_add(FIRST).saturating_sub(3);
    let next = eighth.saturating_add(per_octave).saturating_add(1);
    next.checked_shl(shift).unwrap_or(u64::MAX).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_in_a_bucket_that_ends_at_most_an_eighth_above_it() {
        let mut before = 0;
        for millis in (0..5_000).chain([9_999, 29_000, 65_535, 1 << 20, LONGEST]) {
            let found = bucket(millis);
            assert!(found >= before && end(found) >= millis, "{millis}");
            assert!(end(found) <= millis + millis / 8, "{millis}: {}", end(found));
            before = found;
        }
        assert_eq!(end(bucket(u64::MAX)), LONGEST);
        assert_eq!([0, 15, 16, 250, 3_000].map(|ms| end(bucket(ms))), [0, 15, 17, 255, 3_071]);
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank_and_add_up() {
        let mut all = Histogram::default();
        assert_eq!(all.percentiles(), Percentiles::default());
        let mut others = Histogram::default();
        (0..90).for_each(|_| all.note(1));
        (0..8).for_each(|_| others.note(250));
        (0..2).for_each(|_| others.note(3_000));
        all.merge(&others);
        let expected = Percentiles { p50: Some(1), p95: Some(255), p99: Some(3_071) };
        assert_eq!(all.percentiles(), expected);
        assert_eq!(all.percentile(100), Some(3_071));
        let stored = serde_json::to_value(&all).unwrap();
        assert_eq!(serde_json::from_value::<Histogram>(stored).unwrap(), all);
    }
}

//! How long requests took, in buckets whose bounds grow by an eighth: a percentile is known to that, at
//! any number of requests.

use serde::{Deserialize, Serialize};

/// The bound of the first bucket, in microseconds.
const FIRST: u64 = 100;
/// Buckets: from a tenth of a millisecond to over a minute.
const BUCKETS: usize = 120;

/// Numbers of requests by how long they took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram(Vec<u64>);

/// The bounds of the buckets, in microseconds, ascending.
fn bounds() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(FIRST), |bound| {
        Some(bound.saturating_add(bound.div_euclid(8).max(1)))
    })
    .take(BUCKETS)
}

impl Histogram {
    /// Counts one.
    pub fn count(&mut self, micros: u64) {
        let place = bounds().position(|bound| micros <= bound);
        let place = place.unwrap_or(BUCKETS.saturating_sub(1));
        if self.0.len() <= place {
            self.0.resize(place.saturating_add(1), 0);
        }
        if let Some(bucket) = self.0.get_mut(place) {
            *bucket = bucket.saturating_add(1);
        }
    }

    /// Those of both.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let buckets = self.0.len().max(other.0.len());
        let of = |counts: &[u64], place: usize| counts.get(place).copied().unwrap_or(0);
        let sum = |place| of(&self.0, place).saturating_add(of(&other.0, place));
        Self((0..buckets).map(sum).collect())
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// How long this share of them took at most, in tenths of a percent; in microseconds, to the bound of
    /// a bucket. None of none.
    pub fn quantile(&self, per_mille: u64) -> Option<u64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let rank = total.saturating_mul(per_mille).div_ceil(1_000).max(1);
        let mut seen: u64 = 0;
        for (count, bound) in self.0.iter().zip(bounds()) {
            seen = seen.saturating_add(*count);
            if seen >= rank {
                return Some(bound);
            }
        }
        bounds().last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_known_to_an_eighth() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(500), None);
        (1..=1_000_u64).for_each(|millis| histogram.count(millis * 1_000));
        for (per_mille, exact) in
            [(500, 500_000), (950, 950_000), (990, 990_000), (1_000, 1_000_000)]
        {
            let found = histogram.quantile(per_mille).unwrap();
            assert!((exact..=exact + exact / 8 + 1).contains(&found), "{per_mille}: {found}");
        }
        assert_eq!(histogram.total(), 1_000);
    }

    #[test]
    fn what_is_beyond_the_last_bound_is_counted_in_the_last_bucket() {
        let mut histogram = Histogram::default();
        histogram.count(u64::MAX);
        histogram.count(0);
        assert!(bounds().last().unwrap() > 60_000_000);
        assert_eq!((histogram.total(), histogram.quantile(1)), (2, Some(FIRST)));
        assert_eq!(histogram.quantile(1_000), bounds().last());
        let both = histogram.with(&Histogram::default()).with(&histogram);
        assert_eq!((both.total(), both.quantile(500)), (4, Some(FIRST)));
    }
}

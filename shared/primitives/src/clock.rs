//! Time: one type, one reader of the system clock, and a clock that tests can move.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One minute.
pub const MINUTE: Duration = Duration::from_mins(1);
/// One hour.
pub const HOUR: Duration = Duration::from_hours(1);
/// One day.
pub const DAY: Duration = Duration::from_hours(24);

/// An instant in milliseconds since the Unix epoch. Written as RFC 3339 UTC with exactly three
/// fractional digits, so that the text sorts as the time does, in a table key as in a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, the unit of TTL, JWT and webhook headers.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// The instant `duration` later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The instant `duration` earlier.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The time from this instant to `later`; zero if `later` is not after it.
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }

    /// Whole seconds until `later`, rounded up, never negative: the unit of `expires_in` and
    /// `Retry-After`.
    pub fn seconds_until(self, later: Self) -> i64 {
        later.0.saturating_sub(self.0).max(0).saturating_add(999).div_euclid(1_000)
    }

    /// The UTC day as `yyyymmdd`: the partition of a day's events.
    pub fn day(self) -> String {
        self.to_string().chars().take(10).filter(|c| *c != '-').collect()
    }

    /// The UTC month as `yyyymm`.
    pub fn month(self) -> String {
        self.day().chars().take(6).collect()
    }

    /// Parses the date of an HTTP header (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
        Some(Self(zoned.timestamp().as_millisecond()))
    }

    /// Parses RFC 3339, with any offset; truncates to milliseconds.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed: jiff::Timestamp = text.parse().ok()?;
        Some(Self(parsed.as_millisecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant =
            jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        // Field by field: a formatter of any pattern is 20 KB of each function.
        let at = jiff::tz::TimeZone::UTC.to_datetime(instant);
        let (year, month, day) = (at.year(), at.month(), at.day());
        let (hour, minute, second, millis) =
            (at.hour(), at.minute(), at.second(), at.millisecond());
        let width = if year < 0 { 5 } else { 4 };
        write!(
            f,
            "{year:0width$}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        )
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 time"))
    }
}

impl crate::fields::FromText for Timestamp {
    const EXPECTS: &'static str = "an RFC 3339 time";

    fn from_text(text: &str) -> Result<Self, crate::fields::Violation> {
        Self::parse(text).ok_or_else(|| {
            let detail = "Must be an RFC 3339 time like `2026-11-21T07:00:00Z`.";
            crate::fields::Violation::new("invalid_time", detail)
        })
    }
}
crate::text_field!(Timestamp);

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}

/// The clock of handlers. Nothing else reads the system clock.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// Milliseconds that a test has moved this clock forward.
    offset: Arc<AtomicI64>,
    /// Milliseconds since the epoch at which a test has stopped this clock; 0 while it runs.
    stopped_at: Arc<AtomicI64>,
}

impl Clock {
    /// A clock that is stopped at this time: a simulation moves it.
    pub fn stopped_at(time: Timestamp) -> Self {
        Self { offset: Arc::default(), stopped_at: Arc::new(AtomicI64::new(time.millis())) }
    }

    /// The current time.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    pub fn now(&self) -> Timestamp {
        let since_epoch =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let running = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        let base = match self.stopped_at.load(Ordering::Relaxed) {
            0 => running,
            stopped => stopped,
        };
        Timestamp(base.saturating_add(self.offset.load(Ordering::Relaxed)))
    }

    /// Stops this clock and all its clones at the present time, for tests of the last millisecond.
    pub fn stop(&self) {
        let now = self.now().millis();
        let offset = self.offset.load(Ordering::Relaxed);
        self.stopped_at.store(now.saturating_sub(offset), Ordering::Relaxed);
    }

    /// Moves this clock and all its clones forward, in embedded systems only.
    pub fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.offset.fetch_add(millis, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_milliseconds_and_read_back() {
        let time = Timestamp::from_millis(1_795_244_400_007);
        assert_eq!(time.to_string(), "2026-11-21T07:00:00.007Z");
        assert_eq!(Timestamp::parse("2026-11-21T07:00:00.007Z"), Some(time));
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
            (253_402_207_199_999, "9999-12-30T21:59:59.999Z"),
            (i64::MAX, "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
        assert_eq!(Timestamp::parse("2026-11-21T08:00:00.007+01:00"), Some(time));
        assert_eq!((time.day(), time.month()), ("20261121".to_owned(), "202611".to_owned()));
        assert_eq!(time.seconds_until(time.plus(Duration::from_millis(1))), 1);
        assert_eq!(time.seconds_until(time.minus(MINUTE)), 0);
    }
}

//! Times as people write them: `2026-01-31T12:00:00Z`, or how long ago: `10m`, `2h`, `30d`.

use jiff::{SignedDuration, Timestamp};

use crate::failure::Failure;

/// The time in RFC 3339.
pub fn parse(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let fault = || {
        Failure::Usage(format!("{text} is no time: write 2026-01-31T12:00:00Z, or 10m, 2h, 30d"))
    };
    let ago = match text.strip_suffix('d').map(str::parse::<i64>) {
        Some(days) => {
            days.ok().and_then(|days| days.checked_mul(24)).map(SignedDuration::from_hours)
        }
        None => text.parse::<SignedDuration>().ok(),
    };
    ago.and_then(|ago| now.checked_sub(ago).ok()).ok_or_else(fault)
}

/// The time as the API writes it: with milliseconds always, so that times are ordered as texts.
pub fn text(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// A time a little earlier.
pub fn before(time: &str, by: SignedDuration) -> Option<Timestamp> {
    time.parse::<Timestamp>().ok()?.checked_sub(by).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_such_or_by_how_long_ago_it_was() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().expect("a time");
        let at = |text: &str| parse(text, now).map(|time| time.to_string()).ok();
        assert_eq!(at("10m").as_deref(), Some("2026-01-31T11:50:00Z"));
        assert_eq!(at("2h").as_deref(), Some("2026-01-31T10:00:00Z"));
        assert_eq!(at("30d").as_deref(), Some("2026-01-01T12:00:00Z"));
        assert_eq!(at("2026-01-01T00:00:00Z").as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(at("yesterday"), None);
    }

    #[test]
    fn a_whole_second_is_before_its_milliseconds() {
        let whole: Timestamp = "2026-01-31T12:00:00Z".parse().expect("a time");
        assert_eq!(text(whole), "2026-01-31T12:00:00.000Z");
        assert!(*text(whole) < *"2026-01-31T12:00:00.500Z");
    }
}

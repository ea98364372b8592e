//! The last day of a gift card.

use core_types::fields::TimeZone;
use primitives::clock::Timestamp;
use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The last day whose end is representable in every time zone. Later ones, like `9999-12-31`, end with it.
const NEVER: jiff::civil::Date = jiff::civil::date(9999, 12, 28);

/// A calendar date, such as `2027-12-31`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "date"))]
pub struct LastDay(String);

impl LastDay {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The end of the day in the store's time zone; in UTC if the zone is unknown.
    pub fn end(&self, zone: &TimeZone) -> Option<Timestamp> {
        let zone = jiff::tz::TimeZone::get(zone.as_str()).unwrap_or(jiff::tz::TimeZone::UTC);
        let day: jiff::civil::Date = self.0.parse().ok()?;
        let next = day.min(NEVER).tomorrow().ok()?;
        let end = next.to_zoned(zone).ok()?.timestamp();
        Some(Timestamp::from_millis(end.as_millisecond()))
    }
}

impl FromText for LastDay {
    const EXPECTS: &'static str = "a date";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let day = Self(text.trim().to_owned());
        if day.0.len() == 10 && day.end(&TimeZone::default()).is_some() {
            Ok(day)
        } else {
            Err(Violation::new("invalid_date", "Must be a date like `2027-12-31`."))
        }
    }
}

primitives::text_field!(LastDay);

//! A percentage, as an exact decimal.

use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ten-thousandths of a percent in one basis point.
const PARTS_PER_BASIS_POINT: i64 = 100;
/// Ten-thousandths of a percent in one percent.
const PARTS_PER_PERCENT: i64 = 10_000;
/// The decimals of a percentage.
const DECIMALS: usize = 4;

/// A percentage from 0 to 100, with up to four decimals: Québec's sales tax is 9.975 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "PercentageJson", into = "PercentageJson")]
pub struct Percentage(i64);

/// A percentage in JSON: exactly, and in basis points if it is a whole number of them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct PercentageJson {
    /// The percentage, as a decimal with up to four decimals: `"9.975"`.
    #[serde(default)]
    percent: Option<String>,
    /// The percentage in hundredths of a percent (1900 is 19 %); `null` if it is no whole number of them.
    #[serde(default)]
    basis_points: Option<i64>,
}

impl Percentage {
    /// 100 %, in parts ([`Percentage::parts`]).
    pub const ONE_HUNDRED: i64 = 100 * PARTS_PER_PERCENT;

    /// A percentage of this many hundredths of a percent; none if it is not within 0 and 100 %.
    pub fn of_basis_points(points: i64) -> Option<Self> {
        Self::of_parts(points.checked_mul(PARTS_PER_BASIS_POINT)?)
    }

    fn of_parts(parts: i64) -> Option<Self> {
        (0..=Self::ONE_HUNDRED).contains(&parts).then_some(Self(parts))
    }

    /// The percentage in ten-thousandths of a percent: 9.975 % is 99,750.
    pub const fn parts(self) -> i64 {
        self.0
    }

    /// The percentage in hundredths of a percent; none if it is no whole number of them.
    pub fn basis_points(self) -> Option<i64> {
        (self.0 % PARTS_PER_BASIS_POINT == 0).then_some(self.0 / PARTS_PER_BASIS_POINT)
    }
}

impl std::fmt::Display for Percentage {
    /// Without trailing zeros: `19`, `9.975`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, rest) = (self.0 / PARTS_PER_PERCENT, self.0 % PARTS_PER_PERCENT);
        let decimals = format!("{rest:0DECIMALS$}");
        match decimals.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            decimals => write!(f, "{whole}.{decimals}"),
        }
    }
}

impl FromText for Percentage {
    const EXPECTS: &'static str = "a percentage as a string, such as \"9.975\"";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let detail = "Must be a percentage from 0 to 100 with up to four decimals.";
        let violation = || Violation::new("invalid_percentage", detail);
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > DECIMALS || whole.len() > 3
        {
            return Err(violation());
        }
        let digits = format!("{whole}{decimals:0<DECIMALS$}");
        digits.parse().ok().and_then(Self::of_parts).ok_or_else(violation)
    }
}

primitives::text_field!(Percentage);

impl From<Percentage> for PercentageJson {
    fn from(percentage: Percentage) -> Self {
        let percent = Some(percentage.to_string());
        Self { percent, basis_points: percentage.basis_points() }
    }
}

impl TryFrom<PercentageJson> for Percentage {
    type Error = &'static str;

    fn try_from(written: PercentageJson) -> Result<Self, Self::Error> {
        let exact = written.percent.and_then(|text| Self::from_text(&text).ok());
        let rounded = || written.basis_points.and_then(Self::of_basis_points);
        exact.or_else(rounded).ok_or("neither `percent` nor `basis_points` is a percentage")
    }
}

/// In responses a percentage is two fields of its object.
impl JsonSchema for Percentage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Percentage".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        PercentageJson::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn percentages_are_exact_decimals() {
        for (text, parts, points) in [
            ("0", 0, Some(0)),
            ("19", 190_000, Some(1_900)),
            ("8.875", 88_750, None),
            ("9.975", 99_750, None),
            ("0.0001", 1, None),
            ("5.50", 55_000, Some(550)),
            ("100", 1_000_000, Some(10_000)),
        ] {
            let percentage = Percentage::from_text(text).unwrap();
            assert_eq!((percentage.parts(), percentage.basis_points()), (parts, points), "{text}");
        }
        for bad in ["", ".5", "5.", "5.00001", "-1", "100.0001", "1e2", "19 %", "١٩"] {
            assert!(Percentage::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn percentages_are_stored_exactly_and_read_from_basis_points() {
        let exact = Percentage::from_text("9.975").unwrap();
        let written = serde_json::to_value(exact).unwrap();
        assert_eq!(written, json!({"percent": "9.975", "basis_points": null}));
        assert_eq!(serde_json::from_value::<Percentage>(written).unwrap(), exact);
        let older: Percentage = serde_json::from_value(json!({"basis_points": 1_900})).unwrap();
        assert_eq!(older.to_string(), "19");
        assert!(serde_json::from_value::<Percentage>(json!({})).is_err());
    }
}

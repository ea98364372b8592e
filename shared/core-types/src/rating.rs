//! Shared types of product reviews and app reviews.

use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// The summary of an object's reviews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rating {
    /// The average number of stars, truncated to two decimals; null without reviews.
    pub avg: Option<Number>,
    /// The number of reviews.
    pub count: u64,
}

impl Rating {
    /// The rating of `count` reviews with `sum` stars together.
    pub fn of(sum: u64, count: u64) -> Self {
        // Built from text: only the JSON has a float.
        let hundredths = sum.saturating_mul(100).checked_div(count);
        let avg = hundredths.and_then(|hundredths| {
            let (whole, rest) = (hundredths.checked_div(100)?, hundredths.checked_rem(100)?);
            format!("{whole}.{rest:02}").parse().ok()
        });
        Self { avg, count }
    }
}

/// An answer to a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReviewReply")]
pub struct Reply {
    /// The text.
    pub body: String,
    /// When it was written or last replaced.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_cut_to_two_decimals_and_needs_a_review() {
        let avg = |sum, count| serde_json::to_string(&Rating::of(sum, count).avg).unwrap();
        assert_eq!(avg(0, 0), "null");
        assert_eq!(avg(9, 2), "4.5");
        assert_eq!(avg(14, 3), "4.66");
        assert_eq!(avg(5, 1), "5.0");
    }
}

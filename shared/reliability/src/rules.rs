//! What is held to be trouble: the same that the alarms of `template.yaml` go off at.

use std::time::Duration;

use primitives::clock::MINUTE;
use services::metrics::Tally;

use crate::incident::{Component, Severity};

/// How long the numbers go back that the rates are validated by.
pub const WINDOW: Duration = MINUTE.saturating_mul(15);
/// Fewer failures are nothing to say anything by: one that is tried again with success is no trouble.
pub const FEWEST_FAILURES: u64 = 3;
/// How long a rule must hold again before its incident resolves itself.
pub const CALM: Duration = MINUTE.saturating_mul(5);

primitives::string_enum! {
    /// A rule that opens incidents.
    #[schemars(rename = "IncidentRule")]
    Rule {
        /// A queue has dead letters.
        DeadLetters = "dead_letters",
        /// The oldest pending event has waited for more than two minutes.
        OutboxLag = "outbox_lag",
        /// An authorization code was presented a second time.
        CodeReplays = "code_replays",
        /// Fewer than 95 percent of the delivery attempts of 15 minutes succeeded.
        DeliverySuccess = "delivery_success",
    }
}

/// Which side of its threshold a number must not be on; as CloudWatch names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `GreaterThanOrEqualToThreshold`.
    AtLeast,
    /// `GreaterThanThreshold`.
    Above,
    /// `LessThanThreshold`.
    Below,
}

impl Comparison {
    /// What CloudWatch calls it.
    pub const fn operator(self) -> &'static str {
        match self {
            Self::AtLeast => "GreaterThanOrEqualToThreshold",
            Self::Above => "GreaterThanThreshold",
            Self::Below => "LessThanThreshold",
        }
    }
}

/// When a rule is broken, and what that is called.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// What the alarm of the same meaning is called in `template.yaml`.
    pub alarm: &'static str,
    /// Which side is trouble.
    pub comparison: Comparison,
    /// Of which number: messages, seconds, replays, percent.
    pub threshold: u64,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub components: &'static [Component],
    /// What it is called.
    pub title: &'static str,
}

impl Rule {
    /// When it is broken.
    pub const fn terms(self) -> Terms {
        match self {
            Self::DeadLetters => Terms {
                alarm: "DeadLetters",
                comparison: Comparison::AtLeast,
                threshold: 1,
                severity: Severity::High,
                components: &[Component::Queues],
                title: "There are dead letters",
            },
            Self::OutboxLag => Terms {
                alarm: "OutboxLag",
                comparison: Comparison::Above,
                threshold: 120,
                severity: Severity::Critical,
                components: &[Component::Outbox],
                title: "Events are late",
            },
            Self::CodeReplays => Terms {
                alarm: "CodeReplays",
                comparison: Comparison::AtLeast,
                threshold: 1,
                severity: Severity::High,
                components: &[Component::AppPlatform],
                title: "An authorization code came a second time",
            },
            Self::DeliverySuccess => Terms {
                alarm: "DeliverySuccess",
                comparison: Comparison::Below,
                threshold: 95,
                severity: Severity::High,
                components: &[Component::Webhooks],
                title: "Webhooks are not delivered",
            },
        }
    }

    /// Whether a number breaks it.
    pub const fn is_broken_by(self, observed: u64) -> bool {
        let Terms { comparison, threshold, .. } = self.terms();
        match comparison {
            Comparison::AtLeast => observed >= threshold,
            Comparison::Above => observed > threshold,
            Comparison::Below => observed < threshold,
        }
    }

    /// What the number counts.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::DeadLetters => "messages",
            Self::OutboxLag => "seconds",
            Self::CodeReplays => "replays",
            Self::DeliverySuccess => "percent",
        }
    }
}

/// Attempts that succeeded, of a hundred and rounded down; none of so few failures that it says nothing.
pub fn success_percent(tally: &Tally) -> Option<u64> {
    let succeeded = tally.count.saturating_sub(tally.errors);
    let enough = tally.errors >= FEWEST_FAILURES;
    enough.then(|| succeeded.saturating_mul(100).checked_div(tally.count)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_broken_on_the_wrong_side_of_its_threshold() {
        for (rule, good, bad) in [
            (Rule::DeadLetters, 0, 1),
            (Rule::OutboxLag, 120, 121),
            (Rule::CodeReplays, 0, 1),
            (Rule::DeliverySuccess, 95, 94),
        ] {
            assert!(!rule.is_broken_by(good) && rule.is_broken_by(bad), "{rule}");
        }
    }

    #[test]
    fn a_few_failures_are_no_rate() {
        let tally = |count, errors| Tally { count, errors, ..Tally::default() };
        assert_eq!(success_percent(&tally(2, 2)), None);
        assert_eq!(success_percent(&tally(3, 3)), Some(0));
        assert_eq!(success_percent(&tally(1_000, 51)), Some(94));
    }
}

//! The rules that open incidents, with the thresholds of the alarms in `template.yaml`.

use std::time::Duration;

use primitives::clock::MINUTE;
use services::metrics::Tally;

use crate::incident::{Component, Severity};

/// The window over which rates are computed.
pub const WINDOW: Duration = MINUTE.saturating_mul(15);
/// The fewest failed attempts that a success rate is computed from: a few may still succeed on retry.
pub const FEWEST_FAILURES: u64 = 3;
/// The time for which a rule must hold again before its incident is resolved automatically.
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

/// The comparison with the threshold that breaks a rule, by CloudWatch's names.
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
    /// The name of CloudWatch's comparison operator.
    pub const fn operator(self) -> &'static str {
        match self {
            Self::AtLeast => "GreaterThanOrEqualToThreshold",
            Self::Above => "GreaterThanThreshold",
            Self::Below => "LessThanThreshold",
        }
    }
}

/// The threshold of a rule, and the incident that it opens.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The name of the corresponding alarm in `template.yaml`.
    pub alarm: &'static str,
    /// The comparison with the threshold that breaks the rule.
    pub comparison: Comparison,
    /// The threshold, in [`Rule::unit`]: messages, seconds, replays or percent.
    pub threshold: u64,
    /// The severity of the incident.
    pub severity: Severity,
    /// The affected components.
    pub components: &'static [Component],
    /// The title of the incident.
    pub title: &'static str,
}

impl Rule {
    /// The threshold of the rule, and the incident that it opens.
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
                title: "An authorization code was presented a second time",
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

    /// Whether the observed number breaks the rule.
    pub const fn is_broken_by(self, observed: u64) -> bool {
        let Terms { comparison, threshold, .. } = self.terms();
        match comparison {
            Comparison::AtLeast => observed >= threshold,
            Comparison::Above => observed > threshold,
            Comparison::Below => observed < threshold,
        }
    }

    /// The unit of the observed number and of the threshold.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::DeadLetters => "messages",
            Self::OutboxLag => "seconds",
            Self::CodeReplays => "replays",
            Self::DeliverySuccess => "percent",
        }
    }
}

/// The percentage of attempts that succeeded, rounded down; none below [`FEWEST_FAILURES`] failures.
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
    fn too_few_failures_give_no_success_rate() {
        let tally = |count, errors| Tally { count, errors, ..Tally::default() };
        assert_eq!(success_percent(&tally(2, 2)), None);
        assert_eq!(success_percent(&tally(3, 3)), Some(0));
        assert_eq!(success_percent(&tally(1_000, 51)), Some(94));
    }
}

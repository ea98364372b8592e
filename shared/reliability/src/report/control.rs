//! Controls: targets, each with the measurements in the evidence.

use core_types::id::EvidenceId;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Framework, Verdict};
use crate::evidence::summary::{DrillSummary, IncidentSummary, LoadTestSummary, ReplaySummary};
use crate::evidence::{Checked, EvidenceKind, Statement};

/// 100 percent, in basis points.
const ONE_HUNDRED_PERCENT_BPS: u64 = 10_000;
/// Outcomes of aborted runs, which are no evidence about the service.
const ABORTED: [&str; 2] = ["aborted", "cancelled"];

primitives::string_enum! {
    /// A control of a report.
    ControlId {
        /// The events of drills and replays are delivered.
        DeliverySuccess = "delivery_success",
        /// The service recovers in time after the fault of a drill.
        RecoveryTime = "recovery_time",
        /// The fault of a drill loses no event.
        LostEvents = "lost_events",
        /// The evidence chain is intact.
        EvidenceChain = "evidence_chain",
        /// Replays leave out no delivery.
        ReplayCompleteness = "replay_completeness",
        /// Incidents are resolved in time.
        IncidentResolution = "incident_resolution",
        /// Requests are answered in time during load tests.
        LatencyUnderLoad = "latency_under_load",
    }
}

primitives::string_enum! {
    /// The comparison of a measurement with its target.
    Comparison {
        /// The measurement should be the target or more.
        AtLeast = "at_least",
        /// The measurement should be the target or less.
        AtMost = "at_most",
    }
}

primitives::string_enum! {
    /// The unit of a measurement.
    #[schemars(rename = "MeasurementUnit")]
    Unit {
        /// Hundredths of a percent.
        BasisPoints = "basis_points",
        /// Milliseconds.
        Milliseconds = "milliseconds",
        /// Seconds.
        Seconds = "seconds",
        /// Events.
        Events = "events",
        /// Deliveries.
        Deliveries = "deliveries",
        /// Records of the evidence.
        Records = "records",
    }
}

/// The target of a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MeasurementTarget")]
pub struct Target {
    /// The comparison of the measurement with the value.
    pub comparison: Comparison,
    /// The value.
    pub value: u64,
    /// The unit of the value.
    pub unit: Unit,
}

impl Target {
    const fn at_most(value: u64, unit: Unit) -> Self {
        Self { comparison: Comparison::AtMost, value, unit }
    }

    fn is_met_by(self, measured: u64) -> bool {
        match self.comparison {
            Comparison::AtLeast => measured >= self.value,
            Comparison::AtMost => measured <= self.value,
        }
    }
}

/// A target, compared with the evidence of the period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReportControl")]
pub struct Control {
    /// The id of the control.
    pub id: ControlId,
    /// The target in a sentence.
    pub title: String,
    /// The closest trust services criterion; `null` for the framework `internal`.
    pub criterion: Option<String>,
    /// The target.
    pub target: Target,
    /// The measured value, in the unit of the target: the worst of the period, the total, or the total share.
    /// `null` without a measurement.
    pub measured: Option<u64>,
    /// Whether the target was met.
    pub verdict: Verdict,
    /// The evidence records that it is based on.
    pub evidence: Vec<EvidenceId>,
}

impl ControlId {
    /// The title, the closest of the trust services criteria, and the target (our choice; the recovery time
    /// is the threshold of the alarm on a late outbox).
    const fn promise(self) -> (&'static str, &'static str, Target) {
        match self {
            Self::DeliverySuccess => (
                "99.9 % of the events of drills and replays are delivered to their receivers.",
                "PI1.4",
                Target { comparison: Comparison::AtLeast, value: 9_990, unit: Unit::BasisPoints },
            ),
            Self::RecoveryTime => (
                "The service recovers within two minutes after the fault of a drill ends.",
                "A1.2",
                Target::at_most(120, Unit::Seconds),
            ),
            Self::LostEvents => {
                ("No drill loses an event.", "A1.3", Target::at_most(0, Unit::Events))
            }
            Self::EvidenceChain => (
                "No record of the evidence was changed, removed or inserted.",
                "CC7.2",
                Target::at_most(0, Unit::Records),
            ),
            Self::ReplayCompleteness => {
                ("No replay omits a delivery.", "PI1.5", Target::at_most(0, Unit::Deliveries))
            }
            Self::IncidentResolution => (
                "Every incident is resolved within four hours.",
                "CC7.4",
                Target::at_most(14_400, Unit::Seconds),
            ),
            Self::LatencyUnderLoad => (
                "Under load, 99 % of the requests are answered within a second.",
                "A1.1",
                Target::at_most(1_000, Unit::Milliseconds),
            ),
        }
    }

    /// The control, with the verdict on this measurement.
    fn validated(self, framework: Framework, found: Measurement) -> Control {
        let (title, criterion, target) = self.promise();
        let verdict = match found.measured {
            _ if found.evidence.is_empty() => Verdict::NoEvidence,
            Some(measured) if target.is_met_by(measured) => Verdict::Met,
            _ => Verdict::Missed,
        };
        Control {
            id: self,
            title: title.to_owned(),
            criterion: (framework == Framework::Soc2Like).then(|| criterion.to_owned()),
            target,
            measured: found.measured,
            verdict,
            evidence: found.evidence,
        }
    }
}

/// A measurement, with its evidence records. Evidence without a measurement is a miss.
#[derive(Debug, Default)]
struct Measurement {
    measured: Option<u64>,
    evidence: Vec<EvidenceId>,
}

/// Evaluates every control with this evidence and this check of the chain.
pub fn controls(framework: Framework, stated: &[Statement], chain: &Checked) -> Vec<Control> {
    let drills: Vec<(&EvidenceId, DrillSummary)> = of_kind(stated, EvidenceKind::Drill);
    let replays: Vec<(&EvidenceId, ReplaySummary)> = of_kind(stated, EvidenceKind::Replay);
    let incidents: Vec<(&EvidenceId, IncidentSummary)> = of_kind(stated, EvidenceKind::Incident);
    let load_tests: Vec<(&EvidenceId, LoadTestSummary)> = of_kind(stated, EvidenceKind::LoadTest);
    let took = |from: Timestamp, to: Timestamp| from.until(to).as_secs();
    ControlId::ALL
        .iter()
        .map(|id| {
            let found = match id {
                ControlId::DeliverySuccess => arrived(&drills, &replays),
                ControlId::RecoveryTime => worst(&drills, |drill| drill.observed_rto_s),
                ControlId::LostEvents => sum(&drills, |drill| drill.lost_events),
                ControlId::EvidenceChain => of_chain(stated, chain),
                ControlId::ReplayCompleteness => sum(&replays, |replay| replay.missing),
                ControlId::IncidentResolution => {
                    worst(&incidents, |it| Some(took(it.opened_at, it.resolved_at)))
                }
                ControlId::LatencyUnderLoad => worst(&load_tests, |test| Some(test.p99_ms)),
            };
            id.validated(framework, found)
        })
        .collect()
}

/// The summaries of the records of a kind, without aborted runs.
fn of_kind<T: DeserializeOwned>(stated: &[Statement], kind: EvidenceKind) -> Vec<(&EvidenceId, T)> {
    let counted = stated.iter().filter(|it| it.kind == kind);
    counted
        .filter(|it| !ABORTED.contains(&it.outcome.as_str()))
        .filter_map(|it| Some((&it.id, serde_json::from_value(it.summary.clone()).ok()?)))
        .collect()
}

fn ids<T>(found: &[(&EvidenceId, T)]) -> Vec<EvidenceId> {
    found.iter().map(|(id, _)| (*id).clone()).collect()
}

/// The largest measurement; none if a record has none.
fn worst<T>(found: &[(&EvidenceId, T)], measured: impl Fn(&T) -> Option<u64>) -> Measurement {
    let all: Option<Vec<u64>> = found.iter().map(|(_, it)| measured(it)).collect();
    Measurement { measured: all.and_then(|all| all.into_iter().max()), evidence: ids(found) }
}

fn sum<T>(found: &[(&EvidenceId, T)], measured: impl Fn(&T) -> u64) -> Measurement {
    let all = found.iter().map(|(_, it)| measured(it)).fold(0, u64::saturating_add);
    Measurement { measured: Some(all).filter(|_| !found.is_empty()), evidence: ids(found) }
}

/// The share of expected events and deliveries that arrived, in basis points.
fn arrived(
    drills: &[(&EvidenceId, DrillSummary)],
    replays: &[(&EvidenceId, ReplaySummary)],
) -> Measurement {
    let of_drills = sum(drills, |drill| drill.events);
    let lost = sum(drills, |drill| drill.lost_events);
    let of_replays = sum(replays, |replay| replay.matched);
    let delivered = sum(replays, |replay| replay.delivered);
    let count = |found: &Measurement| found.measured.unwrap_or_default();
    let expected = count(&of_drills).saturating_add(count(&of_replays));
    let arrived = count(&of_drills).saturating_sub(count(&lost)).saturating_add(count(&delivered));
    let share = arrived.saturating_mul(ONE_HUNDRED_PERCENT_BPS).checked_div(expected);
    let evidence = [of_drills.evidence, of_replays.evidence].concat();
    // Nothing was expected.
    let evidence = if share.is_some() { evidence } else { Vec::new() };
    Measurement { measured: share, evidence }
}

/// Whether the chain is whole. Its evidence is the defective record, or the last record of the period.
fn of_chain(stated: &[Statement], chain: &Checked) -> Measurement {
    let last = stated.last().map(|last| last.id.clone());
    let corrupted = chain.defect.as_ref().and_then(|defect| defect.id.clone());
    let defect = u64::from(!chain.is_whole());
    Measurement { measured: Some(defect), evidence: corrupted.or(last).into_iter().collect() }
}

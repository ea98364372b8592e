//! Certification reports: signed comparisons of the platform's targets with the evidence of a period.
//!
//! Each control has a target, a measurement, a verdict, and the evidence records that it is based on. A
//! report also states the length of the evidence chain when it was issued, and the hash of its last record.
//! Whoever stores the report can verify the chain against it later.

mod control;

use std::time::Duration;

use core_types::id::{EvidenceId, MerchantId, ReportId};
use core_types::key;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use services::Services;
use table::item::Item;

use crate::evidence::{self, Checked, EvidenceKind, MAX_CHECKED_RECORDS, Record, Statement};

pub use control::{Comparison, Control, ControlId, Target, Unit, controls};

/// The longest period: a leap year.
pub const LONGEST_PERIOD: Duration = DAY.saturating_mul(366);
/// Records that one report is based on at most.
pub const MAX_EVIDENCE: usize = 2_000;
/// Checks in which the chain is walked for a report, at most.
const MAX_PARTS: u32 = 20;

primitives::string_enum! {
    /// The framework of a report.
    Framework {
        /// The platform's own targets, without criteria.
        Internal = "internal",
        /// The same targets, each with the closest of the AICPA trust services criteria. It is not an audit.
        Soc2Like = "soc2-like",
    }
}

primitives::string_enum! {
    /// The verdict on a target.
    #[schemars(rename = "TargetVerdict")]
    Verdict {
        /// The target was met.
        Met = "met",
        /// The target was missed.
        Missed = "missed",
        /// The period has no evidence about the target.
        NoEvidence = "no_evidence",
    }
}

primitives::string_enum! {
    /// The status of a report.
    ReportStatus {
        /// It is signed, and never changes.
        Issued = "issued",
    }
}

/// The period of a report, with both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReportPeriod")]
pub struct Period {
    /// The start.
    pub from: Timestamp,
    /// The end.
    pub to: Timestamp,
}

/// The state of the evidence chain when a report was issued, before the report's own record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EvidenceChain")]
pub struct Chain {
    /// The number of its records.
    pub count: u64,
    /// The hash of its last record; `null` without records.
    pub head_hash: Option<String>,
    /// Whether every record was verified and intact.
    pub is_whole: bool,
}

/// The findings of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// The framework.
    pub framework: Framework,
    /// The period.
    pub period: Period,
    /// `met` if all controls are met; `missed` if one is missed; otherwise `no_evidence`.
    pub verdict: Verdict,
    /// The controls.
    pub controls: Vec<Control>,
    /// The state of the evidence chain.
    pub chain: Chain,
}

/// A certification report.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "certification_report", key = key::report(&self.id))]
// Always 1: it is written once.
#[item(version = 1, indexes = vec![key::reports_by_time(self.issued_at, &self.id)])]
pub struct Report {
    /// The id.
    pub id: ReportId,
    /// The status.
    pub status: ReportStatus,
    /// The findings.
    pub findings: Findings,
    /// The evidence record of its issue.
    pub evidence_id: EvidenceId,
    /// The operator who issued it.
    pub issued_by: MerchantId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// The findings, signed: a compact JWS (RFC 7515 §7.1).
    pub jws: String,
}

impl Findings {
    /// Computes the findings of a period from its records and the check of the chain.
    pub fn of(framework: Framework, period: Period, stated: &[Statement], chain: &Checked) -> Self {
        let controls = controls(framework, stated, chain);
        let all = |verdict| controls.iter().all(|control| control.verdict == verdict);
        let any = |verdict| controls.iter().any(|control| control.verdict == verdict);
        let verdict = match () {
            () if any(Verdict::Missed) => Verdict::Missed,
            () if all(Verdict::Met) => Verdict::Met,
            () => Verdict::NoEvidence,
        };
        let chain = Chain {
            count: chain.count(),
            head_hash: chain.head_hash().map(str::to_owned),
            is_whole: chain.is_whole(),
        };
        Self { framework, period, verdict, controls, chain }
    }

    /// The evidence record of a report with these findings.
    pub fn record(&self, id: &ReportId) -> Record {
        let count =
            |verdict| self.controls.iter().filter(|control| control.verdict == verdict).count();
        Record {
            kind: EvidenceKind::Report,
            subject: id.to_string(),
            outcome: ReportStatus::Issued.as_str().to_owned(),
            store_id: None,
            summary: json!({
                "framework": self.framework,
                "period": self.period,
                "verdict": self.verdict,
                "met": count(Verdict::Met),
                "missed": count(Verdict::Missed),
                "no_evidence": count(Verdict::NoEvidence),
            }),
        }
    }
}

/// Loads the evidence of a period, and checks the whole chain.
///
/// # Errors
/// `range_too_wide` when the period has more records than a report can rest on.
pub async fn collect(
    services: &Services,
    period: Period,
) -> Result<(Vec<Statement>, Checked), Problem> {
    let mut chain = evidence::check(services, None, MAX_CHECKED_RECORDS).await?;
    for _ in 1..MAX_PARTS {
        let Some(next) = chain.next.take() else { break };
        chain = evidence::check(services, Some(next), MAX_CHECKED_RECORDS).await?;
    }
    let stated =
        evidence::load_between(services, chain.head.as_ref(), period.from, period.to, MAX_EVIDENCE);
    let stated = stated.await?.ok_or_else(|| {
        let detail =
            "The period has more evidence than one report can include: choose a shorter one.";
        Problem::field("/period/from", "range_too_wide", detail)
    })?;
    Ok((stated, chain))
}

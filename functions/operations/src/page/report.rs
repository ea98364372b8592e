//! A certification report as a page: its verdict, each control with its target, and the evidence.

use reliability::report::{Comparison, Control, Report, Target, Unit, Verdict};

use super::plot::{Bar, Plot};
use super::{Cell, Figure, Sheet, Table, Tone};

/// The page of a report.
pub(crate) fn sheet(report: &Report) -> Sheet {
    let findings = &report.findings;
    let count = |verdict| {
        findings.controls.iter().filter(|control| control.verdict == verdict).count().to_string()
    };
    let period = findings.period;
    let bars = findings.controls.iter().filter_map(bar).collect();
    let title = "Share of the limit used; less is better.";
    Sheet {
        title: format!("Certification report: {}", findings.framework),
        outcome: Some(chip(findings.verdict)),
        lines: vec![
            format!("From {} to {}.", period.from, period.to),
            format!("Issued at {} as {}.", report.issued_at, report.id),
        ],
        figures: vec![
            Figure::new("Controls met", count(Verdict::Met)),
            Figure::new("Controls missed", count(Verdict::Missed)),
            Figure::new("Without evidence", count(Verdict::NoEvidence)),
            Figure::new("Records of evidence", findings.chain.count.to_string()),
        ],
        plots: vec![Plot::bars(title, bars)],
        tables: vec![
            Table {
                title: "Controls".to_owned(),
                columns: vec!["control", "target", "measured", "verdict", "evidence"],
                rows: findings.controls.iter().map(row).collect(),
            },
            verification(report),
        ],
    }
}

/// The state of the evidence chain, to verify the report against.
fn verification(report: &Report) -> Table {
    let hash = report.findings.chain.head_hash.as_deref().unwrap_or("–");
    let path = format!("/v1/operations/certification-reports/{}?format=jws", report.id);
    let signed = Cell::Links(vec![(path, "as a JWS".to_owned())]);
    Table {
        title: "Verification".to_owned(),
        columns: vec!["field", "value"],
        rows: vec![
            vec!["Last hash of the evidence chain".into(), hash.into()],
            vec![
                "Evidence record of this report".into(),
                Cell::Links(vec![link(report.evidence_id.as_str())]),
            ],
            vec!["Signed findings".into(), signed],
        ],
    }
}

fn chip(verdict: Verdict) -> (Tone, String) {
    let tone = match verdict {
        Verdict::Met => Tone::Good,
        Verdict::Missed => Tone::Bad,
        Verdict::NoEvidence => Tone::Neutral,
    };
    (tone, verdict.as_str().replace('_', " "))
}

fn row(control: &Control) -> Vec<Cell> {
    let (tone, label) = chip(control.verdict);
    let criterion = control.criterion.as_ref().map(|name| format!(" ({name})"));
    let Target { comparison, value, unit } = control.target;
    let sign = match comparison {
        Comparison::AtLeast => '≥',
        Comparison::AtMost => '≤',
    };
    let measured = control.measured.map_or("–".to_owned(), |measured| amount(measured, unit));
    vec![
        Cell::Text(format!("{}{}", control.title, criterion.unwrap_or_default())),
        Cell::Text(format!("{sign} {}", amount(value, unit))),
        Cell::Text(measured),
        Cell::Chip(tone, label),
        Cell::Links(control.evidence.iter().map(|id| link(id.as_str())).collect()),
    ]
}

/// The link to an evidence record.
fn link(id: &str) -> (String, String) {
    (format!("/v1/operations/reliability-evidence/{id}"), id.to_owned())
}

/// A measurement with its unit.
fn amount(value: u64, unit: Unit) -> String {
    match unit {
        Unit::BasisPoints => {
            format!("{}.{:02} %", value.div_euclid(100), value.rem_euclid(100))
        }
        Unit::Milliseconds => format!("{value} ms"),
        Unit::Seconds => format!("{value} s"),
        Unit::Events | Unit::Deliveries | Unit::Records => format!("{value} {unit}"),
    }
}

/// The measurement as a share of its limit. For a share that must be reached, the missing part as a share of
/// the part that may be missing; such targets are all in basis points.
fn bar(control: &Control) -> Option<Bar> {
    let measured = control.measured?;
    let Target { comparison, value, .. } = control.target;
    let (used, allowed) = match comparison {
        Comparison::AtMost => (measured, value),
        Comparison::AtLeast => {
            (10_000_u64.saturating_sub(measured), 10_000_u64.saturating_sub(value))
        }
    };
    // There is no share of a limit of zero.
    let percent = used.saturating_mul(100).checked_div(allowed)?;
    Some(Bar { label: control.id.as_str().replace('_', " "), percent })
}

//! The work on a page of records, and what became of each.

use identity::store::Store;
use primitives::fields::FieldErrors;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;

use crate::import::Import;
use crate::import::finding::Finding;
use crate::import::records::Record;

/// The number of times that a record is parsed again without the cells that its fields rejected. Each time up
/// to a hundred of them are left out.
pub(super) const ROUNDS: usize = 20;

/// The result of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum RecordResult {
    Created,
    Updated,
    Skipped,
    Failed,
}

/// The result of a record, and all findings about it.
#[derive(Debug)]
pub(in crate::import) struct RecordOutcome {
    pub(in crate::import) result: RecordResult,
    pub(in crate::import) findings: Vec<Finding>,
}

impl RecordOutcome {
    /// A record that was treated in this way, with the warnings about its cells.
    pub(super) fn of(record: Record, result: RecordResult) -> Self {
        Self { result, findings: record.into_findings() }
    }

    /// A record that failed, for these reasons and for those that it has already.
    pub(super) fn failed(record: Record, reasons: Vec<Finding>) -> Self {
        let findings = record.into_findings().into_iter().chain(reasons).collect();
        Self { result: RecordResult::Failed, findings }
    }
}

/// The work on one page.
#[derive(Debug)]
pub(in crate::import) struct Work<'a> {
    pub(in crate::import) services: &'a Services,
    pub(in crate::import) store: &'a Store,
    pub(in crate::import) import: &'a Import,
}

/// Records, each with its request; none when it is rejected, with the reasons among its findings.
pub(super) type ParsedRecords<T> = Vec<(Record, Option<T>)>;

pub(super) fn read_all<T: deserr::Deserr<FieldErrors>>(records: Vec<Record>) -> ParsedRecords<T> {
    let read = |mut record: Record| {
        let read = read(&mut record);
        (record, read)
    };
    records.into_iter().map(read).collect()
}

/// Reads a record's body as a request. Cells that their fields reject are left out, with a warning, if the
/// record can do without them; otherwise the record is rejected, and the result is none.
pub(super) fn read<T: deserr::Deserr<FieldErrors>>(record: &mut Record) -> Option<T> {
    for _ in 0..ROUNDS {
        if record.body.is_null() {
            return None;
        }
        match primitives::input::read::<T>(record.body.clone()) {
            Ok(read) => return (!record.is_rejected()).then_some(read),
            Err(problem) if record.leave_out_members(problem.errors()) => {}
            Err(problem) => {
                record.reject(findings_of(record, &problem));
                return None;
            }
        }
    }
    record.reject(vec![record.error("more_findings", "The row has too many errors.")]);
    None
}

/// The outcome of a record whose request was rejected.
///
/// # Errors
/// The problem itself if it is `internal`; 503 if it is transient, so that the step is repeated.
pub(super) fn rejected(record: Record, problem: &Problem) -> Result<RecordOutcome, Problem> {
    if problem.code == Code::Internal {
        return Err(problem.clone());
    }
    if problem.code.is_passing() {
        return Err(Problem::unavailable(format!("row {}: {problem}", record.row)));
    }
    let mut findings = findings_of(&record, problem);
    if findings.is_empty() {
        findings.push(record.error(problem.code.as_str(), problem.text()));
    }
    Ok(RecordOutcome::failed(record, findings))
}

/// The findings from a problem's field errors. Errors that it only counts are one finding with their
/// number.
pub(super) fn findings_of(record: &Record, problem: &Problem) -> Vec<Finding> {
    let errors = problem.errors();
    let named = errors.iter().filter_map(|error| record.finding(error));
    let more = (errors.more() > 0).then(|| {
        let detail = match errors.more() {
            1 => "One more error of this row is not listed.".to_owned(),
            more => format!("{more} more errors of this row are not listed."),
        };
        record.error("more_findings", &detail)
    });
    named.chain(more).collect()
}

/// A failure with a finding at a member of the body.
pub(super) fn found_at(record: Record, pointer: &str, code: Code) -> RecordOutcome {
    let error = field_error(pointer, code);
    let found = record.finding(&error);
    let found = found.unwrap_or_else(|| record.error(code.as_str(), &error.violation.detail));
    RecordOutcome::failed(record, vec![found])
}

/// The field error at a member of the body that stands for a problem of this code.
pub(super) fn field_error(pointer: &str, code: Code) -> FieldError {
    FieldError::new(pointer, code.as_str(), Problem::from(code).text().to_owned())
}

//! Writing of records: products, customers and quantities, as requests would write them.

mod customers;
mod order;
mod products;
mod stock;

use std::time::Duration;

use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::FieldErrors;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;

use super::finding::Finding;
use super::records::Record;
use super::seen::Seen;
use super::{Import, ImportKind};

/// The outcome of a record.
#[derive(Debug)]
pub(super) enum Outcome {
    Created,
    Updated,
    Skipped,
    Failed(Vec<Finding>),
}

/// The work on one page.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub(super) services: &'a Services,
    pub(super) store: &'a Store,
    pub(super) import: &'a Import,
}

impl Work<'_> {
    /// Writes the records; in a dry run, returns their outcomes without writing.
    ///
    /// # Errors
    /// 503: the page is repeated, and nothing is lost.
    pub(super) async fn apply(
        &self,
        records: Vec<Record>,
        seen: &mut Seen,
    ) -> Result<Vec<Outcome>, Problem> {
        match self.import.kind {
            ImportKind::Products => products::apply(self, records, seen).await,
            ImportKind::Customers => customers::apply(self, records, seen).await,
            ImportKind::Inventory => stock::apply(self, records).await,
        }
    }
}

impl Work<'_> {
    /// The creation time of a row's object: the start of the import plus a millisecond per row, which
    /// keeps the rows' order.
    fn time_of(&self, row: u64) -> Timestamp {
        let started = self.import.started_at.unwrap_or(self.import.created_at);
        started.plus(Duration::from_millis(row))
    }
}

/// Records, each with its request or with all findings about it.
type Asked<T> = Vec<(Record, Result<T, Vec<Finding>>)>;

fn read_all<T: deserr::Deserr<FieldErrors>>(records: Vec<Record>) -> Asked<T> {
    let read = |record: Record| {
        let read = read(&record);
        (record, read)
    };
    records.into_iter().map(read).collect()
}

/// Reads a record's body as a request.
///
/// # Errors
/// All findings about it.
fn read<T: deserr::Deserr<FieldErrors>>(record: &Record) -> Result<T, Vec<Finding>> {
    let read = primitives::input::read::<T>(record.body.clone());
    let mut findings = record.faults.clone();
    match read {
        Ok(read) if findings.is_empty() => Ok(read),
        Ok(_) => Err(findings),
        // A body that is no object has no members with errors.
        Err(_) if record.body.is_null() => Err(findings),
        Err(problem) => {
            findings.extend(findings_of(record, &problem));
            Err(findings)
        }
    }
}

/// The outcome of a record whose request was rejected.
///
/// # Errors
/// The problem itself if it is `internal`; 503 if it is transient, so that the step is repeated.
fn rejected(record: &Record, problem: &Problem) -> Result<Outcome, Problem> {
    if problem.code == Code::Internal {
        return Err(problem.clone());
    }
    if problem.code.is_passing() {
        return Err(Problem::unavailable(format!("row {}: {problem}", record.row)));
    }
    let findings = findings_of(record, problem);
    if findings.is_empty() {
        return Ok(Outcome::Failed(vec![record.wrong(problem.code.as_str(), problem.text())]));
    }
    Ok(Outcome::Failed(findings))
}

/// The findings from a problem's field errors. Errors that it only counts are one finding with their
/// number.
fn findings_of(record: &Record, problem: &Problem) -> Vec<Finding> {
    let errors = problem.errors();
    let named = errors.iter().filter_map(|error| record.finding(error));
    let more = (errors.more() > 0).then(|| {
        let detail = format!("{} more errors of this row are not named.", errors.more());
        record.wrong("more_findings", &detail)
    });
    named.chain(more).collect()
}

/// A failure with a finding at a member of the body.
fn found_at(record: &Record, pointer: &str, code: Code) -> Outcome {
    let (code, detail) = (code.as_str(), Problem::from(code).text().to_owned());
    let found = record.finding(&FieldError::new(pointer, code, detail.clone()));
    Outcome::Failed(vec![found.unwrap_or_else(|| record.wrong(code, &detail))])
}

//! What becomes of records: products, customers and quantities as requests would make them.

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

/// What a record came to.
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
    /// Does what the records ask for, or says what it would come to.
    ///
    /// # Errors
    /// 503: nothing is lost, and the page is done again.
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
    /// The time that what a row makes is sorted by: rows in their order, from the start of the import on.
    fn time_of(&self, row: u64) -> Timestamp {
        let started = self.import.started_at.unwrap_or(self.import.created_at);
        started.plus(Duration::from_millis(row))
    }
}

/// Records, each with the request that it stands for, or with all that is wrong with it.
type Asked<T> = Vec<(Record, Result<T, Vec<Finding>>)>;

fn read_all<T: deserr::Deserr<FieldErrors>>(records: Vec<Record>) -> Asked<T> {
    let read = |record: Record| {
        let read = read(&record);
        (record, read)
    };
    records.into_iter().map(read).collect()
}

/// A record's body as a request.
///
/// # Errors
/// All that is wrong with it.
fn read<T: deserr::Deserr<FieldErrors>>(record: &Record) -> Result<T, Vec<Finding>> {
    let read = gateway::request::read::<T>(record.body.clone());
    let mut findings = record.faults.clone();
    match read {
        Ok(read) if findings.is_empty() => Ok(read),
        Ok(_) => Err(findings),
        // What is no object has no members that could be at fault.
        Err(_) if record.body.is_null() => Err(findings),
        Err(problem) => {
            findings.extend(findings_of(record, &problem));
            Err(findings)
        }
    }
}

/// What a rejection says of a record.
///
/// # Errors
/// What is no rejection: the next attempt may meet it no more, or no attempt will do.
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

/// What a problem says of the members of a record. Those that it only counts are one finding with their number.
fn findings_of(record: &Record, problem: &Problem) -> Vec<Finding> {
    let errors = problem.errors();
    let named = errors.iter().filter_map(|error| record.finding(error));
    let more = (errors.more() > 0).then(|| {
        let detail = format!("{} more errors of this row are not named.", errors.more());
        record.wrong("more_findings", &detail)
    });
    named.chain(more).collect()
}

/// A finding at a member of the body.
fn found_at(record: &Record, pointer: &str, code: Code) -> Outcome {
    let (code, detail) = (code.as_str(), Problem::from(code).text().to_owned());
    let found = record.finding(&FieldError::new(pointer, code, detail.clone()));
    Outcome::Failed(vec![found.unwrap_or_else(|| record.wrong(code, &detail))])
}

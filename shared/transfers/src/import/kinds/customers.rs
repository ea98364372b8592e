//! Import of customers.

use std::collections::{BTreeMap, HashSet};

use core_types::id::CustomerId;
use core_types::key;
use futures_util::FutureExt;
use identity::customer::{self, CreateRequest, Customer, Identifier, UpdateRequest};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use table::CommitOnly;

use super::order::{RecordLocks, in_order, is_done, last_row};
use super::work::{
    ParsedRecords, RecordOutcome, RecordResult, Work, findings_of, found_at, read, read_all,
    rejected,
};
use crate::import::OnExisting;
use crate::import::records::Record;
use crate::import::seen::SeenValues;

pub(super) async fn apply(
    work: &Work<'_>,
    records: Vec<Record>,
    seen: &mut SeenValues,
) -> Result<Vec<RecordOutcome>, Problem> {
    let now = work.services.clock.now();
    let read: ParsedRecords<CreateRequest> = read_all(records);
    let read = read.into_iter().map(|(record, request)| validated(record, request, now)).collect();
    if work.import.dry_run {
        return check(work, read, seen).await;
    }
    let keys = |request: &CreateRequest| {
        let own = request.identifier(work.store).ok();
        RecordLocks { own: own.iter().map(Identifier::text).collect(), shared: Vec::new() }
    };
    let create =
        |record: Record, request| async move { create(work, record, request).await }.boxed();
    in_order(read, keys, create).await
}

/// The record and its request, without cells that the time rejects.
fn validated(
    mut record: Record,
    request: Option<CreateRequest>,
    now: Timestamp,
) -> (Record, Option<CreateRequest>) {
    let Some(Err(problem)) = request.as_ref().map(|request| request.validate(now)) else {
        return (record, request);
    };
    if !record.leave_out_members(problem.errors()) {
        record.reject(findings_of(&record, &problem));
        return (record, None);
    }
    let request = read(&mut record);
    (record, request)
}

/// Creates a customer, or treats an existing one as `on_existing` says.
async fn create(
    work: &Work<'_>,
    record: Record,
    request: CreateRequest,
) -> Result<RecordOutcome, Problem> {
    let Work { services, store, import } = work;
    let parts = [import.id.as_str(), &record.row.to_string()];
    let id = CustomerId::derive_at(import.time_of(record.row), &parts);
    let identifier = match request.identifier(store) {
        Ok(identifier) => identifier,
        Err(problem) => return rejected(record, &problem),
    };
    let (planned, now) = ((id.clone(), request), services.clock.now());
    let made = customer::create(services, store, planned, now, &CommitOnly).await;
    let Err(problem) = made else { return Ok(RecordOutcome::of(record, RecordResult::Created)) };
    match (problem.code, import.on_existing) {
        // Created by an interrupted step.
        (Code::VersionConflict, _) if is_there(work, &id).await? => {
            Ok(RecordOutcome::of(record, RecordResult::Created))
        }
        (code, OnExisting::Skip) if code == identifier.taken() => {
            Ok(RecordOutcome::of(record, RecordResult::Skipped))
        }
        (code, OnExisting::Update) if code == identifier.taken() => {
            update(work, record, &identifier).await
        }
        (code, OnExisting::Fail) if code == identifier.taken() => {
            Ok(found_at(record, identifier.pointer(), code))
        }
        _ => rejected(record, &problem),
    }
}

async fn is_there(work: &Work<'_>, id: &CustomerId) -> Result<bool, Problem> {
    let found: Option<Customer> =
        work.services.table.get(&key::customer(&work.store.id, id)).await?;
    Ok(found.is_some())
}

/// Updates the customer whom a row identifies. Their address book is not changed.
async fn update(
    work: &Work<'_>,
    record: Record,
    identifier: &Identifier,
) -> Result<RecordOutcome, Problem> {
    let Work { services, store, .. } = work;
    let existing = identifier.customer_id(services, &store.id).await?;
    let existing = existing.ok_or_else(|| {
        Problem::unavailable("the address or number of a customer was released meanwhile")
    })?;
    let mut body = record.body.clone();
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| !matches!(name.as_str(), "email" | "address" | "addresses"));
    }
    let request: UpdateRequest = match primitives::input::read(body) {
        Ok(request) => request,
        Err(problem) => return rejected(record, &problem),
    };
    let key = key::customer(&store.id, &existing);
    let text = identifier.text();
    let last = last_row(work, &text, record.row);
    let (at, any) = ((*store, &key), ExpectedVersion::ANY);
    match customer::update_with(services, at, any, request, last, &CommitOnly).await {
        Ok(()) => Ok(RecordOutcome::of(record, RecordResult::Updated)),
        Err(problem) if is_done(&problem) => Ok(RecordOutcome::of(record, RecordResult::Updated)),
        Err(problem) => rejected(record, &problem),
    }
}

/// Returns the outcomes of a dry run.
async fn check(
    work: &Work<'_>,
    read: ParsedRecords<CreateRequest>,
    seen: &mut SeenValues,
) -> Result<Vec<RecordOutcome>, Problem> {
    let (services, store) = (work.services, work.store);
    let identifiers =
        read.iter().filter_map(|(_, request)| request.as_ref()?.identifier(store).ok());
    let all: BTreeMap<String, Identifier> =
        identifiers.map(|identifier| (identifier.text(), identifier)).collect();
    let all: Vec<(String, Identifier)> = all.into_iter().collect();
    let mut taken = HashSet::new();
    for some in all.chunks(100) {
        let keys: Vec<_> = some.iter().map(|(_, identifier)| identifier.key(&store.id)).collect();
        let mut batch =
            services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        for (text, identifier) in some {
            let existing = identifier.take_customer_id(&store.id, &mut batch)?;
            taken.extend(existing.map(|_| text.clone()));
        }
    }
    let outcome = |(record, request): (Record, Option<CreateRequest>)| {
        let Some(request) = request else {
            return Ok(RecordOutcome::of(record, RecordResult::Failed));
        };
        let identifier = match request.identifier(store) {
            Ok(identifier) => identifier,
            Err(problem) => return rejected(record, &problem),
        };
        let text = identifier.text();
        let is_new = seen.is_new(&text);
        Ok(match (taken.contains(&text) || !is_new, work.import.on_existing) {
            (false, _) => RecordOutcome::of(record, RecordResult::Created),
            (true, OnExisting::Skip) => RecordOutcome::of(record, RecordResult::Skipped),
            (true, OnExisting::Update) => RecordOutcome::of(record, RecordResult::Updated),
            (true, OnExisting::Fail) => found_at(record, identifier.pointer(), identifier.taken()),
        })
    };
    read.into_iter().map(outcome).collect()
}

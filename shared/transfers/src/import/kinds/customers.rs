//! Import of customers.

use core_types::id::CustomerId;
use core_types::key;
use futures_util::FutureExt;
use identity::customer::{self, CreateRequest, Customer, UniqueCustomerEmail, UpdateRequest};
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use table::CommitOnly;

use super::order::{Keys, in_order, is_done, last_row};
use super::{Asked, Done, Outcome, Record, Seen, Work, found_at, read_all, rejected};
use crate::import::OnExisting;

pub(super) async fn apply(
    work: &Work<'_>,
    records: Vec<Record>,
    seen: &mut Seen,
) -> Result<Vec<Outcome>, Problem> {
    let read: Asked<CreateRequest> = read_all(records);
    if work.import.dry_run {
        return check(work, read, seen).await;
    }
    let keys = |request: &CreateRequest| Keys {
        own: vec![request.email().normalized()],
        shared: Vec::new(),
    };
    let create =
        |record: Record, request| async move { create(work, record, request).await }.boxed();
    in_order(read, keys, create).await
}

/// Creates a customer, or treats an existing one as `on_existing` says.
async fn create(
    work: &Work<'_>,
    record: Record,
    request: CreateRequest,
) -> Result<Outcome, Problem> {
    let Work { services, store, import } = work;
    let parts = [import.id.as_str(), &record.row.to_string()];
    let id = CustomerId::derive_at(import.time_of(record.row), &parts);
    let email = request.email().normalized();
    let (planned, now) = ((id.clone(), request), services.clock.now());
    let made = customer::create(services, store, planned, now, &CommitOnly).await;
    let Err(problem) = made else { return Ok(Outcome::of(record, Done::Created)) };
    match (problem.code, import.on_existing) {
        // Created by an interrupted step.
        (Code::VersionConflict, _) if is_there(work, &id).await? => {
            Ok(Outcome::of(record, Done::Created))
        }
        (Code::EmailTaken, OnExisting::Skip) => Ok(Outcome::of(record, Done::Skipped)),
        (Code::EmailTaken, OnExisting::Update) => update(work, record, &email).await,
        (Code::EmailTaken, OnExisting::Fail) => Ok(found_at(record, "/email", Code::EmailTaken)),
        _ => rejected(record, &problem),
    }
}

async fn is_there(work: &Work<'_>, id: &CustomerId) -> Result<bool, Problem> {
    let found: Option<Customer> =
        work.services.table.get(&key::customer(&work.store.id, id)).await?;
    Ok(found.is_some())
}

/// Updates the customer of an address. The customer's address book is not changed.
async fn update(work: &Work<'_>, record: Record, email: &str) -> Result<Outcome, Problem> {
    let Work { services, store, .. } = work;
    let claim = key::unique_customer_email(&store.id, email);
    let holder: Option<UniqueCustomerEmail> = services.table.get(&claim).await?;
    let holder = holder.ok_or_else(|| Problem::unavailable("an address was given up"))?;
    let mut body = record.body.clone();
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| !matches!(name.as_str(), "email" | "address" | "addresses"));
    }
    let request: UpdateRequest = match primitives::input::read(body) {
        Ok(request) => request,
        Err(problem) => return rejected(record, &problem),
    };
    let key = key::customer(&store.id, &holder.customer_id);
    let last = last_row(work, email, record.row);
    let (at, any) = ((*store, &key), ExpectedVersion::ANY);
    match customer::update_with(services, at, any, request, last, &CommitOnly).await {
        Ok(()) => Ok(Outcome::of(record, Done::Updated)),
        Err(problem) if is_done(&problem) => Ok(Outcome::of(record, Done::Updated)),
        Err(problem) => rejected(record, &problem),
    }
}

/// Returns the outcomes of a dry run.
async fn check(
    work: &Work<'_>,
    read: Asked<CreateRequest>,
    seen: &mut Seen,
) -> Result<Vec<Outcome>, Problem> {
    let emails = read.iter().filter_map(|(_, request)| request.as_ref());
    let emails: std::collections::BTreeSet<String> =
        emails.map(|request| request.email().normalized()).collect();
    let keys: Vec<_> =
        emails.iter().map(|email| key::unique_customer_email(&work.store.id, email)).collect();
    let mut taken = std::collections::HashSet::new();
    for keys in keys.chunks(100) {
        let mut batch =
            work.services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        for key in keys {
            taken.extend(batch.take::<UniqueCustomerEmail>(key)?.map(|claim| claim.email));
        }
    }
    let outcome = |(record, request): (Record, Option<CreateRequest>)| {
        let Some(request) = request else { return Outcome::of(record, Done::Failed) };
        let email = request.email().normalized();
        let is_new = seen.is_new(&format!("email {email}"));
        match (taken.contains(&email) || !is_new, work.import.on_existing) {
            (false, _) => Outcome::of(record, Done::Created),
            (true, OnExisting::Skip) => Outcome::of(record, Done::Skipped),
            (true, OnExisting::Update) => Outcome::of(record, Done::Updated),
            (true, OnExisting::Fail) => found_at(record, "/email", Code::EmailTaken),
        }
    };
    Ok(read.into_iter().map(outcome).collect())
}

//! A dry run of products: what an import would do, without writing.

use std::collections::HashMap;

use catalogue::product::{Sku, UniqueProductHandle, UniqueSku};
use catalogue::workflows::save_product::{self, CreateRequest};
use core_types::id::ProductId;
use core_types::key;
use primitives::problem::{Code, Problem};
use table::item::Key;

use super::super::work::{
    ParsedRecords, ROUNDS, RecordOutcome, RecordResult, Work, field_error, found_at,
};
use super::{RetryDecision, handle_of, lower, retry_decision};
use crate::import::OnExisting;
use crate::import::records::Record;
use crate::import::seen::SeenValues;

/// The highest number that is appended to the handle of a product without one, as at its creation.
const NUMBERED: u32 = 50;

/// The handles and SKUs of a page that products of the store already have.
#[derive(Debug, Default)]
struct TakenNames {
    handles: HashMap<String, ProductId>,
    skus: HashMap<String, ProductId>,
}

impl TakenNames {
    /// Loads them, a hundred in one round trip.
    async fn of(work: &Work<'_>, requests: &[CreateRequest]) -> Result<Self, Problem> {
        let (services, store) = (work.services, &work.store.id);
        let handles = requests.iter().map(handle_of);
        let handles = handles.map(|handle| key::unique_product_handle(store, &handle));
        let skus = requests.iter().flat_map(CreateRequest::skus).flatten();
        let skus = skus.map(|sku: &Sku| UniqueSku::key_of(store, &String::from(sku.clone())));
        let (handles, skus): (Vec<Key>, Vec<Key>) = (handles.collect(), skus.collect());
        let mut taken = Self::default();
        for keys in distinct(&handles).chunks(100) {
            let mut batch = services.table.get_many_eventually(keys).await?;
            for key in keys {
                let claim: Option<UniqueProductHandle> = batch.take(key)?;
                taken.handles.extend(claim.map(|it| (it.handle.to_string(), it.product_id)));
            }
        }
        for keys in distinct(&skus).chunks(100) {
            let mut batch = services.table.get_many_eventually(keys).await?;
            for key in keys {
                let claim: Option<UniqueSku> = batch.take(key)?;
                taken.skus.extend(claim.map(|it| (it.sku.to_lowercase(), it.product_id)));
            }
        }
        Ok(taken)
    }
}

fn distinct(keys: &[Key]) -> Vec<&Key> {
    let mut seen = std::collections::HashSet::new();
    keys.iter().filter(|key| seen.insert(*key)).collect()
}

/// Returns the outcomes of a dry run, one after the other in the order of creation.
pub(super) async fn check(
    work: &Work<'_>,
    read: ParsedRecords<CreateRequest>,
    seen: &mut SeenValues,
) -> Result<Vec<RecordOutcome>, Problem> {
    let sound: Vec<CreateRequest> = read.iter().filter_map(|(_, it)| it.clone()).collect();
    let taken = TakenNames::of(work, &sound).await?;
    let mut outcomes = Vec::new();
    for (record, request) in read {
        outcomes.push(match request {
            Some(request) => check_one(work, record, request, (&taken, seen)).await?,
            None => RecordOutcome::of(record, RecordResult::Failed),
        });
    }
    Ok(outcomes)
}

/// Returns the outcome of one product in a dry run. Its handle and SKUs are recorded as taken for later
/// ones, unless it fails.
async fn check_one(
    work: &Work<'_>,
    mut record: Record,
    mut request: CreateRequest,
    (taken, seen): (&TakenNames, &mut SeenValues),
) -> Result<RecordOutcome, Problem> {
    let id = work.import.product_id(record.row);
    for _ in 0..ROUNDS {
        let planned = (id.clone(), request.clone());
        let now = work.services.clock.now();
        match save_product::plan(work.services, work.store, planned, now).await {
            Ok(_) => break,
            Err(problem) => match retry_decision(work, record, (&request, &id), &problem).await? {
                RetryDecision::Request(without) => (record, request) = *without,
                RetryDecision::Outcome(outcome) => return Ok(outcome),
            },
        }
    }
    let handle = match request.handle() {
        Some(handle) => handle.as_str().to_owned(),
        None => free_handle(work, (record.row, &request), taken, seen).await?,
    };
    let holder = taken.handles.get(&handle).filter(|_| request.handle().is_some());
    let own = format!("row {}", record.row);
    let is_own = record.is_addition() && seen.has(&own);
    let exists = holder.is_some() || seen.has(&format!("handle {handle}"));
    match work.import.on_existing {
        _ if is_own => {}
        OnExisting::Skip if exists => return Ok(RecordOutcome::of(record, RecordResult::Skipped)),
        OnExisting::Fail if exists => {
            return Ok(found_at(record, "/handle", Code::HandleTaken));
        }
        _ => {}
    }
    let mut words = vec![format!("handle {handle}"), own];
    for (number, sku) in request.skus().enumerate() {
        let Some(sku) = sku.map(lower) else { continue };
        let (any, own) = (format!("sku {sku}"), format!("sku {sku} of {handle}"));
        let owner = taken.skus.get(&sku);
        let is_anothers = owner.is_some() && owner != holder;
        if is_anothers || (seen.has(&any) && !seen.has(&own)) {
            let pointer = format!("/variants/{number}/sku");
            if !record.leave_out_members(&[field_error(&pointer, Code::SkuTaken)]) {
                return Ok(found_at(record, &pointer, Code::SkuTaken));
            }
            continue;
        }
        words.extend([any, own]);
    }
    for word in words {
        seen.is_new(&word);
    }
    Ok(RecordOutcome::of(
        record,
        if exists { RecordResult::Updated } else { RecordResult::Created },
    ))
}

/// The handle that a product without one would get.
async fn free_handle(
    work: &Work<'_>,
    (row, request): (u64, &CreateRequest),
    taken: &TakenNames,
    seen: &SeenValues,
) -> Result<String, Problem> {
    let made = handle_of(request);
    let is_seen = |handle: &str| seen.has(&format!("handle {handle}"));
    if !taken.handles.contains_key(&made) && !is_seen(&made) {
        return Ok(made);
    }
    let numbered: Vec<String> =
        (2..=NUMBERED).map(|number| format!("{made}-{number}")).filter(|it| !is_seen(it)).collect();
    let key = |handle: &String| key::unique_product_handle(&work.store.id, handle);
    let keys: Vec<Key> = numbered.iter().map(key).collect();
    let mut batch =
        work.services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    for (handle, key) in numbered.iter().zip(&keys) {
        if batch.take::<UniqueProductHandle>(key)?.is_none() {
            return Ok(handle.clone());
        }
    }
    // It would get a unique handle of another form.
    Ok(format!("{made} {row}"))
}

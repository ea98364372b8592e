//! Import of products.

mod dry_run;

use catalogue::product::{self, Product, Sku, UniqueProductHandle, UniqueSku};
use catalogue::workflows::save_product::{self, CreateRequest};
use core_types::fields::Handle;
use core_types::id::ProductId;
use core_types::key;
use futures_util::FutureExt;
use primitives::problem::{Code, Problem};
use table::CommitOnly;
use table::item::Key;

use super::categories;
use super::order::{RecordLocks, in_order, is_done, last_row, part_of_row};
use super::work::{
    ParsedRecords, ROUNDS, RecordOutcome, RecordResult, Work, field_error, found_at, read,
    read_all, rejected,
};
use crate::import::OnExisting;
use crate::import::records::Record;
use crate::import::seen::SeenValues;

/// The variants that one transaction updates, where all of a product's are too many: each has up to five
/// actions, and its stock.
const VARIANTS_AT_ONCE: usize = 12;

pub(super) async fn apply(
    work: &Work<'_>,
    records: Vec<Record>,
    seen: &mut SeenValues,
) -> Result<Vec<RecordOutcome>, Problem> {
    let read: ParsedRecords<CreateRequest> = read_all(categories::assigned(work, records).await?);
    if work.import.dry_run {
        return dry_run::check(work, read, seen).await;
    }
    let create =
        |record: Record, request| async move { create(work, record, request).await }.boxed();
    in_order(read, keys, create).await
}

/// The handle of a product: the given one, or the one that its title makes.
fn handle_of(request: &CreateRequest) -> String {
    let own_handle = request.handle().map(|handle| handle.as_str().to_owned());
    own_handle.unwrap_or_else(|| Handle::made_of(request.title(), "product"))
}

/// The keys that a product locks. One without a handle gets a number appended when its handle is taken, so
/// it locks all numbers.
fn keys(request: &CreateRequest) -> RecordLocks {
    let handle = handle_of(request);
    let numbered = |text: &str| {
        let digits = |c: char| c.is_ascii_digit();
        text.trim_end_matches(digits)
            .strip_suffix('-')
            .filter(|_| text.ends_with(digits))
            .map(str::to_owned)
    };
    let mut base = handle.clone();
    while let Some(shorter) = numbered(&base) {
        base = shorter;
    }
    let base = format!("numbers of {base}");
    let skus = request.skus().flatten().map(|sku| format!("sku {}", lower(sku)));
    let handle = format!("handle {handle}");
    if request.handle().is_some() {
        return RecordLocks { own: skus.chain([handle]).collect(), shared: vec![base] };
    }
    RecordLocks { own: skus.chain([handle, base]).collect(), shared: Vec::new() }
}

fn lower(sku: &Sku) -> String {
    String::from(sku.clone()).to_lowercase()
}

/// Creates a product, or treats an existing one as `on_existing` says. The product's id follows from the
/// import and the row, so that a repetition creates nothing twice.
async fn create(
    work: &Work<'_>,
    mut record: Record,
    mut request: CreateRequest,
) -> Result<RecordOutcome, Problem> {
    let Work { services, store, .. } = work;
    let id = work.import.product_id(record.row);
    let handle = request.handle().cloned();
    for _ in 0..ROUNDS {
        let planned = (id.clone(), request.clone());
        let now = services.clock.now();
        let made = save_product::create(services, store, planned, now, &CommitOnly).await;
        let Err(problem) = made else {
            return Ok(RecordOutcome::of(record, RecordResult::Created));
        };
        // A large product claims SKUs before its handle: those of the product with the same handle are no
        // conflict.
        let code = match (&problem.code, &handle) {
            (Code::SkuTaken, Some(handle)) if is_held(work, handle).await? => Code::HandleTaken,
            (code, _) => *code,
        };
        match code {
            Code::VersionConflict | Code::HandleTaken
                if record.is_addition() && is_there(work, &id).await? =>
            {
                return overwrite(work, record, request, id).await;
            }
            // Created by an interrupted step.
            Code::VersionConflict if is_there(work, &id).await? => {
                return Ok(RecordOutcome::of(record, RecordResult::Created));
            }
            Code::HandleTaken => return existing(work, record, request).await,
            _ => match retry_decision(work, record, (&request, &id), &problem).await? {
                RetryDecision::Request(without) => (record, request) = *without,
                RetryDecision::Outcome(outcome) => return Ok(outcome),
            },
        }
    }
    Err(Problem::unavailable(format!("the product {id} is being changed")))
}

/// Treats a product whose handle is taken as `on_existing` says.
async fn existing(
    work: &Work<'_>,
    record: Record,
    request: CreateRequest,
) -> Result<RecordOutcome, Problem> {
    match work.import.on_existing {
        OnExisting::Skip => Ok(RecordOutcome::of(record, RecordResult::Skipped)),
        OnExisting::Update => update(work, record, request).await,
        OnExisting::Fail => Ok(found_at(record, "/handle", Code::HandleTaken)),
    }
}

/// The decision after a rejection.
enum RetryDecision {
    /// The record and its request, without the cells that were rejected.
    Request(Box<(Record, CreateRequest)>),
    Outcome(RecordOutcome),
}

/// The request without the cells for which it was rejected, or the failure of the record. A SKU of another
/// product is left out, and so are all others of the record that other products have.
async fn retry_decision(
    work: &Work<'_>,
    mut record: Record,
    (request, id): (&CreateRequest, &ProductId),
    problem: &Problem,
) -> Result<RetryDecision, Problem> {
    let may_leave_out = if problem.code == Code::SkuTaken {
        let named = position_of(request, &taken_sku(problem));
        let mut taken = skus_of_others(work, request, id).await?;
        if taken.is_empty() {
            taken.push(named);
        }
        let at = |number: usize| field_error(&format!("/variants/{number}/sku"), Code::SkuTaken);
        record.leave_out_members(&taken.into_iter().map(at).collect::<Vec<_>>())
    } else {
        record.leave_out_members(problem.errors())
    };
    if may_leave_out {
        return Ok(match read(&mut record) {
            Some(request) => RetryDecision::Request(Box::new((record, request))),
            None => RetryDecision::Outcome(RecordOutcome::of(record, RecordResult::Failed)),
        });
    }
    if problem.code == Code::SkuTaken {
        let pointer = format!("/variants/{}/sku", position_of(request, &taken_sku(problem)));
        return Ok(RetryDecision::Outcome(found_at(record, &pointer, Code::SkuTaken)));
    }
    rejected(record, problem).map(RetryDecision::Outcome)
}

/// The variants of a request whose SKUs other products have.
async fn skus_of_others(
    work: &Work<'_>,
    request: &CreateRequest,
    id: &ProductId,
) -> Result<Vec<usize>, Problem> {
    let (services, store) = (work.services, &work.store.id);
    let skus = request.skus().enumerate();
    let skus = skus.filter_map(|(number, sku)| Some((number, sku?.clone())));
    let keys = skus.map(|(number, sku)| (number, UniqueSku::key_of(store, &String::from(sku))));
    let keys: Vec<(usize, Key)> = keys.collect();
    let mut taken = Vec::new();
    for keys in keys.chunks(100) {
        let all: Vec<&Key> = keys.iter().map(|(_, key)| key).collect();
        let mut batch = services.table.get_many(&all).await?;
        for (number, key) in keys {
            let claim: Option<UniqueSku> = batch.take(key)?;
            taken.extend(claim.filter(|it| it.product_id != *id).map(|_| *number));
        }
    }
    Ok(taken)
}

/// Whether a product of the store has this handle.
async fn is_held(work: &Work<'_>, handle: &Handle) -> Result<bool, Problem> {
    let claim = key::unique_product_handle(&work.store.id, handle.as_str());
    let holder: Option<UniqueProductHandle> = work.services.table.get(&claim).await?;
    Ok(holder.is_some())
}

/// Updates the product of a handle.
async fn update(
    work: &Work<'_>,
    record: Record,
    request: CreateRequest,
) -> Result<RecordOutcome, Problem> {
    let Work { services, store, .. } = work;
    let Some(handle) = request.handle().cloned() else {
        return Ok(found_at(record, "/handle", Code::HandleTaken));
    };
    let claim = key::unique_product_handle(&store.id, handle.as_str());
    let holder: Option<UniqueProductHandle> = services.table.get(&claim).await?;
    // The handle was released meanwhile: the next attempt creates the product.
    let holder = holder.ok_or_else(|| {
        Problem::unavailable(format!("the handle {} was released", handle.as_str()))
    })?;
    overwrite(work, record, request, holder.product_id).await
}

/// Updates a product.
async fn overwrite(
    work: &Work<'_>,
    mut record: Record,
    mut request: CreateRequest,
    id: ProductId,
) -> Result<RecordOutcome, Problem> {
    let Work { services, store, .. } = work;
    let id = &id;
    if record.has_unpriced() {
        let (_, variants) =
            product::load(services, &store.id, id).await?.ok_or(Code::Unavailable)?;
        record.price_as(&variants);
        let Some(priced) = read(&mut record) else {
            return Ok(RecordOutcome::of(record, RecordResult::Failed));
        };
        request = priced;
    }
    for _ in 0..ROUNDS {
        match write_over(work, id, &record, &request).await {
            Ok(()) => return Ok(RecordOutcome::of(record, RecordResult::Updated)),
            Err(problem) if is_done(&problem) => {
                return Ok(RecordOutcome::of(record, RecordResult::Updated));
            }
            Err(problem) => match retry_decision(work, record, (&request, id), &problem).await? {
                RetryDecision::Request(without) => (record, request) = *without,
                RetryDecision::Outcome(outcome) => return Ok(outcome),
            },
        }
    }
    Err(Problem::unavailable(format!("the product {id} is being changed")))
}

/// Overwrites a product in one transaction, or in several if its change is too large for one.
async fn write_over(
    work: &Work<'_>,
    id: &ProductId,
    record: &Record,
    request: &CreateRequest,
) -> Result<(), Problem> {
    let Work { services, store, .. } = work;
    let last = last_row(work, id.as_str(), record.order());
    let of = (id, request.clone());
    let whole = save_product::overwrite(services, store, of, last, &CommitOnly).await;
    match whole {
        Err(problem) if problem.code == Code::ChangeTooLarge => {}
        whole => return whole,
    }
    let each = part_of_row(work, id.as_str(), record.order());
    for part in request.clone().in_parts(VARIANTS_AT_ONCE) {
        save_product::overwrite(services, store, (id, part), &each, &CommitOnly).await?;
    }
    Ok(())
}

async fn is_there(work: &Work<'_>, id: &ProductId) -> Result<bool, Problem> {
    let found: Option<Product> = work.services.table.get(&key::product(&work.store.id, id)).await?;
    Ok(found.is_some())
}

/// The SKU that a rejection names, in lower case.
fn taken_sku(problem: &Problem) -> String {
    problem.extra("sku").and_then(|sku| sku.as_str()).unwrap_or_default().to_lowercase()
}

/// The variant of a request with this SKU in lower case.
fn position_of(request: &CreateRequest, taken: &str) -> usize {
    let is_it = |sku: &Sku| String::from(sku.clone()).to_lowercase() == taken;
    request.skus().position(|sku| sku.is_some_and(is_it)).unwrap_or(0)
}

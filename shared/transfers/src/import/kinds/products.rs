//! Import of products.

use std::collections::HashMap;

use catalogue::product::{Product, Sku, UniqueProductHandle, UniqueSku};
use catalogue::workflows::save_product::{self, CreateRequest};
use core_types::fields::Handle;
use core_types::id::ProductId;
use core_types::key;
use futures_util::FutureExt;
use primitives::problem::{Code, Problem};
use table::item::Key;

use super::order::{Keys, in_order, is_done, last_row, part_of_row};
use super::{Asked, Outcome, Record, Seen, Work, found_at, read_all, rejected};
use crate::import::OnExisting;

/// The highest number that is appended to the handle of a product without one, as at its creation.
const NUMBERED: u32 = 50;
/// The variants that one transaction updates, where all of a product's are too many: each has up to five
/// actions, and its stock.
const VARIANTS_AT_ONCE: usize = 12;

/// The handles and SKUs of a page that products of the store already have.
#[derive(Debug, Default)]
struct Taken {
    handles: HashMap<String, ProductId>,
    skus: HashMap<String, ProductId>,
}

impl Taken {
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

pub(super) async fn apply(
    work: &Work<'_>,
    records: Vec<Record>,
    seen: &mut Seen,
) -> Result<Vec<Outcome>, Problem> {
    let read: Asked<CreateRequest> = read_all(records);
    if work.import.dry_run {
        return check(work, read, seen).await;
    }
    let create =
        |record: Record, request| async move { create(work, &record, request).await }.boxed();
    in_order(read, keys, create).await
}

/// The handle of a product: the given one, or the one that its title makes.
fn handle_of(request: &CreateRequest) -> String {
    let said = request.handle().map(|handle| handle.as_str().to_owned());
    said.unwrap_or_else(|| Handle::made_of(request.title(), "product"))
}

/// The keys that a product locks. One without a handle gets a number appended when its handle is taken, so
/// it locks all numbers.
fn keys(request: &CreateRequest) -> Keys {
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
        return Keys { own: skus.chain([handle]).collect(), shared: vec![base] };
    }
    Keys { own: skus.chain([handle, base]).collect(), shared: Vec::new() }
}

fn lower(sku: &Sku) -> String {
    String::from(sku.clone()).to_lowercase()
}

/// Creates a product, or treats an existing one as `on_existing` says. The product's id follows from the
/// import and the row, so that a repetition creates nothing twice.
async fn create(
    work: &Work<'_>,
    record: &Record,
    request: CreateRequest,
) -> Result<Outcome, Problem> {
    let Work { services, store, import } = work;
    let id = id_of(work, record.row);
    let handle = request.handle().cloned();
    let again = request.clone();
    let made =
        save_product::create(services, store, (id.clone(), request), services.clock.now()).await;
    let Err(problem) = made else { return Ok(Outcome::Created) };
    // A large product claims SKUs before its handle: those of the product with the same handle are no
    // conflict.
    let code = match (&problem.code, &handle) {
        (Code::SkuTaken, Some(handle)) if is_held(work, handle).await? => Code::HandleTaken,
        (code, _) => *code,
    };
    match code {
        // Created by an interrupted step.
        Code::VersionConflict if is_there(work, &id).await? => Ok(Outcome::Created),
        Code::HandleTaken if import.on_existing == OnExisting::Skip => Ok(Outcome::Skipped),
        Code::HandleTaken if import.on_existing == OnExisting::Update => {
            overwrite(work, record, handle.as_ref(), again).await
        }
        Code::HandleTaken => Ok(found_at(record, "/handle", Code::HandleTaken)),
        Code::SkuTaken => Ok(sku_taken(record, &again, &taken_sku(&problem))),
        _ => rejected(record, &problem),
    }
}

/// Whether a product of the store has this handle.
async fn is_held(work: &Work<'_>, handle: &Handle) -> Result<bool, Problem> {
    let claim = key::unique_product_handle(&work.store.id, handle.as_str());
    let holder: Option<UniqueProductHandle> = work.services.table.get(&claim).await?;
    Ok(holder.is_some())
}

/// Updates the product of a handle.
async fn overwrite(
    work: &Work<'_>,
    record: &Record,
    handle: Option<&Handle>,
    request: CreateRequest,
) -> Result<Outcome, Problem> {
    let Work { services, store, .. } = work;
    let Some(handle) = handle else {
        return Ok(found_at(record, "/handle", Code::HandleTaken));
    };
    let claim = key::unique_product_handle(&store.id, handle.as_str());
    let holder: Option<UniqueProductHandle> = services.table.get(&claim).await?;
    // The handle was released meanwhile: the next attempt creates the product.
    let holder = holder.ok_or_else(|| Problem::unavailable("a handle was given up"))?;
    let last = last_row(work, handle.as_str(), record.row);
    let id = &holder.product_id;
    let whole = save_product::overwrite(services, store, (id, request.clone()), last).await;
    let written = match whole {
        Err(problem) if problem.code == Code::ChangeTooLarge => {
            let each = part_of_row(work, handle.as_str(), record.row);
            let mut parts = request.clone().in_parts(VARIANTS_AT_ONCE).into_iter();
            let mut written = Ok(());
            while let (Ok(()), Some(part)) = (&written, parts.next()) {
                let part = save_product::overwrite(services, store, (id, part), &each).await;
                written = part.map(drop);
            }
            written
        }
        whole => whole.map(drop),
    };
    match written {
        Ok(()) => Ok(Outcome::Updated),
        Err(problem) if is_done(&problem) => Ok(Outcome::Updated),
        Err(problem) if problem.code == Code::SkuTaken => {
            Ok(sku_taken(record, &request, &taken_sku(&problem)))
        }
        Err(problem) => rejected(record, &problem),
    }
}

fn id_of(work: &Work<'_>, row: u64) -> ProductId {
    let parts = [work.import.id.as_str(), &row.to_string()];
    ProductId::derive_at(work.time_of(row), &parts)
}

async fn is_there(work: &Work<'_>, id: &ProductId) -> Result<bool, Problem> {
    let found: Option<Product> = work.services.table.get(&key::product(&work.store.id, id)).await?;
    Ok(found.is_some())
}

/// The SKU that a rejection names, in lower case.
fn taken_sku(problem: &Problem) -> String {
    problem.extra("sku").and_then(|sku| sku.as_str()).unwrap_or_default().to_lowercase()
}

fn sku_taken(record: &Record, request: &CreateRequest, taken: &str) -> Outcome {
    let is_it = |sku: &Sku| String::from(sku.clone()).to_lowercase() == taken;
    let number = request.skus().position(|sku| sku.is_some_and(is_it)).unwrap_or(0);
    found_at(record, &format!("/variants/{number}/sku"), Code::SkuTaken)
}

/// Returns the outcomes of a dry run, one after the other in the order of creation.
async fn check(
    work: &Work<'_>,
    read: Asked<CreateRequest>,
    seen: &mut Seen,
) -> Result<Vec<Outcome>, Problem> {
    let sound: Vec<CreateRequest> =
        read.iter().filter_map(|(_, it)| it.as_ref().ok().cloned()).collect();
    let taken = Taken::of(work, &sound).await?;
    let mut outcomes = Vec::new();
    for (record, request) in read {
        outcomes.push(match request {
            Ok(request) => check_one(work, (&record, request), &taken, seen).await?,
            Err(findings) => Outcome::Failed(findings),
        });
    }
    Ok(outcomes)
}

/// Returns the outcome of one product in a dry run. Its handle and SKUs are recorded as taken for later
/// ones, unless it fails.
async fn check_one(
    work: &Work<'_>,
    (record, request): (&Record, CreateRequest),
    taken: &Taken,
    seen: &mut Seen,
) -> Result<Outcome, Problem> {
    let planned = (id_of(work, record.row), request.clone());
    if let Err(problem) =
        save_product::plan(work.services, work.store, planned, work.services.clock.now()).await
    {
        return rejected(record, &problem);
    }
    let handle = match request.handle() {
        Some(handle) => handle.as_str().to_owned(),
        None => free_handle(work, (record.row, &request), taken, seen).await?,
    };
    let holder = taken.handles.get(&handle).filter(|_| request.handle().is_some());
    let exists = holder.is_some() || seen.has(&format!("handle {handle}"));
    if exists && work.import.on_existing != OnExisting::Update {
        return Ok(match work.import.on_existing {
            OnExisting::Skip => Outcome::Skipped,
            _ => found_at(record, "/handle", Code::HandleTaken),
        });
    }
    let mut words = vec![format!("handle {handle}")];
    for (number, sku) in request.skus().enumerate() {
        let Some(sku) = sku.map(lower) else { continue };
        let (any, own) = (format!("sku {sku}"), format!("sku {sku} of {handle}"));
        let owner = taken.skus.get(&sku);
        let is_anothers = owner.is_some() && owner != holder;
        if is_anothers || (seen.has(&any) && !seen.has(&own)) {
            return Ok(found_at(record, &format!("/variants/{number}/sku"), Code::SkuTaken));
        }
        words.extend([any, own]);
    }
    for word in words {
        seen.is_new(&word);
    }
    Ok(if exists { Outcome::Updated } else { Outcome::Created })
}

/// The handle that a product without one would get.
async fn free_handle(
    work: &Work<'_>,
    (row, request): (u64, &CreateRequest),
    taken: &Taken,
    seen: &Seen,
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

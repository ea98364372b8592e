//! Steps of an export: each reads some pages and writes them as chunks of the file.

use std::time::Duration;

use catalogue::category::Tree;
use catalogue::inventory::{Level, Movement, MovementView};
use catalogue::location::Location;
use catalogue::product::{Product, Variant};
use core_types::end_reason::EndReason;
use core_types::id::{ExportId, StoreId};
use core_types::key;
use delivery::run::RunMessage;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use identity::address::{Address, MAX_ADDRESSES};
use identity::customer::Customer;
use platform::authority::AuthorityCheck;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use sales::order::{Order, OrderView};
use serde::Serialize;
use services::Services;
use table::item::{Item, Key};
use table::{Query, WalkPosition};
use tokio::time::Instant;

use super::{
    Export, ExportKind, ExportStatus, columns, customers, movements, orders, person, products,
    stock,
};
use crate::FileFormat;
use crate::chunk::{self, CHUNK, Chunk};
use crate::unfinished;

/// How long one message works on an export.
const STAY: Duration = Duration::from_secs(5);
/// The number of items in one page.
const PAGE: usize = 100;
/// The number of movements in one page.
const MOVEMENTS: usize = 500;
/// The most locations of one store that are loaded.
const MAX_LOCATIONS: usize = 1_000;
/// The number of customers or variants whose further items are read at once.
const AT_ONCE: usize = 8;

/// The output of some pages.
#[derive(Debug, Default)]
pub(super) struct Written {
    bytes: Vec<u8>,
    done: u64,
    rows: u64,
}

impl Written {
    /// Adds one object, as rows or as a JSON line.
    fn add(
        &mut self,
        format: FileFormat,
        rows: impl FnOnce() -> Vec<Vec<String>>,
        line: &impl Serialize,
    ) {
        self.done = self.done.saturating_add(1);
        match format {
            FileFormat::Csv => {
                let rows = rows();
                let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
                self.rows = self.rows.saturating_add(count);
                self.bytes.extend(crate::csv::rows(&rows));
            }
            FileFormat::Jsonl => self.line(line),
        }
    }

    fn line(&mut self, line: &impl Serialize) {
        self.rows = self.rows.saturating_add(1);
        self.bytes.extend(serde_json::to_vec(line).unwrap_or_default());
        self.bytes.push(b'\n');
    }

    /// Adds one object as a JSON line.
    pub(super) fn add_line(&mut self, line: &impl Serialize) {
        self.done = self.done.saturating_add(1);
        self.line(line);
    }
}

/// Takes the next step. Returns when the following step is due; none when the export has ended.
///
/// # Errors
/// `version_conflict` when the export was written meanwhile; 503 when the table cannot be reached.
pub async fn step(services: &Services, id: &ExportId) -> Result<Option<Timestamp>, Problem> {
    let found = services.table.get::<Export>(&key::export(id)).await?;
    let Some(mut export) = found.filter(|export| !export.status.is_over()) else {
        return Ok(None);
    };
    if export.status == ExportStatus::Queued && waits(services, &export).await? {
        return Ok(None);
    }
    let mut authority = AuthorityCheck::of(export.authority.as_ref());
    let began = Instant::now();
    while !export.status.is_over() {
        if began.elapsed() >= STAY {
            return Ok(Some(services.clock.now()));
        }
        export = match advance(services, &export, &mut authority).await? {
            Ok(next) => next,
            Err(reason) => end(services, &export, ExportStatus::Cancelled, reason).await?,
        };
    }
    tracing::info!(
        export = id.as_str(),
        store = export.store_id.as_str(),
        kind = export.kind.as_str(),
        done = export.done,
        rows = export.rows,
        "export ended"
    );
    start_next(services, &export.store_id).await;
    Ok(None)
}

/// Whether an export waits for an earlier one of its store: they are written one after the other, so that a
/// store holds one worker with them.
async fn waits(services: &Services, export: &Export) -> Result<bool, Problem> {
    let unfinished = unfinished::of_store::<Export>(services, &export.store_id).await?;
    if unfinished.iter().take_while(|other| other.id != export.id).next().is_none() {
        return Ok(false);
    }
    let now = services.clock.now();
    if export.due_at.is_some_and(|at| at <= now) {
        export.waiting(now).save(services.table.write()).commit().await?;
    }
    Ok(true)
}

/// Sends the message of the store's next export. A failure is only logged: the sweep finds the export.
pub async fn start_next(services: &Services, store: &StoreId) {
    match unfinished::of_store::<Export>(services, store).await {
        Ok(unfinished) => {
            if let Some(next) = unfinished.into_iter().next() {
                RunMessage::Export { id: next.id }.send(services, Duration::ZERO).await;
            }
        }
        Err(problem) => {
            tracing::warn!(
                cause = %problem, store = store.as_str(),
                "next export of a store not started; the sweep starts it"
            );
        }
    }
}

/// Ends an export after a permanent error.
///
/// # Errors
/// `version_conflict` when the export was written meanwhile; 503 when the table cannot be reached.
pub async fn give_up(services: &Services, id: &ExportId) -> Result<(), Problem> {
    let found = services.table.get::<Export>(&key::export(id)).await?;
    let Some(export) = found.filter(|export| !export.status.is_over()) else { return Ok(()) };
    end(services, &export, ExportStatus::Failed, EndReason::InternalError).await?;
    start_next(services, &export.store_id).await;
    Ok(())
}

/// Ends an export without a file.
async fn end(
    services: &Services,
    export: &Export,
    status: ExportStatus,
    reason: EndReason,
) -> Result<Export, Problem> {
    let over = export.broken(status, reason, services.clock.now());
    over.save(services.table.write()).commit().await?;
    chunk::remove(services, export.id.as_str()).await;
    Ok(over)
}

/// Reads until a chunk is full, writes it, and saves the progress. Returns a reason when the authority
/// was lost.
async fn advance(
    services: &Services,
    export: &Export,
    authority: &mut AuthorityCheck,
) -> Result<Result<Export, EndReason>, Problem> {
    let mut next = export.running(services.clock.now());
    let mut written = Written::default();
    if export.chunks.is_empty() && export.format == FileFormat::Csv {
        written.bytes = crate::csv::rows(&[columns::names(names(export.kind))]);
    }
    let mut is_last = false;
    while written.bytes.len() < CHUNK / 2 && !is_last {
        if let Some(reason) = authority.revocation(services).await? {
            return Ok(Err(reason));
        }
        is_last = page(services, &mut next, &mut written).await?;
    }
    next.done = next.done.saturating_add(written.done);
    next.rows = next.rows.saturating_add(written.rows);
    let mut chunks = Vec::new();
    for bytes in written.bytes.chunks(CHUNK) {
        let place = Export::chunk(next.chunks.len());
        next.chunks.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        chunks.push(Chunk::new(export.id.as_str(), place, bytes.to_vec(), export.created_at));
    }
    chunk::write_of(services, export, &chunks).await?;
    if is_last {
        let ended = next.ended(ExportStatus::Succeeded, services.clock.now());
        next = Export { version: next.version, ..ended };
    }
    next.save(services.table.write()).commit().await?;
    Ok(Ok(next))
}

fn names(kind: ExportKind) -> &'static [&'static str] {
    match kind {
        ExportKind::Products => products::COLUMNS,
        ExportKind::Orders => orders::COLUMNS,
        ExportKind::Customers => customers::COLUMNS,
        ExportKind::Movements => movements::COLUMNS,
        ExportKind::Inventory => stock::COLUMNS,
        // This kind is always written as JSON lines.
        ExportKind::Customer => &[],
    }
}

/// Reads one page, and advances the export's place. Returns whether it was the last page.
async fn page(
    services: &Services,
    export: &mut Export,
    written: &mut Written,
) -> Result<bool, Problem> {
    match export.kind {
        ExportKind::Products => products_page(services, export, written).await,
        ExportKind::Orders => {
            let all = Query::list(key::list::orders_of_store(&export.store_id));
            let asked = export.clone();
            let wanted = move |order: &Order| asked.is_asked_for(order.created_at);
            let (found, place) = walk(services, export, all, wanted).await?;
            for order in &found {
                written.add(export.format, || orders::rows(order), &OrderView::from(order));
            }
            Ok(place)
        }
        ExportKind::Customers => {
            let all = Query::list(key::list::customers_of_store(&export.store_id));
            let asked = export.clone();
            let wanted = move |customer: &Customer| asked.is_asked_for(customer.created_at);
            let (found, place) = walk(services, export, all, wanted).await?;
            let addresses = each(&found, |customer| addresses_of(services, customer)).await?;
            for (customer, addresses) in found.iter().zip(&addresses) {
                let line = customers::Line::of(customer, addresses);
                written.add(export.format, || customers::rows(customer, addresses), &line);
            }
            Ok(place)
        }
        ExportKind::Inventory => stock_page(services, export, written).await,
        ExportKind::Movements => movements_page(services, export, written).await,
        ExportKind::Customer => person::page(services, export, written).await,
    }
}

/// Reads something of each item, several at once. Returns the results in their order.
async fn each<'a, T, R, F>(items: &'a [T], read: impl Fn(&'a T) -> F) -> Result<Vec<R>, Problem>
where
    F: Future<Output = Result<R, Problem>>,
{
    let reads: Vec<F> = items.iter().map(read).collect();
    stream::iter(reads).buffered(AT_ONCE).try_collect().await
}

/// Loads the addresses of a customer, the default one first.
async fn addresses_of(services: &Services, customer: &Customer) -> Result<Vec<Address>, Problem> {
    if customer.addresses_count == 0 {
        return Ok(Vec::new());
    }
    let query = Query::partition(customer.key().pk).begins_with(key::ADDRESSES);
    let most = usize::try_from(MAX_ADDRESSES).unwrap_or(usize::MAX);
    let mut addresses: Vec<Address> = services.table.all(&query, most).await?;
    addresses.sort_by_key(|address| customer.default_address_id.as_ref() != Some(&address.id));
    Ok(addresses)
}

/// Reads the next page of a list. Returns its items, and whether it was the last page.
async fn walk<T: Item>(
    services: &Services,
    export: &mut Export,
    query: Query,
    wanted: impl Fn(&T) -> bool,
) -> Result<(Vec<T>, bool), Problem> {
    let (found, place): (Vec<T>, Option<WalkPosition>) =
        services.table.walk(&[query], PAGE, export.place.as_ref(), wanted).await?;
    export.place = place;
    Ok((found, export.place.is_none()))
}

fn all_products(export: &Export) -> Query {
    Query::list(key::list::products_of_store(&export.store_id))
}

/// Loads the next products that the export asks for, with their variants, and says whether they are the last.
async fn asked_products(
    services: &Services,
    export: &mut Export,
) -> Result<(Vec<(Product, Vec<Variant>)>, bool), Problem> {
    let asked = export.clone();
    let wanted = move |product: &Product| asked.is_asked_for(product.created_at);
    let (found, is_last) = walk(services, export, all_products(export), wanted).await?;
    Ok((with_variants(services, found).await?, is_last))
}

async fn products_page(
    services: &Services,
    export: &mut Export,
    written: &mut Written,
) -> Result<bool, Problem> {
    let (found, is_last) = asked_products(services, export).await?;
    let has_category = found.iter().any(|(product, _)| product.category_id.is_some());
    let tree = if has_category && export.format == FileFormat::Jsonl {
        Tree::get_eventually(services, &export.store_id).await?
    } else {
        Tree::default()
    };
    for (product, variants) in &found {
        let line = products::Line::of(product, variants, &tree);
        written.add(export.format, || products::rows(product, variants), &line);
    }
    Ok(is_last)
}

/// Reads the stock of a page of products, at all locations.
async fn stock_page(
    services: &Services,
    export: &mut Export,
    written: &mut Written,
) -> Result<bool, Problem> {
    let (found, is_last) = asked_products(services, export).await?;
    let all = Query::partition(key::store(&export.store_id).pk).begins_with(key::LOCATIONS);
    let locations: Vec<Location> = services.table.all(&all, MAX_LOCATIONS).await?;
    for (product, mut variants) in found {
        variants.retain(|variant| variant.tracked);
        let levels = each(&variants, |variant| levels_of(services, variant)).await?;
        for (variant, levels) in variants.iter().zip(&levels) {
            for level in levels {
                let location = locations.iter().find(|one| one.id == level.location_id);
                let item = (&product, variant);
                let line = stock::Line::of(item, level, location);
                written.add(export.format, || vec![stock::row(item, level, location)], &line);
            }
        }
    }
    Ok(is_last)
}

async fn levels_of(services: &Services, variant: &Variant) -> Result<Vec<Level>, Problem> {
    let partition = key::sellable(&variant.store_id, &variant.id).pk;
    let query = Query::partition(partition).begins_with(key::LEVELS);
    services.table.all(&query, MAX_LOCATIONS).await
}

/// Loads the variants of products, a hundred in one round trip.
async fn with_variants(
    services: &Services,
    found: Vec<Product>,
) -> Result<Vec<(Product, Vec<Variant>)>, Problem> {
    let of = |product: &Product| -> Vec<Key> {
        let ids = product.variant_ids.iter();
        ids.map(|id| key::variant(&product.store_id, &product.id, id)).collect()
    };
    let keys: Vec<Key> = found.iter().flat_map(of).collect();
    let mut variants = std::collections::HashMap::new();
    for keys in keys.chunks(100) {
        let mut batch =
            services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
        for key in keys {
            variants.extend(batch.take::<Variant>(key)?.map(|one| (key.clone(), one)));
        }
    }
    let whole = found.into_iter().map(|product| {
        let own = of(&product).iter().filter_map(|key| variants.remove(key)).collect();
        let own = product.arranged(own);
        (product, own)
    });
    Ok(whole.collect())
}

/// Reads a page of movements of the current product, or proceeds to the next product.
async fn movements_page(
    services: &Services,
    export: &mut Export,
    written: &mut Written,
) -> Result<bool, Problem> {
    let Some((id, place)) = export.within.take() else {
        let mut found: Vec<Product> = Vec::new();
        let at = export.place.as_ref();
        let (products, place) =
            services.table.walk(&[all_products(export)], 1, at, |_| true).await?;
        found.extend(products);
        let is_last = place.is_none();
        export.place = place;
        export.within = found.pop().map(|product| (product.id, None));
        // After the last product, its own page reports the end.
        return Ok(is_last && export.within.is_none());
    };
    let is_last = export.place.is_none();
    let Some((product, variants)) =
        catalogue::product::get_eventually(services, &export.store_id, &id).await?
    else {
        return Ok(is_last);
    };
    let of =
        |variant: &Variant| Query::partition(key::movements_of(&variant.store_id, &variant.id));
    let queries: Vec<Query> = variants.iter().map(of).collect();
    let asked = export.clone();
    let wanted = move |movement: &Movement| asked.is_asked_for(movement.created_at);
    let (found, place) = services.table.walk(&queries, MOVEMENTS, place.as_ref(), wanted).await?;
    for movement in &found {
        let variant = variants.iter().find(|variant| variant.id == movement.variant_id);
        let row = || vec![movements::row(movement, &product, variant)];
        written.add(export.format, row, &MovementView::from(movement));
    }
    match place {
        Some(place) => {
            export.within = Some((id, Some(place)));
            Ok(false)
        }
        None => Ok(is_last),
    }
}

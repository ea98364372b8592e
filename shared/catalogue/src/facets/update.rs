//! Updates of a facet index after products have changed, and walks over all products.
//!
//! A chunk is read before the products, and written on condition that it is unchanged. So of several concurrent updates
//! the last to be written has read the newest products.

use std::collections::{BTreeMap, BTreeSet};

use core_types::id::{ProductId, StoreId};
use core_types::key;
use futures_util::future::try_join_all;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{Change, Query, Write, retry};

use super::{FacetChunk, FacetHead, FacetRow, FacetWalk};
use crate::product::{ProductSummary, SummaryOrder, load};

/// The most products that one transaction updates.
const TOGETHER: usize = 25;
/// The most products of one step of a walk.
const STEP: usize = 50;

/// Replaces the rows of products by what they are now. The first change of a store begins its index.
///
/// # Errors
/// 503.
pub async fn refresh(
    services: &Services,
    store: &StoreId,
    products: &BTreeSet<ProductId>,
) -> Result<(), Problem> {
    let now = services.clock.now();
    let head: Option<FacetHead> = services.table.get(&key::facet_head(store)).await?;
    match head {
        None => begin(services, store).await?,
        Some(head) if head.needs_walk(now) => ensure_walk(services, store).await?,
        Some(_) => {}
    }
    replace_all(services, store, products).await
}

/// Creates an empty index, and the walk that fills it; leaves an existing one alone.
///
/// # Errors
/// 503.
pub(super) async fn begin(services: &Services, store: &StoreId) -> Result<(), Problem> {
    let now = services.clock.now();
    let write = services
        .table
        .write()
        .create(&FacetHead::first(store, now), Code::VersionConflict)
        .create(&FacetChunk::first(store), Code::VersionConflict)
        .create(&FacetWalk::first(store, now), Code::VersionConflict);
    unless_done(write).await
}

/// Begins a walk, or one that is stuck again.
///
/// # Errors
/// 503.
pub(super) async fn ensure_walk(services: &Services, store: &StoreId) -> Result<(), Problem> {
    let now = services.clock.now();
    let write = services.table.write();
    let write = match services.table.get::<FacetWalk>(&key::facet_walk(store)).await? {
        None => write.create(&FacetWalk::first(store, now), Code::VersionConflict),
        Some(walk) if walk.is_stuck(now) => {
            write.replace(&walk.next(walk.after.clone(), now), Code::VersionConflict)
        }
        Some(_) => return Ok(()),
    };
    unless_done(write).await
}

/// Commits a write that somebody else may have made.
async fn unless_done(write: Write) -> Result<(), Problem> {
    match write.commit().await {
        Err(rejected) if rejected.code == Code::VersionConflict => Ok(()),
        outcome => outcome,
    }
}

async fn replace_all(
    services: &Services,
    store: &StoreId,
    products: &BTreeSet<ProductId>,
) -> Result<(), Problem> {
    let products: Vec<&ProductId> = products.iter().collect();
    for part in products.chunks(TOGETHER) {
        retry(|| replace(services, store, part)).await?;
    }
    Ok(())
}

/// Replaces the rows of these products, which are in the order of their ids.
async fn replace(
    services: &Services,
    store: &StoreId,
    products: &[&ProductId],
) -> Result<(), Problem> {
    let mut chunks: Vec<FacetChunk> = Vec::new();
    for id in products {
        if !chunks.last().is_some_and(|chunk| chunk.covers(id)) {
            chunks.push(chunk_at(services, store, id.as_str()).await?);
        }
    }
    let rows = products.iter().map(|id| row(services, store, id));
    let rows: BTreeMap<ProductId, Option<FacetRow>> =
        try_join_all(rows).await?.into_iter().collect();
    let (mut write, mut is_changed) = (services.table.write(), false);
    let (mut before, mut after) = (0_usize, 0_usize);
    for chunk in &chunks {
        let Some(parts) = chunk.with(&rows) else { continue };
        is_changed = true;
        before = before.saturating_add(chunk.rows.len());
        for part in &parts {
            after = after.saturating_add(part.rows.len());
            write = write.create_or_replace(part, Code::VersionConflict);
        }
    }
    if !is_changed {
        return Ok(());
    }
    let more = i64::try_from(after).unwrap_or(0).saturating_sub(i64::try_from(before).unwrap_or(0));
    let change = counted("products = products + :more", services.clock.now()).value(":more", more);
    write.update(&key::facet_head(store), change, Code::VersionConflict).commit().await
}

/// A change of the head, which counts one more version.
fn counted(change: &str, now: Timestamp) -> Change {
    Change::new(format!("SET {change}, updated_at = :now, #version = #version + :one"))
        .only_if("attribute_exists(PK)")
        .name("#version", "version")
        .value(":now", now)
        .value(":one", 1)
}

/// The chunk to which an id belongs.
async fn chunk_at(services: &Services, store: &StoreId, id: &str) -> Result<FacetChunk, Problem> {
    let last = format!("{}{id}", key::FACET_CHUNKS);
    let query = Query::partition(key::facets(store)).between(key::FACET_CHUNKS, last);
    let found = services.table.first(&query.newest_first()).await?;
    found.ok_or_else(|| Problem::internal("a facet index without its first chunk"))
}

/// The row of a product as it is now.
async fn row(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
) -> Result<(ProductId, Option<FacetRow>), Problem> {
    let found = load(services, store, id).await?;
    let row = found.and_then(|(product, variants)| FacetRow::of(&product, &variants));
    Ok((id.clone(), row))
}

/// Makes the next step of a store's walk: the next products of its list, and what the index has among them.
///
/// # Errors
/// 503.
pub async fn step(services: &Services, store: &StoreId) -> Result<(), Problem> {
    let walk = services.table.get::<FacetWalk>(&key::facet_walk(store)).await?;
    let Some(walk) = walk else { return Ok(()) };
    let from = walk.after.as_ref().map_or(ProductId::PREFIX, ProductId::as_str);
    // Behind `from` and before any other id; behind all ids.
    let (low, high) = (format!("{from}!"), format!("{}~", ProductId::PREFIX));
    let query = SummaryOrder::Oldest.query(store).between(low, high);
    let found: Vec<ProductSummary> = services.table.all(&query, STEP).await?;
    let until = found.last().filter(|_| found.len() >= STEP).map(|last| last.id().clone());
    let mut products: BTreeSet<ProductId> =
        found.iter().map(|summary| summary.id().clone()).collect();
    let range = (walk.after.as_ref(), until.as_ref());
    products.extend(indexed(services, store, range).await?);
    replace_all(services, store, &products).await?;
    let (now, write) = (services.clock.now(), services.table.write());
    let write = match until {
        Some(_) => write.replace(&walk.next(until, now), Code::VersionConflict),
        None => write.delete_unchanged(&walk, Code::VersionConflict).update(
            &key::facet_head(store),
            counted("walked_at = :now", now),
            Code::VersionConflict,
        ),
    };
    unless_done(write).await
}

/// The products of the index behind one product, up to another.
async fn indexed(
    services: &Services,
    store: &StoreId,
    (after, until): (Option<&ProductId>, Option<&ProductId>),
) -> Result<Vec<ProductId>, Problem> {
    let is_here = |id: &ProductId| {
        after.is_none_or(|after| id > after) && until.is_none_or(|until| id <= until)
    };
    let mut at = after.map(ProductId::to_string).unwrap_or_default();
    let mut found = Vec::new();
    loop {
        let chunk = chunk_at(services, store, &at).await?;
        found.extend(chunk.rows.into_iter().map(|row| row.id).filter(is_here));
        match chunk.end {
            Some(end) if until.is_none_or(|until| end.as_str() <= until.as_str()) => at = end,
            _ => return Ok(found),
        }
    }
}

//! Updates of `stocked_at` on variants and product summaries: the locations with available stock.
//!
//! Orders change levels in place, without reading variant or summary. The consumer of the table's stream
//! sees that a level sold out or was restocked, and computes `stocked_at` anew from the current levels.
//! It reads summary and variant first, then the levels, and writes on condition that the summary's
//! `stock_version` is unchanged, which every such write raises. So of several concurrent updates, the
//! last to be written has read the newest levels. An update is idempotent.

use core_types::id::{LocationId, ProductId, StoreId, VariantId};
use core_types::key;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Change, Write, retry};

use super::{ProductSummary, Sellable, Variant};
use crate::inventory::Level;

/// Levels that one batch reads.
const BATCH: usize = 100;

/// Updates variant and summary after `level` sold out or was restocked: the variant by its own level
/// there, the summary by those of all variants. Does nothing if the product was deleted.
///
/// # Errors
/// 503.
pub async fn restock(services: &Services, level: &Level) -> Result<(), Problem> {
    let sellable = key::sellable(&level.store_id, &level.variant_id);
    let Some(sellable) = services.table.get::<Sellable>(&sellable).await? else { return Ok(()) };
    retry(|| update(services, (&level.store_id, &sellable.product_id), Stock::At(level))).await
}

/// Updates the summary of a product after variants were removed, discontinued or offered again; these are
/// available at `also`.
///
/// # Errors
/// 503.
pub async fn restock_product(
    services: &Services,
    of: (&StoreId, &ProductId),
    also: &[LocationId],
) -> Result<(), Problem> {
    retry(|| update(services, of, Stock::Everywhere(also))).await
}

/// The stock that an update reads.
#[derive(Clone, Copy)]
enum Stock<'a> {
    /// That at the location of this level, which changed.
    At(&'a Level),
    /// That at all locations which the summary has, and at these.
    Everywhere(&'a [LocationId]),
}

/// Updates the summary, and the variant whose level changed.
async fn update(
    services: &Services,
    (store, id): (&StoreId, &ProductId),
    stock: Stock<'_>,
) -> Result<(), Problem> {
    let level = match stock {
        Stock::At(level) => Some(level),
        Stock::Everywhere(_) => None,
    };
    let summary_key = key::summary(store, id);
    let variant_key = level.map(|level| key::variant(store, id, &level.variant_id));
    let keys: Vec<&Key> = std::iter::once(&summary_key).chain(&variant_key).collect();
    let mut found = services.table.get_many(&keys).await?;
    let Some(summary) = found.take::<ProductSummary>(&summary_key)? else { return Ok(()) };
    if level.is_some_and(|level| was_created_with(&summary, level)) {
        return Ok(());
    }
    let variant: Option<Variant> = variant_key.map(|key| found.take(&key)).transpose()?.flatten();
    let at = match stock {
        Stock::At(level) => vec![level.location_id.clone()],
        Stock::Everywhere(also) => amended(&summary.stocked_at, &[], also.iter()),
    };
    let own = variant.as_ref().map(|variant| &variant.id);
    let stocked = stocked(services, &summary, own, &at).await?;
    let offered = stocked.iter().filter(|level| summary.variant_ids.contains(&level.variant_id));
    let locations = offered.map(|level| &level.location_id);
    let change = Change::new("SET stocked_at = :stocked, stock_version = :next")
        .only_if("stock_version = :read")
        .value(":stocked", amended(&summary.stocked_at, &at, locations))
        .value(":read", summary.stock_version)
        .value(":next", summary.stock_version.saturating_add(1));
    let write = services.table.write().update(&summary_key, change, Code::VersionConflict);
    let write = write.when_some(variant, |write, variant| {
        let own = stocked.iter().filter(|level| level.variant_id == variant.id);
        set_on(
            write,
            &variant,
            amended(&variant.stocked_at, &at, own.map(|level| &level.location_id)),
        )
    });
    write.commit().await
}

/// Sets the `stocked_at` of a variant, if it differs.
fn set_on(write: Write, variant: &Variant, stocked_at: Vec<LocationId>) -> Write {
    if stocked_at == variant.stocked_at {
        return write;
    }
    let change = Change::new("SET stocked_at = :stocked")
        .only_if("attribute_exists(PK)")
        .value(":stocked", stocked_at);
    write.update(&variant.key(), change, Code::VersionConflict)
}

/// Whether the transaction that created the summary also created this level, which then is unchanged
/// and already in `stocked_at`.
fn was_created_with(summary: &ProductSummary, level: &Level) -> bool {
    level.available > 0
        && level.version == 1
        && summary.created_at == level.created_at
        && summary.stocked_at.contains(&level.location_id)
}

/// The levels at these locations that have available stock: of the product's variants on offer, and of this
/// one, which may be discontinued.
async fn stocked(
    services: &Services,
    summary: &ProductSummary,
    own: Option<&VariantId>,
    at: &[LocationId],
) -> Result<Vec<Level>, Problem> {
    let own = own.filter(|own| !summary.variant_ids.contains(own));
    let variants = summary.variant_ids.iter().chain(own);
    let pairs = variants.flat_map(|id| at.iter().map(move |at| (id, at)));
    let keys: Vec<Key> =
        pairs.map(|(variant, at)| key::level(summary.store_id(), variant, at)).collect();
    let mut stocked = Vec::new();
    for part in keys.chunks(BATCH) {
        let mut found = services.table.get_many(&part.iter().collect::<Vec<_>>()).await?;
        for key in part {
            stocked.extend(found.take::<Level>(key)?.filter(|level| level.available > 0));
        }
    }
    Ok(stocked)
}

/// The `known` locations, with those of `at` replaced by the `found` ones; sorted and distinct.
fn amended<'a>(
    known: &'a [LocationId],
    at: &[LocationId],
    found: impl Iterator<Item = &'a LocationId>,
) -> Vec<LocationId> {
    let elsewhere = known.iter().filter(|known| !at.contains(known));
    let mut all: Vec<LocationId> = elsewhere.chain(found).cloned().collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_changes_only_the_locations_that_it_read() {
        let [a, b, c] = ["a", "b", "c"].map(|name| LocationId::derive(&[name]));
        let ids = |ids: &[&LocationId]| {
            let mut ids: Vec<LocationId> = ids.iter().map(|id| (*id).clone()).collect();
            ids.sort();
            ids
        };
        let known = [a.clone(), b.clone()];
        let updated = |at: &LocationId, found: &[&LocationId]| {
            amended(&known, std::slice::from_ref(at), found.iter().copied())
        };
        assert_eq!(updated(&b, &[]), ids(&[&a]));
        assert_eq!(updated(&c, &[&c, &c]), ids(&[&a, &b, &c]));
        assert_eq!(updated(&a, &[&a]), ids(&[&a, &b]));
    }
}

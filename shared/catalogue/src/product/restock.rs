//! What a product's variants and its card know of their stock: at which locations it can be sold.
//!
//! Stock changes in place, by orders that read neither; that a level has run out or come back is
//! seen by the table's stream, and what variant and card say is decided anew over the levels as they
//! are. Whoever decides reads the card and the variant, then the levels, and writes both under the
//! card's count of such looks, which each of them raises: of several at once the last to write has
//! read all that was before, and nobody who read less comes after it. Doing it twice does no harm.

use core_types::id::{LocationId, ProductId, StoreId};
use core_types::key;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Change, Write, retry};

use super::{ProductSummary, Sellable, Variant};
use crate::inventory::Level;

/// Levels that one batch reads.
const BATCH: usize = 100;

/// A level of this variant has run out, or come back: says on the variant at once whether it can be
/// sold there, and on the card of its product whether some variant can. Nothing where the product is
/// gone.
///
/// # Errors
/// 503.
pub async fn restock(services: &Services, level: &Level) -> Result<(), Problem> {
    let sellable = key::sellable(&level.store_id, &level.variant_id);
    let Some(sellable) = services.table.get::<Sellable>(&sellable).await? else { return Ok(()) };
    retry(|| look(services, (&level.store_id, &sellable.product_id), Some(level))).await
}

/// Some variants of a product have gone, with their stock: says on its card where the others can
/// be sold.
///
/// # Errors
/// 503.
pub async fn restock_product(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
) -> Result<(), Problem> {
    retry(|| look(services, (store, id), None)).await
}

/// Looks at the stock of a product at the location of this level, or at all that its card names.
async fn look(
    services: &Services,
    (store, id): (&StoreId, &ProductId),
    level: Option<&Level>,
) -> Result<(), Problem> {
    let card_key = key::summary(store, id);
    let variant_key = level.map(|level| key::variant(store, id, &level.variant_id));
    let keys: Vec<&Key> = std::iter::once(&card_key).chain(&variant_key).collect();
    let mut found = services.table.get_many(&keys).await?;
    let Some(summary) = found.take::<ProductSummary>(&card_key)? else { return Ok(()) };
    if level.is_some_and(|level| was_made_with(&summary, level)) {
        return Ok(());
    }
    let variant: Option<Variant> = variant_key.map(|key| found.take(&key)).transpose()?.flatten();
    let at = level.map_or(&*summary.stocked_at, |level| std::slice::from_ref(&level.location_id));
    let stocked = stocked(services, &summary, at).await?;
    let locations = stocked.iter().map(|level| &level.location_id);
    let change = Change::new("SET stocked_at = :stocked, stock_version = :next")
        .only_if("stock_version = :read")
        .value(":stocked", amended(&summary.stocked_at, at, locations))
        .value(":read", summary.stock_version)
        .value(":next", summary.stock_version.saturating_add(1));
    let write = services.table.write().update(&card_key, change, Code::VersionConflict);
    let write = write.also(variant, |write, variant| {
        let own = stocked.iter().filter(|level| level.variant_id == variant.id);
        tell(write, &variant, amended(&variant.stocked_at, at, own.map(|level| &level.location_id)))
    });
    write.commit().await
}

/// Says on a variant that it can be sold at these locations, where it does not say so.
fn tell(write: Write, variant: &Variant, stocked_at: Vec<LocationId>) -> Write {
    if stocked_at == variant.stocked_at {
        return write;
    }
    let change = Change::new("SET stocked_at = :stocked")
        .only_if("attribute_exists(PK)")
        .value(":stocked", stocked_at);
    write.update(&variant.key(), change, Code::VersionConflict)
}

/// Whether product, variant and card began with this level as it is: they are one write.
fn was_made_with(summary: &ProductSummary, level: &Level) -> bool {
    level.available > 0
        && level.version == 1
        && summary.created_at == level.created_at
        && summary.stocked_at.contains(&level.location_id)
}

/// The levels of a product's variants at these locations that hold something.
async fn stocked(
    services: &Services,
    summary: &ProductSummary,
    at: &[LocationId],
) -> Result<Vec<Level>, Problem> {
    let places = summary.variant_ids.iter().flat_map(|id| at.iter().map(move |place| (id, place)));
    let keys: Vec<Key> =
        places.map(|(variant, place)| key::level(summary.store_id(), variant, place)).collect();
    let mut stocked = Vec::new();
    for part in keys.chunks(BATCH) {
        let mut found = services.table.get_many(&part.iter().collect::<Vec<_>>()).await?;
        for key in part {
            stocked.extend(found.take::<Level>(key)?.filter(|level| level.available > 0));
        }
    }
    Ok(stocked)
}

/// What is known of all locations, with what was found at some.
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
    fn a_look_says_nothing_of_where_it_did_not_look() {
        let [a, b, c] = ["a", "b", "c"].map(|name| LocationId::derive(&[name]));
        let ids = |ids: &[&LocationId]| {
            let mut ids: Vec<LocationId> = ids.iter().map(|id| (*id).clone()).collect();
            ids.sort();
            ids
        };
        let known = [a.clone(), b.clone()];
        let looked = |at: &LocationId, found: &[&LocationId]| {
            amended(&known, std::slice::from_ref(at), found.iter().copied())
        };
        assert_eq!(looked(&b, &[]), ids(&[&a]));
        assert_eq!(looked(&c, &[&c, &c]), ids(&[&a, &b, &c]));
        assert_eq!(looked(&a, &[&a]), ids(&[&a, &b]));
    }
}

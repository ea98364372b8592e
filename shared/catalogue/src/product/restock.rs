//! What a card knows of its product's stock: at which locations some variant can be sold.
//!
//! Stock changes in place, by orders that read no card; that a level has run out or come back is
//! seen by the table's stream, and what the card says is decided anew over the levels as they are.
//! Whoever decides reads the card, then the levels, and writes under the card's count of such
//! looks, which each of them raises: of several at once the last to write has read all that was
//! before, and nobody who read less comes after it. Doing it twice does no harm.

use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::{Change, retry};
use ground::id::{LocationId, ProductId, StoreId};
use ground::key;

use super::{Card, Sellable};
use crate::inventory::Level;

/// Levels that one batch reads.
const BATCH: usize = 100;

/// A level of this variant has run out, or come back: says on the card of its product at once
/// whether some variant can be sold there. Nothing where the variant or the product is gone.
///
/// # Errors
/// 503.
pub async fn restock(app: &App, level: &Level) -> Result<(), Problem> {
    let sellable = key::sellable(&level.store_id, &level.variant_id);
    let Some(sellable) = app.table.get::<Sellable>(&sellable).await? else { return Ok(()) };
    let at = std::slice::from_ref(&level.location_id);
    let made_with = |card: &Card| {
        // A product and what it begins with are one write.
        level.available > 0
            && level.version == 1
            && card.created_at == level.created_at
            && card.stocked_at.contains(&level.location_id)
    };
    retry(|| look(app, (&level.store_id, &sellable.product_id), Some(at), made_with)).await
}

/// Some variants of a product have gone, with their stock: says on its card where the others can
/// be sold.
///
/// # Errors
/// 503.
pub async fn restock_product(app: &App, store: &StoreId, id: &ProductId) -> Result<(), Problem> {
    retry(|| look(app, (store, id), None, |_| false)).await
}

/// Looks at the stock of a product at these locations, or at all that its card names.
async fn look(
    app: &App,
    (store, id): (&StoreId, &ProductId),
    at: Option<&[LocationId]>,
    is_known: impl Fn(&Card) -> bool,
) -> Result<(), Problem> {
    let Some(card) = app.table.get::<Card>(&key::card(store, id)).await? else { return Ok(()) };
    if is_known(&card) {
        return Ok(());
    }
    let at = at.unwrap_or(&card.stocked_at);
    let variants = card.variant_ids.iter();
    let places = variants.flat_map(|variant| at.iter().map(move |place| (variant, place)));
    let keys: Vec<Key> = places.map(|(variant, place)| key::level(store, variant, place)).collect();
    let mut stocked: Vec<LocationId> =
        card.stocked_at.iter().filter(|known| !at.contains(known)).cloned().collect();
    for part in keys.chunks(BATCH) {
        let mut found = app.table.get_many(&part.iter().collect::<Vec<_>>()).await?;
        for key in part {
            let level: Option<Level> = found.take(key)?;
            let level = level.filter(|level| level.available > 0);
            stocked.extend(level.map(|level| level.location_id));
        }
    }
    stocked.sort();
    stocked.dedup();
    let change = Change::new("SET stocked_at = :stocked, stock_version = :next")
        .only_if("stock_version = :read")
        .value(":stocked", &stocked)
        .value(":read", card.stock_version)
        .value(":next", card.stock_version.saturating_add(1));
    app.table.write().update(&card.key(), change, Code::VersionConflict).commit().await
}

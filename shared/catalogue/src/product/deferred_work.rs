//! Deferred work: the writes of a product's change that follow its transaction.
//!
//! A transaction has at most 100 actions, and a product of 100 variants with stock has several times as
//! many items. A change is decided by *one* transaction, which has every write that can be rejected or
//! that the response shows. The writes beyond its limit cannot be rejected. They are recorded in this
//! item, which the transaction writes too. The request executes them right after its transaction; after
//! a crash the sweep does so, a minute later.
//!
//! - *Sellables* are updated to the product as it is at the execution, on condition that it does not
//!   change meanwhile. So the work of several changes gives the same result in any order, however often
//!   it is executed. Until then the last variants of a large product are sold as before the change.
//! - *Removed variants*: their remaining items are deleted, which is idempotent.
//! - *The summary* of a product that lost a variant, or offers one again, is updated to where its variants are in
//!   stock.
//! - *Search words* are written or deleted by what the product has at the execution.
//! - *Images* that are no longer used: their references are released, once, by the transaction that
//!   deletes this item.
//! - *Reviews* of a deleted product are deleted in batches.

use core_types::id::{LocationId, MediaId, ProductId, StoreId, VariantId};
use core_types::image;
use core_types::key;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::outbox::DueKind;
use table::{Condition, Query, Write, retry};

use super::{Product, ProductSummary, Sellable, UniqueSku, Variant, load, restock_product};
use crate::location::MAX_LOCATIONS;
use crate::review::Review;
use crate::search::{self, Token};

/// Actions of one transaction.
const ACTIONS: usize = 100;
/// Variants whose levels are queried concurrently.
const SIDE_BY_SIDE: usize = 8;
/// Reviews of one batch, and batches of one execution; the rest is left to the next sweep.
const REVIEWS: (usize, usize) = (500, 4);

/// The deferred work of one change of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "product_remainder")]
#[item(key = key::product_deferred_work(&self.store_id, &self.product_id, self.version))]
#[item(indexes = vec![DueKind::Product.mark(self.product_id.as_str(), self.due_at())])]
pub struct DeferredWork {
    /// Part of the key.
    pub store_id: StoreId,
    /// The product, which may be deleted.
    pub product_id: ProductId,
    /// Media of the store that it no longer uses.
    pub images: Vec<MediaId>,
    /// Variants that were removed.
    pub variants: Vec<RemovedVariant>,
    /// Whether a variant was removed, discontinued or offered again, so that the stock in the summary is out of
    /// date.
    #[serde(default)]
    pub stock_went: bool,
    /// The locations of variants that are offered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stocked_at: Vec<LocationId>,
    /// Search words that the change added or removed.
    #[serde(default)]
    pub words: Vec<Token>,
    /// When the change was made.
    pub created_at: Timestamp,
    /// The product's version after the change.
    pub version: u64,
}

/// A variant that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedVariant {
    /// The variant.
    pub id: VariantId,
    /// The SKU it had.
    pub sku: Option<String>,
    /// The barcode it had.
    #[serde(default)]
    pub barcode: Option<String>,
}

impl From<&Variant> for RemovedVariant {
    fn from(variant: &Variant) -> Self {
        Self { id: variant.id.clone(), sku: variant.sku.clone(), barcode: variant.barcode.clone() }
    }
}

/// An item to delete, and the condition for it.
type Deletion = (Key, Condition);

impl DeferredWork {
    /// The minimal work of a change, which only refreshes sellables; `product` is the product after it.
    pub fn of(product: &Product, now: Timestamp) -> Self {
        Self {
            store_id: product.store_id.clone(),
            product_id: product.id.clone(),
            images: Vec::new(),
            variants: Vec::new(),
            stock_went: false,
            stocked_at: Vec::new(),
            words: Vec::new(),
            created_at: now,
            version: product.version,
        }
    }

    /// The time from which the sweep executes it. By then the request that made the change has
    /// finished or crashed.
    fn due_at(&self) -> Timestamp {
        self.created_at.plus(MINUTE)
    }

    /// Whether the sweep may execute it.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.due_at() <= now
    }

    /// Executes it. Reviews beyond the bound of one execution stay due.
    ///
    /// # Errors
    /// 503; `version_conflict`: it was executed already, or the product is being changed.
    pub async fn execute(&self, services: &Services) -> Result<(), Problem> {
        let is_there = retry(|| refresh(services, &self.store_id, &self.product_id)).await?;
        self.clear(services).await?;
        if !self.words.is_empty() {
            retry(|| self.update_words(services)).await?;
        }
        if is_there && self.stock_went {
            restock_product(services, (&self.store_id, &self.product_id), &self.stocked_at).await?;
        }
        if !is_there && !self.forget_reviews(services).await? {
            return Ok(());
        }
        let open = Condition::new("attribute_exists(PK)");
        let write = services.table.write().delete_if(&self.key(), open, Code::VersionConflict);
        let release = |write, id| image::release(write, &self.store_id, id);
        self.images.iter().fold(write, release).commit().await
    }

    /// Deletes the remaining items of the removed variants: variant, sellable, claim of the SKU, barcode
    /// and levels.
    async fn clear(&self, services: &Services) -> Result<(), Problem> {
        if self.variants.is_empty() {
            return Ok(());
        }
        let mut deletions = self.skus(services).await?;
        for variant in &self.variants {
            let variant_key = key::variant(&self.store_id, &self.product_id, &variant.id);
            let sellable_key = key::sellable(&self.store_id, &variant.id);
            deletions.extend([variant_key, sellable_key].map(|key| (key, Condition::default())));
            let barcode = variant.barcode.as_deref().map(str::to_lowercase);
            let label = barcode.map(|code| key::barcode(&self.store_id, &code, &variant.id));
            deletions.extend(label.map(|key| (key, Condition::default())));
        }
        delete(services, &deletions).await?;
        // Levels come last: a level is created on condition that the sellable exists.
        let partition = |removed: &RemovedVariant| key::sellable(&self.store_id, &removed.id).pk;
        let partitions: Vec<String> = self.variants.iter().map(partition).collect();
        let levels: Vec<Vec<Key>> = stream::iter(partitions)
            .map(|partition| async move {
                let query = Query::partition(partition).begins_with(key::LEVELS);
                services.table.keys(&query, MAX_LOCATIONS).await
            })
            .buffer_unordered(SIDE_BY_SIDE)
            .try_collect()
            .await?;
        let levels = levels.into_iter().flatten().map(|key| (key, Condition::default()));
        delete(services, &levels.collect::<Vec<Deletion>>()).await
    }

    /// Writes those of the words that the current product has, and deletes the others.
    ///
    /// # Errors
    /// `version_conflict`: the product is being changed.
    async fn update_words(&self, services: &Services) -> Result<(), Problem> {
        let found = load(services, &self.store_id, &self.product_id).await?;
        let unchanged = match &found {
            Some((product, _)) => Condition::is_at(product.version),
            None => Condition::new("attribute_not_exists(PK)"),
        };
        let summary = found.map(|(product, variants)| ProductSummary::of(&product, &variants));
        let rows = summary.as_ref().map(search::rows).unwrap_or_default();
        let key = key::product(&self.store_id, &self.product_id);
        for part in self.words.chunks(ACTIONS.saturating_sub(1)) {
            let write =
                services.table.write().check(&key, unchanged.clone(), Code::VersionConflict);
            let update = |write: Write, token: &Token| {
                if rows.contains(token) { write.put(token) } else { write.delete(&token.key()) }
            };
            part.iter().fold(write, update).commit().await?;
        }
        Ok(())
    }

    /// The deletions of the SKU claims that still belong to the removed variants.
    async fn skus(&self, services: &Services) -> Result<Vec<Deletion>, Problem> {
        let claimed = self.variants.iter().filter_map(|removed| removed.sku.as_ref());
        let keys: Vec<Key> = claimed.map(|sku| UniqueSku::key_of(&self.store_id, sku)).collect();
        let is_removed = |id: &VariantId| self.variants.iter().any(|removed| removed.id == *id);
        let mut deletions = Vec::new();
        for part in keys.chunks(ACTIONS) {
            let mut batch = services.table.get_many(&part.iter().collect::<Vec<_>>()).await?;
            for key in part {
                let found: Option<UniqueSku> = batch.take(key)?;
                let found = found.filter(|found| is_removed(&found.variant_id));
                deletions.extend(found.map(|found| (key.clone(), found.still_its())));
            }
        }
        Ok(deletions)
    }

    /// Deletes the product's reviews, up to the bound of one execution. Returns whether all are deleted.
    async fn forget_reviews(&self, services: &Services) -> Result<bool, Problem> {
        let partition = key::product(&self.store_id, &self.product_id).pk;
        let query = Query::partition(partition).begins_with(key::PRODUCT_REVIEWS);
        for _ in 0..REVIEWS.1 {
            let found: Vec<Review> = services.table.all(&query, REVIEWS.0).await?;
            if found.is_empty() {
                return Ok(true);
            }
            let keys = found.iter().flat_map(|review| [review.key(), review.pointer().key()]);
            let deletions: Vec<Deletion> = keys.map(|key| (key, Condition::default())).collect();
            delete(services, &deletions).await?;
        }
        Ok(false)
    }
}

/// Deletes these items, 100 in a transaction.
async fn delete(services: &Services, deletions: &[Deletion]) -> Result<(), Problem> {
    for part in deletions.chunks(ACTIONS) {
        let write = part.iter().fold(services.table.write(), |write, (key, condition)| {
            write.delete_if(key, condition.clone(), Code::VersionConflict)
        });
        write.commit().await?;
    }
    Ok(())
}

/// Updates the sellables of a product to its current data. Returns whether the product exists.
///
/// # Errors
/// `version_conflict`: the product is being changed.
pub async fn refresh(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
) -> Result<bool, Problem> {
    let Some((product, variants)) = load(services, store, id).await? else { return Ok(false) };
    let keys: Vec<Key> = variants.iter().map(|variant| key::sellable(store, &variant.id)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut behind = Vec::new();
    for (variant, key) in variants.iter().zip(&keys) {
        let found: Option<Sellable> = batch.take(key)?;
        let wanted = product.sellable(variant);
        let differs = |found: &Sellable| !found.has_content_of(&wanted);
        behind.extend(found.filter(differs).map(|_| wanted));
    }
    for part in behind.chunks(ACTIONS.saturating_sub(1)) {
        let unchanged = Condition::new("#version = :read")
            .name("#version", "version")
            .value(":read", product.version);
        let write = services.table.write().check(&product.key(), unchanged, Code::VersionConflict);
        let change = |write: Write, sellable: &Sellable| {
            write.update(&sellable.key(), sellable.change(), Code::VersionConflict)
        };
        part.iter().fold(write, change).commit().await?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::tests::product;
    use core_types::event::EXAMPLE_TIME;

    #[test]
    fn the_sweep_executes_deferred_work_after_a_minute() {
        let deferred = DeferredWork::of(&product(), EXAMPLE_TIME);
        assert!(!deferred.is_due(EXAMPLE_TIME));
        assert!(deferred.is_due(EXAMPLE_TIME.plus(MINUTE)));
        assert_eq!(deferred.indexes().len(), 1);
        // Each change has its own item.
        let next = DeferredWork::of(&product().changed(EXAMPLE_TIME), EXAMPLE_TIME);
        assert_ne!(next.key(), deferred.key());
    }
}

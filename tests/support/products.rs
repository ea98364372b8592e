//! Products, stock and SKUs by the thousand, and what a crash leaves of a change: written without the API.

use std::time::Duration;

use catalogue::inventory::Level;
use catalogue::product::{
    DeferredWork, Product, ProductStatus, ProductSummary, RemovedVariant, Sellable, UniqueSku,
};
use core_types::fields::Handle;
use core_types::id::{LocationId, ProductId, StoreId, VariantId};
use primitives::fields::FromText;
use primitives::problem::Code;
use serde_json::Value;

use crate::Gateway;
use crate::table::read;

/// Product summaries that one transaction writes.
const TOGETHER: usize = 100;

/// How a copy differs from its product.
#[derive(Debug, Clone)]
pub struct Copy {
    /// How long after the product it was made.
    pub later: Duration,
    pub title: String,
    pub handle: String,
    /// Its price, unless it is the product's.
    pub price: Option<i64>,
    pub tag: String,
    /// Where it is in stock.
    pub stocked_at: Vec<String>,
}

/// A variant that was removed from a product.
#[derive(Debug, Clone)]
pub struct Removed<'a> {
    pub variant: &'a str,
    pub sku: &'a str,
    pub barcode: &'a str,
}

impl Gateway {
    /// Adds what lists show of active products like this one, and no product behind it.
    pub async fn list_copies(&self, product: &str, copies: &[Copy]) {
        let table = &self.app().table;
        let one: Product = read(&self.item("product", product).await);
        for part in copies.chunks(TOGETHER) {
            let mut write = table.write();
            for copy in part {
                let product = Product {
                    id: ProductId::mint(one.created_at.plus(copy.later)),
                    title: copy.title.clone(),
                    handle: Handle::from_text(&copy.handle).expect("a handle"),
                    prices: copy.price.map_or_else(|| one.prices.clone(), |price| vec![price]),
                    tags: vec![copy.tag.clone()],
                    status: ProductStatus::Active,
                    ..one.clone()
                };
                let summary = ProductSummary::of(&product, &[]);
                let stocked_at = copy.stocked_at.iter().map(|id| location(id));
                write = write.put(&summary.stocked(stocked_at));
            }
            write.commit().await.expect("they are listed");
        }
    }

    /// Adds variants like this one, each with a level of one unit at a location.
    pub async fn add_levels(&self, like: &str, at: &str, count: usize) {
        let (table, now) = (&self.app().table, self.now());
        let items = self.items_of("sellable", "STO#").await;
        let like = items.iter().find(|item| item["variant_id"] == like).expect("it is there");
        let (like, at) = (read::<Sellable>(like), location(at));
        for fifty in (0..count).collect::<Vec<_>>().chunks(50) {
            let write = fifty.iter().fold(table.write(), |write, _| {
                let item = Sellable { variant_id: VariantId::mint(now), ..like.clone() };
                let level = Level::open(&item.store_id, &item.variant_id, &at, 1, now);
                let write = write.create(&item, Code::VersionConflict);
                write.create(&level, Code::VersionConflict)
            });
            write.commit().await.expect("they are added");
        }
    }

    /// Leaves the deferred work of a change of a product, as a crash after it does: `words` are items, the
    /// search words that it concerns.
    pub async fn leave_deferred_work(
        &self,
        product: &str,
        removed: Option<Removed<'_>>,
        words: &[Value],
    ) {
        let product: Product = read(&self.item("product", product).await);
        let variant = |removed: Removed<'_>| RemovedVariant {
            id: VariantId::parse(removed.variant).expect("a variant's id"),
            sku: Some(removed.sku.to_owned()),
            barcode: Some(removed.barcode.to_owned()),
        };
        let deferred = DeferredWork {
            store_id: product.store_id,
            product_id: product.id,
            images: Vec::new(),
            stock_went: removed.is_some(),
            variants: removed.map(variant).into_iter().collect(),
            stocked_at: Vec::new(),
            words: words.iter().map(read).collect(),
            created_at: self.now(),
            version: 1,
        };
        self.app().table.write().put(&deferred).commit().await.expect("it is left");
    }

    /// Claims a SKU for a product that is not made, as a creation does that breaks off.
    pub async fn claim_sku(&self, store: &str, sku: &str) {
        let claim = UniqueSku {
            store_id: StoreId::parse(store).expect("a store's id"),
            sku: sku.to_owned(),
            product_id: ProductId::derive(&["never made"]),
            variant_id: VariantId::derive(&[sku]),
            created_at: self.now(),
        };
        self.app().table.write().put(&claim).commit().await.expect("it is claimed");
    }
}

fn location(id: &str) -> LocationId {
    LocationId::parse(id).expect("a location's id")
}

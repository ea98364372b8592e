//! Related products: the candidates from which a product's page selects similar products.
//!
//! A product's page shows a few products that are most similar to it. One packed item per store lists the
//! newest products as candidates, with the data that the selection needs, so that no page has to query
//! summaries. It costs half a read unit, and processes cache it for a while. The dispatcher rebuilds it
//! after a product has changed, so it lags behind: it only says which products to read, and the page
//! shows these as read. It has their handles too, by which a page often finds its product.

use core_types::fields::Handle;
use core_types::id::{ProductId, StoreId};
use core_types::key;
use serde::{Deserialize, Serialize};
use table::item::Item;

use crate::product::{Outline, ProductSummary};

/// The most candidates of a store, the newest active products (our choice).
pub const MAX_CANDIDATES: usize = 60;

/// A product that may be shown as a related one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The product.
    pub id: ProductId,
    /// Its name in URLs.
    pub handle: Handle,
    /// Its outline, for the comparison with others.
    pub outline: Outline,
}

impl From<&ProductSummary> for Candidate {
    fn from(summary: &ProductSummary) -> Self {
        Self {
            id: summary.id().clone(),
            handle: summary.handle.clone(),
            outline: summary.outline(),
        }
    }
}

/// The candidates of one store, in one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "shelf", key = key::related_products(&self.store_id), packed)]
pub struct RelatedProducts {
    /// Part of the key.
    pub store_id: StoreId,
    /// The newest active products, the newest first.
    pub products: Vec<Candidate>,
    /// Counts writes; 0 before the first.
    pub version: u64,
}

impl RelatedProducts {
    /// The related products of a store before the first write: version 0.
    pub fn empty(store: &StoreId) -> Self {
        Self { store_id: store.clone(), products: Vec::new(), version: 0 }
    }

    /// The next version, with the newest active ones of these products, at most [`MAX_CANDIDATES`]. None
    /// when nothing changes.
    pub fn with_products(&self, summaries: &[ProductSummary]) -> Option<Self> {
        let mut summaries: Vec<&ProductSummary> =
            summaries.iter().filter(|summary| summary.is_visible()).collect();
        summaries.sort_by(|a, b| (b.created_at, b.id()).cmp(&(a.created_at, a.id())));
        summaries.truncate(MAX_CANDIDATES);
        let products: Vec<Candidate> = summaries.into_iter().map(Candidate::from).collect();
        let store_id = self.store_id.clone();
        let version = self.version.saturating_add(1);
        (products != self.products).then_some(Self { store_id, products, version })
    }

    /// The candidate with this handle.
    pub fn find_by_handle(&self, handle: &Handle) -> Option<&Candidate> {
        self.products.iter().find(|candidate| candidate.handle == *handle)
    }

    /// The candidates that are most similar to a product, at most `most`. Among equals the newer comes
    /// first; those with nothing in common come last.
    pub fn closest_to(
        &self,
        product: &ProductId,
        outline: &Outline,
        most: usize,
    ) -> Vec<&Candidate> {
        let mut others: Vec<&Candidate> =
            self.products.iter().filter(|other| other.id != *product).collect();
        others.sort_by_cached_key(|other| std::cmp::Reverse(outline.likeness(&other.outline)));
        others.truncate(most);
        others
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use core_types::id::CategoryId;

    use super::*;
    use crate::product::{Product, ProductStatus, tests};

    /// An active product, created this many seconds after the sample.
    fn product(name: &str, second: u64) -> Product {
        let product = tests::product();
        let created_at = product.created_at.plus(Duration::from_secs(second));
        let id = ProductId::derive(&[name]);
        Product { id, created_at, status: ProductStatus::Active, ..product }
    }

    fn summaries(products: impl IntoIterator<Item = Product>) -> Vec<ProductSummary> {
        products.into_iter().map(|product| ProductSummary::of(&product, &[])).collect()
    }

    fn related(products: impl IntoIterator<Item = Product>) -> RelatedProducts {
        RelatedProducts::empty(&StoreId::derive(&["store"]))
            .with_products(&summaries(products))
            .expect("a change")
    }

    fn ids(candidates: &[&Candidate]) -> Vec<ProductId> {
        candidates.iter().map(|candidate| candidate.id.clone()).collect()
    }

    fn find_by_handle<const N: usize>(names: [&str; N]) -> Vec<ProductId> {
        names.iter().map(|name| ProductId::derive(&[name])).collect()
    }

    #[test]
    fn the_most_similar_products_come_first_and_then_the_newest() {
        let category = Some(CategoryId::derive(&["mugs"]));
        let text = |text: &str| Some(text.to_owned());
        let mug =
            Product { category_id: category.clone(), vendor: text("Acme"), ..product("a", 0) };
        let mug = Product { product_type: text("Mug"), tags: vec!["blue".into()], ..mug };
        let related = related([
            mug.clone(),
            product("older", 1),
            Product { category_id: category, ..product("category", 2) },
            Product { product_type: text("Mug"), ..product("type", 3) },
            Product { vendor: text("Acme"), ..product("vendor", 4) },
            Product { tags: vec!["red".into(), "blue".into()], ..product("tag", 5) },
            product("newer", 6),
        ]);
        let found = related.closest_to(&mug.id, &mug.outline(), 10);
        let expected = find_by_handle(["category", "type", "vendor", "tag", "newer", "older"]);
        assert_eq!(ids(&found), expected);
        assert_eq!(
            ids(&related.closest_to(&mug.id, &mug.outline(), 2)),
            find_by_handle(["category", "type"])
        );
        // Attributes that both lack are not in common.
        let bare = product("bare", 9);
        assert_eq!(
            ids(&related.closest_to(&bare.id, &bare.outline(), 1)),
            find_by_handle(["newer"])
        );
    }

    #[test]
    fn candidates_are_the_newest_active_products_and_change_with_them() {
        let count = u64::try_from(MAX_CANDIDATES).unwrap();
        let all: Vec<Product> =
            (0..count.saturating_add(5)).map(|n| product(&n.to_string(), n)).collect();
        let hidden = Product { status: ProductStatus::Archived, ..product("hidden", 900) };
        let related = related(all.iter().cloned().chain([hidden]));
        assert_eq!((related.products.len(), related.version), (MAX_CANDIDATES, 1));
        assert_eq!(related.products[0].id, ProductId::derive(&[&(count + 4).to_string()]));
        assert_eq!(related.with_products(&summaries(all.clone())), None);
        assert_eq!(related.with_products(&[]).map(|related| related.version), Some(2));
    }

    #[test]
    fn the_largest_item_is_well_below_the_limit_of_the_table() {
        let full = |n: u64| Product {
            category_id: Some(CategoryId::derive(&["a"])),
            product_type: Some("\u{1f600}".repeat(100)),
            vendor: Some("\u{1f600}".repeat(100)),
            tags: (0..250).map(|n| format!("{n:03}{}", "\u{1f600}".repeat(37))).collect(),
            ..product(&n.to_string(), n)
        };
        let related = related((0..u64::try_from(MAX_CANDIDATES).unwrap()).map(full));
        let size = serde_json::to_vec(&related).unwrap().len();
        assert!(size < 200_000, "{size} bytes");
    }
}

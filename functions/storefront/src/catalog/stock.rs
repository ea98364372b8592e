//! What can be bought now: stock as shoppers see it, a yes or a no.
//!
//! A variant has a level at each location, so that a page of products may have very many of them,
//! and anybody may ask for it. So an answer reads a bounded number ([`LISTED`], [`OWN`],
//! [`BESIDE`]), shared fairly by its products and taken location by location, those that ship first
//! before the others. What is found in stock is; a product of which not every level was read and
//! none found in stock *may* be, and counts as in stock: the checkout decides.

use std::collections::HashSet;

use catalogue::inventory::Level;
use catalogue::product::{Product, Variant};
use gateway::app::App;
use gateway::item::Key;
use gateway::problem::Problem;
use gateway::table::Batch;
use ground::id::{LocationId, StoreId, VariantId};
use ground::key;
use identity::store::Store;

/// Levels that a page of a list reads (our choice): three batches side by side. Of 20 products it
/// tells all, if they have 15 levels each.
pub const LISTED: usize = 300;
/// Levels that a product's page reads of the product (our choice): all of 100 variants at 10
/// locations.
pub const OWN: usize = 1_000;
/// Levels that a product's page reads of those beside it (our choice).
pub const BESIDE: usize = 150;

/// Where variants are in stock, or not: levels at the store's online locations, to be read.
#[derive(Debug)]
pub struct LevelReads<'a> {
    levels: Vec<(&'a VariantId, Key)>,
    /// The variants of which every level is among them.
    told: HashSet<&'a VariantId>,
}

impl<'a> LevelReads<'a> {
    /// Where the variants of these products are, as far as `most` levels tell. What a product does
    /// not need of its share the others have.
    pub fn of(store: &Store, products: Vec<Vec<&'a VariantId>>, most: usize) -> Self {
        Self::at(&store.id, &store.online_locations, products, most)
    }

    fn at(
        store: &StoreId,
        online: &[LocationId],
        mut products: Vec<Vec<&'a VariantId>>,
        most: usize,
    ) -> Self {
        products.sort_by_key(Vec::len);
        let mut reads = Self { levels: Vec::new(), told: HashSet::new() };
        let (mut left, mut others) = (most, products.len());
        for variants in products {
            let all = variants.len().saturating_mul(online.len());
            let taken = all.min(left.checked_div(others).unwrap_or(0));
            left = left.saturating_sub(taken);
            others = others.saturating_sub(1);
            let at = |location| variants.iter().map(move |variant| (*variant, location));
            let levels = online.iter().flat_map(at).take(taken);
            reads.levels.extend(
                levels.map(|(variant, location)| (variant, key::level(store, variant, location))),
            );
            if taken == all {
                reads.told.extend(variants);
            }
        }
        reads
    }

    /// These, too.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.levels.extend(more.levels);
        self.told.extend(more.told);
        self
    }

    /// What to read.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.levels.iter().map(|(_, key)| key)
    }

    /// The stock that was read.
    pub fn stock(&self, found: &mut Batch) -> Result<Stock, Problem> {
        let mut stocked = HashSet::new();
        for (variant, key) in &self.levels {
            let level: Option<Level> = found.take(key)?;
            if level.is_some_and(|level| level.available > 0) {
                stocked.insert((*variant).clone());
            }
        }
        let told = self.told.iter().map(|variant| (*variant).clone()).collect();
        Ok(Stock { told, stocked })
    }
}

/// The variants that some online location has at least one of.
#[derive(Debug, Default)]
pub struct Stock {
    /// Of these variants it is known.
    told: HashSet<VariantId>,
    /// These are in stock.
    stocked: HashSet<VariantId>,
}

impl Stock {
    /// Reads the stock of the products of a list, as far as the answer depends on it. Perhaps a
    /// moment old; the checkout decides.
    pub async fn of(app: &App, store: &Store, products: &[&Product]) -> Result<Self, Problem> {
        let counted = products.iter().filter(|product| !product.sells_without_stock(store));
        let variants = counted.map(|product| product.variant_ids.iter().collect()).collect();
        let reads = LevelReads::of(store, variants, LISTED);
        let mut found = app.table.glance(&reads.keys().collect::<Vec<_>>()).await?;
        reads.stock(&mut found)
    }

    /// Adds what another reading says.
    pub fn extend(&mut self, more: Self) {
        self.told.extend(more.told);
        self.stocked.extend(more.stocked);
    }

    /// Whether the variant is in stock, or may be.
    fn may_have(&self, variant: &VariantId) -> bool {
        self.stocked.contains(variant) || !self.told.contains(variant)
    }

    /// Whether some variant of the product can be bought, or may be.
    pub fn has(&self, product: &Product, store: &Store) -> bool {
        product.sells_without_stock(store)
            || product.variant_ids.iter().any(|variant| self.may_have(variant))
    }

    /// Whether the variant can be bought, or may be.
    pub fn has_variant(&self, variant: &Variant, store: &Store) -> bool {
        !variant.tracked || variant.continues_selling(store) || self.may_have(&variant.id)
    }

    /// The variants that have to be asked for before it is known whether the product can be bought.
    pub fn open<'a>(&self, product: &'a Product, store: &Store) -> Vec<&'a VariantId> {
        let mut variants = product.variant_ids.iter();
        if product.sells_without_stock(store) || variants.any(|id| self.stocked.contains(id)) {
            return Vec::new();
        }
        product.variant_ids.iter().filter(|id| !self.told.contains(*id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(product: usize, count: usize) -> Vec<VariantId> {
        (0..count).map(|n| VariantId::derive(&[&product.to_string(), &n.to_string()])).collect()
    }

    /// Of products with so many variants, how many levels are read, and how many are told wholly.
    fn shared(counts: &[usize], locations: usize, most: usize) -> (usize, Vec<bool>) {
        let variants: Vec<Vec<VariantId>> =
            counts.iter().enumerate().map(|(product, count)| ids(product, *count)).collect();
        let online: Vec<LocationId> =
            (0..locations).map(|n| LocationId::derive(&[&n.to_string()])).collect();
        let asked = variants.iter().map(|variants| variants.iter().collect()).collect();
        let reads = LevelReads::at(&StoreId::derive(&["store"]), &online, asked, most);
        let told = |variants: &Vec<VariantId>| variants.iter().all(|id| reads.told.contains(id));
        (reads.levels.len(), variants.iter().map(told).collect())
    }

    #[test]
    fn what_a_small_product_leaves_of_its_share_the_others_have() {
        assert_eq!(shared(&[5, 2], 2, 100), (14, vec![true, true]));
        assert_eq!(shared(&[44, 1, 5], 2, 100), (100, vec![true; 3]));
        assert_eq!(shared(&[45, 1, 5], 2, 100), (100, vec![false, true, true]));
        assert_eq!(shared(&[100, 100], 10, 300), (300, vec![false, false]));
        // Nowhere is nothing, and nothing at all is nobody's.
        assert_eq!(shared(&[3], 0, 100), (0, vec![true]));
        assert_eq!(shared(&[], 3, 100), (0, vec![]));
    }

    #[test]
    fn the_first_location_is_looked_at_first() {
        let variants = ids(0, 3);
        let online = ["a", "b"].map(|name| LocationId::derive(&[name]));
        let asked = vec![variants.iter().collect()];
        let store = StoreId::derive(&["store"]);
        let reads = LevelReads::at(&store, &online, asked, 4);
        let keys: Vec<&Key> = reads.keys().collect();
        let level = |variant: usize, at: usize| key::level(&store, &variants[variant], &online[at]);
        let expected = [level(0, 0), level(1, 0), level(2, 0), level(0, 1)];
        assert_eq!(keys, expected.iter().collect::<Vec<_>>());
    }
}

//! What can be bought now of a product: stock as shoppers see it, a yes or a no.
//!
//! A variant has a level at each location, so that a product may have very many of them, and anybody
//! may ask for it. So a page reads a bounded number ([`OWN`]), location by location, those that ship
//! first before the others. What is found in stock is; a variant of which not every level was read
//! and none found in stock *may* be, and counts as in stock: the checkout decides. Lists show what
//! cards say ([`Card::is_in_stock`](catalogue::product::Card::is_in_stock)).

use std::collections::HashSet;

use catalogue::inventory::Level;
use catalogue::product::Variant;
use gateway::item::Key;
use gateway::problem::Problem;
use gateway::table::Batch;
use ground::id::{LocationId, StoreId, VariantId};
use ground::key;
use identity::store::Store;

/// Levels that a product's page reads (our choice): all of 100 variants at 10 locations.
const OWN: usize = 1_000;

/// Where variants are in stock, or not: levels at the store's online locations, to be read.
#[derive(Debug)]
pub struct LevelReads<'a> {
    levels: Vec<(&'a VariantId, Key)>,
    /// The variants of which every level is among them.
    told: HashSet<&'a VariantId>,
}

impl<'a> LevelReads<'a> {
    /// Where these variants are, as far as [`OWN`] levels tell.
    pub fn of(store: &Store, variants: Vec<&'a VariantId>) -> Self {
        Self::at(&store.id, &store.online_locations, variants, OWN)
    }

    fn at(
        store: &StoreId,
        online: &[LocationId],
        variants: Vec<&'a VariantId>,
        most: usize,
    ) -> Self {
        let all = variants.len().saturating_mul(online.len());
        let at = |location| variants.iter().map(move |variant| (*variant, location));
        let levels = online.iter().flat_map(at).take(most);
        let levels = levels.map(|(variant, at)| (variant, key::level(store, variant, at)));
        let levels = levels.collect();
        let told = if all <= most { variants.into_iter().collect() } else { HashSet::new() };
        Self { levels, told }
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
    /// Adds what another reading says.
    pub fn extend(&mut self, more: Self) {
        self.told.extend(more.told);
        self.stocked.extend(more.stocked);
    }

    /// Whether the variant can be bought, or may be.
    pub fn has_variant(&self, variant: &Variant, store: &Store) -> bool {
        let may_be = self.stocked.contains(&variant.id) || !self.told.contains(&variant.id);
        !variant.tracked || variant.continues_selling(store) || may_be
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_location_is_looked_at_first_and_what_is_not_wholly_read_is_not_told() {
        let variants: Vec<VariantId> =
            (0..3).map(|number| VariantId::derive(&[&number.to_string()])).collect();
        let online = ["a", "b"].map(|name| LocationId::derive(&[name]));
        let store = StoreId::derive(&["store"]);
        let level = |variant: usize, at: usize| key::level(&store, &variants[variant], &online[at]);
        let reads = LevelReads::at(&store, &online, variants.iter().collect(), 4);
        let expected = [level(0, 0), level(1, 0), level(2, 0), level(0, 1)];
        assert_eq!(reads.keys().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
        assert!(reads.told.is_empty());
        let reads = LevelReads::at(&store, &online, variants.iter().collect(), 6);
        assert_eq!((reads.levels.len(), reads.told.len()), (6, 3));
        // Nowhere is nothing.
        let reads = LevelReads::at(&store, &[], variants.iter().collect(), 6);
        assert_eq!((reads.levels.len(), reads.told.len()), (0, 3));
    }
}

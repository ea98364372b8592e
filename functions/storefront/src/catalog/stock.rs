//! What can be bought now: stock as shoppers see it, a yes or a no.

use std::collections::HashSet;

use commerce::id::VariantId;
use commerce::inventory::Level;
use commerce::key;
use commerce::product::{Product, Variant};
use commerce::store::Store;
use gateway::app::App;
use gateway::item::Key;
use gateway::problem::Problem;

/// The variants that some online location has at least one of.
#[derive(Debug, Default)]
pub struct Stock(HashSet<VariantId>);

impl Stock {
    /// Reads the stock of these products' variants, as far as the answer depends on it: one round
    /// trip per 100 levels. Perhaps a moment old; the checkout decides.
    pub async fn of(app: &App, store: &Store, products: &[&Product]) -> Result<Self, Problem> {
        let counted = products.iter().filter(|product| !product.sells_without_stock);
        let variants = counted.flat_map(|product| &product.variant_ids);
        Self::read(app, store, variants).await
    }

    /// Reads the stock of these variants.
    pub async fn read<'a>(
        app: &App,
        store: &Store,
        variants: impl Iterator<Item = &'a VariantId>,
    ) -> Result<Self, Problem> {
        let places = |variant| {
            let at = move |location| (variant, key::level(&store.id, variant, location));
            store.online_locations.iter().map(at)
        };
        let keys: Vec<(&VariantId, Key)> = variants.flat_map(places).collect();
        let wanted: Vec<&Key> = keys.iter().map(|(_, key)| key).collect();
        let mut found = app.table.glance(&wanted).await?;
        let mut stocked = HashSet::new();
        for (variant, key) in &keys {
            let level: Option<Level> = found.take(key)?;
            if level.is_some_and(|level| level.available > 0) {
                stocked.insert((*variant).clone());
            }
        }
        Ok(Self(stocked))
    }

    /// Whether some variant of the product can be bought.
    pub fn has(&self, product: &Product) -> bool {
        product.sells_without_stock || product.variant_ids.iter().any(|id| self.0.contains(id))
    }

    /// Whether the variant can be bought.
    pub fn has_variant(&self, variant: &Variant, store: &Store) -> bool {
        !variant.tracked || variant.continues_selling(store) || self.0.contains(&variant.id)
    }
}

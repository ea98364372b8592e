//! All that a product's page shows, in two readings.
//!
//! The first finds out what to read: the claim of the handle, which names the product and its
//! variants and says what the product is likened by, and the store's candidates for related
//! products. The second reads all of it at once: the product, its variants, their stock, and the
//! cards of the others. They only say what to read; what is shown is what the second reading
//! says. Where it names variants that nobody asked for, there is a third. Each reads a bounded
//! number of items.

use std::collections::HashSet;

use catalogue::product::{self, Card, Product, UniqueProductHandle, Variant};
use catalogue::related_products::RelatedProducts;
use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::Batch;
use ground::fields::Handle;
use ground::id::VariantId;
use ground::key;
use identity::store::Store;

use super::stock::{LevelReads, Stock};

/// Products shown beside a product.
const MAX_RELATED: usize = 4;
/// Products that are read for it: one more, because one may have gone from sale a moment ago.
const CHOSEN: usize = MAX_RELATED.saturating_add(1);

/// What a product's page shows.
#[derive(Debug)]
pub struct ProductPage {
    /// The product, which shoppers see.
    pub product: Product,
    /// Its variants, in their order.
    pub variants: Vec<Variant>,
    /// The products beside it.
    pub related: Vec<Card>,
    /// What can be bought of it.
    pub stock: Stock,
}

impl ProductPage {
    /// The page of a handle: two round trips; those for more than 100 items go side by side. What
    /// they do not show may be a moment too new for them, and is read again as it is now.
    ///
    /// # Errors
    /// `not_found`, also for a product that is not for sale.
    pub async fn load(app: &App, store: &Store, handle: &Handle) -> Result<Self, Problem> {
        if let Some(page) = Self::glance(app, store, handle).await? {
            return Ok(page);
        }
        let id = product::find(app, &store.id, handle).await?.ok_or(Code::NotFound)?;
        let product = app.table.get::<Product>(&key::product(&store.id, &id)).await?;
        let product = product.filter(Product::is_visible).ok_or(Code::NotFound)?;
        let (variants, related) = (Vec::new(), Vec::new());
        let mut page = Self { product, variants, related, stock: Stock::default() };
        page.complete(app, store, &[]).await?;
        Ok(page)
    }

    /// The page as two reads show it that may be a moment old; none when they do not.
    async fn glance(app: &App, store: &Store, handle: &Handle) -> Result<Option<Self>, Problem> {
        let claim_key = key::unique_product_handle(&store.id, handle.as_str());
        let related_key = key::related_products(&store.id);
        let mut hints = app.table.glance(&[&claim_key, &related_key]).await?;
        let Some(claim) = hints.take::<UniqueProductHandle>(&claim_key)? else { return Ok(None) };
        let candidates =
            hints.take(&related_key)?.unwrap_or_else(|| RelatedProducts::empty(&store.id));
        let chosen = candidates.closest_to(&claim.product_id, &claim.outline, CHOSEN);

        let named = &claim.outline.variant_ids;
        let product_key = key::product(&store.id, &claim.product_id);
        let variant = |id| key::variant(&store.id, &claim.product_id, id);
        let variant_keys: Vec<Key> = named.iter().map(variant).collect();
        let other_keys: Vec<Key> =
            chosen.iter().map(|other| key::card(&store.id, &other.id)).collect();
        let reads = LevelReads::of(store, named.iter().collect());
        let keys = std::iter::once(&product_key).chain(&variant_keys).chain(&other_keys);
        let keys: Vec<&Key> = keys.chain(reads.keys()).collect();
        let mut found = app.table.glance(&keys).await?;

        let product: Option<Product> = found.take(&product_key)?;
        let shown = |product: &Product| product.is_visible() && product.handle == *handle;
        let Some(product) = product.filter(shown) else { return Ok(None) };
        let mut related: Vec<Card> = take_all(&mut found, &other_keys)?;
        related.retain(Card::is_visible);
        related.truncate(MAX_RELATED);
        let variants = take_all(&mut found, &variant_keys)?;
        let stock = reads.stock(&mut found)?;
        let mut page = Self { product, variants, related, stock };
        page.complete(app, store, named).await?;
        Ok(Some(page))
    }

    /// Reads what the page shows and nobody asked for, if there is any, and puts the variants in
    /// their order.
    async fn complete(
        &mut self,
        app: &App,
        store: &Store,
        named: &[VariantId],
    ) -> Result<(), Problem> {
        let Self { product, variants, stock, .. } = self;
        let named: HashSet<&VariantId> = named.iter().collect();
        let unnamed: Vec<&VariantId> =
            product.variant_ids.iter().filter(|id| !named.contains(id)).collect();
        let keys: Vec<Key> =
            unnamed.iter().map(|id| key::variant(&store.id, &product.id, id)).collect();
        let reads = LevelReads::of(store, unnamed);
        let mut found =
            app.table.glance(&keys.iter().chain(reads.keys()).collect::<Vec<_>>()).await?;
        variants.extend(take_all::<Variant>(&mut found, &keys)?);
        let more = reads.stock(&mut found)?;
        stock.extend(more);
        *variants = product.arranged(std::mem::take(variants));
        Ok(())
    }
}

/// The items of these keys that were found, in the order of the keys.
fn take_all<T: Item>(found: &mut Batch, keys: &[Key]) -> Result<Vec<T>, Problem> {
    keys.iter().filter_map(|key| found.take(key).transpose()).collect()
}

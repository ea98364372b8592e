//! All that a product's page shows, in one query, where the process knows what is beside it.
//!
//! The product, its variants and what can be bought of them are one range of its partition. Where
//! that is, the store's [`Shelf`] knows of its newest products and of those that were shown, and
//! otherwise the claim of the handle says; either also says what the product is likened by, so that
//! what is beside it is read at the same time, as far as it is not known. They only say what to read:
//! what is shown is what was read.

use std::sync::Arc;

use catalogue::product::{self, Product, ProductSummary, Variant};
use core_types::fields::Handle;
use gateway::app::App;
use primitives::problem::{Code, Problem};
use identity::store::Store;

use super::alongside::Shelf;

/// What a product's page shows.
#[derive(Debug)]
pub struct ProductPage {
    /// The product, which shoppers see.
    pub product: Product,
    /// Its variants, in their order.
    pub variants: Vec<Variant>,
    /// The products beside it.
    pub related: Vec<Arc<ProductSummary>>,
}

impl ProductPage {
    /// The page of a handle. What an eventually consistent read does not show may be a moment too new for it, and is read
    /// again as it is now.
    ///
    /// # Errors
    /// `not_found`, also for a product that is not for sale.
    pub async fn load(app: &App, store: &Store, handle: &Handle) -> Result<Self, Problem> {
        let shelf = Shelf::of(app, &store.id).await?;
        if let Some((id, outline)) = shelf.named(app, handle).await? {
            let (found, related) = tokio::try_join!(
                product::get_eventually(app, &store.id, &id),
                shelf.alongside(app, &id, &outline),
            )?;
            let shown = |product: &Product| product.is_visible() && product.handle == *handle;
            if let Some((product, variants)) = found.filter(|(product, _)| shown(product)) {
                return Ok(Self { product, variants, related });
            }
        }
        let id = product::find(app, &store.id, handle).await?.ok_or(Code::NotFound)?;
        let found = product::load(app, &store.id, &id).await?;
        let found = found.filter(|(product, _)| product.is_visible());
        let (product, variants) = found.ok_or(Code::NotFound)?;
        let related = shelf.alongside(app, &id, &product.outline()).await?;
        Ok(Self { product, variants, related })
    }
}

//! Finds products by search words, and variants by SKU or barcode.

use std::collections::HashSet;

use catalogue::product::{
    self, Barcode, Product, ProductSummary, ProductSummaryView, UniqueSku, Variant, VariantView,
    summaries,
};
use catalogue::search::Search;
use core_types::id::{ProductId, StoreId, VariantId};
use core_types::key::{self, VARIANTS};
use gateway::page::Paging;
use gateway::reply::Page;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::Scanned;
use table::item::Key;

/// A product in a list, without its variants unless it was found by SKU or barcode.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedProduct {
    /// The product without its variants.
    #[serde(flatten)]
    product: ProductSummaryView,
    /// The variant that matches `sku` or `barcode`. Absent from all other lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    variants: Option<Vec<VariantView>>,
}

impl From<&Product> for ListedProduct {
    fn from(product: &Product) -> Self {
        Self { product: product.into(), variants: None }
    }
}

/// Returns a page of the products that match the search words.
pub(super) async fn by_words(
    services: &Services,
    store: &StoreId,
    paging: Paging,
    search: &Search,
    matches: impl Fn(&ProductSummary) -> bool,
) -> Result<Page<ListedProduct>, Problem> {
    let found = search.page(services, paging.limit(), paging.start(), matches).await?;
    let ids: Vec<ProductId> = found.items.iter().map(|summary| summary.id().clone()).collect();
    let products = product::get_many(services, store, &ids).await?;
    let matching = found.filter_map(|summary| {
        products.iter().find(|product| product.id == *summary.id()).map(ListedProduct::from)
    });
    paging.finish(services, matching, |product| product).await
}

/// Returns the ids of those of the given products that match the search words.
pub(super) async fn matching_ids(
    services: &Services,
    store: &StoreId,
    ids: &[ProductId],
    search: &Search,
) -> Result<HashSet<ProductId>, Problem> {
    let found = summaries(services, store, ids).await?;
    let found = found.into_iter().filter(|summary| search.matches(summary));
    Ok(found.map(|summary| summary.id().clone()).collect())
}

/// The ids of a product and of one of its variants.
type VariantLocator = (ProductId, VariantId);

/// Returns a page of the variants with a SKU or a barcode, each with its product.
pub(super) async fn by_code(
    services: &Services,
    store: &StoreId,
    paging: Paging,
    (sku, barcode): (Option<&str>, Option<&str>),
    matches: impl Fn(&Product) -> bool,
) -> Result<Page<ListedProduct>, Problem> {
    let labelled: Scanned<VariantLocator> = match (sku, barcode) {
        (Some(sku), _) => {
            let claim: Option<UniqueSku> =
                services.table.get(&UniqueSku::key_of(store, sku)).await?;
            let found = claim.map(|claim| (claim.product_id, claim.variant_id));
            paging
                .slice_unfinished(found.into_iter().collect(), |(_, variant)| variant.to_string())?
        }
        (None, code) => {
            let query = Barcode::query(store, code.unwrap_or_default());
            let found = paging.read(services, &query, |_: &Barcode| true).await?;
            found.filter_map(|entry| Some((entry.product_id, entry.variant_id)))
        }
    };
    let has_codes = |variant: &Variant| {
        let same = |own: &Option<String>, wanted: Option<&str>| {
            wanted.is_none_or(|wanted| {
                own.as_ref().is_some_and(|own| own.to_lowercase() == wanted.to_lowercase())
            })
        };
        same(&variant.sku, sku) && same(&variant.barcode, barcode)
    };
    let (products, variants) = read(services, store, &labelled.items).await?;
    let matching = labelled.filter_map(|(product, variant)| {
        let product = products.iter().find(|found| found.id == product)?;
        let variant = product.position_of(variants.iter().find(|found| found.id == variant)?)?;
        let is_match = matches(product) && has_codes(&variant);
        let variants = Some(vec![VariantView::from(&variant)]);
        is_match.then(|| ListedProduct { product: product.into(), variants })
    });
    paging.finish(services, matching, |product| product).await
}

/// Loads the variants and their products that exist; 100 variants take at most two batches.
async fn read(
    services: &Services,
    store: &StoreId,
    labelled: &[VariantLocator],
) -> Result<(Vec<Product>, Vec<Variant>), Problem> {
    let owners: HashSet<&ProductId> = labelled.iter().map(|(product, _)| product).collect();
    let owners = owners.into_iter().map(|product| key::product(store, product));
    let variants_of =
        labelled.iter().map(|(product, variant)| key::variant(store, product, variant));
    let keys: Vec<Key> = owners.chain(variants_of).collect();
    let (mut products, mut variants) = (Vec::new(), Vec::new());
    for part in keys.chunks(100) {
        let mut found = services.table.get_many(&part.iter().collect::<Vec<_>>()).await?;
        for key in part {
            if key.sk.starts_with(VARIANTS) {
                variants.extend(found.take::<Variant>(key)?);
            } else {
                products.extend(found.take::<Product>(key)?);
            }
        }
    }
    Ok((products, variants))
}

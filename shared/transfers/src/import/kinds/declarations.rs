//! The customs data in a file of stock. They are fields of products, so that their import needs `write_products`.

use std::collections::BTreeMap;

use catalogue::product::{Sellable, Variant};
use catalogue::workflows::save_product::{Customs, set_customs};
use core_types::id::{ProductId, VariantId};
use core_types::key;
use primitives::problem::{Code, FieldError, Problem};
use table::item::Key;

use super::work::Work;
use crate::import::ImportKind;
use crate::import::records::Record;

/// The customs data of a page, by product and item. The last row of an item wins.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    is_allowed: bool,
    by_product: BTreeMap<ProductId, BTreeMap<VariantId, Customs>>,
}

impl Declarations {
    /// None yet. If there will be any, whether whoever started the import may write products is checked.
    ///
    /// # Errors
    /// 503.
    pub(super) async fn of(work: &Work<'_>, are_any: bool) -> Result<Self, Problem> {
        let authority = work.import.authority.as_ref().filter(|_| are_any);
        let is_allowed = match authority {
            Some(authority) => {
                let for_products = authority.for_scope(ImportKind::Products.scope());
                for_products.revocation(work.services).await?.is_none()
            }
            None => true,
        };
        Ok(Self { is_allowed, ..Self::default() })
    }

    /// Adds what a record says of an item; a warning instead if that is not allowed.
    pub(super) fn add(&mut self, record: &mut Record, said: Customs, item: Option<&Sellable>) {
        let Some(item) = item.filter(|_| !said.is_empty()) else { return };
        if !self.is_allowed {
            let given = [
                ("/hs_code", said.hs_code.is_some()),
                ("/country_of_origin", said.country_of_origin.is_some()),
            ];
            for (pointer, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                let detail = "The scope `write_products` is required. The value was ignored.";
                record.warn(&FieldError::new(pointer, "insufficient_scope", detail));
            }
            return;
        }
        let items = self.by_product.entry(item.product_id.clone()).or_default();
        let known = items.entry(item.variant_id.clone()).or_default();
        known.hs_code = said.hs_code.or_else(|| known.hs_code.take());
        known.country_of_origin = said.country_of_origin.or_else(|| known.country_of_origin.take());
    }

    /// Writes what differs from the items. An interrupted page writes it again, which changes nothing.
    ///
    /// # Errors
    /// 503, so that the page is repeated.
    pub(super) async fn write(self, work: &Work<'_>) -> Result<(), Problem> {
        if work.import.dry_run {
            return Ok(());
        }
        for (product, wanted) in self.changes(work).await? {
            match set_customs(work.services, work.store, &product, &wanted).await {
                // It was deleted meanwhile.
                Err(problem) if problem.code == Code::NotFound => {}
                Err(problem) if problem.code.is_passing() => {
                    return Err(Problem::unavailable(format!("{product}: {problem}")));
                }
                written => written?,
            }
        }
        Ok(())
    }

    /// The changed items, by product: a hundred items are compared in one round trip.
    async fn changes(
        self,
        work: &Work<'_>,
    ) -> Result<BTreeMap<ProductId, Vec<(VariantId, Customs)>>, Problem> {
        let (store, now) = (&work.store.id, work.services.clock.now());
        let of_product = |(product, items): (ProductId, BTreeMap<VariantId, Customs>)| {
            let item = move |(item, customs)| (product.clone(), item, customs);
            items.into_iter().map(item)
        };
        let all: Vec<_> = self.by_product.into_iter().flat_map(of_product).collect();
        let mut changes: BTreeMap<ProductId, Vec<(VariantId, Customs)>> = BTreeMap::new();
        for some in all.chunks(100) {
            let key = |(product, item, _): &(ProductId, VariantId, Customs)| {
                key::variant(store, product, item)
            };
            let keys: Vec<Key> = some.iter().map(key).collect();
            let refs: Vec<&Key> = keys.iter().collect();
            let mut batch = work.services.table.get_many(&refs).await?;
            for ((product, item, customs), key) in some.iter().zip(&keys) {
                let known: Option<Variant> = batch.take(key)?;
                if known.is_some_and(|known| customs.applied_to(&known, now) != known) {
                    let of = changes.entry(product.clone()).or_default();
                    of.push((item.clone(), customs.clone()));
                }
            }
        }
        Ok(changes)
    }
}

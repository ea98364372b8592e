//! The filters of a store's lists, as they are stored.

use std::collections::BTreeSet;

pub use catalogue::facets::{FacetChunk, FacetHead, FacetRow, FacetVariant};
pub use core_types::id::{LocationId, ProductId, StoreId};

use crate::Gateway;

impl Gateway {
    /// Brings the filters of a store up to date after a change of this product. Returns the tenths of units and the
    /// round trips that it takes.
    pub async fn index(&self, store: &str, product: &str) -> (u64, u32) {
        let app = self.app().clone();
        let store = StoreId::parse(store).expect("a store's id");
        let products = BTreeSet::from([ProductId::parse(product).expect("a product's id")]);
        let refresh = async move { catalogue::facets::refresh(&app, &store, &products).await };
        let (done, used) = table::metered(self.now(), refresh).await;
        done.expect("it is indexed");
        (used.capacity_tenths, used.trips)
    }
}

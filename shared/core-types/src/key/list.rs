//! The lists of the table: partitions of its indexes. The key functions of the same names are the entries in
//! them.

use table::item::{Index, IndexPartition};

use crate::id::{CustomerId, LocationId, MerchantId, ProductId, StoreId};

/// A store's orders, by creation.
pub fn orders_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi5, format!("STO#{store}#ORD"))
}

/// A store's open orders that await no payment, by creation.
pub fn open_orders_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi3, format!("STO#{store}#OPEN"))
}

/// A customer's orders, by creation.
pub fn orders_of_customer(store: &StoreId, customer: &CustomerId) -> IndexPartition {
    IndexPartition::new(Index::Gsi6, format!("STO#{store}#CUS#{customer}#ORD"))
}

/// A guest's orders at a store, by creation.
pub fn orders_of_guest(guest: &str) -> IndexPartition {
    IndexPartition::new(Index::Gsi6, format!("GST#{guest}"))
}

/// A guest's carts at a store, by creation.
pub fn carts_of_guest(guest: &str) -> IndexPartition {
    IndexPartition::new(Index::Gsi6, format!("GST#{guest}#CRT"))
}

/// A store's guests, by their first order.
pub fn guests_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi5, format!("STO#{store}#GST"))
}

/// A store's gift cards, by time.
pub fn gift_cards_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, format!("STO#{store}#GFT"))
}

/// A store's payments, by time.
pub fn payments_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi5, format!("STO#{store}#PAY"))
}

/// A store's disputes, by time.
pub fn disputes_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi5, format!("STO#{store}#DSP"))
}

/// A store's disputes of a status, by time.
pub fn disputes_of_status(store: &StoreId, status: &str) -> IndexPartition {
    IndexPartition::new(Index::Gsi6, format!("STO#{store}#DSP#{status}"))
}

/// A store's discounts, by time.
pub fn discounts_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, format!("STO#{store}#DSC"))
}

/// A store's products, by creation.
pub fn products_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi5, format!("STO#{store}#PRD"))
}

/// A store's products of a status, by creation.
pub fn products_by_status(store: &StoreId, status: &str) -> IndexPartition {
    IndexPartition::new(Index::Gsi6, format!("STO#{store}#PRD#{status}"))
}

/// A store's collections, by creation.
pub fn collections_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, super::collections_in(store))
}

/// A location's stock levels, by variant.
pub fn levels_of_location(store: &StoreId, location: &LocationId) -> IndexPartition {
    IndexPartition::new(Index::Gsi5, format!("STO#{store}#LOC#{location}"))
}

/// A store's form submissions of a status, by time.
pub fn form_submissions_by_status(store: &StoreId, status: &str) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, format!("STO#{store}#FRM#{status}"))
}

/// A store's reviews of a status, by time.
pub fn reviews_by_status(store: &StoreId, status: &str) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, format!("STO#{store}#REV#{status}"))
}

/// The approved reviews of a product, by time.
pub fn approved_reviews_of_product(store: &StoreId, product: &ProductId) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, format!("STO#{store}#PRD#{product}#REV"))
}

/// A store's reviews, by time.
pub fn reviews_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi2, super::reviews_on(store))
}

/// A store's customers, by time.
pub fn customers_of_store(store: &StoreId) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, format!("STO#{store}#CUS"))
}

/// A merchant's stores, by creation.
pub fn stores_of(owner: &MerchantId) -> IndexPartition {
    IndexPartition::new(Index::Gsi1, format!("MER#{owner}#STO"))
}

/// A store's payments that still need its account with a provider, by time.
pub fn payments_open_with(store: &StoreId, provider: &str) -> IndexPartition {
    IndexPartition::new(Index::Gsi6, format!("STO#{store}#PPR#{provider}#OPEN"))
}

/// A developer's apps without deleted ones, by creation.
pub fn apps_of(developer: &MerchantId) -> IndexPartition {
    IndexPartition::new(Index::Gsi6, format!("DEV#{developer}#APP"))
}

//! Entries of documents ([`sales::pricing_document`]) as replies.

use gateway::reply::{Created, Json};
use sales::pricing_document::PricingEntry;

/// 200 with the view of an entry, and its version as `ETag`.
pub(crate) fn to_response<E: PricingEntry>(entry: &E) -> Json<E::View> {
    Json::new(&E::View::from(entry)).version(entry.event_subject().version)
}

/// 201 with the view of a new entry, and its version as `ETag`.
pub(crate) fn created<E: PricingEntry>(entry: &E) -> Created<E::View> {
    Created::new(&E::View::from(entry)).version(entry.event_subject().version)
}

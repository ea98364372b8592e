//! Entries of documents ([`sales::document`]) as replies.

use gateway::reply::{Created, Json};
use sales::document::Entry;

/// 200 with the view of an entry, and its version as `ETag`.
pub(crate) fn to_response<E: Entry>(entry: &E) -> Json<E::View> {
    Json::new(&E::View::from(entry)).version(entry.event_subject().version)
}

/// 201 with the view of a new entry, and its version as `ETag`.
pub(crate) fn created<E: Entry>(entry: &E) -> Created<E::View> {
    Created::new(&E::View::from(entry)).version(entry.event_subject().version)
}

//! Evidence of reliability, recorded without the drills and replays that it is of; and the canary.

use core_types::id::{MerchantId, StoreId};
use reliability::evidence::{self, Record};
use serde_json::Value;

use crate::Gateway;

/// The id of the one store that drills and load tests run on.
pub const CANARY_STORE: &str = table::canary::STORE;

/// The id of the canary's owner.
pub fn canary_merchant() -> String {
    MerchantId::canary().to_string()
}

/// What evidence states.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// `drill`, `replay` …
    pub kind: &'static str,
    /// What it is about: the same twice is one record.
    pub subject: String,
    pub outcome: &'static str,
    /// The store whose it is, or the platform's.
    pub store: Option<String>,
    pub summary: Value,
}

impl Gateway {
    /// Appends a record to the chain; its id.
    pub async fn record_evidence(&self, stated: Evidence) -> String {
        let store = |id: &String| StoreId::parse(id).expect("a store's id");
        let record = Record {
            kind: serde_json::from_value(stated.kind.into()).expect("a kind of evidence"),
            subject: stated.subject,
            outcome: stated.outcome.to_owned(),
            store_id: stated.store.as_ref().map(store),
            summary: stated.summary,
        };
        evidence::append(self.app(), record).await.expect("it is appended").to_string()
    }
}

//! Merges, as they are shown and announced.

use core_types::end_reason::EndReason;
use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{CustomerId, MergeId};
use core_types::sample_id;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Merge, MergeStatus};

core_types::topics! {
    CUSTOMER_MERGED = "customer.merged", "customer", Some("read_customers"), CustomerMerged,
        "A customer's account became part of another's: what you hold of `source_id` is of `id`. Orders \
         follow, each with `order.updated`.";
}

/// An account became part of another's.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CustomerMerged {
    /// The customer who stays.
    pub id: CustomerId,
    /// The one whose account is gone.
    pub source_id: CustomerId,
    /// When that was.
    pub merged_at: Timestamp,
}

impl Example for CustomerMerged {
    fn example() -> Self {
        Self {
            id: sample_id!(CustomerId),
            source_id: CustomerId::derive(&["example"]),
            merged_at: EXAMPLE_TIME,
        }
    }
}

core_types::view! {
    /// A merge of a customer into another.
    MergeView of merge: Merge {
        /// The id.
        id: MergeId,
        /// The customer who stays.
        customer_id: CustomerId,
        /// The one whose account is gone.
        source_id: CustomerId,
        /// Where it is in its life.
        status: MergeStatus,
        /// Why it ended before its end.
        status_reason: Option<EndReason>,
        /// Who asked for it.
        created_by: String,
        /// When all had followed.
        finished_at: Option<Timestamp>,
        /// When the account ended.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// Counts its changes.
        version: u64,
    }
}

//! The representation of a merge in responses and events.

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
        "A customer account was merged into another: assign what you store about `source_id` to `id`. \
         The orders follow, each with `order.updated`.";
}

/// The data of the event that an account was merged into another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CustomerMerged {
    /// The remaining customer.
    pub id: CustomerId,
    /// The customer whose account was deleted.
    pub source_id: CustomerId,
    /// When the account was deleted.
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
        /// The remaining customer.
        customer_id: CustomerId,
        /// The customer whose account was deleted.
        source_id: CustomerId,
        /// The status.
        status: MergeStatus,
        /// The reason of its failure.
        status_reason: Option<EndReason>,
        /// The merchant or app that requested it: `mer_…` or `app_…`.
        created_by: String,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// When the account was deleted.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

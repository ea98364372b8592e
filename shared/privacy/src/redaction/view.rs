//! The representations of redactions and data requests in responses and events.

use core_types::end_reason::EndReason;
use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{CustomerId, ExportId, OrderId, RedactionId, StoreId};
use core_types::sample_id;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Redaction, RedactionStatus};
use crate::person::Person;

core_types::topics! {
    CUSTOMER_DATA_REQUESTED = "customer.data_requested", "customer", Some("read_customers"),
        CustomerDataRequested,
        "A person requested their data: report to the store what you store about them.";
    CUSTOMER_REDACTION_REQUESTED = "customer.redaction_requested", "redaction", Some("read_customers"),
        RedactionView,
        "A person's data will be erased on the given day: prepare to delete what you store about them.";
    CUSTOMER_REDACTION_CANCELLED = "customer.redaction_cancelled", "redaction", Some("read_customers"),
        RedactionView, "The redaction of a person was cancelled.";
    CUSTOMER_REDACTED = "customer.redacted", "redaction", Some("read_customers"), RedactionView,
        "A person's data was erased: delete what you store about them.";
}

/// The data of the event that a person requests their data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CustomerDataRequested {
    /// The customer; null for a guest, whose orders are listed instead.
    pub id: Option<CustomerId>,
    /// The orders of a guest, newest first, at most 100. The data that you store of these orders is the
    /// guest's.
    pub order_ids: Vec<OrderId>,
    /// The export whose file has the store's data of the person.
    pub export_id: ExportId,
    /// When it was requested.
    pub requested_at: Timestamp,
}

impl Example for CustomerDataRequested {
    fn example() -> Self {
        Self {
            id: Some(sample_id!(CustomerId)),
            order_ids: Vec::new(),
            export_id: sample_id!(ExportId),
            requested_at: EXAMPLE_TIME,
        }
    }
}

core_types::view! {
    /// A redaction of a customer.
    RedactionView of redaction: Redaction {
        /// The id.
        id: RedactionId,
        /// The customer; null for a guest, whose orders are announced by `order.redacted`.
        customer_id: Option<CustomerId>,
        /// The status.
        status: RedactionStatus,
        /// The reason of its failure.
        status_reason: Option<EndReason>,
        /// Whether an open order prevents its start.
        waits_for_orders: bool,
        /// When it starts unless it is cancelled.
        begins_at: Timestamp,
        /// The merchant or app that requested it: `mer_…` or `app_…`.
        created_by: String,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The actions that its status allows now.
        allowed_actions: Vec<&'static str> = redaction.allowed_actions(),
        /// When it was first requested.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

impl Example for RedactionView {
    fn example() -> Self {
        let (store_id, customer_id) = (StoreId::derive(&["example"]), sample_id!(CustomerId));
        let id = Redaction::id_of(&store_id, &customer_id);
        let person = Person { store_id, customer_id: Some(customer_id), emails: Vec::new() };
        let by = ("mer_example", 10);
        Self::from(&Redaction::schedule(id, person, None, by, EXAMPLE_TIME))
    }
}

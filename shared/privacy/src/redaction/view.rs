//! Redactions and requests for data, as they are shown and announced.

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
        "A person asks what is known of them: tell the store what you hold.";
    CUSTOMER_REDACTION_REQUESTED = "customer.redaction_requested", "redaction", Some("read_customers"),
        RedactionView,
        "A person is to be forgotten on the day that is named: prepare to remove what you hold of them.";
    CUSTOMER_REDACTION_CANCELLED = "customer.redaction_cancelled", "redaction", Some("read_customers"),
        RedactionView, "A person is not to be forgotten after all.";
    CUSTOMER_REDACTED = "customer.redacted", "redaction", Some("read_customers"), RedactionView,
        "A person was forgotten: remove what you hold of them.";
}

/// Somebody asks what is known of them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CustomerDataRequested {
    /// Who; none of a guest, who is known by their orders.
    pub id: Option<CustomerId>,
    /// The orders of a guest, the newest first, 100 at most: what you hold of them is theirs.
    pub order_ids: Vec<OrderId>,
    /// The export in whose file the store has it.
    pub export_id: ExportId,
    /// When it was asked.
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
        /// Who is forgotten; none of a guest, whose orders say it by `order.redacted`.
        customer_id: Option<CustomerId>,
        /// Where it is in its life.
        status: RedactionStatus,
        /// Why it ended before its end, unless it was called off.
        status_reason: Option<EndReason>,
        /// Whether an order that is not closed keeps it from beginning.
        waits_for_orders: bool,
        /// When it begins, unless it is called off.
        begins_at: Timestamp,
        /// Who asked for it.
        created_by: String,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The actions that its state allows now.
        allowed_actions: Vec<&'static str> = redaction.allowed_actions(),
        /// When it was asked for.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// Counts its changes.
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

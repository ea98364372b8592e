//! Incidents in responses.

use core_types::id::{IncidentId, StoreId};
use primitives::clock::Timestamp;

use super::{Component, Incident, IncidentStatus, Severity, TimelineEntry};
use crate::rules::Rule;

core_types::view! {
    /// An incident.
    IncidentView of incident: Incident {
        /// The id.
        id: IncidentId,
        /// The store that it concerns; `null` for an incident of the platform.
        store_id: Option<StoreId>,
        /// The title.
        title: String,
        /// The description.
        description: Option<String>,
        /// The severity.
        severity: Severity,
        /// The affected components.
        components: Vec<Component>,
        /// The status.
        status: IncidentStatus,
        /// The rule that opened it; `null` if an operator did.
        rule: Option<Rule>,
        /// The subject that the rule is violated for: the name of a queue, the id of a store, or `platform`.
        subject: Option<String>,
        /// The root cause analysis: why it happened, and what prevents a repetition.
        rca: Option<String>,
        /// The timeline, the oldest entry first: the first entry and the latest 199.
        timeline: Vec<TimelineEntry>,
        /// The actions that its status allows.
        allowed_actions: Vec<&'static str> = incident.allowed_actions(),
        /// When it was acknowledged.
        acknowledged_at: Option<Timestamp>,
        /// When it was mitigated.
        mitigated_at: Option<Timestamp>,
        /// When it was resolved.
        resolved_at: Option<Timestamp>,
        /// When it was closed.
        closed_at: Option<Timestamp>,
        /// When it was opened.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

core_types::view! {
    /// A summary of an incident.
    IncidentBrief of incident: Incident {
        /// The id.
        id: IncidentId,
        /// The store that it concerns; `null` for an incident of the platform.
        store_id: Option<StoreId>,
        /// The title.
        title: String,
        /// The severity.
        severity: Severity,
        /// The status.
        status: IncidentStatus,
        /// The rule that opened it; `null` if an operator did.
        rule: Option<Rule>,
        /// When it was opened.
        created_at: Timestamp,
    }
}

//! Incidents as they are shown.

use gateway::clock::Timestamp;
use ground::id::{IncidentId, StoreId};

use super::{Component, Incident, IncidentStatus, Severity, TimelineEntry};
use crate::rules::Rule;

ground::view! {
    /// An incident.
    IncidentView of incident: Incident {
        /// The id.
        id: IncidentId,
        /// The store that it concerns; none where it is the platform's.
        store_id: Option<StoreId>,
        /// What it is called.
        title: String,
        /// What is known about it.
        description: Option<String>,
        /// How bad it is.
        severity: Severity,
        /// What of the platform it is about.
        components: Vec<Component>,
        /// How far it has come.
        status: IncidentStatus,
        /// The rule that opened it; none where a person did.
        rule: Option<Rule>,
        /// What the rule is broken about.
        subject: Option<String>,
        /// Why it happened, and what keeps it from happening again.
        rca: Option<String>,
        /// What happened, the oldest first: the first entry, and the latest 199.
        timeline: Vec<TimelineEntry>,
        /// What may be done with it.
        allowed_actions: Vec<&'static str> = incident.allowed_actions(),
        /// When somebody looked at it first.
        acknowledged_at: Option<Timestamp>,
        /// When it did no harm any more.
        mitigated_at: Option<Timestamp>,
        /// When it was over.
        resolved_at: Option<Timestamp>,
        /// When it was closed.
        closed_at: Option<Timestamp>,
        /// When it was opened.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// From 1, one more with each write.
        version: u64,
    }
}

ground::view! {
    /// An incident in short.
    IncidentBrief of incident: Incident {
        /// The id.
        id: IncidentId,
        /// The store that it concerns; none where it is the platform's.
        store_id: Option<StoreId>,
        /// What it is called.
        title: String,
        /// How bad it is.
        severity: Severity,
        /// How far it has come.
        status: IncidentStatus,
        /// The rule that opened it; none where a person did.
        rule: Option<Rule>,
        /// When it was opened.
        created_at: Timestamp,
    }
}

//! The events of incidents.

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{IncidentId, StoreId};
use core_types::sample_id;

use super::{Component, EntryKind, IncidentStatus, IncidentView, Severity, Step, TimelineEntry};
use crate::rules::Rule;

core_types::topics! {
    INCIDENT_OPENED = "incident.opened", "incident", Some("read_operations"), IncidentView,
        "An incident was opened, by an operator or by a rule.";
    INCIDENT_UPDATED = "incident.updated", "incident", Some("read_operations"), IncidentView,
        "An operator changed an incident, or added a note.";
    INCIDENT_ACKNOWLEDGED = "incident.acknowledged", "incident", Some("read_operations"), IncidentView,
        "An operator acknowledged an incident.";
    INCIDENT_MITIGATED = "incident.mitigated", "incident", Some("read_operations"), IncidentView,
        "An incident was mitigated.";
    INCIDENT_RESOLVED = "incident.resolved", "incident", Some("read_operations"), IncidentView,
        "An incident was resolved, by an operator, or because its rule has held for five minutes.";
    INCIDENT_CLOSED = "incident.closed", "incident", Some("read_operations"), IncidentView,
        "An incident was closed after its review.";
}

impl Step {
    /// The topic of the event that this step emits.
    pub const fn topic(self) -> &'static core_types::event::Topic<IncidentView> {
        match self {
            Self::Acknowledge => &INCIDENT_ACKNOWLEDGED,
            Self::Mitigate => &INCIDENT_MITIGATED,
            Self::Resolve => &INCIDENT_RESOLVED,
            Self::Close => &INCIDENT_CLOSED,
        }
    }
}

impl Example for IncidentView {
    fn example() -> Self {
        let store = sample_id!(StoreId);
        let description = "41 percent of the attempts of the last 15 minutes succeeded.".to_owned();
        Self {
            id: sample_id!(IncidentId),
            store_id: Some(store.clone()),
            title: "Webhooks are not delivered".into(),
            description: Some(description.clone()),
            severity: Severity::High,
            components: vec![Component::Webhooks],
            status: IncidentStatus::Open,
            rule: Some(Rule::DeliverySuccess),
            subject: Some(store.to_string()),
            rca: None,
            timeline: vec![TimelineEntry {
                at: EXAMPLE_TIME,
                kind: EntryKind::Opened,
                message: Some(description),
                actor: None,
            }],
            allowed_actions: vec!["acknowledge", "mitigate", "resolve"],
            acknowledged_at: None,
            mitigated_at: None,
            resolved_at: None,
            closed_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

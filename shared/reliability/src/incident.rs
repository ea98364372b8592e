//! Incidents: open → acknowledged → mitigated → resolved → closed, with a timeline.
//!
//! An incident that a rule opened has an [`OpenIncident`] until it is resolved: an item at a key of the rule
//! and its subject. The transaction that opens the incident creates it, on condition that there is none. So a
//! rule has at most one unresolved incident for a subject, however many observers run at the same moment.

mod open;
mod step;
#[cfg(test)]
mod tests;
mod topics;
mod view;

use core_types::event::EventSubject;
use core_types::id::{IncidentId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

pub use open::OpenIncident;
pub use step::Step;
pub use topics::*;
pub use view::{IncidentBrief, IncidentView};

use crate::evidence::summary::IncidentSummary;
use crate::evidence::{EvidenceKind, Record};
use crate::rules::Rule;

/// Entries of a timeline at most: the first, and the latest of the others.
pub const MAX_ENTRIES: usize = 200;

primitives::string_enum! {
    /// The severity of an incident.
    #[schemars(rename = "IncidentSeverity")]
    Severity {
        /// Something essential does not work.
        Critical = "critical",
        /// Something does not work.
        High = "high",
        /// Something works badly.
        Medium = "medium",
        /// Something needs attention.
        Low = "low",
    }
}

primitives::string_enum! {
    /// The status of an incident.
    IncidentStatus {
        /// No operator has acknowledged it.
        Open = "open",
        /// An operator works on it.
        Acknowledged = "acknowledged",
        /// It does no harm any more, while its cause may last.
        Mitigated = "mitigated",
        /// It is over.
        Resolved = "resolved",
        /// Its review is complete.
        Closed = "closed",
    }
}

primitives::string_enum! {
    /// A component of the platform.
    #[schemars(rename = "PlatformComponent")]
    Component {
        /// The API as a whole.
        Api = "api",
        /// Stores' storefronts.
        Storefront = "storefront",
        /// Orders.
        Orders = "orders",
        /// Payments.
        Payments = "payments",
        /// Apps and their tokens.
        AppPlatform = "app_platform",
        /// Publishing of events.
        Outbox = "outbox",
        /// Webhooks.
        Webhooks = "webhooks",
        /// Mail.
        Mail = "mail",
        /// Queues.
        Queues = "queues",
        /// The table.
        Table = "table",
    }
}

primitives::string_enum! {
    /// The kind of an entry of a timeline.
    EntryKind {
        /// The incident was opened.
        Opened = "opened",
        /// It was acknowledged.
        Acknowledged = "acknowledged",
        /// It was mitigated.
        Mitigated = "mitigated",
        /// It was resolved.
        Resolved = "resolved",
        /// It was closed.
        Closed = "closed",
        /// Its title, description, severity, components or root cause analysis was changed.
        Changed = "changed",
        /// A note was added.
        Note = "note",
    }
}

/// An entry of the timeline of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "IncidentTimelineEntry")]
pub struct TimelineEntry {
    /// When it was added.
    pub at: Timestamp,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The message of an operator or of a rule.
    pub message: Option<String>,
    /// The operator who added it: `merchant:mer_…`; `null` for the service itself.
    pub actor: Option<String>,
}

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// `inc_…`.
    pub id: IncidentId,
    /// The store that it concerns; none for an incident of the platform.
    pub store_id: Option<StoreId>,
    /// The rule that opened it; none if an operator did.
    pub rule: Option<Rule>,
    /// The subject that the rule is violated for: the name of a queue, the id of a store, or `platform`.
    pub subject: Option<String>,
    /// The title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
    /// The severity.
    pub severity: Severity,
    /// The affected components.
    pub components: Vec<Component>,
    /// The status.
    pub status: IncidentStatus,
    /// The root cause analysis: why it happened, and what prevents a repetition.
    pub rca: Option<String>,
    /// The timeline, the oldest entry first.
    pub timeline: Vec<TimelineEntry>,
    /// When it was acknowledged.
    pub acknowledged_at: Option<Timestamp>,
    /// When it was mitigated.
    pub mitigated_at: Option<Timestamp>,
    /// When it was resolved.
    pub resolved_at: Option<Timestamp>,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for Incident {
    const KIND: &'static str = "incident";
    fn key(&self) -> Key {
        key::incident(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let of_store = self.store_id.as_ref();
        let of_store =
            of_store.map(|store| key::incident_of_store(store, self.created_at, &self.id));
        [key::operation_of_month(Self::KIND, self.created_at, self.id.as_str())]
            .into_iter()
            .chain(of_store)
            .collect()
    }
}

impl Resource for Incident {
    type View = IncidentView;
    fn event_subject(&self) -> EventSubject<'_> {
        let store = self.store_id.as_ref();
        EventSubject { store, app: None, entity: self.id.as_str(), version: self.version }
    }
}

/// The content of a new incident.
#[derive(Debug, Clone)]
pub struct NewIncident {
    /// The store that it concerns.
    pub store_id: Option<StoreId>,
    /// The rule that opens it, and the rule's subject; none if an operator does.
    pub cause: Option<(Rule, String)>,
    /// The title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
    /// The severity.
    pub severity: Severity,
    /// The affected components.
    pub components: Vec<Component>,
}

/// A correction of an incident; a field that is none stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Correction {
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The severity.
    pub severity: Option<Severity>,
    /// The affected components.
    pub components: Option<Vec<Component>>,
    /// The root cause analysis.
    pub rca: Option<String>,
}

impl Incident {
    /// A new incident.
    pub fn open(report: NewIncident, actor: Option<String>, now: Timestamp) -> Self {
        let (rule, subject) = report.cause.unzip();
        let opened = TimelineEntry {
            at: now,
            kind: EntryKind::Opened,
            message: report.description.clone(),
            actor,
        };
        Self {
            id: IncidentId::mint(now),
            store_id: report.store_id,
            rule,
            subject,
            title: report.title,
            description: report.description,
            severity: report.severity,
            components: report.components,
            status: IncidentStatus::Open,
            rca: None,
            timeline: vec![opened],
            acknowledged_at: None,
            mitigated_at: None,
            resolved_at: None,
            closed_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The incident after this step.
    ///
    /// # Errors
    /// `invalid_state_transition` when its status does not allow the step.
    pub fn take(
        &self,
        step: Step,
        message: Option<String>,
        actor: Option<String>,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        if !step.is_allowed(self.status) {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        let (status, kind) = step.leads_to();
        let mut next = self.with_entry(TimelineEntry { at: now, kind, message, actor }, now);
        next.status = status;
        let at = match step {
            Step::Acknowledge => &mut next.acknowledged_at,
            Step::Mitigate => &mut next.mitigated_at,
            Step::Resolve => &mut next.resolved_at,
            Step::Close => &mut next.closed_at,
        };
        *at = Some(now);
        Ok(next)
    }

    /// The incident with a note in its timeline.
    #[must_use]
    pub fn note(&self, message: String, actor: Option<String>, now: Timestamp) -> Self {
        let entry = TimelineEntry { at: now, kind: EntryKind::Note, message: Some(message), actor };
        self.with_entry(entry, now)
    }

    /// The corrected incident; none if the correction changes nothing.
    pub fn correct(
        &self,
        correction: Correction,
        actor: Option<String>,
        now: Timestamp,
    ) -> Option<Self> {
        let Correction { title, description, severity, components, rca } = correction;
        let after = Self {
            title: title.unwrap_or_else(|| self.title.clone()),
            description: description.or_else(|| self.description.clone()),
            severity: severity.unwrap_or(self.severity),
            components: components.unwrap_or_else(|| self.components.clone()),
            rca: rca.or_else(|| self.rca.clone()),
            ..self.clone()
        };
        if after == *self {
            return None;
        }
        let told = (after.severity != self.severity)
            .then(|| format!("Severity: {} → {}", self.severity, after.severity));
        let entry = TimelineEntry { at: now, kind: EntryKind::Changed, message: told, actor };
        Some(after.with_entry(entry, now))
    }

    /// Whether it is neither resolved nor closed.
    pub const fn is_unresolved(&self) -> bool {
        !matches!(self.status, IncidentStatus::Resolved | IncidentStatus::Closed)
    }

    /// The actions that its state allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let allowed = Step::ALL.into_iter().filter(|step| step.is_allowed(self.status));
        allowed.map(Step::name).collect()
    }

    /// The evidence record of the resolved incident.
    ///
    /// # Errors
    /// 500: it cannot be serialized.
    pub fn record(&self) -> Result<Record, Problem> {
        let summary = IncidentSummary {
            severity: self.severity.to_string(),
            opened_at: self.created_at,
            resolved_at: self.resolved_at.unwrap_or(self.updated_at),
        };
        Ok(Record {
            kind: EvidenceKind::Incident,
            subject: self.id.to_string(),
            outcome: IncidentStatus::Resolved.as_str().to_owned(),
            store_id: self.store_id.clone(),
            summary: serde_json::to_value(summary).map_err(Problem::internal)?,
        })
    }

    /// The key of its [`OpenIncident`], if a rule opened it.
    pub fn open_incident_key(&self) -> Option<Key> {
        let rule = self.rule.zip(self.subject.as_deref());
        rule.map(|(rule, subject)| key::open_incident(rule.as_str(), subject))
    }

    fn with_entry(&self, entry: TimelineEntry, now: Timestamp) -> Self {
        let mut next = self.clone();
        if next.timeline.len() >= MAX_ENTRIES && next.timeline.len() > 1 {
            next.timeline.remove(1);
        }
        next.timeline.push(entry);
        Self { updated_at: now, version: self.version.saturating_add(1), ..next }
    }
}

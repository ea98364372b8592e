//! Opening and resolving incidents, each with the item that makes it the only unresolved one of its rule
//! and subject.

use core_types::id::{IncidentId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Query, Write};

use super::{INCIDENT_OPENED, Incident, Step};
use crate::rules::Rule;

/// Unresolved incidents of rules that one query reads at most.
const MOST: usize = 1_000;

/// The unresolved incident of a rule for a subject: at most one exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "open_incident", key = key::open_incident(self.rule.as_str(), &self.subject))]
pub struct OpenIncident {
    /// The rule; part of the key.
    pub rule: Rule,
    /// The subject; part of the key.
    pub subject: String,
    /// The incident.
    pub incident_id: IncidentId,
    /// The store that it concerns.
    pub store_id: Option<StoreId>,
    /// Since when the rule holds again; none while it is violated.
    pub calm_since: Option<Timestamp>,
    /// From 1, one more with each write.
    pub version: u64,
}

impl OpenIncident {
    /// Loads all unresolved incidents of rules.
    ///
    /// # Errors
    /// 503.
    pub async fn all(services: &Services) -> Result<Vec<Self>, Problem> {
        services.table.all(&Query::partition(key::OPEN_INCIDENTS), MOST).await
    }

    /// The item with its rule holding since this time, or violated again.
    #[must_use]
    pub fn calm(&self, since: Option<Timestamp>) -> Self {
        Self { calm_since: since, version: self.version.saturating_add(1), ..self.clone() }
    }
}

impl Incident {
    /// Adds a new incident to a transaction, with its [`OpenIncident`] if a rule opened it, and emits its
    /// event. Rejected with `version_conflict` if the rule has an unresolved one for the subject.
    pub fn create_in(&self, write: Write, now: Timestamp) -> Write {
        let place = self.rule.zip(self.subject.clone()).map(|(rule, subject)| OpenIncident {
            rule,
            subject,
            incident_id: self.id.clone(),
            store_id: self.store_id.clone(),
            calm_since: None,
            version: 1,
        });
        write
            .create(self, Code::VersionConflict)
            .when_some(place.as_ref(), |write, place| write.create(place, Code::VersionConflict))
            .emit(self.event(&INCIDENT_OPENED, now))
    }

    /// Adds the deletion of its [`OpenIncident`] to the transaction of a step, if the step resolves it.
    pub fn close_in(&self, write: Write, step: Step) -> Write {
        let place = self.open_incident_key().filter(|_| step == Step::Resolve);
        write.when_some(place, |write, place| write.delete(&place))
    }
}

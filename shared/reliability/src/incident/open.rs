//! How incidents are opened and resolved: with their place among the unresolved ones of their rule.

use core_types::id::{IncidentId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Query, Write};

use super::{INCIDENT_OPENED, Incident, Step};
use crate::rules::Rule;

/// Unresolved incidents of rules that one look takes in.
const MOST: usize = 1_000;

/// The place of a rule's unresolved incident about a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenIncident {
    /// Part of the key.
    pub rule: Rule,
    /// Part of the key.
    pub subject: String,
    /// The incident.
    pub incident_id: IncidentId,
    /// The store that it concerns.
    pub store_id: Option<StoreId>,
    /// Since when the rule holds again.
    pub calm_since: Option<Timestamp>,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for OpenIncident {
    const KIND: &'static str = "open_incident";
    fn key(&self) -> Key {
        key::open_incident(self.rule.as_str(), &self.subject)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl OpenIncident {
    /// All of them, as they are.
    ///
    /// # Errors
    /// 503.
    pub async fn all(services: &Services) -> Result<Vec<Self>, Problem> {
        services.table.all(&Query::partition(key::OPEN_INCIDENTS), MOST).await
    }

    /// The same, with its rule holding since then, or broken again.
    #[must_use]
    pub fn calm(&self, since: Option<Timestamp>) -> Self {
        Self { calm_since: since, version: self.version.saturating_add(1), ..self.clone() }
    }
}

impl Incident {
    /// Adds a new incident to a transaction, with its place if a rule opened it, and announces it. Rejected
    /// with `version_conflict` where the rule has an unresolved one about the same.
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
            .also(place.as_ref(), |write, place| write.create(place, Code::VersionConflict))
            .emit(self.event(&INCIDENT_OPENED, now))
    }

    /// Adds to the transaction that takes a step what else becomes of it: whoever resolves a rule's incident
    /// gives up its place.
    pub fn leave(&self, write: Write, step: Step) -> Write {
        let place = self.place().filter(|_| step == Step::Resolve);
        write.also(place, |write, place| write.delete(&place))
    }
}

//! An incident in short: whether it keeps drills from being run.

use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
use serde::{Deserialize, Serialize};

/// What of an incident matters to a drill. It is read from a list alone: others write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentBrief {
    /// The id.
    pub id: String,
    /// How far it has come.
    pub status: String,
    /// When it was opened.
    pub created_at: Timestamp,
}

impl IncidentBrief {
    /// Whether it is still to be resolved.
    pub fn is_open(&self) -> bool {
        !matches!(self.status.as_str(), "resolved" | "closed")
    }
}

impl Item for IncidentBrief {
    const KIND: &'static str = "incident";
    fn key(&self) -> Key {
        Key::new(format!("INC#{}", self.id), "A")
    }
    fn version(&self) -> u64 {
        1
    }
}

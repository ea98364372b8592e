//! The transitions of an incident's status.

use super::{EntryKind, IncidentStatus};

/// A transition of an incident's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// An operator works on it.
    Acknowledge,
    /// It does no harm any more.
    Mitigate,
    /// It is over.
    Resolve,
    /// Its review is complete.
    Close,
}

impl Step {
    pub(super) const ALL: [Self; 4] =
        [Self::Acknowledge, Self::Mitigate, Self::Resolve, Self::Close];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Acknowledge => "acknowledge",
            Self::Mitigate => "mitigate",
            Self::Resolve => "resolve",
            Self::Close => "close",
        }
    }

    pub(super) const fn leads_to(self) -> (IncidentStatus, EntryKind) {
        match self {
            Self::Acknowledge => (IncidentStatus::Acknowledged, EntryKind::Acknowledged),
            Self::Mitigate => (IncidentStatus::Mitigated, EntryKind::Mitigated),
            Self::Resolve => (IncidentStatus::Resolved, EntryKind::Resolved),
            Self::Close => (IncidentStatus::Closed, EntryKind::Closed),
        }
    }

    /// Whether this status allows it: only forward, and a resolved incident can only be closed.
    pub(super) const fn is_allowed(self, from: IncidentStatus) -> bool {
        match self {
            Self::Acknowledge => matches!(from, IncidentStatus::Open),
            Self::Mitigate => matches!(from, IncidentStatus::Open | IncidentStatus::Acknowledged),
            Self::Resolve => matches!(
                from,
                IncidentStatus::Open | IncidentStatus::Acknowledged | IncidentStatus::Mitigated
            ),
            Self::Close => matches!(from, IncidentStatus::Resolved),
        }
    }
}

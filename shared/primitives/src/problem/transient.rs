//! Transient and permanent problems.

use super::{Code, Problem};

impl Code {
    /// Whether the same work may succeed later without a change: there was a concurrent write, a service
    /// is unreachable or throttles, or the work waits for somebody at a provider.
    pub const fn is_passing(self) -> bool {
        let waits_for_others = matches!(
            self,
            Self::VersionConflict
                | Self::RequestInProgress
                | Self::ReplayRunning
                | Self::ImportRunning
                | Self::DrillRunning
                | Self::IncidentOpen
                | Self::DeliveryInFlight
                | Self::EvidencePending
                | Self::ProviderNotConnected
                | Self::CredentialsRejected
        );
        waits_for_others || self.status() == 429 || self.status() > 500
    }
}

impl Problem {
    /// Whether every retry of the work would meet the same problem: the work is ended instead. A request
    /// that the table calls invalid, and an item that cannot be deserialized, are [`Code::Internal`].
    pub const fn is_permanent(&self) -> bool {
        !self.code.is_passing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_throttling_and_conflicts_are_transient_and_nothing_else_is() {
        let transient = [
            Code::Unavailable,
            Code::ProviderTimeout,
            Code::ProviderError,
            Code::RateLimited,
            Code::VersionConflict,
            Code::RequestInProgress,
            Code::ProviderNotConnected,
        ];
        for code in transient {
            assert!(!Problem::from(code).is_permanent(), "{code:?}");
        }
        for code in [Code::Internal, Code::ValidationFailed, Code::NotFound, Code::HandleTaken] {
            assert!(Problem::from(code).is_permanent(), "{code:?}");
        }
        let invalid = Problem::internal("ValidationException: Item size has exceeded …");
        assert!(invalid.is_permanent() && !Problem::unavailable("time-out").is_permanent());
    }
}

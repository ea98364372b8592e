//! What passes, and what stays as it is however often it is tried.

use super::{Code, Problem};

impl Code {
    /// Whether the same work may succeed later although nobody mends anything: others write, something
    /// cannot be reached or takes no more for now, or it waits for what people do at a provider.
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
    /// Whether work that met it meets it again however often it is tried: it is ended, and not retried.
    /// What the table says is invalid, and what no longer deserializes, is [`Code::Internal`].
    pub const fn is_permanent(&self) -> bool {
        !self.code.is_passing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_down_busy_or_changed_by_others_passes_and_nothing_else_does() {
        let passing = [
            Code::Unavailable,
            Code::ProviderTimeout,
            Code::ProviderError,
            Code::RateLimited,
            Code::VersionConflict,
            Code::RequestInProgress,
            Code::ProviderNotConnected,
        ];
        for code in passing {
            assert!(!Problem::from(code).is_permanent(), "{code:?}");
        }
        for code in [Code::Internal, Code::ValidationFailed, Code::NotFound, Code::HandleTaken] {
            assert!(Problem::from(code).is_permanent(), "{code:?}");
        }
        let invalid = Problem::internal("ValidationException: Item size has exceeded …");
        assert!(invalid.is_permanent() && !Problem::unavailable("time-out").is_permanent());
    }
}

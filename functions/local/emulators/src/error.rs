//! The errors of a local system.

/// A cause of any kind, which the process that starts a local system prints.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// An error of an emulator: the operation that failed, and its cause.
#[derive(Debug)]
pub struct EmulatorError {
    tried: String,
    cause: AnyError,
}

impl EmulatorError {
    /// For `map_err`: adds the operation that failed to its cause.
    pub(crate) fn while_trying<E>(tried: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<AnyError>,
    {
        let tried = tried.into();
        move |cause| Self { tried, cause: cause.into() }
    }
}

impl std::fmt::Display for EmulatorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot {}: {}", self.tried, self.cause)
    }
}

impl std::error::Error for EmulatorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}

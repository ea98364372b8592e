//! How a poller survives its function and a failed call.

use std::time::Duration;

use tokio::task::JoinSet;

/// The wait of a poller after a failed call.
pub(super) const REST: Duration = Duration::from_millis(500);

/// Runs a function so that its panic does not end its poller, as in Lambda.
pub(super) async fn contain<T: Send + 'static>(
    call: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let mut alone = JoinSet::new();
    alone.spawn(call);
    alone.join_next().await?.inspect_err(|cause| tracing::error!(%cause, "a function failed")).ok()
}

//! Many at once, and what takes a moment.

use std::time::Duration;

/// Runs `attempt` `n` times at once and collects the outcomes. The requests are in flight
/// together; for a server that works in parallel too, use a multi-threaded test runtime.
pub async fn race<T, F: Future<Output = T>>(n: usize, attempt: impl Fn() -> F) -> Vec<T> {
    futures_util::future::join_all((0..n).map(|_| attempt())).await
}

/// Asks `look` until it finds something, at most for `deadline` of real time; longer in a troubled run.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    deadline: Duration,
    look: impl Fn() -> F,
) -> T {
    let deadline = crate::trouble::patience(deadline);
    let found = tokio::time::timeout(deadline, async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    });
    found.await.unwrap_or_else(|_| panic!("did not happen within {deadline:?}"))
}

//! Rendering, beside the threads that answer requests.

use http::StatusCode;
use shop_theme::Finding;

use crate::fault::Fault;

/// Renders on a thread for blocking work: a page may take up to two seconds.
pub(super) async fn blocking<T: Send + 'static>(
    rendering: impl FnOnce() -> Result<T, Finding> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(rendering).await.map_err(|_| Fault::internal())?;
    done.map_err(|finding| {
        let code = serde_json::to_value(finding.code).unwrap_or_default();
        let code = code.as_str().unwrap_or("failed").to_owned();
        let detail = format!("{}: {}", finding.path, finding.message);
        Fault::of(StatusCode::UNPROCESSABLE_ENTITY, &code, &detail)
    })
}

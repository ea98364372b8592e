//! The reference page of the local system: every operation, to read and to try out. Nothing of it is
//! fetched from elsewhere.

use std::sync::LazyLock;

use aide::swagger::Swagger;
use axum::response::Html;

/// Where the page is.
pub(crate) const PATH: &str = "/_local/docs";
/// Where the document is that it shows.
const DOCUMENT: &str = "/v1/openapi.json";

static PAGE: LazyLock<String> =
    LazyLock::new(|| Swagger::new(DOCUMENT).with_title("Commerce gateway").html());

/// `GET /_local/docs`.
pub(crate) async fn page() -> Html<&'static str> {
    Html(&PAGE)
}

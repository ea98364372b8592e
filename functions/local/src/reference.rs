//! The API reference of the local system: every operation, to read and to try out. It loads nothing from
//! other hosts.

use std::sync::LazyLock;

use aide::swagger::Swagger;
use axum::response::Html;

/// The path of the page.
pub(crate) const PATH: &str = "/_local/docs";
/// The path of the OpenAPI document.
const DOCUMENT: &str = "/v1/openapi.json";

static PAGE: LazyLock<String> =
    LazyLock::new(|| Swagger::new(DOCUMENT).with_title("Commerce gateway").html());

/// `GET /_local/docs`.
pub(crate) async fn page() -> Html<&'static str> {
    Html(&PAGE)
}

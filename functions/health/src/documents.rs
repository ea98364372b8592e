//! The OpenAPI document, as JSON and as YAML.

use std::sync::LazyLock;

use gateway::caller::Public;
use gateway::reply::File;
use primitives::problem::Problem;

/// The document of every route, as built into the program. It is pretty-printed; responses are not.
pub const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// The document without white space.
static JSON: LazyLock<Option<String>> = LazyLock::new(|| {
    let document: serde_json::Value = serde_json::from_str(DOCUMENT).ok()?;
    serde_json::to_string(&document).ok()
});

/// The document as YAML.
static YAML: LazyLock<Option<String>> = LazyLock::new(|| {
    let document: serde_json::Value = serde_json::from_str(DOCUMENT).ok()?;
    serde_yaml_ng::to_string(&document).ok()
});

/// `GET /v1/openapi.json` (`getOpenApiDocument`): Get the OpenAPI document.
///
/// Returns the OpenAPI document of all routes as JSON.
pub(crate) async fn json(_: Public) -> Result<File, Problem> {
    file("application/json", JSON.as_deref())
}

/// `GET /v1/openapi.yaml` (`getOpenApiYaml`): Get the OpenAPI document as YAML.
///
/// Returns the same document as `GET /v1/openapi.json` in YAML (RFC 9512).
pub(crate) async fn yaml(_: Public) -> Result<File, Problem> {
    file("application/yaml", YAML.as_deref())
}

fn file(content_type: &str, text: Option<&str>) -> Result<File, Problem> {
    let text = text.ok_or_else(|| Problem::internal("the OpenAPI document cannot be written"))?;
    Ok(File::new(content_type, text.into()))
}

//! The request of a bridged call.

use std::collections::BTreeMap;

use core_types::id::InstallationId;
use http::Method;
use primitives::fields::{Exact, FromText, Violation};
use primitives::input::{Given, Rules, request};
use primitives::problem::FieldError;
use serde_json::Value;

use super::{allowed_headers, query_string};

primitives::string_enum! {
    /// The target of a bridged call.
    Target {
        /// This API.
        Admin = "admin",
        /// The app's own server.
        App = "app",
    }
}

/// The method of a bridged call.
#[derive(Debug, Clone)]
pub struct BridgedMethod(pub(super) Method);

impl FromText for BridgedMethod {
    const EXPECTS: &'static str = "a method";

    fn from_text(text: &str) -> Result<Self, Violation> {
        match text {
            "GET" => Ok(Self(Method::GET)),
            "POST" => Ok(Self(Method::POST)),
            "PUT" => Ok(Self(Method::PUT)),
            "PATCH" => Ok(Self(Method::PATCH)),
            "DELETE" => Ok(Self(Method::DELETE)),
            _ => Err(Violation::new("invalid_choice", "Must be GET, POST, PUT, PATCH or DELETE.")),
        }
    }
}
primitives::text_field!(BridgedMethod);
primitives::string_schema!(BridgedMethod: {"enum": ["GET", "POST", "PUT", "PATCH", "DELETE"]});

/// A call to make for an embedded page.
#[request]
#[derive(Debug)]
pub struct BridgeRequest {
    /// `admin`, the default, for this API; `app` for the app's own server.
    pub(super) target: Option<Target>,
    /// The HTTP method; `GET` by default.
    pub(super) method: Option<BridgedMethod>,
    /// The path without query: `/v1/…`, or a path of the app's own server.
    pub(super) path: Exact<2048>,
    /// The query parameters by name: strings, numbers or booleans.
    #[schemars(schema_with = "plain_values")]
    pub(super) query: Option<Value>,
    /// Request headers: only `If-Match`, `Idempotency-Key` and `Accept` are accepted.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub(super) headers: Option<Value>,
    /// The JSON body.
    pub(super) body: Option<Value>,
    /// The installation to act as. A merchant must send it; a page may send its own.
    pub(super) installation_id: Option<InstallationId>,
}

/// The schema of query parameters: strings, numbers and booleans by name, or `null`.
fn plain_values(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["object", "null"],
        "additionalProperties": {"type": ["string", "number", "boolean"]},
    })
}

impl Rules for BridgeRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let (headers, query) = (given.get::<Value>("headers"), given.get::<Value>("query"));
        let rejected =
            [allowed_headers(headers.as_ref()).err(), query_string(query.as_ref()).err()];
        rejected.into_iter().flatten().flat_map(|problem| problem.errors().to_vec()).collect()
    }
}

//! Rejections in the document: the problems of each row, and their schemas.

use std::collections::{BTreeMap, BTreeSet};

use gateway::budget::Cost;
use gateway::caller::Access;
use gateway::routes::Row;
use http::Method;
use primitives::problem::Code;
use serde_json::{Map, Value, json};

/// The schema of a problem (RFC 9457).
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "description": "RFC 9457. Codes are listed in `docs/errors.md`; some add members of their own.",
        "properties": {
            "type": {"type": "string", "format": "uri"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "code": {"type": "string", "description": "The stable code, for programs."},
            "instance": {"type": "string"},
            "request_id": {"type": "string"},
            "errors": {
                "type": "array",
                "description": "The field errors, at most 100.",
                "maxItems": primitives::problem::MAX_ERRORS,
                "items": {
                    "type": "object",
                    "properties": {
                        "pointer": {"type": "string", "description": "A JSON LookupItem (RFC 6901) into the body; for a parameter, `/` and its name."},
                        "code": {"type": "string"},
                        "detail": {"type": "string"},
                    },
                    "required": ["pointer", "code", "detail"],
                },
            },
            "more": {
                "type": "integer",
                "minimum": 1,
                "description": "The number of further errors that are not listed in `errors`; absent if there are none.",
            },
        },
        "required": ["type", "title", "status", "detail", "code"],
    })
}

/// The schema of an error of an OAuth endpoint (RFC 6749 §5.2).
pub(super) fn oauth_schema() -> Value {
    json!({
        "type": "object",
        "description": "RFC 6749 §5.2.",
        "properties": {
            "error": {"type": "string"},
            "error_description": {"type": "string"},
            "cost": {"type": "object"},
        },
        "required": ["error"],
    })
}

/// The codes that a row can be rejected with, regardless of its handler.
pub(super) fn implied(row: &Row) -> BTreeSet<&'static str> {
    let mut codes =
        vec![Code::Internal, Code::Unavailable, Code::AnswerTooLarge, Code::ValidationFailed];
    if super::operation::shows_money(row) {
        codes.push(Code::InvalidHeader);
    }
    // For requests of the bridge, which may not reach every route.
    codes.push(Code::PathNotAllowed);
    // On free routes, too: a rejection costs points.
    codes.push(Code::RateLimited);
    if row.cost != Cost::FREE {
        codes.push(Code::CostTooHigh);
    }
    if row.path.contains('{') {
        codes.push(Code::NotFound);
    }
    if row.method != Method::GET {
        codes.extend([Code::BodyTooLarge, Code::InvalidJson, Code::UnsupportedMediaType]);
        codes.push(Code::InvalidRequest);
    }
    if row.method != Method::GET && row.access != Access::Client {
        codes.extend([Code::IdempotencyKeyInvalid, Code::IdempotencyKeyReused]);
        codes.extend([Code::RequestInProgress, Code::VersionConflict]);
    }
    if row.access != Access::Public {
        codes.extend([Code::Unauthenticated, Code::InvalidToken, Code::AccountDisabled]);
    }
    codes.extend(of_access(row.access));
    codes.into_iter().map(Code::as_str).collect()
}

/// The codes that this kind of caller can be rejected with.
fn of_access(access: Access) -> &'static [Code] {
    match access {
        Access::Public => &[Code::IdempotencyKeyTooShort],
        Access::Merchant => &[Code::OriginNotAllowed],
        Access::Role(_) => {
            &[Code::InsufficientRole, Code::StoreRequired, Code::StoreNotFound, Code::NotFound]
        }
        Access::Scope(_) => &[
            Code::InsufficientScope,
            Code::StoreRequired,
            Code::StoreNotFound,
            Code::NotFound,
            Code::AppSuspended,
            Code::InstallationInactive,
        ],
        Access::Developer => &[Code::DeveloperRequired],
        Access::Operator => &[Code::OperatorRequired],
        Access::Client => &[Code::InvalidClient],
        Access::Embedded => {
            &[Code::NotFound, Code::StoreNotFound, Code::AppSuspended, Code::InstallationInactive]
        }
        Access::Customer => &[Code::StorefrontNotFound],
    }
}

/// The responses with these codes, by status.
pub(super) fn responses(codes: &BTreeSet<&'static str>, oauth: bool) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for code in Code::ALL.iter().filter(|code| codes.contains(code.as_str())) {
        let status = if oauth { as_oauth(code.status()) } else { code.status() };
        by_status.entry(status).or_default().push(code.as_str());
    }
    let response = |(status, codes): (u16, Vec<&'static str>)| {
        (status.to_string(), if oauth { oauth_rejection(status) } else { rejection(&codes) })
    };
    by_status.into_iter().map(response).collect()
}

/// The status at an OAuth endpoint, where an invalid request is 400 (RFC 6749 §5.2).
fn as_oauth(status: u16) -> u16 {
    if matches!(status, 413 | 415 | 422) { 400 } else { status }
}

fn rejection(codes: &[&'static str]) -> Value {
    let listed: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let schema = json!({
        "allOf": [
            {"$ref": "#/components/schemas/Problem"},
            {"type": "object", "properties": {"code": {"enum": codes}}},
        ],
    });
    json!({
        "description": listed.join(", "),
        "headers": super::operation::header_references(&[]),
        "content": {"application/problem+json": {"schema": schema}},
    })
}

fn oauth_rejection(status: u16) -> Value {
    let meaning = if status == 401 { "Client authentication failed." } else { "RFC 6749 §5.2." };
    json!({
        "description": meaning,
        "headers": super::operation::header_references(&[]),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OAuthError"}}},
    })
}

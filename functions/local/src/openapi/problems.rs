//! Rejections in the document: the problems of each row, and their schemas.

use std::collections::BTreeSet;

use gateway::caller::Access;
use gateway::routes::Row;
use http::{Method, StatusCode};
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
                        "pointer": {"type": "string", "description": "A JSON Pointer (RFC 6901) into the body; for a parameter, `/` and its name."},
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

/// Codes that many operations can be rejected with, by the name of the group of operations. The catalogue says
/// which group has a code, and the operations of the group do not list it.
const SHARED: [(&str, &[Code]); 4] = [
    (
        "always",
        &[
            Code::Internal,
            Code::Unavailable,
            Code::AnswerTooLarge,
            Code::ValidationFailed,
            // For requests of the bridge, which may not reach every route.
            Code::PathNotAllowed,
            // On free routes, too: a rejection costs points.
            Code::RateLimited,
            Code::CostTooHigh,
        ],
    ),
    (
        "write",
        &[
            Code::BodyTooLarge,
            Code::InvalidJson,
            Code::UnsupportedMediaType,
            Code::InvalidRequest,
            Code::IdempotencyKeyInvalid,
            Code::IdempotencyKeyReused,
            Code::RequestInProgress,
            Code::VersionConflict,
        ],
    ),
    ("credential", &[Code::Unauthenticated, Code::InvalidToken, Code::AccountDisabled]),
    ("app", &[Code::InsufficientScope, Code::AppSuspended, Code::InstallationInactive]),
];

/// Whether the codes of this group are a row's.
fn applies(group: &str, row: &Row) -> bool {
    match group {
        "write" => row.method != Method::GET,
        "credential" => row.access != Access::Public,
        "app" => matches!(row.access, Access::Scope(_)),
        _ => true,
    }
}

/// The codes that a row can be rejected with, regardless of its handler.
pub(super) fn implied(row: &Row) -> BTreeSet<&'static str> {
    let shared = SHARED.iter().filter(|(group, _)| applies(group, row));
    let mut codes: Vec<Code> = shared.flat_map(|(_, codes)| codes.iter().copied()).collect();
    if super::operation::shows_money(row) {
        codes.push(Code::InvalidHeader);
    }
    if row.path.contains('{') {
        codes.push(Code::NotFound);
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
        Access::Scope(_) => &[Code::StoreRequired, Code::StoreNotFound, Code::NotFound],
        Access::Developer => &[Code::DeveloperRequired],
        Access::Operator => &[Code::OperatorRequired],
        Access::Client => &[Code::InvalidClient],
        Access::Embedded => {
            &[Code::NotFound, Code::StoreNotFound, Code::AppSuspended, Code::InstallationInactive]
        }
        Access::Customer => &[Code::StorefrontNotFound],
    }
}

/// Statuses that the `default` response of every operation stands for, and that of the OAuth endpoints.
const DEFAULT: &[u16] = &[400, 413, 415, 429, 500, 503];
const OAUTH_DEFAULT: &[u16] = &[429, 500, 503];

/// The statuses of the default response that has this one.
fn default_of(status: u16, oauth: bool) -> Option<&'static [u16]> {
    let all = if oauth { OAUTH_DEFAULT } else { DEFAULT };
    all.contains(&status).then_some(all)
}

/// The statuses of these codes.
pub(super) fn statuses(codes: &BTreeSet<&'static str>, oauth: bool) -> BTreeSet<u16> {
    let codes = Code::ALL.iter().filter(|code| codes.contains(code.as_str()));
    codes.map(|code| if oauth { as_oauth(code.status()) } else { code.status() }).collect()
}

/// The member of an operation's `responses` for a status, with a reference to the response.
pub(super) fn response(status: u16, oauth: bool) -> (String, Value) {
    let name = default_of(status, oauth).map_or_else(|| status.to_string(), |_| "default".into());
    (name, json!({"$ref": format!("#/components/responses/{}", name_of(status, oauth))}))
}

/// These codes of a row without those that it shares with others, in the catalogue's order.
pub(super) fn own(codes: &BTreeSet<&'static str>, row: &Row) -> Vec<&'static str> {
    let is_own = |code: &&Code| group_of(**code).is_none_or(|group| !applies(group, row));
    let own = Code::ALL.iter().filter(is_own).map(|code| code.as_str());
    own.filter(|code| codes.contains(code)).collect()
}

/// The name of the group of shared codes that has this one.
fn group_of(code: Code) -> Option<&'static str> {
    SHARED.iter().find(|(_, codes)| codes.contains(&code)).map(|(group, _)| *group)
}

/// The responses of every status: `NotFound`, and `OAuthBadRequest` of the OAuth endpoints.
pub(super) fn components() -> Map<String, Value> {
    let received =
        json!({"description": "Received. With any other status the delivery is retried."});
    let not_modified = json!({"description": "Not modified: `If-None-Match` has the current ETag (RFC 9110 §13.1.2)."});
    let mut components = Map::from_iter([
        ("Received".to_owned(), received),
        ("NotModified".to_owned(), not_modified),
    ]);
    for status in Code::ALL.iter().map(|code| code.status()) {
        components.entry(name_of(status, false)).or_insert_with(|| rejection(status));
        let status = as_oauth(status);
        components.entry(name_of(status, true)).or_insert_with(|| oauth_rejection(status));
    }
    for (name, statuses) in [("Default", DEFAULT), ("OAuthDefault", OAUTH_DEFAULT)] {
        if let Some(Value::Object(members)) = components.get_mut(name) {
            members.insert("x-statuses".to_owned(), json!(statuses));
        }
    }
    components
}

/// Every code, with its status and title. `on` says which operations can be rejected with a code that they do
/// not list: all (`always`), those that are no `GET` (`write`), those with a credential (`credential`), and
/// those that apps' tokens are for (`app`).
pub(super) fn catalogue() -> Value {
    let row = |code: &Code| {
        let mut row = json!({"status": code.status(), "title": code.title()});
        if let (Some(group), Value::Object(members)) = (group_of(*code), &mut row) {
            members.insert("on".to_owned(), group.into());
        }
        (code.as_str().to_owned(), row)
    };
    Code::ALL.iter().map(row).collect::<Map<_, _>>().into()
}

/// The name of a status (RFC 9110 §15), in one word; `Default` for those of the default response.
fn name_of(status: u16, oauth: bool) -> String {
    let prefix = if oauth { "OAuth" } else { "" };
    if default_of(status, oauth).is_some() {
        return format!("{prefix}Default");
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let name = status.canonical_reason().unwrap_or_default().replace(' ', "");
    format!("{prefix}{name}")
}

/// The status at an OAuth endpoint, where an invalid request is 400 (RFC 6749 §5.2).
fn as_oauth(status: u16) -> u16 {
    if matches!(status, 413 | 415 | 422) { 400 } else { status }
}

/// The response of a problem, which an operation describes by its codes.
pub(super) fn rejection(status: u16) -> Value {
    let statuses = default_of(status, false);
    let of_group = |(group, codes): &(&str, &[Code])| {
        let codes = codes.iter().filter(|code| {
            statuses.map_or(code.status() == status, |all| all.contains(&code.status()))
        });
        let codes: Vec<String> = codes.map(|code| format!("`{}`", code.as_str())).collect();
        let when = match *group {
            "write" => " of operations that are no `GET`",
            "credential" => " with a credential",
            "app" => " with an app's token",
            _ => "",
        };
        (!codes.is_empty()).then(|| format!("{}{when}", codes.join(", ")))
    };
    let shared: Vec<String> = SHARED.iter().filter_map(of_group).collect();
    let mut meaning = "One of the operation's `x-problem-codes`".to_owned();
    if let Some(statuses) = statuses {
        let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
        meaning.push_str(" with the status ");
        meaning.push_str(&statuses.join(", "));
    }
    for shared in shared {
        meaning.push_str("; ");
        meaning.push_str(&shared);
    }
    meaning.push('.');
    json!({
        "description": meaning,
        "headers": super::operation::header_references(&super::operation::ALWAYS),
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    })
}

fn oauth_rejection(status: u16) -> Value {
    let meaning = if status == 401 { "Client authentication failed." } else { "RFC 6749 §5.2." };
    json!({
        "description": meaning,
        "headers": super::operation::header_references(&super::operation::ALWAYS),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OAuthError"}}},
    })
}

//! The bridge: an embedded app's page calls this API, or its own server, through the gateway.
//!
//! The call is sent to the API's own base URL with the page's token, so that the bridged route itself
//! applies its authorization, budget and idempotency. The receiving function decides which routes a
//! bridged call may reach, by [`gateway::bridged`]; the paths that are closed here save a request.

mod input;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use callers::{Bridge, EmbeddedApp};
use core_types::id::{AppId, InstallationId, StoreId};
use core_types::key;
use egress::{Destination, Incoming, Outgoing, SendError};
use gateway::app::App;
use gateway::bridged;
use gateway::reply::{Json, NoStore};
use gateway::request::{Body, Raw, Ruled};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use identity::store::{Store, StoreStatus};
use platform::app::CommerceApp;
use platform::installation::Installation;
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use services::Services;

use input::{BridgeRequest, Target};

use crate::oauth;

/// The time limit of a bridged call, from the connection to the last byte.
const DEADLINE: Duration = Duration::from_secs(10);
/// The largest response body that is returned, in bytes.
const MAX_BODY: usize = 1 << 20;
/// Request headers that a page may set.
const ALLOWED: [&str; 3] = ["accept", "if-match", "idempotency-key"];
/// Path prefixes that a page may not reach: credentials, the bridge itself, and fault injection.
const CLOSED: &[&str] = &[
    "/v1/auth",
    "/v1/app-store/oauth",
    "/v1/app-store/bridge",
    "/v1/storefront/customer",
    "/v1/operations/runtime/failover-drills",
    "/v1/operations/drills",
];

/// The response of a bridged call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BridgedAnswer {
    /// The HTTP status of the call.
    status: u16,
    /// The response headers that concern a page, by lower-case name.
    headers: BTreeMap<String, String>,
    /// The body: JSON, otherwise a string; `null` if it is empty.
    body: Value,
    /// The request id of the call.
    request_id: Option<String>,
    /// The cost of the call.
    cost: BridgedCost,
}

/// The cost of a bridged call, in points. All members are `null` for an app's own server.
#[derive(Debug, Serialize, JsonSchema)]
struct BridgedCost {
    /// The points that were charged in advance.
    requested: Option<u32>,
    /// The points that the call cost.
    actual: Option<u32>,
    /// The points that are left.
    available: Option<u32>,
}

/// The principal of a bridged call.
struct Acting {
    app_id: AppId,
    store_id: StoreId,
    token: String,
}

/// `POST /v1/app-store/bridge/fetch` (`fetchThroughBridge`): Call the API for an embedded page.
///
/// An embedded page calls this API or its app's own server with its embedded token. A merchant calls it as
/// the app of `installation_id`. The response is 200 with the status, headers and body of the call, whatever
/// its status. The call has ten seconds and a response of at most 1 MiB.
///
/// Of this API it reaches the routes that accept app tokens, and public `GET` routes. Other paths, in
/// particular those that take or return credentials, are `path_not_allowed`.
///
/// # Errors
/// `absolute_url_rejected`, `path_not_allowed` (also for an app whose server would be this service),
/// `not_found`, `app_suspended`, `installation_inactive`, `app_unreachable`, `bridge_timeout`;
/// `answer_too_large` for a response of this API above 1 MiB. Lists of this API end a page before that.
pub async fn fetch(
    caller: Bridge,
    State(app): State<App>,
    Raw(inbound): Raw,
    Ruled(Body(input)): Ruled<Body<BridgeRequest>>,
) -> Result<NoStore<Json<BridgedAnswer>>, Problem> {
    let target = input.target.unwrap_or(Target::Admin);
    validate_path(input.path.as_str(), target)?;
    let headers = allowed_headers(input.headers.as_ref())?;
    let query = query_string(input.query.as_ref())?;
    let acting = acting_as(&app, caller, input.installation_id.as_ref()).await?;
    let mut headers = outgoing_headers(headers, &acting, input.body.is_some())?;
    let origin = match target {
        Target::Admin => {
            bridged::vouch(&app, inbound.client, &mut headers).await?;
            app.config.base_url.clone()
        }
        Target::App => app_origin(&app, &acting.app_id).await?,
    };
    let url = format!("{origin}{}{query}", input.path.as_str());
    let destination = Destination::parse(&url, app.egress.policy())
        .map_err(|rejection| Code::PathNotAllowed.detail(rejection.to_string()))?;
    let request = Outgoing {
        method: input.method.map_or(Method::GET, |method| method.0),
        destination,
        headers,
        body: input.body.map(|body| body.to_string()).unwrap_or_default().into(),
        deadline: DEADLINE,
        max_body: MAX_BODY,
    };
    match app.egress.send(request).await {
        Ok(incoming) if bridged::is_rejection(&incoming.headers) => {
            Err(Code::PathNotAllowed.into())
        }
        Ok(incoming) if !incoming.truncated => Ok(Json::new(&answered(&incoming)).no_store()),
        Ok(_) if target == Target::Admin => Err(Code::AnswerTooLarge.into()),
        Ok(_) => Err(Code::AppUnreachable.detail("The response of the app is larger than 1 MiB.")),
        Err(SendError::Timeout) => Err(Code::BridgeTimeout.into()),
        Err(error) => Err(Code::AppUnreachable.with("class", error.class())),
    }
}

/// Requires a plain absolute path outside of [`CLOSED`], in the spelling that the router uses.
fn validate_path(path: &str, target: Target) -> Result<(), Problem> {
    let lower = path.to_ascii_lowercase();
    if !path.starts_with('/') || path.starts_with("//") || lower.contains("://") {
        return Err(Code::AbsoluteUrlRejected.into());
    }
    let odd =
        path.bytes().any(|b| !b.is_ascii_graphic() || matches!(b, b'\\' | b'?' | b'#' | b';'));
    let disguised = ["%2e", "%2f", "%5c", "%25"].iter().any(|code| lower.contains(code));
    let climbs = path.split('/').any(|segment| matches!(segment, "." | ".."));
    if odd || disguised || climbs || path.contains("//") {
        return Err(Code::PathNotAllowed.into());
    }
    if target == Target::App {
        return Ok(());
    }
    let within = |closed: &str| {
        lower.strip_prefix(closed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let oauth = lower.starts_with("/v1/app-store/apps/") && lower.contains("/oauth");
    // A percent-encoded letter would hide a closed path from this comparison.
    if !lower.starts_with("/v1/")
        || lower.contains('%')
        || oauth
        || CLOSED.iter().any(|closed| within(closed))
    {
        return Err(Code::PathNotAllowed.into());
    }
    Ok(())
}

async fn acting_as(
    services: &Services,
    caller: Bridge,
    named: Option<&InstallationId>,
) -> Result<Acting, Problem> {
    let merchant = match caller {
        Bridge::App(page) => {
            let EmbeddedApp { actor, store, token } = *page;
            if named.is_some_and(|named| *named != actor.installation_id) {
                return Err(Code::NotFound.into());
            }
            return Ok(Acting { app_id: actor.app_id, store_id: store.id, token });
        }
        Bridge::Merchant(merchant) => merchant,
    };
    let named = named.ok_or_else(|| {
        Problem::field("/installation_id", "required", "Required when a merchant calls.")
    })?;
    let installation: Option<Installation> = services.table.get(&key::installation(named)).await?;
    let installation = installation.ok_or(Code::NotFound)?;
    let store: Option<Store> = services.table.get(&key::store(&installation.store_id)).await?;
    let store = store.filter(|store| store.status != StoreStatus::Deleted);
    let grant = store.and_then(|store| merchant.account.grant_on(&store)).ok_or(Code::NotFound)?;
    let session = (&merchant.session.id, &merchant.account.id);
    let token = oauth::mint_embedded(services, &installation, &grant, session).await?;
    Ok(Acting { app_id: installation.app_id, store_id: installation.store_id, token })
}

async fn app_origin(services: &Services, id: &AppId) -> Result<String, Problem> {
    let known: Option<CommerceApp> = services.table.get(&key::app(id)).await?;
    let origin = known.and_then(|known| known.origin()).ok_or(Code::AppUnreachable)?;
    if bridged::is_ours(&services.config, &origin) {
        return Err(Code::PathNotAllowed.detail("The app's URL points to this service."));
    }
    Ok(origin)
}

fn query_string(query: Option<&Value>) -> Result<String, Problem> {
    let Some(query) = query else { return Ok(String::new()) };
    let detail = "Must be an object of strings, numbers and booleans.";
    let rejected = || Problem::field("/query", "invalid_type", detail);
    let pairs = query.as_object().ok_or_else(rejected)?;
    let mut encoded = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        match value {
            Value::String(text) => encoded.append_pair(name, text),
            Value::Number(number) => encoded.append_pair(name, &number.to_string()),
            Value::Bool(flag) => encoded.append_pair(name, &flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(rejected()),
        };
    }
    let encoded = encoded.finish();
    Ok(if encoded.is_empty() { encoded } else { format!("?{encoded}") })
}

fn allowed_headers(headers: Option<&Value>) -> Result<HeaderMap, Problem> {
    let mut allowed = HeaderMap::new();
    let Some(headers) = headers else { return Ok(allowed) };
    let rejected = |name: &str| {
        let detail = "Only `If-Match`, `Idempotency-Key` and `Accept` are allowed.";
        Problem::field(&format!("/headers/{name}"), "header_not_allowed", detail)
    };
    let pairs = headers
        .as_object()
        .ok_or_else(|| Problem::field("/headers", "invalid_type", "Must be an object."))?;
    for (name, value) in pairs {
        let known = ALLOWED.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        let value = value.as_str().and_then(|text| HeaderValue::from_str(text).ok());
        let (Some(known), Some(value)) = (known, value) else { return Err(rejected(name)) };
        allowed.insert(HeaderName::from_static(known), value);
    }
    Ok(allowed)
}

fn outgoing_headers(
    mut headers: HeaderMap,
    acting: &Acting,
    has_body: bool,
) -> Result<HeaderMap, Problem> {
    let text = |value: &str| HeaderValue::from_str(value).map_err(Problem::internal);
    headers.insert(header::AUTHORIZATION, text(&format!("Bearer {}", acting.token))?);
    headers.insert("x-service-store-id", text(acting.store_id.as_str())?);
    headers.insert(bridged::MARK, bridged::REQUEST);
    if has_body {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(context) = Context::current() {
        headers.insert("x-request-id", text(context.request_id())?);
        headers.insert("traceparent", text(&context.traceparent())?);
    }
    Ok(headers)
}

/// The response of the bridged call: the headers that concern the page, and the body as JSON if it is JSON.
fn answered(incoming: &Incoming) -> BridgedAnswer {
    let forwarded = [
        "content-type",
        "etag",
        "link",
        "location",
        "retry-after",
        "idempotent-replayed",
        "x-request-id",
        "ratelimit",
        "ratelimit-policy",
    ];
    let text = |name: &str| incoming.headers.get(name).and_then(|value| value.to_str().ok());
    let header = |name: &str| Some((name.to_owned(), text(name)?.to_owned()));
    let headers = forwarded.iter().filter_map(|name| header(name)).collect();
    let body = serde_json::from_slice(&incoming.body)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&incoming.body).into_owned()));
    let points = |name: &str| text(name).and_then(|value| value.parse::<u32>().ok());
    BridgedAnswer {
        status: incoming.status,
        headers,
        body: if incoming.body.is_empty() { Value::Null } else { body },
        request_id: text("x-request-id").map(str::to_owned),
        cost: BridgedCost {
            requested: points("x-service-cost-requested"),
            actual: points("x-service-cost-actual"),
            available: points("x-service-cost-available"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_outside_closed_prefixes_are_accepted() {
        for good in ["/v1/stores/sto_1", "/v1/operations/webhook-subscriptions"] {
            assert!(validate_path(good, Target::Admin).is_ok(), "{good}");
        }
        for bad in [
            "https://evil.example/v1/stores",
            "//evil.example/v1",
            "v1/stores",
            "",
            "/v1/../health",
            "/v1/./auth/me",
            "/v1/auth/me",
            "/V1/AUTH/me",
            "/v1/auth",
            "/v1/app-store/oauth/token",
            "/v1/app-store/bridge/fetch",
            "/v1/storefront/customer/login",
            "/v1/%61uth/me",
            "/v1/%2e%2e/health",
            "/v1/stores?x=1",
            "/v1/stores#x",
            "/v1\\auth",
            "/health",
            "/v1//auth/me",
            "/v1/auth/",
            "/v1/app-store/apps/app_1/oauth/authorize",
            "/v1/operations/runtime/failover-drills",
            "/v1/stores/a b",
            "/v1/stores;x",
        ] {
            assert!(validate_path(bad, Target::Admin).is_err(), "{bad}");
        }
    }
}

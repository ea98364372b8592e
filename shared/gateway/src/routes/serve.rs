//! The path of one request through its row: authentication, budget, idempotency key, handler, and what
//! finishes all three.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::join;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::endpoint::Endpoint;
use super::existence::ExistenceChecks;
use crate::answer;
use crate::answer::Answer;
use crate::app::App;
use crate::bridged;
use crate::budget;
use crate::budget::{ActualCost, Charge, ChargeOnly, PendingCharge, Unmetered};
use crate::caller::Identity;
use crate::idempotency;
use crate::idempotency::{Claim, Claimed};
use crate::request::{ClientIp, Inbound, ip_prefix};
use crate::row::{Access, Row};
use primitives::context::Context;
use primitives::problem::{Code, Problem};

/// Handles one request of one row.
pub(super) async fn handle(
    endpoint: Arc<Endpoint>,
    existence_checks: Arc<ExistenceChecks>,
    app: App,
    request: Request,
) -> Response {
    let row = &endpoint.row;
    let is_charge_only = request.extensions().get::<ChargeOnly>().is_some();
    let outcome = guard(&endpoint, &app, request).await;
    let (parts, inbound, due) = match outcome {
        Ok(Admission::Call(parts, inbound, due)) => (parts, inbound, due),
        Ok(Admission::Replay(answer)) => return answer.into_response(),
        Err(problem) => return (endpoint.reject)(problem),
    };
    let handled = async {
        if is_charge_only {
            return StatusCode::NO_CONTENT.into_response();
        }
        match (endpoint.validate)(&app, &inbound).await {
            Ok(()) if row.is_cached => {
                app.response_cache
                    .answer(&inbound, &app.clock, (endpoint.call)(parts, app.clone()))
                    .await
            }
            Ok(()) => (endpoint.call)(parts, app.clone()).await,
            Err(problem) if problem.code == Code::NotFound => (endpoint.reject)(problem),
            Err(problem) => match existence_checks.not_found(&app, &inbound).await {
                Some(hidden) => hidden,
                None => (endpoint.reject)(problem),
            },
        }
    };
    let mut response = match due {
        None => handled.await,
        Some(due) => match join(due.pay(&app.budgets), handled).await {
            (Ok(()), response) => response,
            (Err(problem), _) => (endpoint.reject)(problem),
        },
    };
    if row.method == Method::GET && row.access == Access::Public {
        response = answer::tagged(response).await;
    }
    finish(&app, response).await
}

enum Admission {
    /// A call, with the budget charge that is to be paid concurrently.
    Call(Parts, Arc<Inbound>, Option<Box<PendingCharge>>),
    Replay(Answer),
}

/// Runs everything before the handler.
async fn guard(endpoint: &Endpoint, app: &App, request: Request) -> Result<Admission, Problem> {
    let (mut parts, body) = request.into_parts();
    // Not charged to the network on failure: a bridged request comes from this service's own network.
    bridged::validate(&parts.headers, &endpoint.row)?;
    let (identity, inbound) = admit(endpoint, app, &mut parts, body).await?;
    let context = Context::current();
    if let Some(context) = &context {
        context.identify(identity.principal.clone(), identity.store.clone());
    }
    let is_unmetered = parts.extensions.get::<Unmetered>().is_some();
    let charge = if is_unmetered { None } else { app.budgets.charge(&identity, &inbound)? };
    let alongside = match charge {
        Some(due) if !due.can_wait(&inbound.row.method) => {
            due.pay(&app.budgets).await?;
            None
        }
        due => due.map(Box::new),
    };
    budget::begin(&inbound.row);
    match idempotency::claim(app, &identity, &inbound).await? {
        Claimed::NoKey => {}
        Claimed::Replay(answer) => return Ok(Admission::Replay(answer)),
        Claimed::Mine(claim) => {
            if let Some(context) = &context {
                context.insert(claim);
            }
        }
    }
    parts.extensions.insert(Arc::clone(&inbound));
    Ok(Admission::Call(parts, inbound, alongside))
}

/// Reads the request and authenticates the caller for the handler. A rejection here is charged to the
/// client's network.
async fn admit(
    endpoint: &Endpoint,
    app: &App,
    parts: &mut Parts,
    body: Body,
) -> Result<(Identity, Arc<Inbound>), Problem> {
    let network = ip_prefix(parts.extensions.get::<ClientIp>().map(|client| client.0));
    let inbound = match arrive(endpoint.row.clone(), parts, body).await {
        Ok(inbound) => inbound,
        Err(problem) => return Err(app.budgets.rejected(&network, None, problem).await),
    };
    if (endpoint.reads)(&inbound) {
        app.budgets.check_network(&network, &inbound)?;
    }
    match (endpoint.authenticate)(app, &inbound, &mut parts.extensions).await {
        Ok(identity) => {
            app.budgets.admitted(&inbound);
            Ok((identity, inbound))
        }
        Err(problem) => Err(app.budgets.rejected(&network, Some(&inbound), problem).await),
    }
}

/// Reads the whole request.
async fn arrive(row: Row, parts: &mut Parts, body: Body) -> Result<Arc<Inbound>, Problem> {
    let params = path_params(parts).await?;
    if row.method != Method::GET {
        ensure_unencoded(&parts.headers)?;
    }
    let body = read_body(body, row.body_limit).await?;
    Ok(Inbound::new(parts, body, params, row))
}

/// Ensures that a body is sent as it is (RFC 9110 §8.4). The response says so in `Accept-Encoding` (§12.5.3).
fn ensure_unencoded(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(encoding) = headers.get(header::CONTENT_ENCODING) else { return Ok(()) };
    if encoding.as_bytes().eq_ignore_ascii_case(b"identity") {
        return Ok(());
    }
    let name: String = String::from_utf8_lossy(encoding.as_bytes()).chars().take(40).collect();
    let detail = format!("The body is encoded as `{name}`: send it without a Content-Encoding.");
    Err(Code::UnsupportedMediaType.detail(detail).header(header::ACCEPT_ENCODING, "identity"))
}

async fn path_params(parts: &mut Parts) -> Result<Vec<(String, String)>, Problem> {
    // A parameter that is not UTF-8 once decoded cannot name anything.
    let params = RawPathParams::from_request_parts(parts, &()).await;
    let params = params.map_err(|_| Problem::from(Code::NotFound))?;
    Ok(params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

async fn read_body(body: Body, limit: usize) -> Result<Bytes, Problem> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Code::BodyTooLarge.with("limit", limit))
        }
        Err(error) => Err(Code::InvalidRequest.detail("The body ended early.").because(error)),
    }
}

/// Runs everything after the handler.
async fn finish(app: &App, response: Response) -> Response {
    let Some(context) = Context::current() else { return response };
    let response = match context.take::<Claim>() {
        None => response,
        Some(claim) => {
            let (parts, body) = response.into_parts();
            let bytes =
                body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
            let answer = restore(&parts, &bytes);
            match claim.finish(app, &answer, parts.extensions.get()).await {
                None => Response::from_parts(parts, Body::from(bytes)),
                Some(Ok(first)) => first.into_response(),
                Some(Err(problem)) => problem.into_response(),
            }
        }
    };
    budget::count_read(&context);
    if let (Some(charge), Some(ActualCost(actual))) = (context.get::<Charge>(), context.get()) {
        app.budgets.apply_actual_cost(&charge, actual).await;
    }
    response
}

fn restore(parts: &http::response::Parts, body: &Bytes) -> Answer {
    let text = |(name, value): (&http::HeaderName, &HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let headers: Vec<_> = parts.headers.iter().filter_map(text).collect();
    Answer::restored(parts.status.as_u16(), &headers, body.to_vec())
}

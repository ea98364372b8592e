//! The outermost layer, before routing and after the answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::future::join;
use http::{Extensions, HeaderValue, Method, header};

use crate::amounts;
use crate::answer;
use crate::app::App;
use crate::bridged;
use crate::budget::{ActualCost, Charge, Unmetered};
use crate::conditions;
use crate::cors;
use crate::cors::CrossOrigin;
use crate::request::{ClientIp, KnownCodes, PasswordPage, ip_prefix};
use primitives::context::Context;
use primitives::problem::Problem;
use services::metrics::{MetricSubject, RequestOutcome, family_of};
use services::shared_reads::SharedReads;
use table::TableUse;

/// Wraps the handling of every request: its context, its log line, the headers of every answer.
pub(super) async fn edge(
    State((app, cross_origin)): State<(App, CrossOrigin)>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(client) =
        ClientIp::of(request.headers(), request.extensions(), app.config.trust_proxy)
    {
        request.extensions_mut().insert(client);
    }
    if let Some(client) = bridged::client_address(&app, request.headers()).await {
        request.extensions_mut().insert(ClientIp(client));
    }
    let (method, headers) = (request.method().clone(), request.headers().clone());
    let network = ip_prefix(request.extensions().get::<ClientIp>().map(|client| client.0));
    let untouched = app.budgets.untouched(&network);
    let context = Context::new(&headers, request.uri().path(), app.clock.now());
    context.insert(untouched);
    if let Some(reads) = request.extensions().get::<SharedReads>() {
        context.insert(reads.clone());
    }
    let answered = Arc::clone(&context);
    let reader = amounts::wanted(&headers);
    let rejected = reader.as_ref().err().cloned();
    let requested = method.clone();
    let handled = context.scope(async move {
        let unreadable = request.extensions_mut().remove().map(|Unreadable(problem)| problem);
        if let Some(problem) = unreadable.or(rejected) {
            return problem.into_response();
        }
        match cors::preflight(&method, request.headers()) {
            Some(preflight) => preflight.into_response(),
            None => next.run(request).await,
        }
    });
    // Outside of the request's context: it neither caused this nor is charged for it.
    let written_down = app.metrics.flush(&app.table, answered.started());
    let (mut response, ()) = join(handled, written_down).await;
    cors::apply(
        (&app.config, cross_origin),
        (&requested, answered.path()),
        &headers,
        response.headers_mut(),
    );
    let is_preview = headers.contains_key(PREVIEW);
    finish(&app, &answered, &requested, is_preview, &mut response);
    amounts::vary(&mut response);
    if let Ok(Some(reader)) = &reader {
        response = amounts::write_out(reader, response).await;
    }
    conditions::evaluate(&answered, &requested, &headers, response).await
}

/// A request that cannot be read, and what it is answered with: with the ids and headers that every
/// answer has.
#[derive(Debug, Clone)]
pub struct Unreadable(pub Problem);

/// The header of a preview token: no cache stores an answer to it.
const PREVIEW: &str = "x-service-preview-token";

fn finish(
    app: &App,
    context: &Context,
    method: &Method,
    is_preview: bool,
    response: &mut Response,
) {
    let TableUse { trips, capacity_tenths, charges, throttles } = context.get().unwrap_or_default();
    let (charge, actual) = (context.get::<Charge>(), context.get::<ActualCost>());
    let took = context.started().until(app.clock.now());
    let status = response.status().as_u16();
    let family = MetricSubject::of(family_of(context.path()));
    app.metrics.note(family, app.clock.now(), RequestOutcome::of_response(status, took, throttles));
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(context.request_id()) {
        headers.insert("x-request-id", id);
    }
    if let Some(charge) = &charge {
        charge.write_headers(actual, headers);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        let control = if is_preview { answer::PRIVATE } else { "private, no-cache" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(control));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A URL may contain a token, such as a preview's, and its style sheet may load images of other hosts.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let hsts = HeaderValue::from_static("max-age=63072000; includeSubDomains");
    headers.insert(header::STRICT_TRANSPORT_SECURITY, hsts);
    let summary = RequestSummary {
        request_id: context.request_id().to_owned(),
        trace_id: context.trace_id().to_owned(),
        principal: context.principal(),
        store: context.store(),
        cost: charge.map(|charge| charge.spent(actual)),
        millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        trips,
        capacity_tenths,
    };
    tracing::info!(
        request_id = summary.request_id,
        trace_id = summary.trace_id,
        principal = summary.principal,
        store = summary.store.as_deref().unwrap_or_default(),
        method = method.as_str(),
        path = context.path(),
        status,
        cost = summary.cost,
        millis = summary.millis,
        trips,
        capacity_tenths,
        charges,
        "request"
    );
    if app.config.development {
        if let Some(timing) = server_timing(context, summary.millis) {
            headers.insert("server-timing", timing);
        }
        response.extensions_mut().insert(summary);
        response.extensions_mut().insert(context.get::<TableUse>().unwrap_or_default());
    }
}

/// Counts what another router has used of the table for a part of the current request. Known in development alone.
pub fn count_part(response: &mut Response) {
    if let Some(used) = response.extensions_mut().remove::<TableUse>() {
        Context::update(|all: &mut TableUse| {
            all.trips = all.trips.saturating_add(used.trips);
            all.capacity_tenths = all.capacity_tenths.saturating_add(used.capacity_tenths);
            all.charges = all.charges.saturating_add(used.charges);
            all.throttles = all.throttles.saturating_add(used.throttles);
        });
    }
}

/// The layer of a router that is no family of the API: its requests have a context, and in development their answers
/// have `Server-Timing`.
pub async fn timed(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = app.clock.now();
    let context = Context::new(request.headers(), request.uri().path(), started);
    let mut response = Arc::clone(&context).scope(next.run(request)).await;
    let millis = u64::try_from(started.until(app.clock.now()).as_millis()).unwrap_or(u64::MAX);
    if let Some(timing) = server_timing(&context, millis).filter(|_| app.config.development) {
        response.headers_mut().insert("server-timing", timing);
    }
    response
}

/// `Server-Timing`: what a request has used of the table so far.
pub fn server_timing(context: &Context, millis: u64) -> Option<HeaderValue> {
    let TableUse { trips, capacity_tenths, charges, .. } = context.get().unwrap_or_default();
    let timing = format!(
        "table;desc=\"trips={trips}\", capacity;desc=\"tenths={capacity_tenths}\", \
         budget;desc=\"writes={charges}\", total;dur={millis}"
    );
    HeaderValue::from_str(&timing).ok()
}

/// What the log line of a request says. In development its answer carries it as an extension.
#[derive(Debug, Clone)]
pub struct RequestSummary {
    /// `X-Request-Id`.
    pub request_id: String,
    /// The W3C trace id.
    pub trace_id: String,
    /// The principal; empty if the caller was not authenticated.
    pub principal: String,
    /// The store that the request concerns.
    pub store: Option<String>,
    /// The points that it cost; none without a caller.
    pub cost: Option<u32>,
    /// How long it took.
    pub millis: u64,
    /// Round trips to the table.
    pub trips: u32,
    /// In tenths of a capacity unit.
    pub capacity_tenths: u64,
}

/// Leaves of what another router noted about a request what is ours: who asks, whether the event could be
/// read, whether a budget is charged, what its parts read together, which page a mail leads to, and whether codes
/// were looked up before. Its path's parameters are to be found anew.
pub fn hand_on(extensions: &mut Extensions) {
    let mut noted = std::mem::take(extensions);
    move_to::<ClientIp>(&mut noted, extensions);
    move_to::<Unreadable>(&mut noted, extensions);
    move_to::<Unmetered>(&mut noted, extensions);
    move_to::<SharedReads>(&mut noted, extensions);
    move_to::<PasswordPage>(&mut noted, extensions);
    move_to::<KnownCodes>(&mut noted, extensions);
}

fn move_to<T: Clone + Send + Sync + 'static>(from: &mut Extensions, to: &mut Extensions) {
    if let Some(value) = from.remove::<T>() {
        to.insert(value);
    }
}

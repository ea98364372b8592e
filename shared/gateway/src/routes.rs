//! Route tables. A row has method, path, cost and handler; the handler's first argument declares who may
//! call. Router, guards, costs and contract tests are derived from the rows.
//!
//! One function, [`handle`], runs every request: authenticate → charge the budget → claim the idempotency key
//! → handler → finish all three. For a safe request, a charge that needs the table runs concurrently with the
//! handler.

mod edge;
mod endpoint;
mod existence;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use bytes::Bytes;
use futures_util::future::join;
use http::request::Parts;
use http::{HeaderValue, Method};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::answer;
use crate::answer::Answer;
use crate::app::App;
use crate::bridged;
use crate::budget;
use crate::budget::{ActualCost, Charge, Cost, PendingCharge};
use crate::caller::{Caller, Identity};
use crate::cors::CrossOrigin;
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use crate::handler::{Handler, Rejection};
use crate::idempotency;
use crate::idempotency::{Claim, Claimed};
use crate::request::{ClientIp, Inbound, ip_prefix};
use crate::row::{Access, Claiming};
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use primitives::size::LARGE_BODY_LIMIT;

pub use edge::{Unreadable, hand_on};
use endpoint::Endpoint;
use existence::ExistenceChecks;

pub use crate::row::Row;

/// The largest body, unless a row says otherwise (docs/conventions.md §1).
const BODY_LIMIT: usize = 1 << 20;

/// The routes of a family, in document order.
#[derive(Default)]
pub struct Routes {
    rows: Vec<Row>,
    router: Router<App>,
    cross_origin: Option<CrossOrigin>,
    /// The rows that read the objects named by path parameters.
    existence_checks: ExistenceChecks,
    /// The path prefixes of rows that fail closed.
    closed: &'static [&'static str],
    #[cfg(feature = "openapi")]
    described: Vec<Described>,
}

/// A row whose handler describes itself.
#[cfg(feature = "openapi")]
#[derive(Debug, Clone)]
pub struct Described {
    /// The row.
    pub row: Row,
    /// The handler's path in the code, where its documentation is.
    pub handler: &'static str,
    /// Describes the operation.
    pub describe: fn(&mut Operation),
}

impl Routes {
    /// Sets the rule that opens routes to any origin; without it none is open.
    #[must_use]
    pub fn open_to_any_origin(self, rule: CrossOrigin) -> Self {
        Self { cross_origin: Some(rule), ..self }
    }

    /// Makes rows that are added after this, and whose paths have one of these prefixes, fail closed
    /// ([`Row::fails_closed`]).
    #[must_use]
    pub fn rate_limit_fails_closed(self, below: &'static [&'static str]) -> Self {
        Self { closed: below, ..self }
    }

    /// `GET`, and `HEAD`.
    #[must_use]
    pub fn get<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        self.row((Method::GET, MethodFilter::GET), path, cost, handler)
    }

    /// `GET`, and `HEAD`, of a public storefront page. The [`response_cache`] stores its public answers that
    /// are a store's and say `public, max-age=…`.
    #[must_use]
    pub fn get_cached<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        let row = Row { is_cached: true, ..self.row_of::<H, A>(Method::GET, path, cost) };
        self.add(row, MethodFilter::GET, handler)
    }

    /// `POST`.
    #[must_use]
    pub fn post<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        self.row((Method::POST, MethodFilter::POST), path, cost, handler)
    }

    /// `POST` whose handler makes one write, by [`Write::answer`](table::Write::answer), and has no
    /// other effect: [`Claiming::WithEffect`].
    #[must_use]
    pub fn post_atomic<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        let row =
            Row { claiming: Claiming::WithEffect, ..self.row_of::<H, A>(Method::POST, path, cost) };
        self.add(row, MethodFilter::POST, handler)
    }

    /// `POST` of a file: up to [`LARGE_BODY_LIMIT`].
    #[must_use]
    pub fn post_large<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        let row = self.row_of::<H, A>(Method::POST, path, cost);
        self.add(Row { body_limit: LARGE_BODY_LIMIT, ..row }, MethodFilter::POST, handler)
    }

    /// `PUT`.
    #[must_use]
    pub fn put<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        self.row((Method::PUT, MethodFilter::PUT), path, cost, handler)
    }

    /// `PUT` of a file: up to [`LARGE_BODY_LIMIT`].
    #[must_use]
    pub fn put_large<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        let row = self.row_of::<H, A>(Method::PUT, path, cost);
        self.add(Row { body_limit: LARGE_BODY_LIMIT, ..row }, MethodFilter::PUT, handler)
    }

    /// `PATCH`.
    #[must_use]
    pub fn patch<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        self.row((Method::PATCH, MethodFilter::PATCH), path, cost, handler)
    }

    /// `DELETE`.
    #[must_use]
    pub fn delete<H: Handler<A>, A: 'static>(
        self,
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        self.row((Method::DELETE, MethodFilter::DELETE), path, cost, handler)
    }

    fn row<H: Handler<A>, A: 'static>(
        self,
        (method, filter): (Method, MethodFilter),
        path: &'static str,
        cost: Cost,
        handler: H,
    ) -> Self {
        let row = self.row_of::<H, A>(method, path, cost);
        self.add(row, filter, handler)
    }

    /// A row with the default limits.
    fn row_of<H: Handler<A>, A: 'static>(
        &self,
        method: Method,
        path: &'static str,
        cost: Cost,
    ) -> Row {
        let (access, oauth) = (H::Caller::access(), H::Rejection::OAUTH);
        let fails_closed = self.closed.iter().any(|below| path.starts_with(below));
        let (body_limit, is_cached, claiming) = (BODY_LIMIT, false, Claiming::Ahead);
        Row { method, path, cost, access, oauth, body_limit, fails_closed, is_cached, claiming }
    }

    fn add<H: Handler<A>, A: 'static>(
        mut self,
        row: Row,
        filter: MethodFilter,
        handler: H,
    ) -> Self {
        #[cfg(feature = "openapi")]
        self.described.push(Described {
            row: row.clone(),
            handler: std::any::type_name::<H>(),
            describe: H::describe,
        });
        self.rows.push(row.clone());
        let endpoint = Arc::new(Endpoint::of(row, handler));
        self.existence_checks.add(&endpoint);
        self.router = routed(self.router, filter, endpoint);
        self
    }

    /// Adds the handler that loads the resource of the rows at this path, which no `GET` row returns: 404
    /// takes precedence over errors of their bodies. It is only called for invalid requests, and is no row
    /// of its own.
    #[must_use]
    pub fn existence_check<H: Handler<A>, A: 'static>(
        mut self,
        path: &'static str,
        handler: H,
    ) -> Self {
        let row = self.row_of::<H, A>(Method::GET, path, Cost::FREE);
        self.existence_checks.add_loader(Endpoint::of(row, handler));
        self
    }

    /// Adds the routes of another table.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self.cross_origin = self.cross_origin.or(other.cross_origin);
        self.router = self.router.merge(other.router);
        self.existence_checks.merge(other.existence_checks);
        #[cfg(feature = "openapi")]
        self.described.extend(other.described);
        self
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows with their self-descriptions.
    #[cfg(feature = "openapi")]
    pub fn described(&self) -> &[Described] {
        &self.described
    }

    /// Builds the router; unknown paths and methods are answered with problems.
    pub fn into_router(self, app: App) -> Router {
        let cross_origin = self.cross_origin.unwrap_or(|_, _| false);
        let edge = axum::middleware::from_fn_with_state((app.clone(), cross_origin), edge::edge);
        self.router
            .fallback(|| async { Problem::from(Code::NotFound) })
            .method_not_allowed_fallback(|| async { Problem::from(Code::MethodNotAllowed) })
            .layer(Extension(Arc::new(self.existence_checks)))
            .layer(edge)
            .with_state(app)
    }
}

impl std::fmt::Debug for Routes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.rows).finish()
    }
}

/// Adds this endpoint at its path to the router.
fn routed(router: Router<App>, filter: MethodFilter, endpoint: Arc<Endpoint>) -> Router<App> {
    let path = endpoint.row.path;
    let serve = move |State(app): State<App>,
                      Extension(existence_checks): Extension<Arc<ExistenceChecks>>,
                      request: Request| {
        handle(Arc::clone(&endpoint), existence_checks, app, request)
    };
    router.route(path, on(filter, serve))
}

/// Handles one request of one row.
async fn handle(
    endpoint: Arc<Endpoint>,
    existence_checks: Arc<ExistenceChecks>,
    app: App,
    request: Request,
) -> Response {
    let row = &endpoint.row;
    let outcome = guard(&endpoint, &app, request).await;
    let (parts, inbound, due) = match outcome {
        Ok(Admission::Call(parts, inbound, due)) => (parts, inbound, due),
        Ok(Admission::Replay(answer)) => return answer.into_response(),
        Err(problem) => return (endpoint.reject)(problem),
    };
    let handled = async {
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
    let alongside = match app.budgets.charge(&identity, &inbound)? {
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
    let body = read_body(body, row.body_limit).await?;
    Ok(Inbound::new(parts, body, params, row))
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

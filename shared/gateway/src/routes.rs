//! Route tables. A row has method, path, cost and handler; the handler's first argument declares who may
//! call. Router, guards, costs and contract tests are derived from the rows.
//!
//! One function, [`serve::handle`], runs every request: authenticate → charge the budget → claim the idempotency key
//! → handler → finish all three. For a safe request, a charge that needs the table runs concurrently with the
//! handler.

mod edge;
mod endpoint;
mod existence;
mod serve;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use http::Method;

use crate::app::App;
use crate::budget::Cost;
use crate::caller::Caller;
use crate::cors::CrossOrigin;
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use crate::handler::{Handler, Rejection};
use crate::row::Claiming;
use primitives::problem::{Code, Problem};
use primitives::size::LARGE_BODY_LIMIT;

pub use edge::{RequestSummary, Unreadable, count_part, hand_on, timed};
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
    let service = move |State(app): State<App>,
                        Extension(existence_checks): Extension<Arc<ExistenceChecks>>,
                        request: Request| {
        serve::handle(Arc::clone(&endpoint), existence_checks, app, request)
    };
    router.route(path, on(filter, service))
}

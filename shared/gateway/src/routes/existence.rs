//! Existence of the resource in a path is decided before the form of the request. Where a request is
//! rejected for its form, the resource of its path is loaded first, by the row that returns it. A
//! caller who may not see the resource is answered `not_found`, as with a valid body, and learns
//! nothing about valid input.
//!
//! A resource that no row returns has a handler that only loads it
//! ([`Routes::existence_check`](super::Routes::existence_check)).

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use axum::response::Response;
use http::request::Parts;
use http::{Method, Request, StatusCode};

use super::Row;
use super::endpoint::Endpoint;
use crate::app::App;
use crate::request::Inbound;
use crate::row::Access;

/// The rows that return one resource, and the handlers that only load the resource of a path, by path.
#[derive(Default)]
pub(super) struct ExistenceChecks {
    get_rows: HashMap<&'static str, Arc<Endpoint>>,
    loaders: HashMap<&'static str, Arc<Endpoint>>,
}

impl ExistenceChecks {
    /// Adds a row, if it returns the resource at the end of its path.
    pub(super) fn add(&mut self, endpoint: &Arc<Endpoint>) {
        let row = &endpoint.row;
        if row.method == Method::GET && row.path.ends_with('}') {
            self.get_rows.insert(row.path, Arc::clone(endpoint));
        }
    }

    /// Adds the handler that loads the resource of the rows at its path.
    pub(super) fn add_loader(&mut self, endpoint: Endpoint) {
        self.loaders.insert(endpoint.row.path, Arc::new(endpoint));
    }

    /// Adds the checks of another table.
    pub(super) fn merge(&mut self, others: Self) {
        self.get_rows.extend(others.get_rows);
        self.loaders.extend(others.loaders);
    }

    /// The row that returns the innermost resource in this row's path, if it is for callers of the same
    /// kind. A storefront is public and needs no check, and a `PUT` may create the resource at its end.
    fn of(&self, row: &Row) -> Option<&Arc<Endpoint>> {
        if let Some(loader) = self.loaders.get(row.path) {
            return Some(loader);
        }
        if matches!(row.access, Access::Client | Access::Embedded) {
            return None;
        }
        let ends = row.path.match_indices('}').map(|(end, _)| end.saturating_add(1));
        let storefront = row.path.find('}').filter(|_| row.access == Access::Public).unwrap_or(0);
        let ends = ends.filter(|end| *end > storefront.saturating_add(1));
        let is_there = |end: &usize| row.method != Method::PUT || *end < row.path.len();
        let inwards =
            ends.filter(is_there).filter_map(|end| self.get_rows.get(row.path.get(..end)?));
        let kind = kind_of(&row.access);
        inwards.rev().find(|check| kind_of(&check.row.access) == kind)
    }

    /// The answer of the row that returns the resource, if it is `not_found`.
    pub(super) async fn not_found(&self, app: &App, inbound: &Inbound) -> Option<Response> {
        let check = self.of(&inbound.row)?;
        let mut parts = parts_of(inbound);
        let check_inbound = inbound.with_row(check.row.clone());
        if (check.authenticate)(app, &check_inbound, &mut parts.extensions).await.is_err()
            || (check.validate)(app, &check_inbound).await.is_err()
        {
            return None;
        }
        parts.extensions.insert(check_inbound);
        let answer = (check.call)(parts, app.clone()).await;
        (answer.status() == StatusCode::NOT_FOUND).then_some(answer)
    }
}

/// Callers of one kind see the same resources. A developer is a merchant with a profile.
fn kind_of(access: &Access) -> Discriminant<Access> {
    match access {
        Access::Developer => discriminant(&Access::Merchant),
        other => discriminant(other),
    }
}

/// A request like this one that only reads.
fn parts_of(inbound: &Inbound) -> Parts {
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.headers = inbound.headers.clone();
    parts
}

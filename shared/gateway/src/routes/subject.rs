//! What a path names comes before what a body says: where a request is rejected for its form, the resource that
//! its path leads through is asked for first, by the row that shows it. Whoever may not see that hears that there
//! is no such thing, as with a good body, and learns nothing of what is valid for it.
//!
//! A row whose resource no row shows names a handler that only loads it ([`Routes::subject`](super::Routes::subject)).

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

/// The rows that show one resource, by path, and the handlers that load the resource of one path alone.
#[derive(Default)]
pub(super) struct Subjects {
    shown: HashMap<&'static str, Arc<Endpoint>>,
    named: HashMap<&'static str, Arc<Endpoint>>,
}

impl Subjects {
    /// Adds a row, if it shows what the end of its path names.
    pub(super) fn add(&mut self, endpoint: &Arc<Endpoint>) {
        let row = &endpoint.row;
        if row.method == Method::GET && row.path.ends_with('}') {
            self.shown.insert(row.path, Arc::clone(endpoint));
        }
    }

    /// Adds the handler that loads the resource of the rows at its path.
    pub(super) fn name(&mut self, endpoint: Endpoint) {
        self.named.insert(endpoint.row.path, Arc::new(endpoint));
    }

    /// These and those.
    pub(super) fn merge(&mut self, others: Self) {
        self.shown.extend(others.shown);
        self.named.extend(others.named);
    }

    /// The row that shows the innermost resource that this row's path leads through, if it is for callers of the
    /// same kind. A storefront, which anybody may ask for, hides nothing, and what a `PUT` names may be made by it.
    fn of(&self, row: &Row) -> Option<&Arc<Endpoint>> {
        if let Some(named) = self.named.get(row.path) {
            return Some(named);
        }
        if matches!(row.access, Access::Client | Access::Embedded) {
            return None;
        }
        let ends = row.path.match_indices('}').map(|(end, _)| end.saturating_add(1));
        let storefront = row.path.find('}').filter(|_| row.access == Access::Public).unwrap_or(0);
        let ends = ends.filter(|end| *end > storefront.saturating_add(1));
        let is_there = |end: &usize| row.method != Method::PUT || *end < row.path.len();
        let inwards = ends.filter(is_there).filter_map(|end| self.shown.get(row.path.get(..end)?));
        let kind = kind_of(&row.access);
        inwards.rev().find(|subject| kind_of(&subject.row.access) == kind)
    }

    /// The answer of the row that shows the resource, if it is that there is none.
    pub(super) async fn hidden(&self, app: &App, inbound: &Inbound) -> Option<Response> {
        let subject = self.of(&inbound.row)?;
        let mut parts = parts_of(inbound);
        let about = inbound.about(subject.row.clone());
        if (subject.authenticate)(app, &about, &mut parts.extensions).await.is_err()
            || (subject.validate)(app, &about).await.is_err()
        {
            return None;
        }
        parts.extensions.insert(about);
        let answer = (subject.call)(parts, app.clone()).await;
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

//! A row with its handler, whatever that takes: what serves requests is made once, and not for each of
//! some hundred handlers.

use std::pin::Pin;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::Extensions;
use http::request::Parts;

use super::Row;
use crate::app::App;
use crate::caller::{Caller, Identity};
use crate::handler::Handler;
use crate::request::Inbound;
use primitives::problem::Problem;

type Soon<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// Finds out who calls, and leaves them in the request for the handler.
type Authenticate = for<'a> fn(
    &'a App,
    &'a Arc<Inbound>,
    &'a mut Extensions,
) -> Soon<'a, Result<Identity, Problem>>;
/// [`Handler::validate`].
type Validator = for<'a> fn(&'a App, &'a Inbound) -> Soon<'a, Result<(), Problem>>;
/// [`Handler::call`].
type Call = Box<dyn Fn(Parts, App) -> Soon<'static, Response> + Send + Sync>;

/// A row, and what of its handler a request needs, in the order in which it does.
pub(super) struct Endpoint {
    pub(super) row: Row,
    /// [`Caller::reads`].
    pub(super) reads: fn(&Inbound) -> bool,
    pub(super) authenticate: Authenticate,
    pub(super) validate: Validator,
    pub(super) call: Call,
    /// A problem as the row says it.
    pub(super) reject: fn(Problem) -> Response,
}

impl Endpoint {
    pub(super) fn of<H: Handler<A>, A: 'static>(row: Row, handler: H) -> Self {
        Self {
            row,
            reads: H::Caller::reads,
            authenticate: authenticate::<H::Caller>,
            validate: |app, inbound| Box::pin(H::validate(app, inbound)),
            call: Box::new(move |parts, app| Box::pin(handler.clone().call(parts, app))),
            reject: |problem| H::Rejection::from(problem).into_response(),
        }
    }
}

fn authenticate<'a, C: Caller>(
    app: &'a App,
    inbound: &'a Arc<Inbound>,
    extensions: &'a mut Extensions,
) -> Soon<'a, Result<Identity, Problem>> {
    Box::pin(async move {
        let caller = C::authenticate(app, inbound).await?;
        let identity = caller.identity();
        extensions.insert(caller);
        Ok(identity)
    })
}

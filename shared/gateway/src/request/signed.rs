//! Bodies that are signed byte by byte: the code that verifies the signature reads them.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::{Argument, Described, Inbound, Raw, Reads};
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use primitives::problem::Problem;

/// A signed JSON body, which the handler reads itself; `T` describes its shape.
#[derive(Debug)]
pub struct Signed<T> {
    /// The request, with the body's bytes.
    pub inbound: Arc<Inbound>,
    shape: PhantomData<fn() -> T>,
}

impl<S: Sync, T> FromRequestParts<S> for Signed<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        Ok(Self { inbound, shape: PhantomData })
    }
}

impl<T: Described> Argument for Signed<T> {
    const READS: Reads = Reads::BODY;

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes_body::<T>("application/json");
        operation.needs_body = true;
    }
}

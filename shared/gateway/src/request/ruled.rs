//! Bodies and queries with rules over several fields, or over more than the fields.

use axum::extract::FromRequestParts;
use deserr::Deserr;
use http::request::Parts;

use super::{Argument, Body, Described, Query, Reads, Validation};
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use primitives::fields::FieldErrors;
use primitives::input::{Given, Rules};
#[cfg(feature = "openapi")]
use primitives::problem::Code;
use primitives::problem::{FieldError, Problem};

/// [`Rules`] that depend on more than the fields: on the rest of the request, or on the application.
pub trait RequestRules {
    /// The violations of the rules.
    fn violations(
        given: Given<'_>,
        validation: &Validation<'_>,
    ) -> impl Future<Output = Vec<FieldError>> + Send;
}

impl<T: Rules> RequestRules for T {
    async fn violations(given: Given<'_>, _: &Validation<'_>) -> Vec<FieldError> {
        <T as Rules>::violations(given)
    }
}

/// A [`Body`] or [`Query`] whose [`Rules`] or [`RequestRules`] hold too.
#[derive(Debug)]
pub struct Ruled<E>(pub E);

impl<T: Deserr<FieldErrors> + RequestRules + Described + Send + 'static> Argument
    for Ruled<Body<T>>
{
    const READS: Reads = Reads::BODY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let fields = validation.body()?;
        let violations = T::violations(Given::of(&fields), validation).await;
        validation.add(violations);
        let read = validation.read(fields).map(Body::<T>);
        validation.insert(read);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes_body::<T>("application/json");
        operation.rejects(&[Code::ValidationFailed]);
    }
}

impl<T: Deserr<FieldErrors> + RequestRules + Described + Send + 'static> Argument
    for Ruled<Query<T>>
{
    const READS: Reads = Reads::QUERY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let fields = validation.query();
        let violations = T::violations(Given::of(&fields), validation).await;
        validation.add(violations);
        let read = validation.read(fields).map(Query::<T>);
        validation.insert(read);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        operation.takes_query::<T>();
        operation.rejects(&[Code::ValidationFailed]);
    }
}

impl<S: Sync, E: FromRequestParts<S>> FromRequestParts<S> for Ruled<E> {
    type Rejection = E::Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, E::Rejection> {
        E::from_request_parts(parts, state).await.map(Self)
    }
}

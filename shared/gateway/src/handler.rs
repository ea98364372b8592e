//! The handler of a route row: an async function. Its first argument is the caller, the others are what it
//! reads of the request, and its result type is the reply.

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::request::Parts;

use crate::app::App;
use crate::caller::Caller;
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use crate::reply::Reply;
use crate::request::{Argument, Inbound, Reads, Validation};
use primitives::problem::{OAuthError, Problem};

/// The error type of a handler: a [`Problem`], or an [`OAuthError`] at the OAuth endpoints. Rejections before
/// the handler is called have the same shape.
pub trait Rejection: From<Problem> + IntoResponse + Send {
    /// Whether it is an error of RFC 6749 §5.2.
    const OAUTH: bool;
}

impl Rejection for Problem {
    const OAUTH: bool = false;
}

impl Rejection for OAuthError {
    const OAUTH: bool = true;
}

/// A handler; `A` is the tuple of its arguments.
#[diagnostic::on_unimplemented(
    message = "this is no handler of a row",
    label = "its first argument must be a `Caller`: Public, Merchant, StoreAccess<_>, …",
    note = "the others must be `Argument`s: Body<_>, Query<_>, Paging, Path<_>, …; and it answers `Result<impl Reply, Problem>`, or with an `OAuthError`"
)]
pub trait Handler<A>: Clone + Send + Sync + 'static {
    /// The type of the first argument.
    type Caller: Caller;
    /// The error type.
    type Rejection: Rejection;

    /// Validates the request for all arguments together.
    ///
    /// # Errors
    /// `validation_failed` with every field error; otherwise the problem that leaves nothing to validate.
    fn validate(app: &App, inbound: &Inbound) -> impl Future<Output = Result<(), Problem>> + Send;

    /// Extracts the arguments and calls the handler.
    fn call(self, parts: Parts, app: App) -> impl Future<Output = Response> + Send;

    /// Describes parameters, bodies and answers for OpenAPI.
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation);
}

macro_rules! handler {
    ($($argument:ident $value:ident),*) => {
        impl<F, Fut, R, E, C, $($argument),*> Handler<(C, $($argument,)*)> for F
        where
            F: Fn(C, $($argument),*) -> Fut + Clone + Send + Sync + 'static,
            Fut: Future<Output = Result<R, E>> + Send,
            R: Reply,
            E: Rejection,
            C: Caller + FromRequestParts<App>,
            $($argument: Argument + FromRequestParts<App> + Send,)*
        {
            type Caller = C;
            type Rejection = E;

            async fn validate(app: &App, inbound: &Inbound) -> Result<(), Problem> {
                let reads = Reads::NOTHING$(.and($argument::READS))*;
                #[allow(unused_mut, reason = "there may be no argument but the caller")]
                let mut validation = Validation::new(app, inbound, reads);
                $($argument::validate(&mut validation).await?;)*
                validation.verdict()
            }

            async fn call(self, mut parts: Parts, app: App) -> Response {
                let caller = match C::from_request_parts(&mut parts, &app).await {
                    Ok(caller) => caller,
                    Err(rejection) => return rejection.into_response(),
                };
                $(let $value = match $argument::from_request_parts(&mut parts, &app).await {
                    Ok(value) => value,
                    Err(rejection) => return rejection.into_response(),
                };)*
                match self(caller, $($value),*).await {
                    Ok(reply) => reply.into_answer().into_response(),
                    Err(rejection) => rejection.into_response(),
                }
            }

            #[cfg(feature = "openapi")]
            fn describe(operation: &mut Operation) {
                C::describe(operation);
                $($argument::describe(operation);)*
                R::describe(operation);
                operation.rejects_as(E::OAUTH);
            }
        }
    };
}
handler!();
handler!(A1 a1);
handler!(A1 a1, A2 a2);
handler!(A1 a1, A2 a2, A3 a3);
handler!(A1 a1, A2 a2, A3 a3, A4 a4);
handler!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5);
handler!(A1 a1, A2 a2, A3 a3, A4 a4, A5 a5, A6 a6);

//! Running a family as a Lambda: behind an API Gateway HTTP API or REST API, a function URL, or an
//! Application Load Balancer.
//!
//! The adapter is `lambda_http`. Events that it would misread are corrected before it ([`event`]), and
//! answers that it would alter are encoded after it ([`reply`]).

mod event;
pub mod log;
mod reply;

use std::convert::Infallible;
use std::net::IpAddr;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use http::{Request, Uri, header};
use lambda_http::{Adapter, RequestExt};
use lambda_runtime::{Context, Error, LambdaEvent, service_fn};
use serde::Serialize;
use tower::ServiceExt;

pub use event::Event;
use event::{Mended, Source};
use gateway::app::App;
use gateway::encoding::{Encodings, GZIP};
use gateway::request::ClientIp;
use gateway::routes::{Routes, Unreadable};
use primitives::problem::{Code, Problem};
use reply::Reply;

/// Serves a family until the environment ends. It prefetches what its first request would wait for: the
/// verification keys, and concurrently a connection to the table.
pub async fn serve(routes: Routes) -> Result<(), Error> {
    serve_router(|app| routes.into_router(app)).await
}

/// Serves a family whose requests mostly need no table; nothing is prefetched.
pub async fn serve_unconnected(routes: Routes) -> Result<(), Error> {
    serve_requests(routes.into_router(start())).await
}

/// The service of a function that is not invoked by HTTP requests, connected to its table.
pub async fn worker() -> App {
    let app = start();
    connect(&app).await;
    app
}

fn start() -> App {
    crate::log::init("info");
    App::from_env()
}

/// Connects to the table, so that no request waits for the handshake. If it fails, the first request
/// connects.
async fn connect(app: &App) {
    if let Err(cause) = app.table.ping().await {
        tracing::warn!(%cause, "warm-up of the table connection failed");
    }
}

/// Serves a router that is no family of the API. It prefetches as [`serve`] does.
pub async fn serve_router(router: impl FnOnce(App) -> Router) -> Result<(), Error> {
    let app = start();
    let (keys, ()) = tokio::join!(app.secrets.keys(), connect(&app));
    if let Err(cause) = keys {
        tracing::warn!(%cause, "prefetch of the verification keys failed");
    }
    serve_requests(router(app)).await
}

async fn serve_requests(router: Router) -> Result<(), Error> {
    let router = encoding(router);
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Event>| {
        answer(router.clone(), event.payload)
    }))
    .await
}

/// The router with compressed answers. The encoding of a response to a REST API would need its binary media types
/// to be listed: see [`answer`].
pub fn encoding(router: Router) -> Router {
    let encodings = Encodings::new([GZIP]);
    router.layer(axum::middleware::from_fn(move |request, next| {
        encodings.clone().answer(request, next)
    }))
}

/// Answers one event, in the response format of its sender.
///
/// # Errors
/// An event that is no request.
pub async fn answer(router: Router, event: Event) -> Result<impl Serialize, Error> {
    let Mended { event, source, client, fault } = event::mend(&event)?;
    let respond = lambda_http::service_fn(move |request: lambda_http::Request| {
        let mut request = arrived(request, client, fault.clone());
        if source == Source::RestApi {
            // Without a list of its binary media types it sends base64 as it is.
            request.headers_mut().remove(header::ACCEPT_ENCODING);
        }
        let router = router.clone();
        async move {
            let path = request.uri().path().to_owned();
            let response = router.oneshot(request).await.into_response();
            Ok::<_, Infallible>(Reply::of(response, source, &path).await)
        }
    });
    let event = LambdaEvent::new(event, Context::default());
    let answered = Adapter::from(respond).oneshot(event).await;
    Ok(answered.unwrap_or_else(|never| match never {}))
}

/// The request as a server would receive it, with the path of the event: the adapter's URI puts the stage in
/// front and removes dot segments.
fn arrived(
    request: lambda_http::Request,
    client: Option<IpAddr>,
    fault: Option<Problem>,
) -> Request<Body> {
    let path = request.raw_http_path().to_owned();
    let (mut parts, body) = request.into_parts();
    let line = match parts.uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut fault = fault;
    match Uri::try_from(line) {
        Ok(uri) => parts.uri = uri,
        Err(_) => fault = Some(unreadable_line()),
    }
    parts.extensions.clear();
    let mut request = Request::from_parts(parts, Body::new(body));
    if let Some(address) = client {
        request.extensions_mut().insert(ClientIp(address));
    }
    if let Some(problem) = fault {
        request.extensions_mut().insert(Unreadable(problem));
    }
    request
}

fn unreadable_line() -> Problem {
    Code::InvalidRequest.detail("The request line cannot be read.")
}

#[cfg(test)]
mod tests;

//! Running a family as a Lambda: behind an API Gateway HTTP API or REST API, a function URL, or an
//! Application Load Balancer.
//!
//! The adapter is `lambda_http`. What it would get wrong of an event is mended before it ([`event`]), and
//! what it would get wrong of an answer is settled before it is handed back ([`reply`]).

mod event;
mod reply;

use std::convert::Infallible;
use std::net::IpAddr;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use http::{Request, Uri};
use lambda_http::{Adapter, RequestExt};
use lambda_runtime::{Context, Error, LambdaEvent, service_fn};
use serde::Serialize;
use tower::ServiceExt;

use crate::app::App;
use crate::problem::{Code, Problem};
use crate::request::ClientIp;
use crate::routes::{Routes, Unreadable};
pub use event::Event;
use event::Mended;
use reply::Reply;

/// Serves a family until the environment ends. What its first request would wait for is fetched before
/// there is one: the keys that it verifies with, over a connection to the table made beside that.
pub async fn serve(routes: Routes) -> Result<(), Error> {
    let app = start();
    let (keys, ()) = tokio::join!(app.secrets.keys(), connect(&app));
    if let Err(cause) = keys {
        tracing::warn!(%cause, "the keys are not read ahead");
    }
    run(routes, app).await
}

/// Serves a family whose requests need nothing but an answer, most of them: it starts with nothing.
pub async fn serve_unconnected(routes: Routes) -> Result<(), Error> {
    let app = start();
    run(routes, app).await
}

/// The service of a function that something else feeds than requests, connected to its table.
pub async fn worker() -> App {
    let app = start();
    connect(&app).await;
    app
}

fn start() -> App {
    crate::log::init("info");
    App::from_env()
}

/// Connects to the table: the handshake is no request's to wait for. Where that fails, a request tries
/// again, and is answered with what comes of it.
async fn connect(app: &App) {
    if let Err(cause) = app.table.ping().await {
        tracing::warn!(%cause, "the table is not reached ahead");
    }
}

async fn run(routes: Routes, app: App) -> Result<(), Error> {
    let router = routes.into_router(app);
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Event>| {
        answer(router.clone(), event.payload)
    }))
    .await
}

/// Answers one event, in the form that whoever sent it takes.
///
/// # Errors
/// An event that is no request.
pub async fn answer(router: Router, event: Event) -> Result<impl Serialize, Error> {
    let Mended { event, source, client, fault } = event::mend(&event)?;
    let respond = lambda_http::service_fn(move |request: lambda_http::Request| {
        let request = arrived(request, client, fault.clone());
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

/// The request as a server would have it: with the path as the event has it, which in the adapter's URI
/// is behind the stage and without its dots.
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
    Code::InvalidRequest.detail("The request line is not readable.")
}

#[cfg(test)]
mod tests;

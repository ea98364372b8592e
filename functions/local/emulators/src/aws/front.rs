//! The server of the emulated table. dynoxide's own server lets pages of every web origin read and write the table,
//! so it does not listen. Calls are answered here, without it; what it alone can do, it answers on a port that is open for
//! that one call.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Request, StatusCode, Uri, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpSocket;
use tokio::sync::{Notify, oneshot};

use super::in_process::TARGET;
use super::tables::Tables;
use crate::browsers::reject_pages;
use crate::error::AnyError;

/// The media type of a call and of its answer.
const MEDIA_TYPE: &str = "application/x-amz-json-1.0";
/// `DynamoDB`'s limit of a request.
const MAX_BODY: usize = 16 * 1024 * 1024;

#[derive(Clone)]
struct Front {
    tables: Tables,
    /// Notified after each write.
    writes: Arc<Notify>,
}

pub(super) fn router(tables: Tables, writes: Arc<Notify>) -> Router {
    Router::new()
        .fallback(answer)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn(reject_pages))
        .with_state(Front { tables, writes })
}

async fn answer(
    State(front): State<Front>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let operation = Some(&headers).filter(|_| method == Method::POST).and_then(signed_operation);
    if let Some(answer) = operation.and_then(|operation| front.tables.answer(operation, &body)) {
        if answer.has_written {
            front.writes.notify_one();
        }
        let status = StatusCode::from_u16(answer.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], answer.body).into_response();
    }
    let may_write = operation.is_some_and(may_write);
    let answered = front.ask_server(method, &uri, headers, body).await;
    if may_write {
        front.writes.notify_one();
    }
    answered.unwrap_or_else(|cause| {
        tracing::error!(%cause, "the table's server has not answered");
        StatusCode::BAD_GATEWAY.into_response()
    })
}

fn may_write(operation: &str) -> bool {
    let statements = ["ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"];
    Tables::is_write(operation) || statements.contains(&operation)
}

/// The operation of a call as SDKs send it; of others, dynoxide's server says what is wrong.
fn signed_operation(headers: &HeaderMap) -> Option<&str> {
    let is_plain = headers.get(header::CONTENT_TYPE).is_some_and(|it| it == MEDIA_TYPE);
    let is_signed =
        headers.contains_key(header::AUTHORIZATION) && headers.contains_key("x-amz-date");
    let target = headers.get("x-amz-target").filter(|_| is_plain && is_signed)?;
    target.to_str().ok()?.strip_prefix(TARGET)
}

impl Front {
    async fn ask_server(
        &self,
        method: Method,
        uri: &Uri,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response, AnyError> {
        // Without `SO_REUSEADDR` the port is nobody else's.
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let listener = socket.listen(1)?;
        let address = listener.local_addr()?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{address}{path}"))
            .body(Body::from(body))?;
        *request.headers_mut() = headers;
        let (running, stopped) = oneshot::channel::<()>();
        let serving =
            dynoxide::server::serve_with_shutdown(listener, self.tables.primary(), async move {
                // An error says that the sender was dropped, which is how it is stopped.
                let _: Result<(), _> = stopped.await;
            });
        let asking = async move {
            let client =
                Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http();
            let (parts, body) = client.request(request).await?.into_parts();
            let body = axum::body::to_bytes(Body::new(body), usize::MAX).await?;
            drop(running);
            Ok::<_, AnyError>(Response::from_parts(parts, Body::from(body)))
        };
        let (_, answered) = tokio::join!(serving, asking);
        answered
    }
}

//! The Runtime API: where a function asks for its next event, and says what came of it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::AnyError;

/// Time that an invocation is said to have: what API Gateway waits for an answer, about.
const LIMIT: Duration = Duration::from_secs(30);

/// What came of an event.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// This payload.
    Answered(Value),
    /// This error.
    Failed(Value),
}

/// Who waits for it.
type Tell = oneshot::Sender<Outcome>;

/// The API of one function. Dropping it ends it.
pub(crate) struct Api {
    address: SocketAddr,
    events: mpsc::UnboundedSender<(Bytes, Tell)>,
    first_asked: watch::Receiver<Option<Instant>>,
    _server: JoinSet<()>,
}

struct Shared {
    events: AsyncMutex<mpsc::UnboundedReceiver<(Bytes, Tell)>>,
    first_asked: watch::Sender<Option<Instant>>,
    number: AtomicU64,
    /// By the id of the invocation.
    waiting: Mutex<HashMap<String, Tell>>,
}

impl Api {
    pub(crate) async fn start() -> Result<Self, AnyError> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (events, next) = mpsc::unbounded_channel();
        let (asked, first_asked) = watch::channel(None);
        let shared = Arc::new(Shared {
            events: AsyncMutex::new(next),
            first_asked: asked,
            number: AtomicU64::new(1),
            waiting: Mutex::default(),
        });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_event))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answered))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(failed))
            .route("/2018-06-01/runtime/init/error", post(|| async { accepted() }))
            .layer(DefaultBodyLimit::disable())
            .with_state(shared);
        let listener = listener.tap_io(|stream| {
            // An answer in two packets would wait for the first one's acknowledgement.
            let _ = stream.set_nodelay(true);
        });
        let mut server = JoinSet::new();
        server.spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, events, first_asked, _server: server })
    }

    /// For `AWS_LAMBDA_RUNTIME_API`.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// When the function asked first, once it has.
    pub(crate) async fn first_asked(&self) -> Instant {
        let mut asked = self.first_asked.clone();
        match asked.wait_for(Option::is_some).await.map(|asked| *asked) {
            Ok(Some(when)) => when,
            _ => std::future::pending().await,
        }
    }

    /// Gives the function this event when it asks for one.
    pub(crate) fn hand_over(&self, event: Bytes, tell: Tell) {
        // Whoever waits is told by the end of the channel.
        let _ = self.events.send((event, tell));
    }
}

async fn next_event(State(shared): State<Arc<Shared>>) -> Response {
    shared.first_asked.send_if_modified(|asked| {
        let is_first = asked.is_none();
        asked.get_or_insert_with(Instant::now);
        is_first
    });
    let Some((event, tell)) = shared.events.lock().await.recv().await else {
        return said(StatusCode::GONE, Body::empty());
    };
    let id = format!("{:08x}", shared.number.fetch_add(1, Ordering::Relaxed));
    shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), tell);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut response = said(StatusCode::OK, Body::from(event));
    for (name, value) in [
        ("lambda-runtime-deadline-ms", now.saturating_add(LIMIT).as_millis().to_string()),
        ("lambda-runtime-invoked-function-arn", ARN.to_owned()),
        ("lambda-runtime-trace-id", format!("Root=1-{:08x}-{id:0>24};Sampled=0", now.as_secs())),
        ("lambda-runtime-aws-request-id", id),
        ("content-type", "application/json".to_owned()),
    ] {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

const ARN: &str = "arn:aws:lambda:us-east-1:000000000000:function:function";

async fn answered(shared: State<Arc<Shared>>, id: Path<String>, body: Bytes) -> Response {
    match serde_json::from_slice(&body) {
        Ok(payload) => settle(&shared, &id, Outcome::Answered(payload)),
        // Lambda makes an error of it, too.
        Err(cause) => settle(
            &shared,
            &id,
            Outcome::Failed(json!({
                "errorType": "Runtime.UnmarshalError", "errorMessage": cause.to_string(),
            })),
        ),
    }
}

async fn failed(shared: State<Arc<Shared>>, id: Path<String>, body: Bytes) -> Response {
    let error = serde_json::from_slice(&body).unwrap_or_default();
    settle(&shared, &id, Outcome::Failed(error))
}

fn settle(shared: &Shared, id: &str, outcome: Outcome) -> Response {
    let waits = shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    match waits.map(|tell| tell.send(outcome)) {
        Some(_) => accepted(),
        None => said(StatusCode::BAD_REQUEST, Body::from(r#"{"errorType":"InvalidRequestID"}"#)),
    }
}

fn accepted() -> Response {
    said(StatusCode::ACCEPTED, Body::from(r#"{"status":"OK"}"#))
}

fn said(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

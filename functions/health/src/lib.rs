//! `GET /health`; and, as API Gateway's `$default`, the 404 of everything that no family serves.

use std::sync::Arc;

use axum::extract::State;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::budget::Cost;
use gateway::caller::{Access, Caller, Identity, Public};
use gateway::problem::Problem;
use gateway::reply::File;
use gateway::request::{Inbound, Query, Text, request};
use gateway::routes::Routes;
use http::StatusCode;
use platform::caller::Operator;
use serde_json::{Map, Value, json};

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default().get("/health", Cost::FREE, health).get(
        "/v1/openapi.json",
        Cost::FREE,
        openapi,
    )
}

/// Anybody; and for what is checked in depth, an operator.
#[derive(Debug, Clone)]
enum Inspector {
    /// Anybody.
    Public(Public),
    /// An operator, who asks for more.
    Operator(Box<Operator>),
}

gateway::caller_argument!(Inspector);

fn is_deep(inbound: &Inbound) -> bool {
    inbound.query_param("deep").is_some()
}

impl Caller for Inspector {
    fn access() -> Access {
        Access::Public
    }

    fn reads(inbound: &Inbound) -> bool {
        is_deep(inbound)
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        if is_deep(inbound) {
            let operator = Operator::authenticate(app, inbound).await?;
            return Ok(Self::Operator(Box::new(operator)));
        }
        Public::authenticate(app, inbound).await.map(Self::Public)
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Public(public) => public.identity(),
            Self::Operator(operator) => operator.identity(),
        }
    }
}

/// How closely to look.
#[request]
#[derive(Debug)]
struct HealthQuery {
    /// Whether to try what the function needs, too.
    #[expect(dead_code, reason = "who calls has been found by it")]
    deep: Option<Text<0, 10>>,
}

/// `GET /health`: that the function answers, and with `?deep=1`, for operators, that what it
/// needs does. Shows no store's data.
async fn health(
    caller: Inspector,
    State(app): State<App>,
    _: Query<HealthQuery>,
) -> Result<Answer, Problem> {
    let mut body = json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": app.config.commit,
        "time": app.clock.now(),
        "region": app.config.region,
    });
    if matches!(caller, Inspector::Public(_)) {
        return Ok(Answer::ok(&body).no_store());
    }
    let (checks, healthy) = checks(&app).await;
    let status = if healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    if let Some(object) = body.as_object_mut() {
        object.insert("status".into(), if healthy { "ok" } else { "degraded" }.into());
        object.insert("checks".into(), checks);
    }
    Ok(Answer::json(status, &body).no_store())
}

/// Milliseconds each dependency took, or that it failed.
async fn checks(app: &App) -> (Value, bool) {
    let began = app.clock.now();
    let table = app.table.ping().await.map(|()| app.clock.now());
    let queue_began = app.clock.now();
    let queue = app.webhook_queue.depth().await.map(|_| app.clock.now());
    let keys_began = app.clock.now();
    let keys = app.secrets.keys().await.map(|_| app.clock.now());
    let mut checks = Map::new();
    let mut healthy = true;
    for (name, from, outcome) in
        [("table", began, table), ("queue", queue_began, queue), ("keys", keys_began, keys)]
    {
        let check = match outcome {
            Ok(until) => json!({"status": "ok", "ms": from.until(until).as_millis()}),
            Err(problem) => {
                problem.log();
                healthy = false;
                json!({"status": "failed"})
            }
        };
        checks.insert(name.to_owned(), check);
    }
    (Value::Object(checks), healthy)
}

/// What every route takes and answers, as it was when this was built.
const DOCUMENT: &[u8] = include_bytes!("../../../docs/openapi.json");

/// `GET /v1/openapi.json`: the OpenAPI document of every route.
async fn openapi(_: Public) -> Result<File, Problem> {
    Ok(File::new("application/json", DOCUMENT.to_vec()))
}

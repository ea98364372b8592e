//! `GET /health`; and, as API Gateway's `$default`, the 404 of everything that no family serves.

use axum::extract::State;
use commerce::caller::Operator;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::budget::Cost;
use gateway::caller::{Caller, Public};
use gateway::problem::Problem;
use gateway::request::Raw;
use gateway::routes::Routes;
use http::StatusCode;
use serde_json::{Map, Value, json};

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default().get("/health", Cost::FREE, health)
}

/// `GET /health`: that the function answers, and with `?deep=1`, for operators, that what it
/// needs does. Shows no store's data.
async fn health(_: Public, State(app): State<App>, Raw(inbound): Raw) -> Result<Answer, Problem> {
    let mut body = json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": app.config.commit,
        "time": app.clock.now(),
        "region": app.config.region,
    });
    if inbound.query_param("deep").is_none() {
        return Ok(Answer::ok(&body).no_store());
    }
    Operator::authenticate(&app, &inbound).await?;
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

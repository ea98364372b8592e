//! The catalogue of events.

use axum::extract::State;
use commerce::topics;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::caller::Public;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::reply::Page;
use gateway::request::{Path, Text};
use ground::event::Entry;
use http::header;
use serde_json::{Value, json};

/// The catalogue changes with a release only.
const CACHED: &str = "public, max-age=300";

fn view(entry: &Entry) -> Value {
    json!({
        "type": entry.name,
        "entity": entry.entity,
        "scope": entry.scope,
        "description": entry.about,
        "schema": entry.schema(),
        "example": entry.example(),
    })
}

/// `GET /v1/operations/event-types` — every event, with the scope an app needs for it, the JSON
/// Schema of its body, and an example (docs/conventions.md §10).
pub(crate) async fn list(
    _: Public,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<Value>, Problem> {
    let all: Vec<Value> = topics::catalogue().iter().map(view).collect();
    let name = |entry: &Value| entry["type"].to_string();
    Ok(paging.whole(&app, all, name).await?.header(header::CACHE_CONTROL, CACHED))
}

/// `GET /v1/operations/event-types/{type}` (docs/conventions.md §10).
pub(crate) async fn show(_: Public, Path(name): Path<Text<1, 100>>) -> Result<Answer, Problem> {
    let entry = topics::find(name.as_str()).ok_or(Code::NotFound)?;
    Ok(Answer::ok(&view(&entry)).header(header::CACHE_CONTROL, CACHED))
}

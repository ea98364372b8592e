//! The catalogue of events.

use axum::extract::State;
use commerce::topics;
use gateway::app::App;
use gateway::caller::Public;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::reply::{Json, Page};
use gateway::request::{Path, Text};
use ground::event::Shape;
use http::header;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The catalogue changes with a release only.
const CACHED: &str = "public, max-age=300";

/// An event that can be subscribed to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventType {
    r#type: &'static str,
    /// What it is about.
    entity: &'static str,
    /// What an app needs to be sent it; none of what goes to the store's owner alone.
    scope: Option<&'static str>,
    description: &'static str,
    /// A JSON Schema (2020-12) of the body.
    schema: Value,
    /// A body.
    example: Value,
}

impl From<&Shape> for EventType {
    fn from(shape: &Shape) -> Self {
        let entry = shape.entry;
        Self {
            r#type: entry.name,
            entity: entry.entity,
            scope: entry.scope,
            description: entry.about,
            schema: shape.schema(),
            example: shape.example(),
        }
    }
}

/// `GET /v1/operations/event-types`: Lists every event, with the scope an app needs for it, the JSON
/// Schema of its body, and an example (docs/conventions.md §10).
pub(crate) async fn list(
    _: Public,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<EventType>, Problem> {
    let all: Vec<EventType> = topics::shapes().iter().map(EventType::from).collect();
    let name = |entry: &EventType| entry.r#type.to_owned();
    Ok(paging.whole(&app, all, name).await?.header(header::CACHE_CONTROL, CACHED))
}

/// `GET /v1/operations/event-types/{type}`: Shows an event (docs/conventions.md §10).
///
/// # Errors
/// `not_found`.
pub(crate) async fn show(
    _: Public,
    Path(name): Path<Text<1, 100>>,
) -> Result<Json<EventType>, Problem> {
    let shape = topics::shape_of(name.as_str()).ok_or(Code::NotFound)?;
    Ok(Json::new(&EventType::from(&shape)).header(header::CACHE_CONTROL, CACHED))
}

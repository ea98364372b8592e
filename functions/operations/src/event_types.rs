//! The catalogue of events.

use axum::extract::State;
use commerce::event_types::{self, EventType};
use gateway::app::App;
use gateway::caller::Public;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::Path;
use http::header;
use primitives::fields::Text;
use primitives::problem::{Code, Problem};

/// The cache policy: the catalogue changes only with a release.
const CACHED: &str = "public, max-age=300";

/// `GET /v1/operations/event-types` (`listEventTypes`): List event types.
///
/// Each event type has the scope that an app needs to receive it, the JSON Schema of its body and an example.
/// Events without a scope are for the owners and admins of the store, and for the app that they are about.
pub(crate) async fn list(
    _: Public,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<EventType>, Problem> {
    let all = event_types::all().to_vec();
    let name = |event: &EventType| event.r#type.to_owned();
    Ok(paging.slice(&app, all, name).await?.header(header::CACHE_CONTROL, CACHED))
}

/// `GET /v1/operations/event-types/{type}` (`getEventType`): Get an event type.
///
/// The event type has the scope that an app needs to receive it, the JSON Schema of its body and an example.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    _: Public,
    Path(name): Path<Text<1, 100>>,
) -> Result<Json<EventType>, Problem> {
    let event = event_types::find(name.as_str()).ok_or(Code::NotFound)?;
    Ok(Json::new(event).header(header::CACHE_CONTROL, CACHED))
}

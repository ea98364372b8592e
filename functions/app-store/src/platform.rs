//! An operator's actions on an app: suspend and resume it.

use axum::extract::State;
use callers::Operator;
use core_types::event::Topic;
use core_types::id::AppId;
use core_types::key;
use core_types::resource::{Resource, load};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use platform::app::{
    APP_RESUMED_BY_PLATFORM, APP_SUSPENDED_BY_PLATFORM, AppView, CommerceApp, Stop,
};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use services::Services;
use table::{Write, retry};

/// The reason of a suspension.
#[request]
#[derive(Debug, Clone)]
pub struct SuspendAppRequest {
    /// The reason, which the developer sees.
    reason: Text<1, 2000>,
}

/// `POST /v1/app-store/apps/{id}/suspend` (`suspendApp`): Suspend an app on all stores.
///
/// From the next request on the app leaves the catalogue, and cannot be installed or authorized. Its access
/// tokens are rejected, and its codes and refresh tokens are not redeemed. The subscriptions that it created
/// on stores receive no events; its own `webhook_url` still receives the events about the app.
///
/// Installations and tokens stay until it is resumed. It emits `app.suspended_by_platform`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn suspend(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<AppId>,
    if_match: IfMatch,
    Body(input): Body<SuspendAppRequest>,
) -> Result<Json<AppView>, Problem> {
    let reason = String::from(input.reason);
    let decide = |before: &CommerceApp, now| before.suspend(reason.clone(), now);
    let mark = |write| Stop::put(write, &id);
    move_to(&app, &id, if_match, &APP_SUSPENDED_BY_PLATFORM, decide, mark).await
}

/// An empty request.
#[request]
#[derive(Debug, Clone)]
pub struct ResumeAppRequest {}

/// `POST /v1/app-store/apps/{id}/resume` (`resumeApp`): Resume a suspended app.
///
/// The app returns to its earlier status, and its unexpired tokens work again. It emits
/// `app.resumed_by_platform`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn resume(
    _: Operator,
    State(app): State<App>,
    Path(id): Path<AppId>,
    if_match: IfMatch,
    Body(ResumeAppRequest {}): Body<ResumeAppRequest>,
) -> Result<Json<AppView>, Problem> {
    let decide = |before: &CommerceApp, now| before.resume(now);
    let mark = |write| Stop::lift(write, &id);
    move_to(&app, &id, if_match, &APP_RESUMED_BY_PLATFORM, decide, mark).await
}

/// Changes the app's status and its [`Stop`] in one transaction.
async fn move_to(
    services: &Services,
    id: &AppId,
    if_match: IfMatch,
    topic: &Topic<AppView>,
    decide: impl Fn(&CommerceApp, Timestamp) -> Result<CommerceApp, Problem>,
    mark: impl Fn(Write) -> Write,
) -> Result<Json<AppView>, Problem> {
    retry(|| async {
        let before: CommerceApp = load(services, &key::app(id)).await?;
        let now = services.clock.now();
        let next = decide(&before, now)?;
        if_match.check(before.version)?;
        mark(next.save(services.table.write(), Code::VersionConflict))
            .emit(next.event(topic, now))
            .answer(next.to_response(), now)
            .await
    })
    .await
}

//! Reviews of apps by the stores that use them, and the developers' replies.

use axum::extract::State;
use callers::{Admin, Developer};
use core_types::id::{AppId, ReviewId};
use core_types::key;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::caller::Public;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, Query};
use platform::app_review::{self, APP_REVIEWED, AppRating, AppReview, AppReviewView};
use platform::installation::{Installation, InstallationStatus};
use primitives::fields::{Int, Text, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::Condition;
use table::item::{Index, Item};

use crate::apps::load_published;

/// One star to five.
type Stars = Int<1, 5>;

/// The stars in their stored type.
fn stored(stars: Stars) -> u8 {
    u8::try_from(stars.0).unwrap_or(1)
}

/// Filters of the list of reviews.
#[request]
#[derive(Debug)]
pub struct ReviewsQuery {
    /// Only reviews with this many stars.
    rating: Option<Written<Stars>>,
}

/// The summary of an app's reviews.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppReviewSummary {
    /// The rating over all reviews, regardless of the filter.
    rating: AppRating,
}

/// `GET /v1/app-store/apps/{id}/reviews` (`listAppReviews`): List reviews of an app.
///
/// The newest review comes first. `rating` has the average, the number of reviews and a histogram, over all
/// reviews of the app.
///
/// # Errors
/// `invalid_cursor`, `not_found`, also for an app that is not in the catalogue.
pub async fn list(
    _: Public,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Query(query): Query<ReviewsQuery>,
    paging: Paging,
) -> Result<Page<AppReviewView, AppReviewSummary>, Problem> {
    let found = load_published(&app, &id).await?;
    let wanted = table::Query::index(Index::Gsi1, key::reviews_on_app(&id)).newest_first();
    let stars = query.rating.map(|stars| stored(stars.0));
    paging
        .with_extras(AppReviewSummary { rating: AppRating::from(&found) })
        .query(
            &app,
            &wanted,
            |review: &AppReview| stars.is_none_or(|stars| review.rating == stars),
            |review| review.view(),
        )
        .await
}

/// A review to create.
#[request]
#[derive(Debug)]
pub struct ReviewAppRequest {
    /// The rating: one to five stars.
    rating: Stars,
    /// The text.
    body: Text<1, 5000>,
}

/// `POST /v1/app-store/apps/{id}/reviews` (`createAppReview`): Create a review of an app.
///
/// A store that uses an app reviews it once; `PATCH` changes the review. The review is public, with the name
/// of the store. It emits `app.reviewed`.
///
/// # Errors
/// `not_installed`, unless the store's installation is active; `already_reviewed`; `not_found`.
pub async fn create(
    admin: Admin,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Body(input): Body<ReviewAppRequest>,
) -> Result<Created<AppReviewView>, Problem> {
    load_published(&app, &id).await?;
    let now = app.clock.now();
    let body = String::from(input.body);
    let review = AppReview::write(&id, &admin.store, stored(input.rating), body, now);
    let installation = key::installation(&Installation::id_of(&admin.store.id, &id));
    let active = Condition::is("status", InstallationStatus::Active);
    let write = app
        .table
        .write()
        .check(&installation, active, Code::NotInstalled)
        .create(&review, Code::AlreadyReviewed)
        .put(&review.pointer());
    app_review::count_new(write, &review)
        .emit(review.event(&APP_REVIEWED, now))
        .answer(review.to_created_response(), now)
        .await
}

/// Changes to a review. An omitted field keeps its value.
#[request]
#[derive(Debug)]
pub struct EditAppReviewRequest {
    /// The rating: one to five stars.
    rating: Option<Stars>,
    /// The text.
    body: Option<Text<1, 5000>>,
}

/// `PATCH /v1/app-store/apps/{id}/reviews/{rid}` (`updateAppReview`): Update the store's review of an app.
///
/// The rating of the app changes with it, and the developer's reply stays. It also works after the app was
/// uninstalled. It emits `app.reviewed`.
///
/// # Errors
/// `not_found`, also for another store's review; `precondition_failed`.
pub async fn update(
    admin: Admin,
    State(app): State<App>,
    Path((id, review_id)): Path<(AppId, ReviewId)>,
    if_match: IfMatch,
    Body(input): Body<EditAppReviewRequest>,
) -> Result<Json<AppReviewView>, Problem> {
    let now = app.clock.now();
    let before = load_own(&app, &admin, &id, &review_id).await?;
    if_match.check(before.version)?;
    let after = before.edit(input.rating.map(stored), input.body.map(String::from), now);
    let write = app.table.write().replace(&after, Code::VersionConflict);
    app_review::count_changed(write, &before, &after)
        .emit(after.event(&APP_REVIEWED, now))
        .answer(after.to_response(), now)
        .await
}

/// `DELETE /v1/app-store/apps/{id}/reviews/{rid}` (`deleteAppReview`): Delete the store's review of an app.
///
/// The review no longer counts in the rating of the app. The store can then write another one.
///
/// # Errors
/// `not_found`, also for another store's review; `precondition_failed`.
pub async fn delete(
    admin: Admin,
    State(app): State<App>,
    Path((id, review_id)): Path<(AppId, ReviewId)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let review = load_own(&app, &admin, &id, &review_id).await?;
    if_match.check(review.version)?;
    let unchanged = Condition::new("id = :id AND #version = :version")
        .name("#version", "version")
        .value(":id", &review.id)
        .value(":version", review.version);
    let write = app
        .table
        .write()
        .delete_if(&review.key(), unchanged, Code::VersionConflict)
        .delete(&review.pointer().key());
    app_review::count_gone(write, &review).answer(NoContent::default(), app.clock.now()).await
}

/// Loads the store's own review, if it has this id.
async fn load_own(
    services: &Services,
    admin: &Admin,
    id: &AppId,
    review_id: &ReviewId,
) -> Result<AppReview, Problem> {
    let review: Option<AppReview> =
        services.table.get(&key::app_review(id, &admin.store.id)).await?;
    review.filter(|review| review.id == *review_id).ok_or_else(|| Code::NotFound.into())
}

/// Loads the store's own review: the subject of what changes it.
///
/// # Errors
/// `not_found`.
pub(crate) async fn ensure_exists(
    admin: Admin,
    State(app): State<App>,
    Path((id, review_id)): Path<(AppId, ReviewId)>,
) -> Result<NoContent, Problem> {
    load_own(&app, &admin, &id, &review_id).await.map(|_| NoContent::default())
}

/// Loads a review of the developer's own app: the subject of a reply.
///
/// # Errors
/// `not_found`.
pub(crate) async fn ensure_reply_exists(
    developer: Developer,
    State(app): State<App>,
    Path((id, review_id)): Path<(AppId, ReviewId)>,
) -> Result<NoContent, Problem> {
    crate::developer_apps::load_own(&app, &developer, &id).await?;
    AppReview::find(&app, &id, &review_id).await.map(|_| NoContent::default())
}

/// A developer's reply to a review.
#[request]
#[derive(Debug)]
pub struct ReplyToReviewRequest {
    /// The text.
    body: Text<1, 5000>,
}

/// `POST /v1/app-store/apps/{id}/reviews/{rid}/reply` (`replyToAppReview`): Reply to a review of your app.
///
/// The reply is public, and replaces an earlier one. It emits no event.
///
/// # Errors
/// `not_found`, also for the review of another developer's app.
pub async fn reply(
    developer: Developer,
    State(app): State<App>,
    Path((id, review_id)): Path<(AppId, ReviewId)>,
    Body(input): Body<ReplyToReviewRequest>,
) -> Result<Json<AppReviewView>, Problem> {
    let now = app.clock.now();
    crate::developer_apps::load_own(&app, &developer, &id).await?;
    let review = AppReview::find(&app, &id, &review_id).await?.answer(input.body.into(), now);
    let write = app.table.write().replace(&review, Code::VersionConflict);
    write.answer(review.to_response(), now).await
}

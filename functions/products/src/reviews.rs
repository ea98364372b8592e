//! Handlers that list, approve, reject and reply to product reviews.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::review::{
    self, REVIEW_APPROVED, REVIEW_REJECTED, REVIEW_REPLIED, Review, ReviewStatus, ReviewView,
};
use core_types::event::Topic;
use core_types::id::{CustomerId, ProductId, ReviewId};
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::{ReadReviews, WriteReviews};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Body, IfMatch, Path, Query};
use identity::store::Store;
use primitives::fields::{Int, Text, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::{ResourceReply, change};
use services::Services;
use table::retry;

/// Reviews that one round trip inspects, and the most round trips of a page; then the page ends early,
/// with a cursor.
const AHEAD: (usize, u32) = (200, 10);

/// Filters of a list of reviews.
#[request]
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Only reviews with this status: `pending` reviews await a decision.
    status: Option<ReviewStatus>,
    /// Only reviews of this product.
    product_id: Option<ProductId>,
    /// Only reviews by this customer.
    customer_id: Option<CustomerId>,
    /// Only reviews with this number of stars.
    rating: Option<Written<Int<1, 5>>>,
}

impl ListQuery {
    fn matches(&self, review: &Review) -> bool {
        self.status.is_none_or(|status| review.status == status)
            && self.product_id.as_ref().is_none_or(|id| review.product_id == *id)
            && self.customer_id.as_ref().is_none_or(|id| review.customer_id == *id)
            && self.rating.is_none_or(|rating| i64::from(review.rating) == rating.0.0)
    }

    /// The query with the fewest other reviews. Pending and rejected reviews have lists of their own, and
    /// approved ones have a list for each product. The other cases read all reviews.
    fn query(&self, store: &Store) -> table::Query {
        let all = match (self.status, &self.product_id) {
            (Some(ReviewStatus::Approved), Some(product)) => {
                key::list::approved_reviews_of_product(&store.id, product)
            }
            (Some(ReviewStatus::Approved) | None, _) => key::list::reviews_of_store(&store.id),
            (Some(status), _) => key::list::reviews_by_status(&store.id, status.as_str()),
        };
        table::Query::list(all).newest_first().with_scan_limit(AHEAD.0, AHEAD.1)
    }
}

/// `GET /v1/reviews` (`listReviews`): List product reviews of a store.
///
/// Reviews come newest first.
pub(crate) async fn list(
    access: StoreAccess<ReadReviews>,
    State(app): State<App>,
    Query(filter): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<ReviewView>, Problem> {
    let view = |review: Review| ReviewView::from(&review);
    let query = filter.query(&access.store);
    paging.query(&app, &query, |review| filter.matches(review), view).await
}

/// `GET /v1/reviews/{id}` (`getReview`): Get a product review.
///
/// A review of any status is returned.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    access: StoreAccess<ReadReviews>,
    State(app): State<App>,
    Path(id): Path<ReviewId>,
) -> Result<Json<ReviewView>, Problem> {
    let key = Review::locate(&app, &access.store.id, &id).await?;
    load::<Review>(&app, &key).await.map(|review| review.to_response())
}

/// `POST /v1/reviews/{id}/approve` (`approveReview`): Approve a product review.
///
/// The review becomes public, and counts in the product's rating. The event is `review.approved`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub(crate) async fn approve(
    access: StoreAccess<WriteReviews>,
    State(app): State<App>,
    Path(id): Path<ReviewId>,
    if_match: IfMatch,
) -> Result<Json<ReviewView>, Problem> {
    decide(&app, &access.store, &id, if_match, (ReviewStatus::Approved, &REVIEW_APPROVED)).await
}

/// `POST /v1/reviews/{id}/reject` (`rejectReview`): Reject a product review.
///
/// The review is no longer public, and no longer counts in the product's rating. The event is
/// `review.rejected`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub(crate) async fn reject(
    access: StoreAccess<WriteReviews>,
    State(app): State<App>,
    Path(id): Path<ReviewId>,
    if_match: IfMatch,
) -> Result<Json<ReviewView>, Problem> {
    decide(&app, &access.store, &id, if_match, (ReviewStatus::Rejected, &REVIEW_REJECTED)).await
}

/// Writes the decision and the product's rating in one transaction. Of several concurrent decisions one
/// is written; the others are decided again over its result.
async fn decide(
    services: &Services,
    store: &Store,
    id: &ReviewId,
    if_match: IfMatch,
    (status, topic): (ReviewStatus, &Topic<ReviewView>),
) -> Result<Json<ReviewView>, Problem> {
    let key = Review::locate(services, &store.id, id).await?;
    retry(|| async {
        let now = services.clock.now();
        let before: Review = load(services, &key).await?;
        if_match.check(before.version)?;
        let after = before.decide(status, now)?;
        let write = after.replace(services.table.write(), Code::VersionConflict);
        review::count(services, write, Some(&before), &after)
            .await?
            .emit(after.event(topic, now))
            .answer(after.to_response(), now)
            .await
    })
    .await
}

/// A reply to a review.
#[request]
#[derive(Debug)]
pub(crate) struct ReplyRequest {
    /// The text of the reply, 1 to 5,000 characters.
    body: Text<1, 5000>,
}

/// `POST /v1/reviews/{id}/reply` (`replyToReview`): Reply to a product review.
///
/// The reply is shown with the review, and replaces an earlier one. The event is `review.replied`.
///
/// # Errors
/// `not_found`.
pub(crate) async fn reply(
    access: StoreAccess<WriteReviews>,
    State(app): State<App>,
    Path(id): Path<ReviewId>,
    if_match: IfMatch,
    Body(input): Body<ReplyRequest>,
) -> Result<Json<ReviewView>, Problem> {
    let key = Review::locate(&app, &access.store.id, &id).await?;
    let body = input.body.as_str();
    change::<Review>(&app, &key, if_match, &REVIEW_REPLIED, |review, now| {
        Ok(Some(review.answer(body.to_owned(), now)))
    })
    .await
}

//! Reviews of apps, one per store that uses the app, and their totals.
//!
//! The app's item has the totals, changed by arithmetic in the transaction that changes the review. So a
//! list needs no second read, and no review is counted twice.

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::id::{AppId, ReviewId, StoreId};
use core_types::key;
use core_types::lookup_item::LookupItem;
use core_types::rating::{Rating, Reply};
use core_types::resource::Resource;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Change, Write};

use crate::app::{AppStatus, CommerceApp};

core_types::topics! {
    APP_REVIEWED = "app.reviewed", "app_review", None, AppReviewView,
        "A store reviewed an app, or changed its review.";
}

/// A review of an app by a store.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "app_review", key = key::app_review(&self.app_id, &self.store_id))]
#[item(indexes = vec![ key::reviews_of_app(&self.app_id, self.created_at, &self.id), key::app_review_by_id(&self.id), ])]
pub struct AppReview {
    /// `rev_…`; later ones sort after it.
    pub id: ReviewId,
    /// The reviewed app.
    pub app_id: AppId,
    /// The store that wrote it, once per app.
    pub store_id: StoreId,
    /// The store's name when the review was written.
    pub store_name: String,
    /// The rating: one to five stars.
    pub rating: u8,
    /// The text.
    pub body: String,
    /// The developer's reply.
    pub reply: Option<Reply>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

impl AppReview {
    /// A new review of an app by a store.
    pub fn write(app: &AppId, store: &Store, rating: u8, body: String, now: Timestamp) -> Self {
        Self {
            id: ReviewId::mint(now),
            app_id: app.clone(),
            store_id: store.id.clone(),
            store_name: store.name.clone(),
            rating,
            body,
            reply: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The review changed by its store; fields that are not given stay.
    #[must_use]
    pub fn edit(&self, rating: Option<u8>, body: Option<String>, now: Timestamp) -> Self {
        Self {
            rating: rating.unwrap_or(self.rating),
            body: body.unwrap_or_else(|| self.body.clone()),
            ..self.changed(now)
        }
    }

    /// The review with the developer's reply, which replaces an earlier one.
    #[must_use]
    pub fn answer(&self, body: String, now: Timestamp) -> Self {
        Self { reply: Some(Reply { body, created_at: now }), ..self.changed(now) }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The pointer from its id to its key; created and deleted with it.
    pub fn pointer(&self) -> LookupItem {
        LookupItem::new(key::app_review_pointer(&self.app_id, &self.id), self.key())
    }

    /// Loads the review of the app `of` with this id.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn find(services: &Services, of: &AppId, id: &ReviewId) -> Result<Self, Problem> {
        let (pointer, listed) = (key::app_review_pointer(of, id), key::app_review_by_id(id));
        let key = LookupItem::follow(services, &pointer, listed).await?;
        // The store may have deleted it meanwhile, and written another one.
        let review: Option<Self> = services.table.get(&key).await?;
        let review = review.filter(|review| review.id == *id && review.app_id == *of);
        review.ok_or_else(|| Code::NotFound.into())
    }
}

impl Resource for AppReview {
    type View = AppReviewView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, app) = (Some(&self.store_id), Some(&self.app_id));
        EventSubject { store, app, entity: self.id.as_str(), version: self.version }
    }
}

/// The index, in the app's `stars`, of the count for this rating.
fn slot(rating: u8) -> u8 {
    rating.clamp(1, 5).saturating_sub(1)
}

/// Counts a new review of a published app.
pub fn count_new(write: Write, review: &AppReview) -> Write {
    let change = Change::new(format!(
        "SET rating_count = rating_count + :one, rating_sum = rating_sum + :rating, \
         stars[{slot}] = stars[{slot}] + :one",
        slot = slot(review.rating)
    ))
    .only_if("#status = :published")
    .name("#status", "status")
    .value(":published", AppStatus::Published)
    .value(":one", 1_u64)
    .value(":rating", review.rating);
    write.update(&key::app(&review.app_id), change, Code::NotFound)
}

/// Counts a review with changed stars; does nothing if they are the same.
pub fn count_changed(write: Write, before: &AppReview, after: &AppReview) -> Write {
    if before.rating == after.rating {
        return write;
    }
    let (from, to) = (slot(before.rating), slot(after.rating));
    let change = Change::new(format!(
        "SET rating_sum = rating_sum + :difference, stars[{from}] = stars[{from}] - :one, \
         stars[{to}] = stars[{to}] + :one"
    ))
    .only_if("rating_count >= :one")
    .value(":one", 1_u64)
    .value(":difference", i64::from(after.rating).saturating_sub(i64::from(before.rating)));
    write.update(&key::app(&after.app_id), change, Code::VersionConflict)
}

/// Counts a deleted review.
pub fn count_gone(write: Write, review: &AppReview) -> Write {
    let change = Change::new(format!(
        "SET rating_count = rating_count - :one, rating_sum = rating_sum - :rating, \
         stars[{slot}] = stars[{slot}] - :one",
        slot = slot(review.rating)
    ))
    .only_if("rating_count >= :one")
    .value(":one", 1_u64)
    .value(":rating", review.rating);
    write.update(&key::app(&review.app_id), change, Code::VersionConflict)
}

/// The number of reviews by stars.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "RatingHistogram")]
pub struct Histogram {
    /// One star.
    #[serde(rename = "1")]
    one: u64,
    /// Two stars.
    #[serde(rename = "2")]
    two: u64,
    /// Three stars.
    #[serde(rename = "3")]
    three: u64,
    /// Four stars.
    #[serde(rename = "4")]
    four: u64,
    /// Five stars.
    #[serde(rename = "5")]
    five: u64,
}

/// The rating of an app, with a histogram.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AppRating {
    /// The average and the number of reviews.
    #[serde(flatten)]
    rating: Rating,
    /// The number of reviews by stars.
    histogram: Histogram,
}

impl From<&CommerceApp> for AppRating {
    fn from(app: &CommerceApp) -> Self {
        let [one, two, three, four, five] = app.stars;
        Self { rating: app.rating(), histogram: Histogram { one, two, three, four, five } }
    }
}

core_types::view! {
    /// A review of an app.
    AppReviewView of review: AppReview {
        /// The id.
        id: ReviewId,
        /// The app.
        app_id: AppId,
        /// The store's name when the review was written.
        store_name: String,
        /// The rating: one to five stars.
        rating: u8,
        /// The text.
        body: String,
        /// The developer's reply.
        reply: Option<Reply>,
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed, by the store or by a reply.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

impl Example for AppReviewView {
    fn example() -> Self {
        Self {
            id: ReviewId::derive(&["example"]),
            app_id: AppId::derive(&["example"]),
            store_name: "Blue Bottle Books".into(),
            rating: 5,
            body: "Saves us an hour a day.".into(),
            reply: Some(Reply { body: "Thank you!".into(), created_at: EXAMPLE_TIME }),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rating_has_its_own_slot() {
        assert_eq!([1, 2, 3, 4, 5].map(slot), [0, 1, 2, 3, 4]);
        assert_eq!((slot(0), slot(9)), (0, 4));
    }
}

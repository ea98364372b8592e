//! Reviews of products by customers, which are public once the store has approved them.
//!
//! The product's item has the number and the sum of approved reviews. They are updated by arithmetic in
//! the transaction that changes a review's status, so that no review is counted twice.

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::id::{CustomerId, OrderItemId, ProductId, ReviewId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::lookup_item::LookupItem;
use core_types::rating::Reply;
use core_types::resource::Resource;
use core_types::sample_id;
use identity::customer::Customer;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Change, Write};

use crate::product::ProductSummary;

core_types::topics! {
    REVIEW_CREATED = "review.created", "review", Some("read_reviews"), ReviewView,
        "A customer reviewed a product; the review is not public yet.";
    REVIEW_APPROVED = "review.approved", "review", Some("read_reviews"), ReviewView,
        "A store approved a review; it is public, and counts in the rating.";
    REVIEW_REJECTED = "review.rejected", "review", Some("read_reviews"), ReviewView,
        "A store rejected a review; it is not public, and does not count in the rating.";
    REVIEW_REPLIED = "review.replied", "review", Some("read_reviews"), ReviewView,
        "A store replied to a review.";
}

/// The part of the key that stands for no purchase.
const NO_LINE: &str = "-";

primitives::string_enum! {
    /// The status of a review.
    ReviewStatus {
        /// Awaits the store's decision.
        Pending = "pending",
        /// Public, and counted in the product's rating.
        Approved = "approved",
        /// Neither public nor counted.
        Rejected = "rejected",
    }
}

/// A review of a product by a customer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// The id, indexed in GSI2, which finds the review by it alone.
    pub id: ReviewId,
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
    pub product_id: ProductId,
    /// The customer who wrote it.
    pub customer_id: CustomerId,
    /// The line of the order with which the customer bought the product.
    pub order_item_id: Option<OrderItemId>,
    /// The public form of the customer's name when the review was written.
    pub author: String,
    /// One star to five.
    pub rating: u8,
    /// The headline.
    pub title: String,
    /// The text.
    pub body: String,
    /// The status.
    pub status: ReviewStatus,
    /// The store's reply.
    pub reply: Option<Reply>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for Review {
    const KIND: &'static str = "review";
    fn key(&self) -> Key {
        let line = self.order_item_id.as_ref().map_or(NO_LINE, OrderItemId::as_str);
        key::product_review(&self.store_id, &self.product_id, &self.customer_id, line)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let listed = match self.status {
            ReviewStatus::Approved => key::approved_reviews_of_product(
                &self.store_id,
                &self.product_id,
                self.created_at,
                &self.id,
            ),
            status => {
                key::reviews_by_status(&self.store_id, status.as_str(), self.created_at, &self.id)
            }
        };
        vec![listed, key::review_by_id(&self.store_id, &self.id)]
    }
}

/// The content of a customer's review.
#[derive(Debug, Clone)]
pub struct ReviewContent {
    /// The line of the order with which the customer bought the product; its existence was checked.
    pub order_item_id: Option<OrderItemId>,
    /// One star to five.
    pub rating: u8,
    /// The headline.
    pub title: String,
    /// The text.
    pub body: String,
}

impl Resource for Review {
    type View = ReviewView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

impl Review {
    /// A new review by a customer: `approved`, or else pending the store's decision.
    pub fn new(
        product: &ProductId,
        customer: &Customer,
        content: ReviewContent,
        approved: bool,
        now: Timestamp,
    ) -> Self {
        let status = if approved { ReviewStatus::Approved } else { ReviewStatus::Pending };
        Self {
            id: ReviewId::mint(now),
            store_id: customer.store_id.clone(),
            product_id: product.clone(),
            customer_id: customer.id.clone(),
            order_item_id: content.order_item_id,
            author: public_name(customer.name.as_deref()),
            rating: content.rating,
            title: content.title,
            body: content.body,
            status,
            reply: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match self.status {
            ReviewStatus::Pending => vec!["approve", "reject", "reply"],
            ReviewStatus::Approved => vec!["reject", "reply"],
            ReviewStatus::Rejected => vec!["approve", "reply"],
        }
    }

    /// The review approved or rejected.
    ///
    /// # Errors
    /// `invalid_state_transition`: it has this status already, or the status is pending.
    pub fn decide(&self, status: ReviewStatus, now: Timestamp) -> Result<Self, Problem> {
        if status == self.status || status == ReviewStatus::Pending {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(Self { status, ..self.changed(now) })
    }

    /// The review with the store's reply, which replaces an earlier one.
    #[must_use]
    pub fn answer(&self, body: String, now: Timestamp) -> Self {
        Self { reply: Some(Reply { body, created_at: now }), ..self.changed(now) }
    }

    /// The review without its author's name; none when it has none.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let author = public_name(None);
        (self.author != author).then(|| Self { author, ..self.changed(now) })
    }

    /// The review, reassigned to another account of the same person.
    #[must_use]
    pub fn handed_over(&self, to: &CustomerId, now: Timestamp) -> Self {
        Self { customer_id: to.clone(), ..self.changed(now) }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The lookup item from its id to its key, created and deleted with it.
    pub fn pointer(&self) -> LookupItem {
        LookupItem::new(key::review_pointer(&self.store_id, &self.id), self.key())
    }

    /// Finds the key of the review with this id.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn locate(
        services: &Services,
        store: &StoreId,
        id: &ReviewId,
    ) -> Result<Key, Problem> {
        LookupItem::follow(services, &key::review_pointer(store, id), key::review_by_id(store, id))
            .await
    }
}

/// The public form of a name: its first word, and the initial of the last.
fn public_name(name: Option<&str>) -> String {
    let mut words = name.unwrap_or_default().split_whitespace();
    let first = words.next().unwrap_or("Customer");
    match words.last().and_then(|last| last.chars().next()) {
        Some(initial) => format!("{first} {initial}."),
        None => first.to_owned(),
    }
}

/// Adds the update of a product's rating to a transaction that changes a review from `before`, if any, to
/// `after`: on the product, and on its summary, which an index sorts by rating.
///
/// # Errors
/// 503; the write fails with `version_conflict` if another review is counted concurrently, or the
/// product changes.
pub async fn count(
    services: &Services,
    write: Write,
    before: Option<&Review>,
    after: &Review,
) -> Result<Write, Problem> {
    let counts = |review: &Review| i64::from(review.status == ReviewStatus::Approved);
    let stars = i64::from(after.rating);
    let step = counts(after).saturating_sub(before.map_or(0, counts));
    if step == 0 {
        return Ok(write);
    }
    let change =
        Change::new("SET rating_count = rating_count + :one, rating_sum = rating_sum + :stars")
            .only_if("attribute_exists(PK)")
            .value(":one", step)
            .value(":stars", step.saturating_mul(stars));
    let (store, product) = (&after.store_id, &after.product_id);
    let write = write.update(&key::product(store, product), change, Code::NotFound);
    let summary: Option<ProductSummary> = services.table.get(&key::summary(store, product)).await?;
    Ok(write.when_some(summary, |write, summary| {
        let rated = summary.add_reviews(step, step.saturating_mul(stars));
        write.update(&summary.key(), rated, Code::VersionConflict)
    }))
}

core_types::view! {
    /// A review, as the public sees it.
    PublicReview of review: Review {
        /// The id.
        id: ReviewId,
        /// The public form of the customer's name.
        author: String,
        /// One star to five.
        rating: u8,
        /// The headline.
        title: String,
        /// The text.
        body: String,
        /// Whether the customer bought the product from this store.
        verified_purchase: bool = review.order_item_id.is_some(),
        /// The store's reply.
        reply: Option<Reply>,
        /// When it was written.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The number of writes.
        version: u64,
    }
}

core_types::view! {
    /// A review, as its author, the store and its apps see it.
    ReviewView of review: Review {
        /// The fields that are public once it is approved.
        #[serde(flatten)]
        public: PublicReview = review.into(),
        /// The product.
        product_id: ProductId,
        /// The customer who wrote it.
        customer_id: CustomerId,
        /// The line of the order with which the customer bought the product.
        order_item_id: Option<OrderItemId>,
        /// The status.
        status: ReviewStatus,
        /// The actions that its status allows.
        allowed_actions: Vec<&'static str> = review.allowed_actions(),
    }
}

impl Example for ReviewView {
    fn example() -> Self {
        Self {
            public: PublicReview {
                id: sample_id!(ReviewId),
                author: "Cleo C.".into(),
                rating: 4,
                title: "Keeps its shape".into(),
                body: "Washed ten times, still as new.".into(),
                verified_purchase: true,
                reply: None,
                created_at: EXAMPLE_TIME,
                updated_at: EXAMPLE_TIME,
                version: 1,
            },
            product_id: sample_id!(ProductId),
            customer_id: sample_id!(CustomerId),
            order_item_id: Some(sample_id!(OrderItemId)),
            status: ReviewStatus::Pending,
            allowed_actions: vec!["approve", "reject", "reply"],
        }
    }
}

#[cfg(test)]
mod tests {
    use core_types::fields::{Currency, Email};
    use identity::challenge_subject::Application;
    use primitives::fields::FromText;

    use super::*;

    /// A customer.
    fn cleo(now: Timestamp) -> Customer {
        let application = Application {
            email: Email::from_text("Cleo@example.com").unwrap(),
            password_hash: None,
            name: Some("Cleo".into()),
            phone: None,
            phone_e164: None,
            accepts_marketing: false,
        };
        let currency = Currency::from_text("INR").unwrap();
        Customer::register(&StoreId::mint(now), &currency, application, now)
    }

    fn review(now: Timestamp) -> Review {
        let content = ReviewContent {
            order_item_id: None,
            rating: 4,
            title: "Good".into(),
            body: "Yes.".into(),
        };
        Review::new(&ProductId::mint(now), &cleo(now), content, false, now)
    }

    #[test]
    fn a_decision_on_a_review_can_be_reversed_but_not_withdrawn() {
        use ReviewStatus::{Approved, Pending, Rejected};
        let now = Timestamp::from_millis(0);
        for from in ReviewStatus::ALL {
            for to in ReviewStatus::ALL {
                let before = Review { status: *from, ..review(now) };
                let decided = before.decide(*to, now);
                let allowed = matches!((from, to), (Pending, Approved | Rejected))
                    || matches!((from, to), (Approved, Rejected) | (Rejected, Approved));
                assert_eq!(decided.is_ok(), allowed, "{from} {to}");
            }
        }
    }

    #[test]
    fn only_approved_reviews_are_listed_with_their_product() {
        let now = Timestamp::from_millis(0);
        let pending = review(now);
        let approved = pending.decide(ReviewStatus::Approved, now).unwrap();
        let partition = |review: &Review| review.indexes().first().unwrap().1.pk.clone();
        assert!(partition(&approved).contains(approved.product_id.as_str()));
        assert!(partition(&pending).ends_with("#REV#pending"));
    }

    #[test]
    fn the_public_name_is_the_first_name_and_an_initial() {
        assert_eq!(public_name(Some("Cleo de la Cruz")), "Cleo C.");
        assert_eq!(public_name(Some("Cleo")), "Cleo");
        assert_eq!(public_name(None), "Customer");
    }
}

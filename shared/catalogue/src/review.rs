//! Reviews of products: written by customers, shown once the store has approved them.
//!
//! The product's item carries what approved reviews add up to, changed by arithmetic in the
//! transaction that moves a review in or out of them: no review can be counted twice.

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::id::{CustomerId, OrderItemId, ProductId, ReviewId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::pointer::Pointer;
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
        "A customer reviewed a product; nobody sees it yet.";
    REVIEW_APPROVED = "review.approved", "review", Some("read_reviews"), ReviewView,
        "A store approved a review; it is shown and counts.";
    REVIEW_REJECTED = "review.rejected", "review", Some("read_reviews"), ReviewView,
        "A store rejected a review; it is not shown and does not count.";
    REVIEW_REPLIED = "review.replied", "review", Some("read_reviews"), ReviewView,
        "A store answered a review.";
}

/// What stands in a key for a review without a purchase.
const NO_LINE: &str = "-";

primitives::string_enum! {
    /// Whether a review is shown.
    ReviewStatus {
        /// The store has not decided.
        Pending = "pending",
        /// It is shown, and counts.
        Approved = "approved",
        /// It is not.
        Rejected = "rejected",
    }
}

/// A review of a product by a customer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// In GSI2, which finds it by this alone.
    pub id: ReviewId,
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
    pub product_id: ProductId,
    /// Who wrote it.
    pub customer_id: CustomerId,
    /// The line of an order by which they bought it.
    pub order_item_id: Option<OrderItemId>,
    /// The customer's name when the review was written, as it is shown.
    pub author: String,
    /// One star to five.
    pub rating: u8,
    /// The headline.
    pub title: String,
    /// What the customer says.
    pub body: String,
    /// Whether it is shown.
    pub status: ReviewStatus,
    /// What the store answers.
    pub reply: Option<Reply>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was changed last.
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

/// What a customer says about a product.
#[derive(Debug, Clone)]
pub struct Opinion {
    /// The line of an order by which they bought it; looked up and found.
    pub order_item_id: Option<OrderItemId>,
    /// One star to five.
    pub rating: u8,
    /// The headline.
    pub title: String,
    /// What the customer says.
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
    /// A review by a customer: for the store to decide on, unless it is `approved` beforehand.
    pub fn write(
        product: &ProductId,
        customer: &Customer,
        opinion: Opinion,
        approved: bool,
        now: Timestamp,
    ) -> Self {
        let status = if approved { ReviewStatus::Approved } else { ReviewStatus::Pending };
        Self {
            id: ReviewId::mint(now),
            store_id: customer.store_id.clone(),
            product_id: product.clone(),
            customer_id: customer.id.clone(),
            order_item_id: opinion.order_item_id,
            author: shown_name(customer.name.as_deref()),
            rating: opinion.rating,
            title: opinion.title,
            body: opinion.body,
            status,
            reply: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// What the store can do now.
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
    /// `invalid_state_transition`: that is what it is, or it cannot be undecided again.
    pub fn decide(&self, status: ReviewStatus, now: Timestamp) -> Result<Self, Problem> {
        if status == self.status || status == ReviewStatus::Pending {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(Self { status, ..self.changed(now) })
    }

    /// The review with the store's answer, in place of an earlier one.
    #[must_use]
    pub fn answer(&self, body: String, now: Timestamp) -> Self {
        Self { reply: Some(Reply { body, created_at: now }), ..self.changed(now) }
    }

    /// The review without its author's name; none when it shows none.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let author = shown_name(None);
        (self.author != author).then(|| Self { author, ..self.changed(now) })
    }

    /// The review as another account's, of the same person.
    #[must_use]
    pub fn handed_over(&self, to: &CustomerId, now: Timestamp) -> Self {
        Self { customer_id: to.clone(), ..self.changed(now) }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// What leads to it from its id; made, and deleted, with it.
    pub fn pointer(&self) -> Pointer {
        Pointer::new(key::review_pointer(&self.store_id, &self.id), self.key())
    }

    /// The key of the review of this id.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn locate(
        services: &Services,
        store: &StoreId,
        id: &ReviewId,
    ) -> Result<Key, Problem> {
        Pointer::follow(services, &key::review_pointer(store, id), key::review_by_id(store, id))
            .await
    }
}

/// A name as strangers may read it: the first word of it, and the initial of the last.
fn shown_name(name: Option<&str>) -> String {
    let mut words = name.unwrap_or_default().split_whitespace();
    let first = words.next().unwrap_or("Customer");
    match words.last().and_then(|last| last.chars().next()) {
        Some(initial) => format!("{first} {initial}."),
        None => first.to_owned(),
    }
}

/// Moves what a product's approved reviews add up to, when `after` follows `before`, or nothing: of
/// the product, and of its card, which lies in an index by it.
///
/// # Errors
/// 503; the write is rejected with `version_conflict` when another review is counted at the same
/// moment, or the product changes.
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
    Ok(write.also(summary, |write, summary| {
        let rated = summary.rated(step, step.saturating_mul(stars));
        write.update(&summary.key(), rated, Code::VersionConflict)
    }))
}

core_types::view! {
    /// A review as everybody sees it.
    PublicReview of review: Review {
        /// The id.
        id: ReviewId,
        /// The customer's name.
        author: String,
        /// One star to five.
        rating: u8,
        /// The headline.
        title: String,
        /// What the customer says.
        body: String,
        /// Whether the customer bought the product here.
        verified_purchase: bool = review.order_item_id.is_some(),
        /// What the store answers.
        reply: Option<Reply>,
        /// When it was written.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Counts writes.
        version: u64,
    }
}

core_types::view! {
    /// A review as its author, the store and its apps see it.
    ReviewView of review: Review {
        /// What everybody sees, once it is approved.
        #[serde(flatten)]
        public: PublicReview = review.into(),
        /// The product.
        product_id: ProductId,
        /// Who wrote it.
        customer_id: CustomerId,
        /// The line of an order by which they bought it.
        order_item_id: Option<OrderItemId>,
        /// Whether it is shown.
        status: ReviewStatus,
        /// What the store can do now.
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
    use identity::holder::Application;
    use primitives::fields::FromText;

    use super::*;

    /// Somebody with an account.
    fn cleo(now: Timestamp) -> Customer {
        let application = Application {
            email: Email::from_text("Cleo@example.com").unwrap(),
            password_hash: None,
            name: Some("Cleo".into()),
            phone: None,
            accepts_marketing: false,
        };
        let currency = Currency::from_text("INR").unwrap();
        Customer::register(&StoreId::mint(now), &currency, application, now)
    }

    fn review(now: Timestamp) -> Review {
        let opinion =
            Opinion { order_item_id: None, rating: 4, title: "Good".into(), body: "Yes.".into() };
        Review::write(&ProductId::mint(now), &cleo(now), opinion, false, now)
    }

    #[test]
    fn a_review_is_decided_either_way_and_back_but_never_undecided() {
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
    fn an_approved_review_is_listed_with_its_product_and_no_other_is() {
        let now = Timestamp::from_millis(0);
        let pending = review(now);
        let approved = pending.decide(ReviewStatus::Approved, now).unwrap();
        let partition = |review: &Review| review.indexes().first().unwrap().1.pk.clone();
        assert!(partition(&approved).contains(approved.product_id.as_str()));
        assert!(partition(&pending).ends_with("#REV#pending"));
    }

    #[test]
    fn strangers_read_a_first_name() {
        assert_eq!(shown_name(Some("Cleo de la Cruz")), "Cleo C.");
        assert_eq!(shown_name(Some("Cleo")), "Cleo");
        assert_eq!(shown_name(None), "Customer");
    }
}

//! Merges: two accounts of one person become one.
//!
//! The account that goes ends with the request, in one transaction: nobody is signed in to it any more, its
//! e-mail address is free, and the one who stays has what the store knew of it
//! ([`Customer::absorbing`]). What lies elsewhere follows, page by page: addresses, wishes, orders with what
//! they count, gift cards, reviews. Each of these is one transaction that finds it where it was, so that it
//! is moved once, whatever is cut off and whoever changes it meanwhile.

mod begin;
mod hand_over;
mod step;
mod view;

use core_types::end_reason::EndReason;
use core_types::id::{CustomerId, MergeId, StoreId};
use core_types::key::{self, IndexKey};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::outbox::Due;
use table::{Query, WalkPlace};

use crate::steps::Walking;

pub use begin::begin;
pub use step::{give_up, step};
pub use view::*;

primitives::string_enum! {
    /// Where a merge is in its life.
    MergeStatus {
        /// The account is gone, and what belongs to it follows.
        Running = "running",
        /// All of it has.
        Succeeded = "succeeded",
        /// It met an error that it would meet again: asked for again, it goes on where it was.
        Failed = "failed",
    }
}

primitives::string_enum! {
    /// What a merge is moving.
    MergePart {
        /// Addresses and wishes; sessions end.
        Account = "account",
        /// Orders, with what they count.
        Orders = "orders",
        /// Gift cards.
        GiftCards = "gift_cards",
        /// Reviews.
        Reviews = "reviews",
        /// Nothing, until the indexes show what was made right before the account ended.
        Settling = "settling",
        /// Orders that they showed late.
        LateOrders = "late_orders",
        /// Reviews that they showed late.
        LateReviews = "late_reviews",
    }
}

impl MergePart {
    const fn next(self) -> Option<Self> {
        match self {
            Self::Account => Some(Self::Orders),
            Self::Orders => Some(Self::GiftCards),
            Self::GiftCards => Some(Self::Reviews),
            Self::Reviews => Some(Self::Settling),
            Self::Settling => Some(Self::LateOrders),
            Self::LateOrders => Some(Self::LateReviews),
            Self::LateReviews => None,
        }
    }
}

/// Merges into one customer: more than anybody makes.
const MOST: usize = 1_000;

/// A merge of a customer into another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Merge {
    /// It follows from the store and the account that it ends.
    pub id: MergeId,
    /// The store.
    pub store_id: StoreId,
    /// The customer who stays. Part of the key.
    pub customer_id: CustomerId,
    /// The one whose account it has ended. Part of the key.
    pub source_id: CustomerId,
    /// Who asked for it: `mer_…` or `app_…`.
    pub created_by: String,
    /// Where it is in its life.
    pub status: MergeStatus,
    /// Why it ended early.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// What it is moving.
    pub part: MergePart,
    /// Where it goes on there.
    pub place: Option<WalkPlace>,
    /// When the sweep takes it up, unless it is over.
    pub due_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When the account ended.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Item for Merge {
    const KIND: &'static str = "merge";
    fn key(&self) -> Key {
        key::merge(&self.store_id, &self.customer_id, &self.source_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        self.due_at.map(|at| Due::Run.mark(self.id.as_str(), at)).into_iter().collect()
    }
}

impl Walking for Merge {
    fn is_over(&self) -> bool {
        self.status != MergeStatus::Running
    }
    fn advanced(&self, place: Option<WalkPlace>, now: Timestamp) -> Self {
        let next = Self { due_at: Some(now.plus(MINUTE)), ..self.changed(now) };
        match (place, self.part.next()) {
            (Some(place), _) => Self { place: Some(place), ..next },
            (None, Some(part)) => Self { part, place: None, ..next },
            (None, None) => Self {
                status: MergeStatus::Succeeded,
                place: None,
                due_at: None,
                finished_at: Some(now),
                ..next
            },
        }
    }
}

impl Merge {
    /// The merge of `source` into `customer`, whose account ends now.
    fn of(
        store: &StoreId,
        (customer, source): (&CustomerId, &CustomerId),
        by: &str,
        now: Timestamp,
    ) -> Self {
        Self {
            id: MergeId::derive(&[store.as_str(), source.as_str()]),
            store_id: store.clone(),
            customer_id: customer.clone(),
            source_id: source.clone(),
            created_by: by.to_owned(),
            status: MergeStatus::Running,
            status_reason: None,
            part: MergePart::Account,
            place: None,
            // A message carries it; the sweep sends that again when it is lost.
            due_at: Some(now.plus(MINUTE)),
            finished_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The merge after an error that it would meet again.
    fn broken(&self, now: Timestamp) -> Self {
        let (status, status_reason) = (MergeStatus::Failed, Some(EndReason::InternalError));
        Self { status, status_reason, due_at: None, finished_at: Some(now), ..self.changed(now) }
    }

    /// The merge that has failed, going on where it was.
    fn resumed(&self, now: Timestamp) -> Self {
        let (status, due_at) = (MergeStatus::Running, Some(now.plus(MINUTE)));
        Self { status, status_reason: None, due_at, finished_at: None, ..self.changed(now) }
    }

    /// Whether nothing more is moved.
    pub fn is_over(&self) -> bool {
        Walking::is_over(self)
    }

    /// The merges into a customer, by the accounts that they have ended; one round trip.
    ///
    /// # Errors
    /// 503.
    pub async fn all_into(
        services: &Services,
        store: &StoreId,
        customer: &CustomerId,
    ) -> Result<Vec<Self>, Problem> {
        let partition = key::customer(store, customer).pk;
        let merges = Query::partition(partition).begins_with(key::MERGES);
        services.table.all(&merges, MOST).await
    }
}

//! Merges: two accounts of one person become one.
//!
//! The source account is deleted with the request, in one transaction: its sessions end, its e-mail address
//! is free, and its data is added to the remaining account
//! ([`Customer::absorbing`](identity::customer::Customer::absorbing)). Related items follow, page by page:
//! addresses, wishes, orders with their counters, gift cards, reviews. Each is moved in one transaction on
//! condition that it is unchanged, so that it is moved once despite crashes and concurrent changes.

mod begin;
mod hand_over;
mod step;
mod view;

use core_types::end_reason::EndReason;
use core_types::id::{CustomerId, MergeId, StoreId};
use core_types::key;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::outbox::DueKind;
use table::{Query, WalkPosition};

use crate::steps::Walking;

pub use begin::begin;
pub use step::{fail, step};
pub use view::*;

primitives::string_enum! {
    /// The status of a merge.
    MergeStatus {
        /// The source account is deleted, and its related items are being moved.
        Running = "running",
        /// All items were moved.
        Succeeded = "succeeded",
        /// It met a permanent error. A repeated request resumes it where it was.
        Failed = "failed",
    }
}

primitives::string_enum! {
    /// The part that a merge is moving.
    MergePart {
        /// Addresses and wishes. Sessions end.
        Account = "account",
        /// Orders with their counters.
        Orders = "orders",
        /// Gift cards.
        GiftCards = "gift_cards",
        /// Reviews.
        Reviews = "reviews",
        /// A pause, until the indexes include items that were created right before the account was deleted.
        Settling = "settling",
        /// Orders that the indexes included late.
        LateOrders = "late_orders",
        /// Reviews that the indexes included late.
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

/// The most merges into one customer that are read: more than occur.
const MOST: usize = 1_000;

/// A merge of a customer into another.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "merge", key = key::merge(&self.store_id, &self.customer_id, &self.source_id))]
#[item(indexes = self.due_at.map(|at| DueKind::Run.mark(self.id.as_str(), at)).into_iter().collect())]
pub struct Merge {
    /// The id, derived from the store and the source account.
    pub id: MergeId,
    /// The store.
    pub store_id: StoreId,
    /// The remaining customer. Part of the key.
    pub customer_id: CustomerId,
    /// The customer whose account was deleted. Part of the key.
    pub source_id: CustomerId,
    /// The merchant or app that requested it: `mer_…` or `app_…`.
    pub created_by: String,
    /// The status.
    pub status: MergeStatus,
    /// The reason of its failure.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// The part that it is moving.
    pub part: MergePart,
    /// The position in that part.
    pub place: Option<WalkPosition>,
    /// When the sweep resumes it; none if it has ended.
    pub due_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When the account was deleted.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Walking for Merge {
    fn is_over(&self) -> bool {
        self.status != MergeStatus::Running
    }
    fn advanced(&self, place: Option<WalkPosition>, now: Timestamp) -> Self {
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
    /// Creates the merge of `source` into `customer`.
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
            // A message carries it. The sweep sends another one if that is lost.
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

    /// Ends the merge after a permanent error.
    fn failed_internally(&self, now: Timestamp) -> Self {
        let (status, status_reason) = (MergeStatus::Failed, Some(EndReason::InternalError));
        Self { status, status_reason, due_at: None, finished_at: Some(now), ..self.changed(now) }
    }

    /// Resumes a failed merge where it was.
    fn resumed(&self, now: Timestamp) -> Self {
        let (status, due_at) = (MergeStatus::Running, Some(now.plus(MINUTE)));
        Self { status, status_reason: None, due_at, finished_at: None, ..self.changed(now) }
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        Walking::is_over(self)
    }

    /// Loads the merges into a customer, in the order of their source accounts.
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

//! Redactions: a person's data is erased, as far as a store may erase it.
//!
//! A redaction waits for the days that the store has set, in which apps can prepare and it can be cancelled.
//! Then it is long work (`delivery::run`): the personal data is erased part by part ([`Part`]), in idempotent
//! steps. While the person has an open order it waits another day, because the store must know where to ship
//! it, or who owes a payment.
//!
//! The data of a guest, who has no account, is found by their address: orders that were placed with it
//! without an account, gift cards that were sent to it, and forms.
//!
//! These remain: the amounts, lines and statuses of orders, with the country and region that taxes are
//! accounted by; payments, which have no personal data; reviews without their author; the redaction itself.
//! Sealed data of other purposes expires by itself: idempotent responses after a day, mails once they are
//! sent, events of payment providers after 30 days.

mod events;
mod scrub;
mod step;
mod view;

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::event::{Event, EventSubject, Topic};
use core_types::fields::Email;
use core_types::id::{CustomerId, RedactionId, StoreId};
use core_types::key;
use identity::store::Store;
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use table::WalkPosition;
use table::item::Item;
use table::outbox::DueKind;

use crate::person::{Part, Person};
use crate::steps::Walking;

pub use step::{fail, step};
pub use view::*;

primitives::string_enum! {
    /// The status of a redaction.
    RedactionStatus {
        /// It waits for its day, or for open orders.
        Scheduled = "scheduled",
        /// The data is being erased.
        Running = "running",
        /// The data was erased.
        Succeeded = "succeeded",
        /// It met a permanent error. A new request restarts it.
        Failed = "failed",
        /// It was cancelled before it began.
        Cancelled = "cancelled",
    }
}

/// A redaction.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "redaction", key = key::redaction(&self.id))]
#[item(indexes = self.due_at.map(|at| DueKind::Run.mark(self.id.as_str(), at)).into_iter().collect())]
pub struct Redaction {
    /// The id, derived from the store and the customer or guest, so that a person has one redaction.
    pub id: RedactionId,
    /// The store.
    pub store_id: StoreId,
    /// The customer; none for a guest. The id remains in orders and other items of the store.
    pub customer_id: Option<CustomerId>,
    /// The merchant or app that requested it: `mer_…` or `app_…`.
    pub created_by: String,
    /// The status.
    pub status: RedactionStatus,
    /// The reason of its failure.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// The proven e-mail addresses of the customer, or the address of the guest, normalized. Removed at its
    /// end, unless it fails.
    pub emails: Vec<String>,
    /// The part that it is erasing.
    pub part: Part,
    /// The position in that part.
    pub place: Option<WalkPosition>,
    /// Whether an open order prevents its start.
    pub waits_for_orders: bool,
    /// When it starts.
    pub begins_at: Timestamp,
    /// When the sweep resumes it; none if it has ended.
    pub due_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was first requested.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Redaction {
    /// Derives the id of a guest's redaction from the store's key of the address, so that the id does not
    /// reveal the address.
    pub fn id_of_guest(store: &Store, email: &Email) -> RedactionId {
        RedactionId::derive(&[store.id.as_str(), "guest", &store.guest_key(email)])
    }

    /// Derives the id of a customer's redaction.
    pub fn id_of(store: &StoreId, customer: &CustomerId) -> RedactionId {
        RedactionId::derive(&[store.as_str(), customer.as_str()])
    }

    /// Creates a redaction, in place of a former one of the same person that has ended.
    pub fn schedule(
        id: RedactionId,
        person: Person,
        before: Option<&Self>,
        (by, days): (&str, u64),
        now: Timestamp,
    ) -> Self {
        let wait = Duration::from_secs(DAY.as_secs().saturating_mul(days));
        let begins_at = now.plus(wait);
        // Without a wait a message carries it. The sweep sends another one if that is lost.
        let due_at = if days == 0 { now.plus(MINUTE) } else { begins_at };
        // A failed redaction may have found addresses that were deleted with the account.
        let known = before.map(|before| before.emails.clone()).unwrap_or_default();
        let mut emails = person.emails;
        emails.extend(known);
        emails.sort();
        emails.dedup();
        Self {
            id,
            store_id: person.store_id,
            customer_id: person.customer_id,
            created_by: by.to_owned(),
            status: RedactionStatus::Scheduled,
            status_reason: None,
            emails,
            part: Part::Account,
            place: None,
            waits_for_orders: false,
            begins_at,
            due_at: Some(due_at),
            finished_at: None,
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            version: before.map_or(1, |before| before.version.saturating_add(1)),
        }
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        Walking::is_over(self)
    }

    /// The actions that its status allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status == RedactionStatus::Scheduled { vec!["cancel"] } else { Vec::new() }
    }

    /// The person whose data is erased.
    pub fn person(&self) -> Person {
        Person {
            store_id: self.store_id.clone(),
            customer_id: self.customer_id.clone(),
            emails: self.emails.clone(),
        }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Continues the redaction. The sweep resumes it if no message does within a minute.
    fn running(&self, now: Timestamp) -> Self {
        let (status, due_at) = (RedactionStatus::Running, Some(now.plus(MINUTE)));
        Self { status, due_at, waits_for_orders: false, ..self.changed(now) }
    }

    /// Postpones the redaction by a day, because of open orders.
    fn postponed(&self, now: Timestamp) -> Self {
        Self { waits_for_orders: true, due_at: Some(now.plus(DAY)), ..self.changed(now) }
    }

    fn ended(&self, status: RedactionStatus, now: Timestamp) -> Self {
        let (emails, place, finished_at) = (Vec::new(), None, Some(now));
        Self { status, emails, place, finished_at, due_at: None, ..self.changed(now) }
    }

    /// Ends the redaction after a permanent error. The addresses stay, because the remaining data is found by
    /// them.
    fn failed_internally(&self, now: Timestamp) -> Self {
        let (status, status_reason) = (RedactionStatus::Failed, Some(EndReason::InternalError));
        let emails = self.emails.clone();
        Self { status_reason, emails, ..self.ended(status, now) }
    }

    /// Cancels the redaction.
    ///
    /// # Errors
    /// `invalid_state_transition` if it has begun or ended.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status != RedactionStatus::Scheduled {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.ended(RedactionStatus::Cancelled, now))
    }

    /// An event of the redaction, also in the timeline of the customer if there is one.
    pub fn event(&self, topic: &Topic<RedactionView>) -> Event {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        let about = EventSubject { store, app: None, entity, version: self.version };
        let event = Event::new(topic, about, &RedactionView::from(self), self.updated_at);
        match &self.customer_id {
            Some(customer) => event.in_timeline_of(customer.as_str()),
            None => event,
        }
    }
}

//! Redactions: a person is forgotten, as far as a store may forget them.
//!
//! A redaction waits for the days that the store has set, in which apps can prepare and it can be called
//! off. Then it is long work (`delivery::run`): part by part ([`Part`]) what names the person goes, and
//! each step is one that can be taken again. While an order of theirs is not closed it waits a day
//! more, because the store must know where to send it, or whom to ask for money.
//!
//! A guest, who has no account, is forgotten by their address: orders that were placed with it and are no
//! account's, gift cards that were sent there, and forms.
//!
//! What it leaves: the sums, lines and states of orders, with country and region as taxes are booked by;
//! payments, which name nobody; reviews without their author; that there was a redaction. What is sealed
//! for another purpose is forgotten with it: kept answers in a day, mails once they are sent, what payment
//! providers told in 30 days.

mod events;
mod scrub;
mod step;
mod view;

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::event::{Event, EventSubject, Topic};
use core_types::fields::Email;
use core_types::id::{CustomerId, RedactionId, StoreId};
use core_types::key::{self, IndexKey};
use identity::store::Store;
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use table::WalkPlace;
use table::item::{Item, Key};
use table::outbox::Due;

use crate::person::{Part, Person};
use crate::steps::Walking;

pub use step::{give_up, step};
pub use view::*;

primitives::string_enum! {
    /// Where a redaction is in its life.
    RedactionStatus {
        /// Its day has not come, or an order is not closed.
        Scheduled = "scheduled",
        /// At work.
        Running = "running",
        /// What named the person is gone.
        Succeeded = "succeeded",
        /// It met an error that it would meet again: asked for again, it goes on where it was.
        Failed = "failed",
        /// Called off before it began.
        Cancelled = "cancelled",
    }
}

/// A redaction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Redaction {
    /// It follows from store and customer: somebody is forgotten once.
    pub id: RedactionId,
    /// The store.
    pub store_id: StoreId,
    /// Who is forgotten; none of a guest. Their id stays in the store's books.
    pub customer_id: Option<CustomerId>,
    /// Who asked for it: `mer_…` or `app_…`.
    pub created_by: String,
    /// Where it is in its life.
    pub status: RedactionStatus,
    /// Why it ended early, unless it was called off.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// E-mail addresses that they have proven, or that of a guest, normalized, until it is over.
    pub emails: Vec<String>,
    /// The part that it is at.
    pub part: Part,
    /// Where it goes on there.
    pub place: Option<WalkPlace>,
    /// Whether an order that is not closed keeps it from beginning.
    pub waits_for_orders: bool,
    /// When it begins.
    pub begins_at: Timestamp,
    /// When the sweep takes it up.
    pub due_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Item for Redaction {
    const KIND: &'static str = "redaction";
    fn key(&self) -> Key {
        key::redaction(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        self.due_at.map(|at| Due::Run.mark(self.id.as_str(), at)).into_iter().collect()
    }
}

impl Redaction {
    /// The id of the redaction of a guest: by what their address is known by at the store, so that the id says it
    /// to nobody.
    pub fn id_of_guest(store: &Store, email: &Email) -> RedactionId {
        RedactionId::derive(&[store.id.as_str(), "guest", &store.guest_key(email)])
    }

    /// The id of a customer's redaction.
    pub fn id_of(store: &StoreId, customer: &CustomerId) -> RedactionId {
        RedactionId::derive(&[store.as_str(), customer.as_str()])
    }

    /// A redaction that is asked for; in place of one that was called off, if there is such, or of a guest's that
    /// is over.
    pub fn schedule(
        id: RedactionId,
        person: Person,
        before: Option<&Self>,
        (by, days): (&str, u64),
        now: Timestamp,
    ) -> Self {
        let wait = Duration::from_secs(DAY.as_secs().saturating_mul(days));
        let begins_at = now.plus(wait);
        // What is due at once is carried by a message, which the sweep sends again when it is lost.
        let due_at = if days == 0 { now.plus(MINUTE) } else { begins_at };
        // What one that failed had learned of them may be gone with the account.
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

    /// Whether nothing more happens.
    pub fn is_over(&self) -> bool {
        Walking::is_over(self)
    }

    /// The actions that its state allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status == RedactionStatus::Scheduled { vec!["cancel"] } else { Vec::new() }
    }

    /// Who is forgotten.
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

    /// The redaction at work, whose next message is lost when a minute has passed.
    fn running(&self, now: Timestamp) -> Self {
        let (status, due_at) = (RedactionStatus::Running, Some(now.plus(MINUTE)));
        Self { status, due_at, waits_for_orders: false, ..self.changed(now) }
    }

    /// The redaction that waits until the person's orders are closed.
    fn postponed(&self, now: Timestamp) -> Self {
        Self { waits_for_orders: true, due_at: Some(now.plus(DAY)), ..self.changed(now) }
    }

    fn ended(&self, status: RedactionStatus, now: Timestamp) -> Self {
        let (emails, place, finished_at) = (Vec::new(), None, Some(now));
        Self { status, emails, place, finished_at, due_at: None, ..self.changed(now) }
    }

    /// The redaction after an error that it would meet again. The addresses stay: what is left to do is found
    /// by them.
    fn broken(&self, now: Timestamp) -> Self {
        let (status, status_reason) = (RedactionStatus::Failed, Some(EndReason::InternalError));
        let emails = self.emails.clone();
        Self { status_reason, emails, ..self.ended(status, now) }
    }

    /// The redaction called off.
    ///
    /// # Errors
    /// `invalid_state_transition` once it has begun, or is over.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status != RedactionStatus::Scheduled {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.ended(RedactionStatus::Cancelled, now))
    }

    /// What has become of it, in the customer's timeline if they have one.
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

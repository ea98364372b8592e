//! What becomes of a dispute as its provider tells of it.
//!
//! A provider tells at least once and in any order, and each time the whole of the dispute as it
//! was then. So of two things that it says the later one counts, whichever comes first: the state
//! is the latest of all that was told.

use std::time::Duration;

use core_types::event::Topic;
use core_types::mail::Notice;
use core_types::money::Money;
use core_types::resource::Resource;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::Code;
use table::Write;

use super::{
    DISPUTE_CLOSED, DISPUTE_CREATED, DISPUTE_LOST, DISPUTE_UPDATED, DISPUTE_WON, Dispute,
    DisputeStatus, DisputeType, DisputeView,
};
use crate::payment::Payment;

/// How far the provider's clock may be behind ours: what it answers is taken to be so old, lest an
/// answer outdate an event that is yet to come.
const CLOCKS_DIFFER: Duration = MINUTE;

/// What a provider says about a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedDispute {
    /// The provider's id of it.
    pub reference: String,
    /// What carries the payment's money: `pay_…`, `ch_…`.
    pub provider_payment: Option<String>,
    /// What the bank wants.
    pub kind: DisputeType,
    /// How far it has come.
    pub status: DisputeStatus,
    /// What is disputed.
    pub amount: Money,
    /// What was taken of it in the end, if that is said.
    pub taken: Option<Money>,
    /// Why.
    pub reason: String,
    /// Until when evidence is taken.
    pub due_by: Option<Timestamp>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When the provider said so by itself; none of what it answers, which is so now.
    pub told_at: Option<Timestamp>,
    /// Whether evidence was submitted.
    pub is_submitted: bool,
}

impl ObservedDispute {
    /// What it holds of a payment: nothing of one in another currency, nothing while the bank only
    /// asks, nothing once it is won or closed.
    fn held(&self, payment: &Payment) -> Money {
        let zero = Money::zero(&payment.amount.currency);
        let holds = match self.status {
            DisputeStatus::Lost => self.taken.as_ref().or(Some(&self.amount)),
            DisputeStatus::NeedsResponse | DisputeStatus::UnderReview => {
                (self.kind == DisputeType::Chargeback).then_some(&self.amount)
            }
            DisputeStatus::Won | DisputeStatus::Closed => None,
        };
        holds.filter(|held| held.currency == zero.currency).cloned().unwrap_or(zero)
    }
}

/// A dispute as it is to be written, and what is announced of it.
#[derive(Debug, Clone)]
pub struct DisputeChange {
    /// The dispute; new, when its version is 1.
    pub dispute: Dispute,
    /// What is announced, in this order.
    pub topics: Vec<&'static Topic<DisputeView>>,
}

impl DisputeChange {
    /// Adds the dispute and what is announced of it to a transaction. The merchant is mailed when
    /// one is opened that waits for an answer.
    pub fn write(&self, write: Write, now: Timestamp) -> Write {
        let write = match self.dispute.version {
            1 => write.create(&self.dispute, Code::VersionConflict),
            _ => write.replace(&self.dispute, Code::VersionConflict),
        };
        self.topics.iter().fold(write, |write, topic| {
            let event = self.dispute.event(topic, now);
            let is_told = topic.name == DISPUTE_CREATED.name
                && self.dispute.status == DisputeStatus::NeedsResponse;
            write.emit(if is_told { event.with_mail(Notice::DisputeOpened) } else { event })
        })
    }
}

impl Dispute {
    /// The dispute with what a provider says about it; `None` when that says nothing new. What is
    /// older than what is known says nothing new.
    pub fn after(
        known: Option<&Self>,
        observed: &ObservedDispute,
        payment: &Payment,
        now: Timestamp,
    ) -> Option<DisputeChange> {
        let Some(known) = known else { return Some(Self::opened(observed, payment, now)) };
        let told_at = match observed.told_at {
            Some(at) => {
                let is_later = (at, observed.status) >= (known.told_at, known.status);
                is_later.then_some(at)?
            }
            None => known.told_at.max(now.minus(CLOCKS_DIFFER)),
        };
        let next = Self::observed(observed, payment, told_at, now);
        let next = Self {
            evidence: known.evidence.clone(),
            created_at: known.created_at,
            closed_at: next.closed_at.map(|at| known.closed_at.unwrap_or(at)),
            version: known.version.saturating_add(1),
            ..next
        };
        let is_same = next.shows_as(known);
        if is_same && (observed.told_at.is_none() || told_at == known.told_at) {
            return None;
        }
        let ended = (next.status != known.status).then(|| next.end()).flatten();
        let topic = if is_same { None } else { ended.or(Some(&DISPUTE_UPDATED)) };
        Some(DisputeChange { dispute: next, topics: topic.into_iter().collect() })
    }

    /// A dispute that nobody knew of; perhaps it is over already.
    fn opened(observed: &ObservedDispute, payment: &Payment, now: Timestamp) -> DisputeChange {
        let told_at = observed.told_at.unwrap_or_else(|| now.minus(CLOCKS_DIFFER));
        let dispute = Self::observed(observed, payment, told_at, now);
        let topics = std::iter::once(&DISPUTE_CREATED).chain(dispute.end()).collect();
        DisputeChange { dispute, topics }
    }

    fn observed(
        observed: &ObservedDispute,
        payment: &Payment,
        told_at: Timestamp,
        now: Timestamp,
    ) -> Self {
        Self {
            id: Self::id_of(&payment.store_id, payment.provider, &observed.reference),
            store_id: payment.store_id.clone(),
            order_id: payment.order_id.clone(),
            order_number: payment.order_number.clone(),
            payment_id: payment.id.clone(),
            provider: payment.provider,
            provider_reference: observed.reference.clone(),
            kind: observed.kind,
            status: observed.status,
            amount: observed.amount.clone(),
            held: observed.held(payment),
            reason: observed.reason.clone(),
            due_by: observed.due_by,
            evidence: None,
            told_at,
            closed_at: observed.status.is_over().then_some(now),
            created_at: observed.created_at,
            updated_at: now,
            version: 1,
        }
    }

    /// Whether nobody sees a difference.
    fn shows_as(&self, other: &Self) -> bool {
        let of = |dispute: &Self| {
            let Self { kind, status, due_by, .. } = *dispute;
            (kind, status, due_by)
        };
        of(self) == of(other)
            && (&self.amount, &self.held, &self.reason)
                == (&other.amount, &other.held, &other.reason)
    }

    /// What is announced of its end.
    fn end(&self) -> Option<&'static Topic<DisputeView>> {
        match self.status {
            DisputeStatus::NeedsResponse | DisputeStatus::UnderReview => None,
            DisputeStatus::Closed => Some(&DISPUTE_CLOSED),
            DisputeStatus::Won => Some(&DISPUTE_WON),
            DisputeStatus::Lost => Some(&DISPUTE_LOST),
        }
    }
}

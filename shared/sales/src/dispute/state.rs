//! The state of a dispute, from the reports of its provider.
//!
//! A provider reports at least once and in any order, and each report has the whole dispute as it was at a
//! time. So the report with the latest time counts, in whatever order reports arrive.

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

/// The most that the provider's clock may be behind ours. A response of the provider is taken to be so old, so that
/// it does not outdate an event that arrives later.
const CLOCKS_DIFFER: Duration = MINUTE;

/// A provider's report of a dispute, from an event or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedDispute {
    /// The provider's id of the dispute.
    pub reference: String,
    /// The provider's id of the payment or charge: `pay_…`, `ch_…`.
    pub provider_payment: Option<String>,
    /// The type.
    pub kind: DisputeType,
    /// The status.
    pub status: DisputeStatus,
    /// The disputed amount.
    pub amount: Money,
    /// The amount that was finally withdrawn, if it is reported.
    pub taken: Option<Money>,
    /// The reason code of the provider.
    pub reason: String,
    /// When the provider stops accepting evidence.
    pub due_by: Option<Timestamp>,
    /// When the dispute was opened.
    pub created_at: Timestamp,
    /// The time of the provider's event; none for a response, which has the current state.
    pub told_at: Option<Timestamp>,
    /// Whether evidence was submitted.
    pub is_submitted: bool,
}

impl ObservedDispute {
    /// The amount of a payment that it holds: zero for a payment in another currency, while an inquiry is
    /// open, and once it is won or closed.
    fn held(&self, payment: &Payment) -> Money {
        let zero = Money::zero(&payment.amount.currency);
        let holds_amount = match self.status {
            DisputeStatus::Lost => self.taken.as_ref().or(Some(&self.amount)),
            DisputeStatus::NeedsResponse | DisputeStatus::UnderReview => {
                (self.kind == DisputeType::Chargeback).then_some(&self.amount)
            }
            DisputeStatus::Won | DisputeStatus::Closed => None,
        };
        holds_amount.filter(|held| held.currency == zero.currency).cloned().unwrap_or(zero)
    }
}

/// A dispute to write, with the topics of its events.
#[derive(Debug, Clone)]
pub struct DisputeChange {
    /// The dispute; new if its version is 1.
    pub dispute: Dispute,
    /// The topics of the events, in their order.
    pub topics: Vec<&'static Topic<DisputeView>>,
}

impl DisputeChange {
    /// Adds the dispute and its events to a transaction. The merchant is notified of a new dispute that needs
    /// a response.
    pub fn write(&self, write: Write, now: Timestamp) -> Write {
        let write = match self.dispute.version {
            1 => write.create(&self.dispute, Code::VersionConflict),
            _ => write.replace(&self.dispute, Code::VersionConflict),
        };
        self.topics.iter().fold(write, |write, topic| {
            let event = self.dispute.event(topic, now);
            let is_notified = topic.name == DISPUTE_CREATED.name
                && self.dispute.status == DisputeStatus::NeedsResponse;
            write.emit(if is_notified { event.with_mail(Notice::DisputeOpened) } else { event })
        })
    }
}

impl Dispute {
    /// Merges a provider's report into the stored dispute. Returns `None` if the report is outdated or has
    /// nothing new.
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
        let is_same = next.equals(known);
        if is_same && (observed.told_at.is_none() || told_at == known.told_at) {
            return None;
        }
        let ended = (next.status != known.status).then(|| next.end()).flatten();
        let topic = if is_same { None } else { ended.or(Some(&DISPUTE_UPDATED)) };
        Some(DisputeChange { dispute: next, topics: topic.into_iter().collect() })
    }

    /// Creates a dispute that is not stored yet. It may have ended already.
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

    /// Whether the provider's data of both are the same.
    fn equals(&self, other: &Self) -> bool {
        let of = |dispute: &Self| {
            let Self { kind, status, due_by, .. } = *dispute;
            (kind, status, due_by)
        };
        of(self) == of(other)
            && (&self.amount, &self.held, &self.reason)
                == (&other.amount, &other.held, &other.reason)
    }

    /// The topic of the event about its end, if it has ended.
    fn end(&self) -> Option<&'static Topic<DisputeView>> {
        match self.status {
            DisputeStatus::NeedsResponse | DisputeStatus::UnderReview => None,
            DisputeStatus::Closed => Some(&DISPUTE_CLOSED),
            DisputeStatus::Won => Some(&DISPUTE_WON),
            DisputeStatus::Lost => Some(&DISPUTE_LOST),
        }
    }
}

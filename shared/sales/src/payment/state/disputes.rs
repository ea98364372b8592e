//! The amounts that disputes hold of a payment.

use std::time::Duration;

use core_types::money::Money;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};

use super::{PaymentChange, Transition};
use crate::dispute::Dispute;
use crate::payment::{Payment, PaymentDispute};

/// The interval at which an open dispute is loaded from the provider, because its events may be lost.
const RELOAD_INTERVAL: Duration = DAY;

/// The problem that a dispute holds the amount to refund.
pub(crate) fn disputed(refundable: &Money, disputed: &Money) -> Problem {
    let to_value = |money| serde_json::to_value(money).unwrap_or_default();
    Code::PaymentDisputed
        .with("refundable", to_value(refundable))
        .with("disputed", to_value(disputed))
}

impl Payment {
    /// The sum of the amounts that disputes hold, regardless of refunds.
    pub(crate) fn disputed_amount(&self) -> Money {
        Money::sum(self.disputes.iter().map(|dispute| &dispute.held), &self.amount.currency)
            .unwrap_or_else(|| self.captured.clone())
    }

    /// The amount that disputes hold or have taken, at most the amount that was not refunded.
    pub fn disputed(&self) -> Money {
        self.disputed_amount().min(&self.unreturned())
    }

    /// Whether it has a dispute that has not ended.
    pub fn has_open_dispute(&self) -> bool {
        self.disputes.iter().any(|dispute| !dispute.status.is_over())
    }

    /// Whether evidence of a dispute is being sent to the provider.
    pub(crate) fn has_pending_evidence(&self) -> bool {
        self.disputes.iter().any(|dispute| dispute.evidence.is_some())
    }

    /// When its disputes are next loaded from the provider; none without an open dispute.
    pub(crate) fn polls_disputes_at(&self) -> Option<Timestamp> {
        let since = self.disputes_fetched_at.unwrap_or(self.updated_at);
        self.has_open_dispute().then(|| since.plus(RELOAD_INTERVAL))
    }

    /// Records the state of disputes; returns `None` if nothing changes.
    pub(crate) fn with_disputes<'a>(
        &self,
        disputes: impl IntoIterator<Item = &'a Dispute>,
        now: Timestamp,
    ) -> Option<PaymentChange> {
        let mut next = self.changed(now);
        for dispute in disputes {
            let entry = PaymentDispute {
                id: dispute.id.clone(),
                status: dispute.status,
                held: dispute.held.clone(),
                evidence: dispute.pending_evidence().map(|sent| sent.id.clone()),
            };
            match next.disputes.iter_mut().find(|known| known.id == entry.id) {
                Some(known) => *known = entry,
                None => next.disputes.push(entry),
            }
        }
        let is_new = next.disputes != self.disputes;
        is_new.then(|| PaymentChange::of(next, Transition::Disputed))
    }
}

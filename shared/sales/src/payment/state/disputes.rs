//! What disputes hold of a payment's money.

use std::time::Duration;

use core_types::money::Money;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};

use super::{PaymentChange, Transition};
use crate::dispute::Dispute;
use crate::payment::{Payment, PaymentDispute};

/// How often a provider is asked about a dispute that is not over: its events may be lost.
const ASKED_EVERY: Duration = DAY;

/// That a dispute holds what is to go back.
pub(crate) fn disputed(refundable: &Money, disputed: &Money) -> Problem {
    let shown = |money| serde_json::to_value(money).unwrap_or_default();
    Code::PaymentDisputed.with("refundable", shown(refundable)).with("disputed", shown(disputed))
}

impl Payment {
    /// What disputes claim together, whatever has gone back.
    pub(crate) fn claimed(&self) -> Money {
        Money::sum(self.disputes.iter().map(|dispute| &dispute.held), &self.amount.currency)
            .unwrap_or_else(|| self.captured.clone())
    }

    /// What disputes hold of the money that is there, or have taken: what has gone back, they
    /// cannot.
    pub fn disputed(&self) -> Money {
        self.claimed().min(&self.unreturned())
    }

    /// Whether a dispute of it is not over.
    pub fn has_open_dispute(&self) -> bool {
        self.disputes.iter().any(|dispute| !dispute.status.is_over())
    }

    /// Evidence that is on its way to the provider.
    pub(crate) fn has_pending_evidence(&self) -> bool {
        self.disputes.iter().any(|dispute| dispute.evidence.is_some())
    }

    /// When its provider is asked about its disputes.
    pub(crate) fn asks_about_disputes_at(&self) -> Option<Timestamp> {
        let since = self.disputes_asked_at.unwrap_or(self.updated_at);
        self.has_open_dispute().then(|| since.plus(ASKED_EVERY))
    }

    /// The payment with what disputes of it have come to; `None` when that is known.
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

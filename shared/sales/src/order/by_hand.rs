//! Paid by hand: the merchant says that the money is there.

use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::Write;
use ground::id::PaymentId;
use ground::provider::ProviderName;

use super::{Order, OrderAction, Receipt, Settled};
use crate::payment::{
    Action, Attempt, CaptureMethod, Mode, Observed, ObservedState, PAYMENT_CAPTURED, Payment,
    PaymentStatus, Receipt as PaymentReceipt, Source, place,
};

/// An order that was paid by hand, and the payment that says so.
#[derive(Debug, Clone)]
pub struct PaidByHand {
    /// The order at its next version.
    pub settled: Settled,
    /// The payment: new, or the shopper's open one, at its next version.
    pub payment: Payment,
}

impl Order {
    /// All that is left to pay has been paid by hand: through the payment that the shopper opened
    /// for it, or a new one.
    ///
    /// # Errors
    /// `order_already_paid`, `invalid_state_transition`.
    pub fn paid_by_hand(
        &self,
        payments: &[Payment],
        method: Option<String>,
        now: Timestamp,
    ) -> Result<PaidByHand, Problem> {
        if self.outstanding().is_zero() && !self.is_over() {
            return Err(Code::OrderAlreadyPaid.into());
        }
        self.demand(OrderAction::MarkPaid)?;
        let payment = match self.opened_by_hand(payments, now)? {
            Some(payment) => Payment { method: method.or(payment.method.clone()), ..payment },
            None => self.new_payment(method, now),
        };
        let receipt = Receipt {
            payment_id: &payment.id,
            provider: ProviderName::Manual.as_str(),
            amount: &payment.captured,
        };
        let settled = self.settle_payment(receipt, now)?.ok_or(Code::OrderAlreadyPaid)?;
        Ok(PaidByHand { settled, payment })
    }

    /// The payment that the shopper opened for what is left, taken.
    fn opened_by_hand(
        &self,
        payments: &[Payment],
        now: Timestamp,
    ) -> Result<Option<Payment>, Problem> {
        let open = payments.iter().find(|payment| {
            payment.provider == ProviderName::Manual
                && payment.is_open()
                && payment.amount == self.outstanding()
        });
        let Some(open) = open else { return Ok(None) };
        let seen = Observed {
            state: ObservedState::Captured,
            amount: Some(open.amount.clone()),
            ..Observed::pending(&open.provider_reference)
        };
        let step = open.observe(&seen, Source::Admin, now)?;
        Ok(step.map(|step| Payment { is_applied: true, ..step.payment }))
    }

    fn new_payment(&self, method: Option<String>, now: Timestamp) -> Payment {
        let (id, amount) = (PaymentId::mint(now), self.outstanding());
        let reference = id.to_string();
        Payment {
            store_id: self.store_id.clone(),
            order_id: self.id.clone(),
            order_number: self.number.clone(),
            provider: ProviderName::Manual,
            mode: Mode::Live,
            key_id: None,
            provider_reference: reference.clone(),
            provider_payment: None,
            authorized: amount.clone(),
            captured: amount.clone(),
            refunded: ground::money::Money::zero(&self.currency),
            status: PaymentStatus::Captured,
            capture_method: CaptureMethod::Manual,
            is_applied: true,
            attention: None,
            method,
            sealed_client_secret: None,
            attempts: vec![Attempt {
                action: Action::Capture,
                succeeded: true,
                amount: amount.clone(),
                provider_payment: None,
                failure_code: None,
                source: Source::Admin,
                at: now,
            }],
            receipts: vec![PaymentReceipt {
                action: Action::Capture,
                amount: amount.clone(),
                provider_reference: reference,
                at: now,
            }],
            refunds: Vec::new(),
            tries: 0,
            tried_at: None,
            expires_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
            amount,
            id,
        }
    }
}

/// Adds the payment of an order that was paid by hand to a transaction; the order itself is
/// [`super::settle`]'s.
pub fn record(write: Write, payment: &Payment, now: Timestamp) -> Write {
    let write = if payment.version == 1 {
        place::create(write, payment)
    } else {
        write.replace(payment, Code::VersionConflict)
    };
    write.emit(payment.event(&PAYMENT_CAPTURED, now))
}

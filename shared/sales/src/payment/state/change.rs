//! A change of a payment's state, with its event.

use core_types::event::Topic;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::Code;
use table::Write;

use crate::payment::{
    PAYMENT_AUTHORIZED, PAYMENT_CAPTURED, PAYMENT_FAILED, PAYMENT_PROCESSING, PAYMENT_REFUNDED,
    PAYMENT_VOIDED, Payment, PaymentView,
};

/// A change of a payment's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The customer has paid, and the provider waits for their bank.
    Processing,
    /// The customer authorized it; the amount is held.
    Authorized,
    /// The amount was captured.
    Captured,
    /// Another amount than requested was authorized or captured.
    Mismatched,
    /// An attempt failed.
    Failed,
    /// It was voided.
    Voided,
    /// A refund succeeded.
    Refunded,
    /// A refund failed.
    RefundFailed,
    /// A refund began: its amount is reserved.
    RefundBegun,
    /// The provider has accepted a refund, and will report its result.
    RefundAwaited,
    /// The merchant accepted another amount than requested.
    Accepted,
    /// Its order was paid by other means.
    Superseded,
    /// A dispute of it changed, or evidence for one is being sent.
    Disputed,
}

/// A payment at its next version, with its transition.
#[derive(Debug, Clone)]
pub struct PaymentChange {
    /// The payment to write; new if its version is 1.
    pub payment: Payment,
    /// The transition.
    pub transition: Transition,
    /// Whether an external refund is recorded together with the capture, because the report of the capture
    /// arrived late.
    pub has_gone_back: bool,
}

impl PaymentChange {
    /// Creates a change with this transition and no external refund.
    pub fn of(payment: Payment, transition: Transition) -> Self {
        Self { payment, transition, has_gone_back: false }
    }

    /// The topic of the event about the transition.
    pub fn topic(&self) -> Option<&'static Topic<PaymentView>> {
        match self.transition {
            Transition::Processing => Some(&PAYMENT_PROCESSING),
            Transition::Authorized => Some(&PAYMENT_AUTHORIZED),
            Transition::Mismatched if self.payment.captured.is_zero() => Some(&PAYMENT_AUTHORIZED),
            Transition::Captured | Transition::Mismatched => Some(&PAYMENT_CAPTURED),
            Transition::Failed => Some(&PAYMENT_FAILED),
            Transition::Voided => Some(&PAYMENT_VOIDED),
            Transition::Refunded => Some(&PAYMENT_REFUNDED),
            Transition::RefundFailed
            | Transition::RefundBegun
            | Transition::RefundAwaited
            | Transition::Accepted
            | Transition::Superseded
            | Transition::Disputed => None,
        }
    }

    /// Adds the payment and its events to a transaction.
    pub fn write(&self, write: Write, now: Timestamp) -> Write {
        let event = |topic| self.payment.event(topic, now);
        let gone_back = self.has_gone_back.then_some(&PAYMENT_REFUNDED);
        let write = match self.payment.version {
            1 => write.create(&self.payment, Code::VersionConflict),
            _ => write.replace(&self.payment, Code::VersionConflict),
        };
        write
            .when_some(self.topic().map(event), Write::emit)
            .when_some(gone_back.map(event), Write::emit)
    }
}

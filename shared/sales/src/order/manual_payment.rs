//! Manual payments, which the merchant records: cash or a bank transfer.

use core_types::id::PaymentId;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::{IncomingPayment, Order, OrderAction, OrderChange};
use crate::payment::{
    Action, CaptureMethod, Mode, Observed, ObservedState, Payment, PaymentAttempt, PaymentChange,
    PaymentSource, PaymentStatus, Receipt, Transition,
};

impl Order {
    /// Records a manual payment of the outstanding amount, on the payment that the shopper opened for it or
    /// on a new one.
    ///
    /// # Errors
    /// `order_already_paid`, `invalid_state_transition`.
    pub fn pay_manually(
        &self,
        payments: &[Payment],
        method: Option<String>,
        now: Timestamp,
    ) -> Result<OrderChange, Problem> {
        if self.outstanding().is_zero() && !self.is_over() {
            return Err(Code::OrderAlreadyPaid.into());
        }
        self.ensure(OrderAction::MarkPaid)?;
        let payment = match self.opened_manually(payments, now)? {
            Some(payment) => Payment { method: method.or(payment.method.clone()), ..payment },
            None => self.new_payment(method.or_else(|| self.chosen_method()), now),
        };
        let receipt = IncomingPayment {
            payment_id: &payment.id,
            provider: ProviderName::Manual.as_str(),
            amount: &payment.captured,
        };
        let change = self.apply_payment(receipt, now)?.ok_or(Code::OrderAlreadyPaid)?;
        Ok(change.with_payment(PaymentChange::of(payment, Transition::Captured)))
    }

    /// The id of the manual method that the shopper chose.
    fn chosen_method(&self) -> Option<String> {
        self.payment_method.as_ref().map(|method| method.id.as_str().to_owned())
    }

    /// The manual payment that the shopper opened for the outstanding amount, as captured.
    fn opened_manually(
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
        let observed = Observed {
            state: ObservedState::Captured,
            amount: Some(open.amount.clone()),
            ..Observed::pending(&open.provider_reference)
        };
        let step = open.observe(&observed, PaymentSource::Admin, now)?;
        Ok(step.map(|step| Payment { is_applied: true, ..step.payment }))
    }

    fn new_payment(&self, method: Option<String>, now: Timestamp) -> Payment {
        // A version of an order is marked as paid once.
        let id = PaymentId::of_order(&self.id, &["marked as paid", &self.version.to_string()]);
        let amount = self.outstanding();
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
            refunded: core_types::money::Money::zero(&self.currency),
            status: PaymentStatus::Captured,
            capture_method: CaptureMethod::Manual,
            is_applied: true,
            attention: None,
            method,
            sealed_client_secret: None,
            attempts: vec![PaymentAttempt {
                action: Action::Capture,
                succeeded: true,
                amount: amount.clone(),
                provider_payment: None,
                failure_code: None,
                source: PaymentSource::Admin,
                at: now,
            }],
            receipts: vec![Receipt {
                action: Action::Capture,
                amount: amount.clone(),
                provider_reference: reference,
                at: now,
            }],
            refunds: Vec::new(),
            disputes: Vec::new(),
            disputes_fetched_at: None,
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

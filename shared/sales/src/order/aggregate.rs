//! An order with its fulfilments, refunds and payments. They share a partition, so one query reads all.

use core_types::id::{FulfillmentId, PaymentId, RefundId};
use primitives::problem::{Code, Problem};

use super::fulfillment::Fulfillment;
use super::refund::Refund;
use super::{Order, OrderChange, RefundChange};
use crate::payment::{Payment, PaymentChange, PaymentRefund, PaymentStatus};

/// An order, its fulfilments, refunds and payments, each from the oldest.
#[derive(Debug, Clone)]
pub struct OrderAggregate {
    /// The order.
    pub order: Order,
    /// The fulfilments.
    pub fulfillments: Vec<Fulfillment>,
    /// The refunds.
    pub refunds: Vec<Refund>,
    /// The payments.
    pub payments: Vec<Payment>,
}

/// A payment and its order, from one read.
#[derive(Debug, Clone)]
pub struct PaymentWithOrder {
    /// The payment.
    pub payment: Payment,
    /// Its order.
    pub order: Order,
}

impl PaymentWithOrder {
    /// Whether the order counts what the payment says that it does. Both change in one write.
    pub(super) fn agrees(&self) -> bool {
        let Self { payment, order } = self;
        let counted = order.payment(&payment.id);
        let captured = counted.map_or(0, |counted| counted.captured.amount);
        let applied = if payment.is_applied { payment.captured.amount } else { 0 };
        captured == applied && (counted.is_some() || payment.status != PaymentStatus::Authorized)
    }
}

impl OrderAggregate {
    /// The aggregate after a change of its order was saved.
    #[must_use]
    pub fn after(&self, change: &OrderChange) -> Self {
        let mut next = Self { order: change.order.clone(), ..self.clone() };
        for PaymentChange { payment, .. } in &change.payments {
            next.payments.retain(|known| known.id != payment.id);
            next.payments.push(payment.clone());
        }
        next.payments.sort_by_key(|payment| payment.created_at);
        if let Some(RefundChange { refund, .. }) = &change.refund {
            next.refunds.retain(|known| known.id != refund.id);
            next.refunds.push(refund.clone());
        }
        next.refunds.sort_by_key(|refund| refund.created_at);
        next
    }

    /// Its refunds, and those of payments that it did not accept, from the oldest.
    pub fn all_refunds(&self) -> Vec<Refund> {
        let is_new =
            |entry: &&PaymentRefund| self.refunds.iter().all(|refund| refund.id != entry.id);
        let unapplied = self.payments.iter().flat_map(|payment| {
            let entries = payment.refunds.iter().filter(is_new);
            entries.map(|entry| payment.refund_of_unapplied(entry))
        });
        let mut all: Vec<Refund> = self.refunds.iter().cloned().chain(unapplied).collect();
        all.sort_by_key(|refund| refund.created_at);
        all
    }

    /// The fulfilment with this id.
    ///
    /// # Errors
    /// `not_found`.
    pub fn fulfillment(&self, id: &FulfillmentId) -> Result<&Fulfillment, Problem> {
        let found = self.fulfillments.iter().find(|fulfillment| fulfillment.id == *id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// The refund with this id.
    ///
    /// # Errors
    /// `not_found`.
    pub fn refund(&self, id: &RefundId) -> Result<&Refund, Problem> {
        let found = self.refunds.iter().find(|refund| refund.id == *id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// The payment with this id.
    ///
    /// # Errors
    /// 500: the payments that an order names are never deleted.
    pub fn payment(&self, id: &PaymentId) -> Result<&Payment, Problem> {
        let found = self.payments.iter().find(|payment| payment.id == *id);
        found.ok_or_else(|| Problem::internal("a payment of an order is missing"))
    }
}

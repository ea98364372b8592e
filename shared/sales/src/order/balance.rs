//! The amounts of an order that follow from its lines and payments, and the statuses derived from them.

use core_types::money::Money;
use primitives::clock::Timestamp;

use super::{FinancialStatus, FulfillmentStatus, Order, OrderItem, OrderPayment, OrderStatus};

impl Order {
    /// Derives the payment and fulfilment statuses.
    pub(super) fn derive(&mut self) {
        self.financial_status = self.derived_financial_status();
        self.fulfillment_status = self.derived_fulfillment_status();
    }

    /// The outstanding amount: the total without waived units, less the captured amount.
    pub fn outstanding(&self) -> Money {
        let zero = || Money::zero(&self.currency);
        self.amount_owed().minus(&self.captured).unwrap_or_else(zero)
    }

    /// The amount to be paid in all: the total without waived units and shipping.
    fn amount_owed(&self) -> Money {
        let zero = || Money::zero(&self.currency);
        let waived = self.items.iter().map(OrderItem::waived_amount).collect::<Vec<_>>();
        let waived = Money::sum(waived.iter().chain([&self.waived_shipping()]), &self.currency);
        let waived = waived.unwrap_or_else(zero);
        if waived.is_zero() {
            return self.totals.total.clone();
        }
        let left = self.totals.exact_total().minus(&waived).unwrap_or_else(zero);
        left.rounded_to(self.rounds_to())
    }

    /// Whether the order accepts this additional amount.
    ///
    /// The limit is the total with units that were cancelled unpaid, as somebody may be paying for those at that
    /// moment. As long as anything is outstanding, such money is accepted, and can be refunded.
    pub fn accepts_amount(&self, amount: &Money) -> bool {
        let zero = Money::zero(&self.currency);
        let limit = self.totals.total.plus(self.uncharged.as_ref().unwrap_or(&zero));
        let uncalled = limit.and_then(|limit| limit.minus(&self.captured));
        let fits = uncalled.is_some_and(|left| left.minus(amount).is_some());
        fits && (amount.is_zero() || !self.outstanding().is_zero())
    }

    /// Whether nothing was paid, and need not be any more, as units were cancelled or returned since.
    fn is_waived(&self) -> bool {
        let had_to_be = !self.totals.total.is_zero() || self.uncharged.is_some();
        self.captured.is_zero() && had_to_be && self.amount_owed().is_zero()
    }

    /// The captured amount less refunds, pending ones included.
    pub fn unreturned(&self) -> Money {
        self.captured.minus(&self.refunded).unwrap_or_else(|| Money::zero(&self.currency))
    }

    /// The amount of its payments that disputes hold or have taken.
    pub fn disputed(&self) -> Money {
        let parts: Vec<Money> = self.payments.iter().map(OrderPayment::disputed).collect();
        let sum = Money::sum(&parts, &self.currency);
        sum.unwrap_or_else(|| self.unreturned()).min(&self.unreturned())
    }

    /// The amount that can still be refunded.
    pub fn refundable(&self) -> Money {
        let left = self.unreturned().minus(&self.disputed());
        left.unwrap_or_else(|| Money::zero(&self.currency))
    }

    /// The amount captured by payments, without gift cards.
    pub fn captured_by_payments(&self) -> Money {
        let parts = self.payments.iter().map(|payment| &payment.captured);
        Money::sum(parts, &self.currency).unwrap_or_else(|| self.captured.clone())
    }

    /// The revenue of the order, less refunds and disputed amounts. Zero while only gift cards cover a part
    /// of an unpaid order.
    pub fn net_revenue(&self) -> i64 {
        if !self.has_money() && !self.outstanding().is_zero() {
            return 0;
        }
        self.refundable().amount
    }

    /// The amount that is authorized and not captured yet.
    pub fn authorized(&self) -> Money {
        let open = self.payments.iter().filter(|payment| payment.is_open_authorization());
        Money::sum(open.map(|payment| &payment.authorized), &self.currency)
            .unwrap_or_else(|| Money::zero(&self.currency))
    }

    /// Whether a provider is processing a payment of it.
    pub fn is_processing(&self) -> bool {
        !self.processing.is_empty()
    }

    /// Whether a shopper may pay for it now.
    pub fn is_payable(&self, now: Timestamp) -> bool {
        self.status == OrderStatus::Open
            && !self.outstanding().is_zero()
            && self.authorized().is_zero()
            && !self.is_processing()
            && self.expires_at.is_none_or(|at| now < at)
    }

    /// Whether a payment is authorized or captured; gift cards do not count.
    pub(super) fn has_money(&self) -> bool {
        self.payments
            .iter()
            .any(|payment| payment.is_open_authorization() || !payment.captured.is_zero())
    }

    fn derived_financial_status(&self) -> FinancialStatus {
        let taken = self.captured_by_payments();
        if !self.has_money() && !self.outstanding_at_placement_was_zero() {
            match self.status {
                OrderStatus::Expired => return self.status_of_late(FinancialStatus::Expired),
                OrderStatus::Cancelled => return self.status_of_late(FinancialStatus::Voided),
                _ => {}
            }
        }
        if !self.refunded.is_zero() {
            return if self.unreturned().is_zero() {
                FinancialStatus::Refunded
            } else {
                FinancialStatus::PartiallyRefunded
            };
        }
        if self.is_waived() && self.authorized().is_zero() {
            FinancialStatus::Voided
        } else if self.outstanding().is_zero() && !self.is_waived() {
            FinancialStatus::Paid
        } else if !taken.is_zero() {
            FinancialStatus::PartiallyPaid
        } else if !self.authorized().is_zero() {
            FinancialStatus::Authorized
        } else if self.status == OrderStatus::Cancelled {
            FinancialStatus::Voided
        } else if self.is_processing() {
            FinancialStatus::Processing
        } else if self.payment_failed {
            FinancialStatus::Failed
        } else {
            FinancialStatus::Pending
        }
    }

    /// The payment status of an order that ended unpaid: that of payments that came too late, if there are any.
    fn status_of_late(&self, otherwise: FinancialStatus) -> FinancialStatus {
        let sum = |amount: fn(&OrderPayment) -> &Money| {
            Money::sum(self.unapplied.iter().map(amount), &self.currency)
        };
        let (taken, back) = (sum(|payment| &payment.captured), sum(|payment| &payment.refunded));
        match taken.zip(back) {
            Some((taken, _)) if taken.is_zero() => otherwise,
            Some((taken, back)) if back == taken => FinancialStatus::Refunded,
            Some((_, back)) if !back.is_zero() => FinancialStatus::PartiallyRefunded,
            _ => FinancialStatus::Paid,
        }
    }

    /// Whether nothing was due at placement: the order was free, or gift cards covered it.
    fn outstanding_at_placement_was_zero(&self) -> bool {
        self.totals.due.is_zero()
    }

    fn derived_fulfillment_status(&self) -> FulfillmentStatus {
        let sum = |count: fn(&OrderItem) -> u32| {
            self.items.iter().map(count).fold(0, u32::saturating_add)
        };
        let (fulfilled, remaining) = (sum(|item| item.fulfilled), sum(OrderItem::remaining));
        match (fulfilled, remaining) {
            (0, 0) => FulfillmentStatus::NotRequired,
            (0, _) => FulfillmentStatus::Unfulfilled,
            (_, 0) => FulfillmentStatus::Fulfilled,
            _ => FulfillmentStatus::PartiallyFulfilled,
        }
    }
}

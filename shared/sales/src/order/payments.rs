//! Which payments an order accepts, and how much of them can be captured.

use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::{ORDER_UPDATED, Order, OrderChange, OrderPayment};
use crate::payment::{Attention, Payment};

impl Order {
    /// The reason why the order does not accept this payment's money; none if it does.
    pub(crate) fn rejection(&self, payment: &Payment) -> Option<Attention> {
        let authorized = self.payment(&payment.id).is_some_and(|known| !known.voided);
        if self.is_over() {
            return Some(Attention::LatePayment);
        }
        let is_taken = !payment.captured.is_zero();
        let brings = if is_taken { &payment.captured } else { &payment.authorized };
        let is_too_much = !self.accepts_amount(brings);
        let is_second = !is_taken && !self.authorized().is_zero() && !authorized;
        (is_too_much || is_second).then_some(Attention::DuplicatePayment)
    }

    /// Requires that an amount other than the requested one can be applied to the order.
    ///
    /// # Errors
    /// `order_expired`, `order_already_paid`; `amount_exceeds_outstanding`, with the excess.
    pub(crate) fn ensure_room(&self, amount: &Money) -> Result<(), Problem> {
        if self.is_over() {
            return Err(Code::OrderExpired.with("order_status", self.status.as_str()));
        }
        let outstanding = self.outstanding();
        if outstanding.is_zero() {
            return Err(Code::OrderAlreadyPaid.into());
        }
        let excess = amount.minus(&outstanding).filter(|excess| !excess.is_zero());
        let to_json = |money: &Money| serde_json::to_value(money).unwrap_or_default();
        excess.map_or(Ok(()), |excess| {
            let problem = Code::AmountExceedsOutstanding.with("outstanding", to_json(&outstanding));
            Err(problem.with("excess", to_json(&excess)))
        })
    }

    /// Whether the order has more of this payment's money than the payment says. A batch reads each of its items at a
    /// moment of its own, and between the two the payment was captured.
    fn is_ahead_of(&self, payment: &Payment) -> bool {
        let more = self.payment(&payment.id).and_then(|it| it.captured.minus(&payment.captured));
        more.is_some_and(|more| !more.is_zero())
    }

    /// The amount of a payment that can be captured now, which is at most the outstanding amount.
    ///
    /// # Errors
    /// `not_capturable`, `amount_exceeds_authorized`, `order_already_paid`; a field error of `/amount`;
    /// `version_conflict` if payment and order are to be read again.
    pub fn capturable(&self, payment: &Payment, wanted: Option<&Money>) -> Result<Money, Problem> {
        if self.is_ahead_of(payment) {
            return Err(Code::VersionConflict.into());
        }
        if self.is_over() {
            let current = Code::NotCapturable.with("current", payment.status.as_str());
            return Err(current.with("order_status", self.status.as_str()));
        }
        let amount = payment.capturable(wanted)?;
        let outstanding = self.outstanding();
        // Another payment of the order may have paid it meanwhile.
        if outstanding.is_zero() {
            return Err(Code::OrderAlreadyPaid.into());
        }
        match (outstanding.minus(&amount), wanted) {
            (Some(_), _) => Ok(amount),
            (None, None) => payment.capturable(Some(&outstanding)),
            (None, Some(_)) => {
                let detail = "Must be at most the outstanding amount of the order.";
                Err(Problem::field("/amount", "out_of_range", detail))
            }
        }
    }
}

impl OrderChange {
    /// Records what was refunded of a payment that the order did not accept, in the same new version of the order.
    /// Changes nothing if it is recorded.
    #[must_use]
    pub(crate) fn and_unapplied(mut self, payment: &Payment, now: Timestamp) -> Self {
        let zero = || Money::zero(&self.order.currency);
        let entry = OrderPayment {
            payment_id: payment.id.clone(),
            provider: payment.provider.to_string(),
            authorized: payment.authorized.clone(),
            captured: payment.captured.clone(),
            refunded: payment.captured.minus(&payment.unreturned()).unwrap_or_else(zero),
            disputed_amount: None,
            voided: false,
        };
        if payment.is_applied || self.order.unapplied.contains(&entry) {
            return self;
        }
        let mut next = self.order.clone();
        next.unapplied.retain(|known| known.payment_id != payment.id);
        next.unapplied.push(entry);
        if self.is_order_changed() {
            next.derive();
            self.order = next;
            return self;
        }
        self.order = next.changed(now);
        self.announced(&ORDER_UPDATED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::IncomingPayment;
    use crate::order::tests::{order, paid};
    use crate::payment::tests::{NOW, open};
    use core_types::id::PaymentId;
    use core_types::money;
    use core_types::provider::ProviderName;

    fn with(authorized: i64, captured: i64) -> Payment {
        let (authorized, captured) = (money::sample(authorized), money::sample(captured));
        Payment { authorized, captured, ..open() }
    }

    fn authorized_by(payment_id: &PaymentId) -> Order {
        let amount = order().outstanding();
        let receipt = IncomingPayment { payment_id, provider: "stripe", amount: &amount };
        order().authorize(receipt, NOW).unwrap().order
    }

    #[test]
    fn an_order_rejects_duplicate_and_late_payments() {
        let (late, twice) = (Some(Attention::LatePayment), Some(Attention::DuplicatePayment));
        let (own, other) = (open().id, PaymentId::derive(&["other"]));
        let expires_at = order().expires_at.unwrap();
        let expired = order().expire(expires_at).unwrap().order;
        let voided = authorized_by(&own).void_payment(&own, NOW).unwrap().order;
        let amount = order().outstanding();
        let receipt = IncomingPayment { payment_id: &other, provider: "stripe", amount: &amount };
        let moved_on = voided.authorize(receipt, NOW).unwrap().order;
        for (order, payment, expected) in [
            (&order(), with(25_000, 25_000), None),
            (&order(), with(25_000, 0), None),
            (&order(), with(25_001, 0), twice),
            (&order(), with(25_000, 25_001), twice),
            (&order(), with(99_999, 25_000), None),
            (&paid(&order()), with(25_000, 25_000), twice),
            (&expired, with(25_000, 25_000), late),
            (&expired, with(1, 0), late),
            (&authorized_by(&own), with(25_000, 0), None),
            (&authorized_by(&other), with(25_000, 0), twice),
            (&authorized_by(&other), with(25_000, 25_000), None),
            (&moved_on, with(25_000, 0), twice),
        ] {
            let (held, taken) = (payment.authorized.amount, payment.captured.amount);
            let found = order.rejection(&payment);
            assert_eq!(found, expected, "{held} held, {taken} taken, {:?}", order.payments);
        }
    }

    #[test]
    fn a_payment_that_was_read_before_its_order_is_read_again() {
        let held = Payment { provider: ProviderName::Manual, ..with(0, 0) };
        let behind = |order: &Order| order.capturable(&held, None).map_err(|problem| problem.code);
        let mut other = paid(&order());
        assert_eq!(behind(&other), Err(Code::OrderAlreadyPaid), "by another payment");
        for known in &mut other.payments {
            known.payment_id = held.id.clone();
        }
        assert_eq!(behind(&other), Err(Code::VersionConflict));
    }

    #[test]
    fn an_order_accepts_at_most_the_outstanding_amount() {
        let code = |order: &Order, amount: i64| {
            order.ensure_room(&money::sample(amount)).map_err(|problem| problem.code)
        };
        let open = order();
        assert_eq!((code(&open, 1), code(&open, 25_000)), (Ok(()), Ok(())));
        assert_eq!(code(&open, 25_001), Err(Code::AmountExceedsOutstanding));
        assert_eq!(code(&paid(&open), 1), Err(Code::OrderAlreadyPaid));
        let expired = open.expire(open.expires_at.unwrap()).unwrap().order;
        assert_eq!(code(&expired, 1), Err(Code::OrderExpired));
    }
}

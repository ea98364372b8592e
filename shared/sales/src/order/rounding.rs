//! Rounding of an order's amounts to what its payment providers can count (docs/commerce.md).

use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use primitives::fields::FromText;

use super::Order;
use crate::payment::step;

impl Order {
    /// The step in minor units that its providers count in: the largest among those of its payments and the one
    /// that the shopper chose.
    pub(super) fn rounds_to(&self) -> i64 {
        let paid = self.payments.iter().map(|payment| payment.provider.as_str());
        let named = paid.chain(self.payment_provider.as_deref());
        let known = named.filter_map(|name| ProviderName::from_text(name).ok());
        known.map(|provider| step(provider, &self.currency)).max().unwrap_or(1)
    }

    /// The order with its amount due rounded for a payment through this provider, if the provider cannot count
    /// it. `None` if it can, or if a payment has taken money already.
    pub fn rounded_for(&self, provider: ProviderName, now: Timestamp) -> Option<Self> {
        let step = step(provider, &self.currency);
        let outstanding = self.outstanding();
        let is_exact = outstanding == outstanding.rounded_to(step);
        (!is_exact && self.is_payable(now) && self.captured_by_payments().is_zero())
            .then_some(())?;
        let totals = self.totals.clone().rounded_to(step);
        let provider = Some(provider.to_string());
        Some(Self { totals, payment_provider: provider, ..self.clone() }.changed(now))
    }

    /// The amount to refund for lines and shipping of this exact worth, as its providers count. The refunds of
    /// everything add up to the total, in any steps.
    pub(super) fn refund_of(&self, worth: &Money) -> Money {
        let exact = self.totals.exact_total();
        let step = self.rounds_to();
        if step == 1 && exact == self.totals.total {
            return worth.clone();
        }
        let lines = self.items.iter().map(|item| &item.refunded_amount);
        let before = Money::sum(lines.chain([&self.shipping_refunded]), &self.currency);
        let before = before.unwrap_or_else(|| Money::zero(&self.currency));
        let upto = |refunded: &Money| {
            let total = &self.totals.total;
            let is_all = refunded.amount >= exact.amount;
            if is_all { total.clone() } else { refunded.rounded_to(step).min(total) }
        };
        let after = before.plus(worth).unwrap_or_else(|| exact.clone());
        upto(&after).minus(&upto(&before)).unwrap_or_else(|| Money::zero(&self.currency))
    }
}

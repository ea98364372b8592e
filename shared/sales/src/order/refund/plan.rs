//! Plans a refund of an order, reserves its amounts, and releases them after a rejection.

use core_types::id::PaymentId;
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use primitives::fields::FromText;
use primitives::problem::{Code, Problem};
use serde_json::{Value, json};

use super::{
    Refund, RefundLine, RefundPlan, RefundStatus, RestockType, UnusableGiftCard, UnusableGiftCards,
    WantedLine, WantedRefund, WantedShipping,
};
use crate::order::restock::RestockLocations;
use crate::order::{GiftCardUse, Order, OrderItem, Units};
use crate::payment::{disputed as payment_disputed, ensure_countable};
use crate::tax::LineTax;

impl Order {
    /// Plans a requested refund, all of whose gift cards can be used.
    ///
    /// # Errors
    /// As [`Order::plan_refund_without`].
    pub fn plan_refund(&self, wanted: &WantedRefund) -> Result<RefundPlan, Problem> {
        self.plan_refund_without(wanted, &[])
    }

    /// Plans a requested refund. The money of `unusable` gift cards goes to them if the request says so; otherwise to
    /// payments, as far as these have taken enough, and for the rest to the merchant, if the request says that.
    ///
    /// # Errors
    /// `payment_not_captured`, `nothing_to_refund`, `payment_disputed`, `refund_exceeds_captured`,
    /// `quantity_exceeds_remaining`, `gift_card_unusable`, `amount_not_supported`; `unknown_order_item`,
    /// `duplicate`, `unknown_payment` and `out_of_range` as errors of their fields.
    pub fn plan_refund_without(
        &self,
        wanted: &WantedRefund,
        unusable: &[UnusableGiftCard],
    ) -> Result<RefundPlan, Problem> {
        if !self.is_over() && !self.is_firm() {
            return Err(
                Code::PaymentNotCaptured.with("financial_status", self.financial_status.as_str())
            );
        }
        let named =
            (self.refund_lines(&wanted.items)?, self.refund_shipping(wanted.shipping.as_ref())?);
        let (refundable, disputed) = self.refundable_through(wanted.payment_id.as_ref())?;
        if refundable.is_zero() && !disputed.is_zero() {
            return Err(payment_disputed(&refundable, &disputed));
        }
        if refundable.is_zero() {
            let code = if self.captured.is_zero() && !self.totals.total.is_zero() {
                Code::PaymentNotCaptured
            } else {
                Code::NothingToRefund
            };
            return Err(code.with("financial_status", self.financial_status.as_str()));
        }
        let (amount, (items, shipping)) = match &wanted.amount {
            Some(amount) => (amount.clone(), named),
            None if wanted.items.is_empty() && wanted.shipping.is_none() => {
                (refundable.clone(), self.rest_within(&refundable))
            }
            None => {
                let worth = self.worth_of(&named).ok_or(Code::NothingToRefund)?;
                (less_fee(&worth, wanted)?, named)
            }
        };
        if amount.is_zero() {
            return Err(Code::NothingToRefund.into());
        }
        if refundable.minus(&amount).is_none() {
            let is_there =
                refundable.plus(&disputed).is_some_and(|all| all.minus(&amount).is_some());
            return Err(if is_there {
                payment_disputed(&refundable, &disputed)
            } else {
                exceeds(&refundable)
            });
        }
        let shipping_tax_lines = self.shipping_tax_of(&shipping);
        let restocking_fee = wanted.restocking_fee.clone().filter(|fee| !fee.is_zero());
        let (to_gift_cards, by_hand, to_payments) = (Vec::new(), Vec::new(), Vec::new());
        let plan = RefundPlan {
            amount,
            items,
            shipping,
            shipping_tax_lines,
            restocking_fee,
            to_gift_cards,
            by_hand,
            to_payments,
        };
        self.divide(plan, wanted, unusable)
    }

    /// Divides the amount of a plan: to usable gift cards first, and to unusable ones that are to be credited; then
    /// through payments, then in place of the gift cards that cannot be used.
    ///
    /// # Errors
    /// `gift_card_unusable`; `amount_not_supported`.
    fn divide(
        &self,
        plan: RefundPlan,
        wanted: &WantedRefund,
        unusable: &[UnusableGiftCard],
    ) -> Result<RefundPlan, Problem> {
        let mut left = plan.amount.clone();
        let mut take = |from: Money| {
            let part = from.min(&left);
            left = left.minus(&part).unwrap_or_else(|| Money::zero(&self.currency));
            (!part.is_zero()).then_some(part)
        };
        let status_of = |card: &GiftCardUse| {
            unusable.iter().find(|one| one.id == card.card_id).map(|one| one.status)
        };
        let cards = || self.gift_cards.iter().filter(|_| wanted.payment_id.is_none());
        let is_credited = wanted.unusable_gift_cards == Some(UnusableGiftCards::Credit);
        let usable = cards().filter(|card| status_of(card).is_none());
        let credited = cards().filter(|card| is_credited && status_of(card).is_some());
        let to_gift_cards: Vec<_> = usable
            .chain(credited)
            .filter_map(|card| Some((card.card_id.clone(), take(card.refundable())?)))
            .collect();
        let wanted_payment =
            |id: &PaymentId| wanted.payment_id.as_ref().is_none_or(|wanted| wanted == id);
        let payments = self.payments.iter().filter(|payment| wanted_payment(&payment.payment_id));
        let to_payments: Vec<_> =
            payments.filter_map(|payment| Some((payment, take(payment.refundable())?))).collect();
        let (mut by_hand, mut open) = (Vec::new(), Vec::new());
        let unusable = cards().filter(|_| !is_credited);
        for (card, status) in unusable.filter_map(|card| Some((card, status_of(card)?))) {
            let Some(part) = take(card.refundable()) else { continue };
            match wanted.unusable_gift_cards {
                Some(_) => by_hand.push((card.card_id.clone(), part)),
                None => open.push(json!({
                    "gift_card_id": card.card_id, "last_characters": card.last_characters,
                    "status": status, "amount": part,
                })),
            }
        }
        if !open.is_empty() {
            let choices: Vec<&str> =
                UnusableGiftCards::ALL.iter().map(|one| one.as_str()).collect();
            return Err(Code::GiftCardUnusable.with("gift_cards", open).with("choices", choices));
        }
        // Amounts that follow from lines are rounded to what providers count.
        let is_free = wanted.amount.is_some() || wanted.restocking_fee.is_some();
        for (payment, part) in to_payments.iter().filter(|_| is_free) {
            if let Ok(provider) = ProviderName::from_text(&payment.provider) {
                ensure_countable(provider, part)?;
            }
        }
        let to_payments = to_payments.into_iter();
        let to_payments =
            to_payments.map(|(payment, part)| (payment.payment_id.clone(), part)).collect();
        Ok(RefundPlan { to_gift_cards, by_hand, to_payments, ..plan })
    }

    /// The refundable and the disputed amounts of the order, or of this payment alone.
    fn refundable_through(&self, payment: Option<&PaymentId>) -> Result<(Money, Money), Problem> {
        let Some(id) = payment else { return Ok((self.refundable(), self.disputed())) };
        let found = self.payment(id).ok_or_else(|| {
            let detail = "There is no such captured payment in the order.";
            Problem::field("/payment_id", "unknown_payment", detail)
        })?;
        if found.captured.is_zero() {
            return Err(
                Code::PaymentNotCaptured.with("financial_status", self.financial_status.as_str())
            );
        }
        Ok((found.refundable(), found.disputed()))
    }

    fn refund_lines(&self, wanted: &[WantedLine]) -> Result<Vec<RefundLine>, Problem> {
        let found = self.requested_items(wanted.iter().map(|line| &line.order_item_id))?;
        let pairs = || wanted.iter().zip(&found);
        let excess: Vec<Value> = pairs()
            .filter(|(line, item)| line.quantity > self.refundable_units(item, line.restock_type))
            .map(|(line, item)| {
                json!({
                    "order_item_id": item.id,
                    "requested": line.quantity,
                    "remaining": self.refundable_units(item, line.restock_type),
                    "restock_type": line.restock_type,
                })
            })
            .collect();
        if !excess.is_empty() {
            return Err(Code::QuantityExceedsRemaining.with("items", excess));
        }
        Ok(pairs().map(|(line, item)| item.refund_line(line)).collect())
    }

    /// The units of a line that can be refunded with this effect on stock. They include units that an
    /// earlier change or a rejected refund has cancelled or returned already.
    fn refundable_units(&self, item: &OrderItem, restock_type: RestockType) -> u32 {
        item.refundable().min(match restock_type {
            RestockType::NoRestock => u32::MAX,
            RestockType::Cancel if self.is_firm() => {
                item.remaining().saturating_add(item.refundable_cancelled)
            }
            RestockType::Cancel => item.refundable_cancelled,
            RestockType::Return => item.returnable().saturating_add(item.refundable_returned),
        })
    }

    fn refund_shipping(&self, wanted: Option<&WantedShipping>) -> Result<Money, Problem> {
        let left = self.shipping_left();
        match wanted {
            None => Ok(Money::zero(&self.currency)),
            Some(WantedShipping::Full) => Ok(left),
            Some(WantedShipping::Amount(amount)) => match left.minus(amount) {
                Some(_) => Ok(amount.clone()),
                None => Err(Problem::field(
                    "/shipping/amount",
                    "out_of_range",
                    "Must be at most the refundable amount of the shipping.",
                )),
            },
        }
    }

    /// The amount of the shipping that was not refunded.
    pub(super) fn shipping_left(&self) -> Money {
        let left = self.shipping_total().minus(&self.shipping_refunded);
        left.unwrap_or_else(|| Money::zero(&self.currency))
    }

    /// The tax on the next part of shipping that is refunded, by rate.
    fn shipping_tax_of(&self, amount: &Money) -> Vec<LineTax> {
        let Some(line) = self.shipping_line.as_ref().filter(|_| !amount.is_zero()) else {
            return Vec::new();
        };
        let before = self.shipping_refunded.amount;
        let part = (before, before.saturating_add(amount.amount), line.total.amount);
        line.tax_lines.iter().map(|tax| tax.part(part)).collect()
    }

    /// The order with a plan's amounts reserved, so that no other refund can use them.
    ///
    /// # Errors
    /// `refund_exceeds_captured`.
    pub fn reserve_refund(&self, plan: &RefundPlan, now: Timestamp) -> Result<Self, Problem> {
        let over = || exceeds(&self.unreturned());
        self.unreturned().minus(&plan.amount).ok_or_else(over)?;
        let mut next = self.clone();
        next.refunded = next.refunded.plus(&plan.amount).ok_or_else(over)?;
        next.shipping_refunded = next.shipping_refunded.plus(&plan.shipping).ok_or_else(over)?;
        for (id, part) in plan.to_gift_cards.iter().chain(&plan.by_hand) {
            for card in next.gift_cards.iter_mut().filter(|card| card.card_id == *id) {
                card.refunded = card.refunded.plus(part).ok_or_else(over)?;
            }
        }
        for (id, part) in &plan.to_payments {
            for payment in next.payments.iter_mut().filter(|found| found.payment_id == *id) {
                payment.refunded = payment.refunded.plus(part).ok_or_else(over)?;
            }
        }
        for line in &plan.items {
            for item in next.items.iter_mut().filter(|item| item.id == line.order_item_id) {
                item.refunded = item.refunded.saturating_add(line.quantity);
                item.refunded_amount = item.refunded_amount.plus(&line.amount).ok_or_else(over)?;
                match line.restock_type {
                    RestockType::NoRestock => {}
                    RestockType::Cancel => {
                        item.cancel_units(line.restocked);
                        let before = line.quantity.saturating_sub(line.restocked);
                        item.refundable_cancelled =
                            item.refundable_cancelled.saturating_sub(before);
                    }
                    RestockType::Return => {
                        item.return_units(line.restocked);
                        let before = line.quantity.saturating_sub(line.restocked);
                        item.refundable_returned = item.refundable_returned.saturating_sub(before);
                    }
                }
            }
        }
        Ok(next.changed(now))
    }

    /// The order after providers rejected these parts of a refund: their reserved amounts are released. If
    /// all parts failed, its lines can be refunded again. Units that it put back stay in stock, and are not
    /// put back twice.
    #[must_use]
    pub fn refund_rejected(&self, refund: &Refund, payments: &[PaymentId], now: Timestamp) -> Self {
        let zero = || Money::zero(&self.currency);
        let mut next = self.clone();
        for part in &refund.transactions {
            let Some(id) = part.payment_id.as_ref().filter(|id| payments.contains(id)) else {
                continue;
            };
            next.refunded = next.refunded.minus(&part.amount).unwrap_or_else(zero);
            for payment in next.payments.iter_mut().filter(|found| found.payment_id == *id) {
                payment.refunded = payment.refunded.minus(&part.amount).unwrap_or_else(zero);
            }
        }
        let all_failed = refund.transactions.iter().all(|part| part.status == RefundStatus::Failed);
        if all_failed {
            let shipping = next.shipping_refunded.minus(&refund.shipping);
            next.shipping_refunded = shipping.unwrap_or_else(zero);
            for line in &refund.items {
                for item in next.items.iter_mut().filter(|item| item.id == line.order_item_id) {
                    item.refunded = item.refunded.saturating_sub(line.quantity);
                    let amount = item.refunded_amount.minus(&line.amount);
                    item.refunded_amount = amount.unwrap_or_else(zero);
                    match line.restock_type {
                        RestockType::NoRestock => {}
                        RestockType::Cancel => {
                            item.refundable_cancelled =
                                item.refundable_cancelled.saturating_add(line.quantity);
                        }
                        RestockType::Return => {
                            item.refundable_returned =
                                item.refundable_returned.saturating_add(line.quantity);
                        }
                    }
                }
            }
        }
        next.changed(now)
    }
}

impl RefundPlan {
    /// The locations where units of its lines are put back.
    pub fn restock_locations(&self) -> RestockLocations {
        let lines = self.items.iter();
        RestockLocations::of_lines(lines.map(|line| (line.restock_type, &*line.restocked_at)))
    }
}

impl OrderItem {
    /// The refund of units of the line. Units that were cancelled or returned without a refund come first,
    /// and move no stock.
    pub(super) fn refund_line(&self, wanted: &WantedLine) -> RefundLine {
        let mut item = self.clone();
        let (restocked, mut restocked_at) = match wanted.restock_type {
            RestockType::NoRestock => (0, Vec::new()),
            RestockType::Cancel => {
                let restocked = wanted.quantity.saturating_sub(self.refundable_cancelled);
                (restocked, item.cancel_units(restocked))
            }
            RestockType::Return => {
                let restocked = wanted.quantity.saturating_sub(self.refundable_returned);
                (restocked, item.return_units(restocked))
            }
        };
        let named = wanted.location_id.as_ref().filter(|_| !restocked_at.is_empty());
        let comes_back = wanted.restock_type == RestockType::Return;
        if let Some(named) = named.filter(|_| comes_back) {
            restocked_at = vec![Units { location_id: named.clone(), quantity: restocked }];
        }
        RefundLine {
            order_item_id: self.id.clone(),
            quantity: wanted.quantity,
            amount: self.worth(wanted.quantity),
            tax_lines: self.tax_of(wanted.quantity),
            restock_type: wanted.restock_type,
            restocked,
            location_id: restocked_at.first().map(|units| units.location_id.clone()),
            restocked_at,
        }
    }
}

/// The amount for lines and shipping without the restocking fee.
fn less_fee(named: &Money, wanted: &WantedRefund) -> Result<Money, Problem> {
    let Some(fee) = &wanted.restocking_fee else { return Ok(named.clone()) };
    named.minus(fee).ok_or_else(|| {
        let detail = "Must be at most the amount of the lines and the shipping.";
        Problem::field("/restocking_fee/amount", "out_of_range", detail)
    })
}

fn exceeds(refundable: &Money) -> Problem {
    let refundable = serde_json::to_value(refundable).unwrap_or_default();
    Code::RefundExceedsCaptured.with("refundable", refundable)
}

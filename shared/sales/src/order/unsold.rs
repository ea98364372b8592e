//! Units that are cancelled or returned before the order is paid: its amounts follow, as if they had not been
//! ordered (docs/commerce.md §4).
//!
//! A line keeps its price, and a discount its share. Tax is levied again on what is left, by the same rates.
//! Shipping stays, until no unit is left. Gift cards that would pay more than the new total are credited.

use core_types::id::{GiftCardId, OrderItemId};
use core_types::money::Money;
use primitives::problem::Problem;

use super::{DiscountAllocation, Order, OrderItem, ShippingLine, Totals};
use crate::tax;

/// The amounts that gift cards get back.
pub(super) type Credits = Vec<(GiftCardId, Money)>;

impl Order {
    /// Whether units that are cancelled or returned now are unsold: the order is not paid in full, and nothing of
    /// it was refunded.
    pub(super) fn recalculates_on_removal(&self) -> bool {
        !self.outstanding().is_zero() && self.refunded.is_zero()
    }

    /// Takes units out of its lines and amounts. Returns the credits of its gift cards.
    ///
    /// # Errors
    /// 500: an amount is out of the range of money, which smaller ones never are.
    pub(super) fn unsell(&mut self, units: &[(OrderItemId, u32)]) -> Result<Credits, Problem> {
        let exact = self.totals.exact_total();
        let before = self.items.clone();
        self.unsell_lines(units, &before)
            .and_then(|credits| {
                let less = exact.minus(&self.totals.exact_total())?;
                self.uncharged = Some(match &self.uncharged {
                    Some(known) => known.plus(&less)?,
                    None => less,
                });
                Some(credits)
            })
            .ok_or_else(|| {
                Problem::internal("the total of an order with unsold units is out of range")
            })
    }

    fn unsell_lines(
        &mut self,
        units: &[(OrderItemId, u32)],
        before: &[OrderItem],
    ) -> Option<Credits> {
        let is_included = self.totals.tax_included;
        for (id, quantity) in units {
            for item in self.items.iter_mut().filter(|item| item.id == *id) {
                item.unsell(*quantity, is_included)?;
            }
        }
        let mut tax_lines = self.totals.tax_lines.clone();
        for (before, after) in before.iter().zip(&self.items) {
            let (before, after) = (before.taxed()?, after.taxed()?);
            tax_lines = tax::replaced(&tax_lines, &before, &after);
        }
        self.totals.tax_lines = tax_lines;
        if self.items.iter().all(|item| item.sold() == 0) {
            self.totals.tax_lines.clear();
            self.totals.shipping = Money::zero(&self.currency);
            self.shipping_line = self.shipping_line.take().map(ShippingLine::free);
        }
        self.sum_up()
    }

    /// Adds up the lines and the shipping, and settles the gift cards. `tax_lines` are as they are.
    fn sum_up(&mut self) -> Option<Credits> {
        let shipping = self.shipping_line.as_ref();
        let sum = |of_line: fn(&OrderItem) -> &Money, of_shipping: fn(&ShippingLine) -> &Money| {
            let lines = self.items.iter().map(of_line);
            Money::sum(lines.chain(shipping.map(of_shipping)), &self.currency)
        };
        let of_lines = Money::sum(self.items.iter().map(|item| &item.total), &self.currency)?;
        let total = of_lines.plus(&self.shipping_total())?;
        let totals = Totals {
            subtotal: Money::sum(self.items.iter().map(|item| &item.subtotal), &self.currency)?,
            discount: sum(|item| &item.discount, |line| &line.discount)?,
            tax: sum(|item| &item.tax, |line| &line.tax)?,
            rounding: None,
            due: total.clone(),
            total,
            ..self.totals.clone()
        };
        self.sum_discounts()?;
        self.apply_totals(totals)
    }

    /// Sets the amount of each discount to the sum of its parts.
    pub(super) fn sum_discounts(&mut self) -> Option<()> {
        for discount in &mut self.discounts {
            let of_lines = self.items.iter().flat_map(|item| &item.discounts);
            let of_shipping = self.shipping_line.iter().flat_map(|line| &line.discounts);
            let parts = of_lines.chain(of_shipping);
            let own = parts.filter(|part| part.discount_id == discount.discount_id);
            discount.amount = Money::sum(own.map(|part| &part.amount), &self.currency)?;
        }
        Some(())
    }

    /// Sets new totals, which are before gift cards. Gift cards that paid more than the new total pay less, the
    /// last one first; the result is what they get back.
    pub(super) fn apply_totals(&mut self, totals: Totals) -> Option<Credits> {
        let by_cards = self.totals.gift_cards.min(&totals.total);
        let mut excess = self.totals.gift_cards.minus(&by_cards)?;
        let mut credits = Credits::new();
        for card in self.gift_cards.iter_mut().rev() {
            let part = excess.min(&card.refundable());
            if !part.is_zero() {
                excess = excess.minus(&part)?;
                card.amount = card.amount.minus(&part)?;
                self.captured = self.captured.minus(&part)?;
                credits.push((card.card_id.clone(), part));
            }
        }
        let due = totals.total.minus(&by_cards)?;
        self.totals = Totals { gift_cards: by_cards, due, ..totals }.rounded_to(self.rounds_to());
        Some(credits)
    }
}

impl OrderItem {
    /// Takes units out of the line's amounts.
    fn unsell(&mut self, quantity: u32, is_included: bool) -> Option<()> {
        let before = self.subtotal.clone();
        self.unsold = self.unsold.saturating_add(quantity).min(self.quantity);
        self.subtotal = self.price.times(self.sold())?;
        self.discounts = DiscountAllocation::scaled(&self.discounts, &before, &self.subtotal);
        let parts = self.discounts.iter().map(|part| &part.amount);
        self.discount = Money::sum(parts, &self.subtotal.currency)?;
        let left = self.subtotal.minus(&self.discount)?;
        self.tax_lines = tax::levy_again(&left, &self.tax_lines, is_included);
        self.tax = tax::sum(&self.tax_lines, &left.currency)?;
        self.total = if is_included { left } else { left.plus(&self.tax)? };
        Some(())
    }

    /// Its amount without tax, and the tax by rate.
    fn taxed(&self) -> Option<(Money, &[tax::LineTax])> {
        Some((self.total.minus(&self.tax)?, &self.tax_lines))
    }
}

impl ShippingLine {
    /// The line of an order that has nothing to ship any more.
    fn free(self) -> Self {
        let zero = Money::zero(&self.price.currency);
        Self {
            service: self.service,
            list_price: None,
            price: zero.clone(),
            discount: zero.clone(),
            discounts: Vec::new(),
            tax: zero.clone(),
            tax_lines: Vec::new(),
            total: zero,
        }
    }
}

//! The totals of a cart: discounts, shipping and tax, in this order (docs/commerce.md).

use core_types::fields::Currency;
use core_types::id::DiscountId;
use core_types::money::Money;
use primitives::problem::FieldError;

use super::quote::PricedLine;
use super::rules::Rules;
use super::rules::charge;
use super::taxes::TaxedAmount;
use crate::discount::{Discount, DiscountClass, DiscountRejection, DiscountableLine, Saving};
use crate::order::cart::violation;
use crate::order::{DiscountAllocation, ShippingLine, Totals};
use crate::shipping::{Parcel, ShippingRate, ShippingService};
use crate::tax;

/// The totals of a cart, before gift cards.
pub(super) struct Sums {
    pub(super) parcel: Parcel,
    pub(super) shipping: Option<ShippingLine>,
    pub(super) discounts: Vec<(Discount, Money)>,
    pub(super) totals: Totals,
}

/// Sets the discounts, tax and totals of the lines, and the totals of the cart. None if an amount is out of
/// the range of money. Without `is_whole`, lines of the cart are missing: they may be what a discount or a rate
/// requires, so that only errors of the rest are added.
pub(super) fn sum_up(
    lines: &mut [PricedLine],
    (rules, is_whole): (&Rules, bool),
    currency: &Currency,
    errors: &mut Vec<FieldError>,
) -> Option<Sums> {
    let is_sent = lines.iter().any(|line| line.sellable.requires_shipping);
    let rate = rules.rate(Some(is_sent).filter(|is_sent| *is_sent || is_whole), errors);
    lines.iter_mut().try_for_each(|line| line.deduct_tax(rules, rate))?;
    let subtotal = Money::sum(lines.iter().map(|line| &line.subtotal), currency)?;
    let mut cart = DiscountedCart::of(lines, rules, rate, currency);
    if let Some((position, discount)) = &rules.named {
        match cart.saving(discount) {
            Ok(saving) => cart.apply_discount(discount, &saving),
            Err(rejection) if !is_whole && rejection.is_of_goods() => {}
            Err(rejection) => errors.push(rejected(*position, rejection)),
        }
    }
    if let Some((discount, saving)) = cart.best(&rules.automatic) {
        cart.apply_discount(discount, &saving);
    }
    let DiscountedCart { applied, free_by, .. } = &cart;
    for (at, line) in lines.iter_mut().enumerate() {
        let of_line = |(id, saving): &(Discount, Saving)| {
            let amount = saving.lines.get(at).filter(|amount| !amount.is_zero())?;
            Some(DiscountAllocation { discount_id: id.id.clone(), amount: amount.clone() })
        };
        line.discounts = applied.iter().filter_map(of_line).collect();
        line.set_total(rules, rate)?;
    }
    let parcel = cart.parcel();
    let charged = rate.and_then(|rate| {
        let price = charge(rate, &parcel);
        errors.extend(price.as_ref().err().filter(|_| is_whole).cloned());
        Some((rate, price.ok()?))
    });
    let (shipping, taxed) = match charged {
        Some((rate, price)) => {
            let net = rules.taxes.net_shipping(price.clone(), rate, lines);
            let (line, taxed) = shipping_line(rate, net, free_by.as_ref(), rules, lines)?;
            (Some(line.listed_at(price)), Some(taxed))
        }
        None => (None, None),
    };
    let discounts = applied.iter().map(|(discount, saving)| {
        let of_lines = Money::sum(&saving.lines, currency)?;
        let sent_free = shipping.as_ref().filter(|_| free_by.as_ref() == Some(&discount.id));
        let of_shipping =
            sent_free.map_or_else(|| Money::zero(currency), |line| line.discount.clone());
        Some((discount.clone(), of_lines.plus(&of_shipping)?))
    });
    let discounts: Vec<(Discount, Money)> = discounts.collect::<Option<_>>()?;
    // Free shipping saves nothing where shipping is free already, and an unknown sum until a rate is chosen.
    let saves_nothing = |(_, named): &&(usize, Discount)| {
        let of_named = discounts.iter().find(|(discount, _)| discount.id == named.id);
        named.class() != DiscountClass::Shipping
            && of_named.is_some_and(|(_, amount)| amount.is_zero())
    };
    let is_sound = errors.is_empty();
    if let Some((position, _)) = rules.named.as_ref().filter(|_| is_sound).filter(saves_nothing) {
        errors.push(rejected(*position, DiscountRejection::NotApplicable));
    }
    let shipped = shipping.as_ref().zip(taxed.as_ref());
    let totals = totals(lines, subtotal, shipped, rules, currency)?;
    Some(Sums { parcel, shipping, discounts, totals })
}

/// The field error of a rejected code.
fn rejected(position: usize, why: DiscountRejection) -> FieldError {
    violation(&format!("/discount_codes/{position}"), why.code(), why.detail())
}

/// A cart while discounts are applied.
struct DiscountedCart<'a> {
    goods: Vec<DiscountableLine>,
    grams: i64,
    rate: Option<&'a ShippingRate>,
    currency: &'a Currency,
    applied: Vec<(Discount, Saving)>,
    /// The discount that makes shipping free.
    free_by: Option<DiscountId>,
}

impl<'a> DiscountedCart<'a> {
    fn of(
        lines: &[PricedLine],
        rules: &Rules,
        rate: Option<&'a ShippingRate>,
        currency: &'a Currency,
    ) -> Self {
        let goods = lines.iter().map(|line| DiscountableLine {
            product_id: line.sellable.product_id.clone(),
            collection_ids: rules
                .collections
                .get(&line.sellable.product_id)
                .cloned()
                .unwrap_or_default(),
            quantity: line.line.quantity,
            price: line.sellable.price.clone(),
            subtotal: line.subtotal.clone(),
            left: line.subtotal.clone(),
            requires_shipping: line.sellable.requires_shipping,
        });
        let sent = lines.iter().filter(|line| line.sellable.requires_shipping);
        let weights = sent.map(|line| {
            let grams = i64::from(line.sellable.weight_grams.unwrap_or(0));
            grams.saturating_mul(i64::from(line.line.quantity))
        });
        Self {
            goods: goods.collect(),
            grams: weights.fold(0, i64::saturating_add),
            rate,
            currency,
            applied: Vec::new(),
            free_by: None,
        }
    }

    /// The parcel at the current discounts: the goods that are shipped, without those that are not.
    fn parcel(&self) -> Parcel {
        let sent = self.goods.iter().filter(|goods| goods.requires_shipping);
        let left = Money::sum(sent.map(|goods| &goods.left), self.currency);
        Parcel { grams: self.grams, goods: left.unwrap_or_else(|| Money::zero(self.currency)) }
    }

    fn apply_discount(&mut self, discount: &Discount, saving: &Saving) {
        for (goods, amount) in self.goods.iter_mut().zip(&saving.lines) {
            goods.left = goods.left.minus(amount).unwrap_or_else(|| Money::zero(self.currency));
        }
        if saving.free_shipping && self.free_by.is_none() {
            self.free_by = Some(discount.id.clone());
        }
        self.applied.push((discount.clone(), saving.clone()));
    }

    /// The saving of a discount, unless it is for other shipping rates than the chosen one.
    fn saving(&self, discount: &Discount) -> Result<Saving, DiscountRejection> {
        let saving = discount.saving(&self.goods, self.currency)?;
        let price = self.rate.and_then(|rate| Some((rate, rate.price_of(&self.parcel())?)));
        let is_for_others = price.is_some_and(|(rate, price)| !discount.frees(&rate.id, &price));
        if saving.free_shipping && is_for_others {
            return Err(DiscountRejection::NotForShippingRate);
        }
        Ok(saving)
    }

    /// The automatic discount that saves the most after the discounts applied before, of those that combine with
    /// them; the oldest of equal ones.
    fn best<'d>(&self, automatic: &'d [Discount]) -> Option<(&'d Discount, Saving)> {
        let mut best: Option<(i64, &Discount, Saving)> = None;
        for discount in automatic {
            if !self.applied.iter().all(|(applied, _)| applied.combines(discount)) {
                continue;
            }
            let Ok(saving) = self.saving(discount) else { continue };
            let worth = self.worth(&saving);
            let is_better = best.as_ref().is_none_or(|(most, known, _)| {
                let older = (discount.created_at, &discount.id) < (known.created_at, &known.id);
                worth > *most || (worth == *most && older)
            });
            if worth > 0 && is_better {
                best = Some((worth, discount, saving));
            }
        }
        best.map(|(_, discount, saving)| (discount, saving))
    }

    /// The amount saved on the lines and on shipping.
    fn worth(&self, saving: &Saving) -> i64 {
        let of_lines = saving.lines.iter().map(|line| line.amount).fold(0, i64::saturating_add);
        let is_new = saving.free_shipping && self.free_by.is_none();
        let price = self.rate.filter(|_| is_new).and_then(|rate| rate.price_of(&self.parcel()));
        of_lines.saturating_add(price.map_or(0, |price| price.amount))
    }
}

impl PricedLine {
    /// Takes the tax of the store's place out of the price, if the buyer pays no tax.
    pub(super) fn deduct_tax(&mut self, rules: &Rules, rate: Option<&ShippingRate>) -> Option<()> {
        let rates = rules.taxes.deducted(rate, &self.sellable);
        if rates.is_empty() {
            return Some(());
        }
        let price = &self.sellable.price;
        let tax = tax::sum(&tax::levy(price, &rates, true), &price.currency)?;
        let net = price.minus(&tax)?;
        self.list_price = (net != *price).then(|| price.clone());
        self.sellable.price = net;
        self.subtotal = self.sellable.price.times(self.line.quantity)?;
        Some(())
    }

    /// Sets the line's discount, tax and total.
    pub(super) fn set_total(&mut self, rules: &Rules, rate: Option<&ShippingRate>) -> Option<()> {
        let currency = &self.subtotal.currency;
        self.discount = Money::sum(self.discounts.iter().map(|part| &part.amount), currency)?;
        let left = self.subtotal.minus(&self.discount)?;
        let taxed = rules.taxes.on_line(left, rate, &self.sellable)?;
        (self.tax, self.tax_lines, self.total) = (taxed.tax, taxed.lines, taxed.total);
        Some(())
    }
}

pub(super) fn shipping_line(
    rate: &ShippingRate,
    price: Money,
    free_by: Option<&DiscountId>,
    rules: &Rules,
    lines: &[PricedLine],
) -> Option<(ShippingLine, TaxedAmount)> {
    let zero = Money::zero(&price.currency);
    let discount = if free_by.is_some() { price.clone() } else { zero };
    let off = free_by.filter(|_| !discount.is_zero());
    let discounts =
        off.map(|id| DiscountAllocation { discount_id: id.clone(), amount: discount.clone() });
    let left = price.minus(&discount)?;
    let taxed = rules.taxes.on_shipping(&left, rate, lines)?;
    let line = ShippingLine {
        service: ShippingService::from(rate),
        list_price: None,
        price,
        discount,
        discounts: discounts.into_iter().collect(),
        tax: taxed.tax.clone(),
        tax_lines: taxed.lines.clone(),
        total: taxed.total.clone(),
    };
    Some((line, taxed))
}

pub(super) fn totals(
    lines: &[PricedLine],
    subtotal: Money,
    shipped: Option<(&ShippingLine, &TaxedAmount)>,
    rules: &Rules,
    currency: &Currency,
) -> Option<Totals> {
    let shipping = shipped.map(|(line, _)| line);
    let all = |of_line: fn(&PricedLine) -> &Money, of_shipping: fn(&ShippingLine) -> &Money| {
        Money::sum(lines.iter().map(of_line).chain(shipping.map(of_shipping)), currency)
    };
    let total = all(|line| &line.total, |line| &line.total)?;
    let net = |total: &Money, tax: &Money| total.minus(tax).unwrap_or_else(|| total.clone());
    let taxed = lines.iter().map(|line| (net(&line.total, &line.tax), &*line.tax_lines));
    let parts = shipped.iter().flat_map(|(_, taxed)| &taxed.parts);
    let sent = parts.map(|(net, lines)| (net.clone(), &**lines));
    Some(Totals {
        subtotal,
        discount: all(|line| &line.discount, |line| &line.discount)?,
        shipping: shipping.map_or_else(|| Money::zero(currency), |line| line.price.clone()),
        tax: all(|line| &line.tax, |line| &line.tax)?,
        tax_included: rules.taxes.is_included(),
        tax_lines: tax::by_rate(taxed.chain(sent)),
        rounding: None,
        gift_cards: Money::zero(currency),
        due: total.clone(),
        total,
    })
}

//! The tax of a cart: on its lines, and on its shipping by the rates of the goods.

use catalogue::product::Sellable;
use core_types::fields::Currency;
use core_types::id::TaxRateId;
use core_types::money::Money;
use identity::settings::{ShippingTax, Taxes};

use super::quote::PricedLine;
use crate::shipping::{ShippingRate, ShippingRateKind};
use crate::tax::{self, LineTax, TaxLocation, TaxRate};

/// The tax rules that a cart is priced by.
#[derive(Debug, Clone, Default)]
pub struct TaxRules {
    /// The rates of the country of taxation, of the store's country, and of the country of a pickup.
    pub rates: Vec<TaxRate>,
    /// The place of taxation; none if the buyer is exempt.
    pub place: Option<TaxLocation>,
    /// The place of a pickup.
    pub pickup: Option<TaxLocation>,
    /// The place of the store.
    pub home: Option<TaxLocation>,
    /// The store's settings.
    pub settings: Taxes,
}

/// An amount with its tax.
#[derive(Debug, Clone)]
pub(super) struct TaxedAmount {
    /// The tax.
    pub(super) tax: Money,
    /// The tax by rate.
    pub(super) lines: Vec<LineTax>,
    /// The amount with its tax.
    pub(super) total: Money,
    /// The parts that were taxed by different rates, each without its tax.
    pub(super) parts: Vec<(Money, Vec<LineTax>)>,
}

impl TaxRules {
    /// The place of taxation with this shipping rate.
    fn place(&self, rate: Option<&ShippingRate>) -> Option<&TaxLocation> {
        let place = self.place.as_ref()?;
        let is_fetched = rate.is_some_and(|rate| rate.kind == ShippingRateKind::Pickup);
        Some(self.pickup.as_ref().filter(|_| is_fetched).unwrap_or(place))
    }

    /// The place of taxation: that of a pickup, if it has one. None if the buyer is exempt.
    pub(super) fn taxed_at(&self) -> Option<TaxLocation> {
        let place = self.place.as_ref()?;
        Some(self.pickup.as_ref().unwrap_or(place).clone())
    }

    /// The rates of goods with this shipping rate: by their class, and none if they are not taxable.
    fn rates(&self, rate: Option<&ShippingRate>, goods: &Sellable) -> Vec<&TaxRate> {
        let place = self.place(rate).filter(|_| goods.taxable);
        let class = goods.tax_class.as_ref();
        place.map(|place| tax::applicable(&self.rates, place, class)).unwrap_or_default()
    }

    /// Whether prices include tax.
    pub(super) const fn is_included(&self) -> bool {
        self.settings.prices_include_tax
    }

    /// The rates of the store's place that the price of goods loses, because the buyer pays no tax. The
    /// price of goods that are not taxable has no tax to lose.
    pub(super) fn deducted(&self, rate: Option<&ShippingRate>, goods: &Sellable) -> Vec<&TaxRate> {
        let has_tax = self.is_included() && goods.taxable;
        let deducts = has_tax && self.settings.deducts_tax_when_exempt;
        let Some(home) = self.home.as_ref().filter(|_| deducts) else { return Vec::new() };
        let is_taxed = self.rates(rate, goods).iter().any(|rate| rate.percentage.parts() > 0);
        let class = goods.tax_class.as_ref();
        if is_taxed { Vec::new() } else { tax::applicable(&self.rates, home, class) }
    }

    /// Whether the price of any goods loses tax.
    pub(super) fn deducts(&self, rate: Option<&ShippingRate>, lines: &[PricedLine]) -> bool {
        lines.iter().any(|line| !self.deducted(rate, &line.sellable).is_empty())
    }

    /// The tax of a line's amount after discounts.
    pub(super) fn on_line(
        &self,
        left: Money,
        rate: Option<&ShippingRate>,
        goods: &Sellable,
    ) -> Option<TaxedAmount> {
        let lines = tax::levy(&left, &self.rates(rate, goods), self.is_included());
        self.with_tax(vec![(left, lines)])
    }

    /// The tax of the price of shipping, after discounts. It is divided over the goods that are shipped, in
    /// proportion to their totals, and each part is taxed as these goods are; or all of it as those with the
    /// largest total.
    pub(super) fn on_shipping(
        &self,
        left: &Money,
        rate: &ShippingRate,
        lines: &[PricedLine],
    ) -> Option<TaxedAmount> {
        let parts = self.by_goods(left, Some(rate), lines);
        let levied = |(part, rates): (Money, Vec<&TaxRate>)| {
            let taxes = tax::levy(&part, &rates, self.is_included());
            (part, taxes)
        };
        self.with_tax(parts.into_iter().map(levied).collect())
    }

    /// The price of shipping without the tax of the store's place, for those who pay no tax.
    pub(super) fn net_shipping(
        &self,
        price: Money,
        rate: &ShippingRate,
        lines: &[PricedLine],
    ) -> Money {
        if !self.deducts(Some(rate), lines) {
            return price;
        }
        let home = Self { place: self.home.clone(), pickup: None, ..self.clone() };
        let parts = home.by_goods(&price, None, lines);
        let taxes = parts.iter().flat_map(|(part, rates)| tax::levy(part, rates, true));
        let taxes: Vec<LineTax> = taxes.collect();
        let tax = tax::sum(&taxes, &price.currency);
        tax.and_then(|tax| price.minus(&tax)).unwrap_or(price)
    }

    /// Divides an amount of shipping over the goods that are shipped, with the rates that tax each part.
    fn by_goods(
        &self,
        amount: &Money,
        rate: Option<&ShippingRate>,
        lines: &[PricedLine],
    ) -> Vec<(Money, Vec<&TaxRate>)> {
        let mut groups: Vec<(Vec<&TaxRate>, i64)> = Vec::new();
        for line in lines.iter().filter(|line| line.sellable.requires_shipping) {
            let mut rates = self.rates(rate, &line.sellable);
            rates.retain(|rate| rate.on_shipping);
            let ids = |rates: &[&TaxRate]| -> Vec<TaxRateId> {
                rates.iter().map(|rate| rate.id.clone()).collect()
            };
            let left = line.subtotal.minus(&line.discount).map_or(0, |left| left.amount);
            match groups.iter_mut().find(|(known, _)| ids(known) == ids(&rates)) {
                Some((_, weight)) => *weight = weight.saturating_add(left),
                None => groups.push((rates, left)),
            }
        }
        if groups.is_empty() {
            groups.push((Vec::new(), 0));
        }
        if self.settings.shipping == ShippingTax::Dominant {
            let largest = groups.iter().map(|(_, weight)| *weight).max();
            let first = groups.iter().position(|(_, weight)| Some(*weight) == largest);
            groups = first.map(|at| groups.swap_remove(at)).into_iter().collect();
        }
        let weights: Vec<i64> = groups.iter().map(|(_, weight)| *weight).collect();
        let parts = amount.allocate(&weights);
        parts.into_iter().zip(groups).map(|(part, (rates, _))| (part, rates)).collect()
    }

    /// Sums up parts with their taxes. None if an amount is out of the range of money.
    fn with_tax(&self, parts: Vec<(Money, Vec<LineTax>)>) -> Option<TaxedAmount> {
        let currency: Currency = parts.first().map(|(part, _)| part.currency.clone())?;
        let lines = tax::merged(parts.iter().flat_map(|(_, lines)| lines));
        let tax = tax::sum(&lines, &currency)?;
        let amount = Money::sum(parts.iter().map(|(part, _)| part), &currency)?;
        let total = if self.is_included() { amount } else { amount.plus(&tax)? };
        let net = |(part, lines): (Money, Vec<LineTax>)| {
            let tax = tax::sum(&lines, &currency).filter(|_| self.is_included());
            let net = tax.and_then(|tax| part.minus(&tax)).unwrap_or(part);
            (net, lines)
        };
        Some(TaxedAmount { tax, lines, total, parts: parts.into_iter().map(net).collect() })
    }
}

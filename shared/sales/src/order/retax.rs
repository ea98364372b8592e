//! The tax of an unpaid order whose shipping address has changed: lines, shipping and totals at the rates of the
//! new place.

use std::collections::{BTreeMap, HashMap};

use catalogue::product::{ProductStatus, Sellable};
use core_types::id::{StoreId, VariantId};
use core_types::money::Money;

use super::cart::CartLine;
use super::pricing::{PricedLine, Retaxed, Rules, TaxRules, retax};
use super::unsold::Credits;
use super::{ORDER_PAID, ORDER_UPDATED, Order, OrderChange, OrderItem, OrderStatus, ShippingLine};
use crate::shipping::{ShippingRate, ShippingRateKind};
use crate::tax::TaxLocation;

impl Order {
    /// Whether its tax can still change: nothing is paid, on its way, or fulfilled.
    pub fn can_be_taxed_anew(&self) -> bool {
        matches!(self.status, OrderStatus::Open | OrderStatus::Draft)
            && self.captured_by_payments().is_zero()
            && self.authorized().is_zero()
            && self.refunded.is_zero()
            && !self.is_processing()
            && self.items.iter().all(|item| item.fulfilled == 0 && item.cancelled == item.unsold)
    }

    /// The place where its shipping address is taxed, if it is not the one that its tax is of. None for a pickup,
    /// which is taxed where it happens, and for a buyer who pays no tax.
    pub fn other_tax_place(&self) -> Option<TaxLocation> {
        let taxed_at = self.taxed_at.as_ref()?;
        let shipping = self.shipping_line.as_ref();
        let is_fetched = shipping.is_some_and(|line| line.service.kind == ShippingRateKind::Pickup);
        let place = TaxLocation::from(self.shipping_address.as_ref()?);
        (!is_fetched && place != *taxed_at).then_some(place)
    }

    /// The order taxed by these rules, which are of its new place; `sellables` are its variants as far as they
    /// still exist. Also the credits of gift cards that paid more than the new total. None if an amount is out of the
    /// range of money. The version is the same.
    pub fn taxed_by(
        &self,
        taxes: TaxRules,
        sellables: &HashMap<VariantId, Sellable>,
    ) -> Option<(Self, Credits)> {
        let mut next = self.clone();
        next.taxed_at.clone_from(&taxes.place);
        let rate = self.shipping_line.as_ref().map(rate_of);
        let rules = Rules { taxes, ..Rules::default() };
        let mut lines: Vec<PricedLine> =
            self.items.iter().map(|item| priced(&self.store_id, item, sellables)).collect();
        let shipping = self.shipping_line.as_ref().zip(rate.as_ref());
        let Retaxed { shipping, totals } = retax(&mut lines, shipping, &rules, &self.currency)?;
        for (item, line) in next.items.iter_mut().zip(&lines) {
            item.set_tax(line);
        }
        next.shipping_line = shipping;
        next.sum_discounts()?;
        let credits = next.apply_totals(totals)?;
        // A payment of what the order came to before is not one of it any more.
        next.uncharged = next.uncharged.map(|_| Money::zero(&self.currency));
        Some((next, credits))
    }
}

impl OrderChange {
    /// The change to an order that was taxed again, with the credits of its gift cards. An open one that they pay
    /// in full now is paid: it is firm.
    pub(crate) fn of_new_tax(before: &Order, order: Order, cards: Credits) -> Self {
        let mut next = order;
        let is_paid_by_it = next.status == OrderStatus::Open
            && !before.outstanding().is_zero()
            && next.outstanding().is_zero()
            && !next.captured.is_zero();
        let stock = if is_paid_by_it { next.make_firm() } else { None };
        next.derive();
        let change = Self { cards, ..Self::new(before, next).moving(stock) };
        let change = change.announced(&ORDER_UPDATED);
        if is_paid_by_it { change.announced(&ORDER_PAID) } else { change }
    }
}

impl OrderItem {
    /// Takes over the price, discounts and tax of a line.
    fn set_tax(&mut self, line: &PricedLine) {
        let listed = self.listed_price().clone();
        self.price = line.sellable.price.clone();
        self.list_price = (listed != self.price).then_some(listed);
        self.subtotal = line.subtotal.clone();
        self.discount = line.discount.clone();
        self.discounts.clone_from(&line.discounts);
        self.tax = line.tax.clone();
        self.tax_lines.clone_from(&line.tax_lines);
        self.total = line.total.clone();
    }

    /// The price of one unit before the store's tax was deducted from it.
    fn listed_price(&self) -> &Money {
        self.list_price.as_ref().unwrap_or(&self.price)
    }
}

/// The rate of a shipping line, as far as taxes need it.
fn rate_of(line: &ShippingLine) -> ShippingRate {
    let service = &line.service;
    ShippingRate {
        id: service.shipping_rate_id.clone(),
        name: service.name.clone(),
        kind: service.kind,
        price: line.list_price.clone().unwrap_or_else(|| line.price.clone()),
        min: None,
        max: None,
        free_over: None,
        min_days: service.min_days,
        max_days: service.max_days,
        location_id: service.location_id.clone(),
    }
}

/// A line of an order, at its price before taxes. A variant that is gone is taxed as goods without a class are.
fn priced(
    store: &StoreId,
    item: &OrderItem,
    sellables: &HashMap<VariantId, Sellable>,
) -> PricedLine {
    let price = item.listed_price().clone();
    let known = sellables.get(&item.variant_id);
    let sellable = Sellable {
        requires_shipping: item.requires_shipping,
        price,
        ..known.cloned().unwrap_or_else(|| deleted_sellable(store, item))
    };
    PricedLine {
        line: CartLine {
            variant_id: item.variant_id.clone(),
            quantity: item.sold(),
            properties: item.properties.clone(),
            metadata: BTreeMap::new(),
            position: 0,
        },
        sellable,
        list_price: None,
        subtotal: item.subtotal.clone(),
        units: Vec::new(),
        levels: Vec::new(),
        is_available: true,
        oversells: false,
        backordered: 0,
        discount: item.discount.clone(),
        discounts: item.discounts.clone(),
        tax: item.tax.clone(),
        tax_lines: Vec::new(),
        total: item.total.clone(),
    }
}

/// A variant that was deleted after it was ordered.
fn deleted_sellable(store: &StoreId, item: &OrderItem) -> Sellable {
    Sellable {
        store_id: store.clone(),
        variant_id: item.variant_id.clone(),
        product_id: item.product_id.clone(),
        product_title: item.title.clone(),
        variant_title: item.variant_title.clone().unwrap_or_default(),
        sku: item.sku.clone(),
        image_url: None,
        price: item.price.clone(),
        status: ProductStatus::Archived,
        tracked: item.tracked,
        policy: None,
        discontinued: true,
        requires_shipping: item.requires_shipping,
        taxable: !item.tax_lines.is_empty(),
        weight_grams: None,
        tax_class: None,
        was_ordered: true,
        version: 0,
    }
}

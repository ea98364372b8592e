//! Invariants of shipping, tax and discounts of random carts, in currencies of 0, 2 and 3 decimals: the sums
//! add up, and everything paid can be refunded, to the last minor unit.

use std::collections::HashMap;

use core_types::event::sample;
use core_types::fields::TaxClass;
use core_types::id::{DiscountId, ShippingRateId, ShippingZoneId, TaxRateId};
use identity::settings::Taxes;
use proptest::prelude::*;

use super::*;
use crate::discount::{Discount, DiscountValue, Targets};
use crate::order::pricing::TaxRules;
use crate::order::refund::{RestockType, WantedLine, WantedRefund, WantedShipping};
use crate::shipping::{ShippingRate, ShippingRateKind, ShippingZone, ZoneArea};
use crate::tax::{Percentage, TaxLocation, TaxRate};

pub(super) fn place() -> TaxLocation {
    TaxLocation { country: sample("CA"), region: Some("BC".into()), postal_code: None }
}

pub(super) fn tax_rate(
    name: &str,
    (country, region): (&str, Option<&str>),
    class: Option<&str>,
    (points, on_shipping): (i64, bool),
) -> TaxRate {
    TaxRate {
        id: TaxRateId::derive(&[name]),
        store_id: StoreId::derive(&["store"]),
        name: name.into(),
        country: sample(country),
        region: region.map(str::to_owned),
        tax_class: class.map(sample),
        postal_codes: None,
        percentage: Percentage::of_basis_points(points).unwrap(),
        combines: region.is_some() && points % 2 == 0,
        on_shipping,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

/// A zone for all countries with this rate.
pub(super) fn zone(rate: ShippingRate) -> ShippingZone {
    ShippingZone {
        id: ShippingZoneId::derive(&["zone"]),
        store_id: StoreId::derive(&["store"]),
        name: "Everywhere".into(),
        places: ZoneArea::default(),
        rates: vec![rate],
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

pub(super) fn rate(kind: ShippingRateKind, price: Money) -> ShippingRate {
    ShippingRate {
        id: ShippingRateId::derive(&["rate"]),
        name: "Standard".into(),
        kind,
        price,
        min: None,
        max: None,
        free_over: None,
        min_days: None,
        max_days: None,
        location_id: None,
    }
}

/// A discount; a smaller number is an older one.
pub(super) fn discount(number: i64, value: DiscountValue, applies_to: Targets) -> Discount {
    Discount {
        id: DiscountId::derive(&[&number.to_string()]),
        created_at: Timestamp::from_millis(number),
        ..crate::discount::tests::discount(value, applies_to)
    }
}

#[derive(Debug, Clone)]
struct Case {
    currency: &'static str,
    lines: Vec<(i64, i64, bool, Option<&'static str>)>,
    rules: Rules,
}

fn targets() -> impl Strategy<Value = Targets> {
    prop::sample::subsequence(NAMES.to_vec(), 0..3).prop_map(|names| Targets {
        product_ids: names.into_iter().map(|name| ProductId::derive(&[name])).collect(),
        collection_ids: Vec::new(),
    })
}

fn value(currency: &'static str) -> impl Strategy<Value = DiscountValue> {
    let bundle = (1..4_u32, 1..4_u32, 1..=10_000_i64, targets(), prop::option::of(1..3_u32));
    prop_oneof![
        (1..=10_000_i64).prop_map(|basis_points| DiscountValue::Percentage { basis_points }),
        (1..200_000_i64).prop_map(move |amount| DiscountValue::Fixed {
            amount: Money { amount, currency: text(currency) }
        }),
        Just(DiscountValue::FreeShipping { max_amount: None, shipping_rate_ids: Vec::new() }),
        bundle.prop_map(|(buy_quantity, get_quantity, basis_points, get, max_uses)| {
            DiscountValue::BuyXGetY { buy_quantity, get_quantity, basis_points, get, max_uses }
        }),
    ]
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn rules(currency: &'static str) -> impl Strategy<Value = Rules> {
    let points = || prop_oneof![Just(0_i64), 1..3_000_i64, Just(10_000)];
    let taxes = prop::collection::vec(
        (
            points(),
            any::<bool>(),
            prop::option::of(prop::sample::select(vec!["books", "food"])),
            any::<bool>(),
        ),
        0..4,
    );
    let discounts = prop::collection::vec((value(currency), targets()), 0..3);
    let named = prop::option::of((value(currency), targets()));
    let shipping = prop::option::of((0..20_000_i64, prop::option::of(1..100_000_i64)));
    (taxes, discounts, named, shipping, any::<bool>(), prop::bool::weighted(0.1)).prop_map(
        move |(taxes, automatic, named, shipping, prices_include_tax, is_exempt)| {
            let tax_rate = |(n, (points, is_regional, class, on_shipping)): (
                usize,
                (i64, bool, Option<&str>, bool),
            )| {
                let region = is_regional.then_some("BC");
                tax_rate(&n.to_string(), ("CA", region), class, (points, on_shipping))
            };
            let money = |amount| Money { amount, currency: text(currency) };
            let zones: Vec<ShippingZone> = shipping
                .map(|(price, free_over)| {
                    let mut rate = rate(ShippingRateKind::Flat, money(price));
                    rate.free_over = free_over.map(money);
                    zone(rate)
                })
                .into_iter()
                .collect();
            let automatic = (1_i64..).zip(automatic);
            Rules {
                shipping_rate_id: zones.first().map(|zone| zone.rates[0].id.clone()),
                zones,
                destination: Some(place()),
                rounds_to: 1,
                requires_rate: false,
                taxes: TaxRules {
                    rates: taxes.into_iter().enumerate().map(tax_rate).collect(),
                    place: (!is_exempt).then(place),
                    pickup: None,
                    home: Some(place()),
                    settings: Taxes { prices_include_tax, ..Taxes::default() },
                },
                named: named.map(|(value, targets)| (0, discount(0, value, targets))),
                automatic: automatic
                    .map(|(n, (value, targets))| discount(n, value, targets))
                    .collect(),
                collections: HashMap::new(),
            }
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let class = prop::option::of(prop::sample::select(vec!["books", "food"]));
    let line = (0..100_000_i64, 1..20_i64, prop::bool::weighted(0.8), class);
    let lines = prop::collection::vec(line, 1..=NAMES.len());
    prop::sample::select(vec!["JPY", "INR", "KWD"]).prop_flat_map(move |currency| {
        (lines.clone(), rules(currency)).prop_map(move |(lines, rules)| Case {
            currency,
            lines,
            rules,
        })
    })
}

/// The quote of a case; without the code, or the rate, if they do not apply to the cart.
fn quoted(case: &Case) -> (Store, Quote) {
    let store = store(case.currency);
    let inputs = NAMES.iter().zip(&case.lines).map(|(name, (_, units, ..))| line(name, *units));
    let lines = merge(inputs).unwrap();
    let offers = NAMES.iter().zip(&case.lines).map(|(name, (price, _, is_sent, class))| {
        let mut offer = offer(&store, name, *price, 100);
        let sellable = offer.sellable.as_mut().unwrap();
        sellable.requires_shipping = *is_sent;
        sellable.tax_class = class.map(text::<TaxClass>);
        offer
    });
    let offers: Vec<OfferedVariant> = offers.collect();
    let mut rules = case.rules.clone();
    if !case.lines.iter().any(|(_, _, is_sent, _)| *is_sent) {
        rules.shipping_rate_id = None;
    }
    let quote =
        |rules: &Rules| price_by(&store, lines.clone(), offers.clone(), Vec::new(), (rules, false));
    let found = quote(&rules).or_else(|_| {
        rules.named = None;
        quote(&rules)
    });
    (store.clone(), found.unwrap())
}

fn order_by(store: &Store, quote: &Quote) -> Order {
    Order::place(store, 1, quote, Buyer::default(), OrderTerms::default(), NOW)
}

fn sum<'a>(parts: impl Iterator<Item = &'a Money>) -> i64 {
    parts.map(|part| part.amount).sum()
}

/// Checks the invariants of a quote.
#[expect(clippy::arithmetic_side_effects, reason = "sums of small amounts")]
fn check(quote: &Quote) {
    let (totals, shipping) = (&quote.totals, quote.shipping.as_ref());
    let added = if totals.tax_included { 0 } else { totals.tax.amount };
    let total = totals.subtotal.amount - totals.discount.amount + totals.shipping.amount + added;
    assert_eq!(total, totals.total.amount);
    let lines = || quote.lines.iter();
    let all = |of_lines: i64, of_shipping: Option<&Money>| of_lines + sum(of_shipping.into_iter());
    assert_eq!(totals.subtotal.amount, sum(lines().map(|line| &line.subtotal)));
    assert_eq!(
        totals.total.amount,
        all(sum(lines().map(|line| &line.total)), shipping.map(|line| &line.total))
    );
    assert_eq!(
        totals.tax.amount,
        all(sum(lines().map(|line| &line.tax)), shipping.map(|line| &line.tax))
    );
    assert_eq!(totals.discount.amount, sum(quote.discounts.iter().map(|(_, amount)| amount)));
    assert_eq!(totals.tax.amount, sum(totals.tax_lines.iter().map(|line| &line.amount)));
    for line in lines() {
        assert_eq!(line.discount.amount, sum(line.discounts.iter().map(|part| &part.amount)));
        assert_eq!(line.tax.amount, sum(line.tax_lines.iter().map(|part| &part.amount)));
        assert!(line.discount.amount <= line.subtotal.amount);
        let amounts = [&line.subtotal, &line.discount, &line.tax, &line.total];
        assert!(amounts.iter().all(|amount| amount.amount >= 0), "{line:?}");
    }
    if let Some(line) = shipping {
        assert!(line.discount.amount <= line.price.amount);
        assert_eq!(line.discount.amount, sum(line.discounts.iter().map(|part| &part.amount)));
    }
    assert!(quote.discounts.len() <= 2);
}

/// Pays an order and refunds its lines, in steps, and its shipping. Returns the order after that.
#[expect(clippy::arithmetic_side_effects, reason = "halves of small numbers")]
fn refund_all(order: &Order) -> Order {
    let mut order = paid(order);
    let refund = |order: &Order, wanted: WantedRefund| {
        let plan = order.plan_refund(&wanted);
        match plan {
            Ok(plan) => Some(order.reserve_refund(&plan, NOW).unwrap()),
            // A free order has no payment.
            Err(problem) => {
                assert_eq!(problem.code, primitives::problem::Code::NothingToRefund);
                None
            }
        }
    };
    let lines: Vec<(OrderItemId, u32)> =
        order.items.iter().map(|item| (item.id.clone(), item.quantity)).collect();
    for (id, quantity) in lines {
        // Units worth less than a minor unit are refunded with the next ones.
        let mut left = 0;
        for step in [quantity / 2, quantity - quantity / 2] {
            left += step;
            let line = WantedLine {
                order_item_id: id.clone(),
                quantity: left,
                restock_type: RestockType::NoRestock,
                location_id: None,
            };
            let wanted = WantedRefund { items: vec![line], ..WantedRefund::default() };
            if let Some(next) = (left > 0).then(|| refund(&order, wanted)).flatten() {
                (order, left) = (next, 0);
            }
        }
    }
    let shipping = Some(WantedShipping::Full);
    let wanted = WantedRefund { shipping, ..WantedRefund::default() };
    let order = refund(&order, wanted).unwrap_or(order);
    // What is worth less than a provider can count is refunded with the rest.
    let is_counted = order.rounds_to() == 1;
    let rest = (!is_counted).then(|| refund(&order, WantedRefund::default())).flatten();
    rest.unwrap_or(order)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn sums_add_up_and_everything_can_be_refunded(case in case()) {
        let (store, quote) = quoted(&case);
        check(&quote);
        let order = order_by(&store, &quote);
        let total = order.totals.total.amount;
        if total > 0 {
            let refunded = refund_all(&order);
            prop_assert_eq!(refunded.refunded.amount, total);
            prop_assert!(refunded.refundable().is_zero());
        }
    }
}

#[test]
fn an_order_that_ends_unpaid_gives_its_uses_back_once() {
    let case = Case {
        currency: "INR",
        lines: vec![(1_000, 2, true, None)],
        rules: Rules {
            named: Some((
                0,
                discount(0, DiscountValue::Percentage { basis_points: 500 }, Targets::default()),
            )),
            ..Rules::default()
        },
    };
    let (store, quote) = quoted(&case);
    let order = order_by(&store, &quote);
    let change = order.cancel(None, true, NOW).unwrap();
    assert_eq!(change.uses.len(), 1);
    assert!(change.order.discounts[0].given_back);
    let change = paid(&order).cancel(None, true, NOW).unwrap();
    assert!(change.uses.is_empty());
}

#[test]
fn shipping_is_waived_if_all_units_are_cancelled_unpaid() {
    let mut rules = Rules { destination: Some(place()), ..Rules::default() };
    let inr = text("INR");
    let rate = rate(ShippingRateKind::Flat, Money { amount: 500, currency: inr });
    rules.shipping_rate_id = Some(rate.id.clone());
    rules.zones = vec![zone(rate)];
    let case = Case { currency: "INR", lines: vec![(1_000, 2, true, None)], rules };
    let (store, quote) = quoted(&case);
    let mut order = order_by(&store, &quote);
    assert_eq!(order.outstanding().amount, 2_500);
    order.items[0].waived = 1;
    assert_eq!(order.outstanding().amount, 1_500);
    order.items[0].waived = 2;
    assert_eq!(order.outstanding().amount, 0);
}

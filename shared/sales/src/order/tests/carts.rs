//! Carts whose totals an independent implementation has computed from docs/commerce.md: `carts.py`, with
//! Python's exact fractions. Those of `carts.json` are always priced; `.ci/check_carts.py` prices 10,000 random
//! ones.

use std::collections::{BTreeMap, HashMap};

use identity::settings::{ShippingTax, Taxes};
use serde::Deserialize;

use super::charges::{discount, rate, tax_rate, zone};
use super::*;
use crate::discount::{Discount, DiscountValue, Minimum, Targets};
use crate::order::pricing::TaxRules;
use crate::shipping::ShippingRateKind;
use crate::tax::{PostalCodes, TaxLocation, TaxRate};

#[derive(Deserialize)]
struct Cart {
    name: String,
    currency: String,
    prices_include_tax: bool,
    is_exempt: bool,
    place: CartPlace,
    home: CartPlace,
    deducts: bool,
    shipping_tax: ShippingTax,
    lines: Vec<Line>,
    tax_rates: Vec<Rate>,
    rate: Option<Shipping>,
    code: Option<Rebate>,
    automatic: Vec<Rebate>,
    expected: Expected,
}

#[derive(Deserialize)]
struct CartPlace {
    country: String,
    region: Option<String>,
    postal_code: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    product: String,
    price: i64,
    quantity: i64,
    grams: u32,
    is_sent: bool,
    tax_class: Option<String>,
}

#[derive(Deserialize)]
struct Rate {
    name: String,
    country: String,
    region: Option<String>,
    prefix: Option<String>,
    range: Option<(String, String)>,
    tax_class: Option<String>,
    percent: String,
    combines: bool,
    on_shipping: bool,
}

#[derive(Deserialize)]
struct Shipping {
    kind: ShippingRateKind,
    price: i64,
    min: Option<i64>,
    max: Option<i64>,
    free_over: Option<i64>,
}

#[derive(Deserialize)]
struct Rebate {
    kind: String,
    basis_points: Option<i64>,
    amount: Option<i64>,
    buy_quantity: Option<u32>,
    get_quantity: Option<u32>,
    get: Vec<String>,
    uses_per_order: Option<u32>,
    applies_to: Vec<String>,
    minimum_subtotal: Option<i64>,
    minimum_quantity: Option<u32>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct Expected {
    lines: Vec<ExpectedLine>,
    shipping: Option<ExpectedShipping>,
    tax_by_rate: BTreeMap<String, i64>,
    subtotal: i64,
    discount: i64,
    shipping_price: i64,
    tax: i64,
    total: i64,
}

#[derive(Deserialize, Debug, PartialEq)]
struct ExpectedLine {
    discount: i64,
    tax: i64,
    total: i64,
}

#[derive(Deserialize, Debug, PartialEq)]
struct ExpectedShipping {
    price: i64,
    discount: i64,
    tax: i64,
    total: i64,
}

impl Rebate {
    fn discount(&self, number: i64, currency: &Currency) -> Discount {
        let money = |amount: i64| Money { amount, currency: currency.clone() };
        let targets = |names: &[String]| Targets {
            product_ids: names.iter().map(|name| ProductId::derive(&[name])).collect(),
            collection_ids: Vec::new(),
        };
        let value = match self.kind.as_str() {
            "percentage" => DiscountValue::Percentage { basis_points: self.basis_points.unwrap() },
            "fixed" => DiscountValue::Fixed { amount: money(self.amount.unwrap()) },
            "free_shipping" => {
                DiscountValue::FreeShipping { max_amount: None, shipping_rate_ids: Vec::new() }
            }
            "buy_x_get_y" => DiscountValue::BuyXGetY {
                buy_quantity: self.buy_quantity.unwrap(),
                get_quantity: self.get_quantity.unwrap(),
                basis_points: self.basis_points.unwrap(),
                get: targets(&self.get),
                max_uses: self.uses_per_order,
            },
            other => panic!("no kind of discount: {other}"),
        };
        let minimum =
            Minimum { subtotal: self.minimum_subtotal.map(money), quantity: self.minimum_quantity };
        Discount { minimum, ..discount(number, value, targets(&self.applies_to)) }
    }
}

impl CartPlace {
    fn location(&self) -> TaxLocation {
        TaxLocation {
            country: text(&self.country),
            region: self.region.clone(),
            postal_code: self.postal_code.clone(),
        }
    }
}

impl Rate {
    fn tax_rate(&self) -> TaxRate {
        let at = (&*self.country, self.region.as_deref());
        let country = text(&self.country);
        let range = |(from, to): &(String, String)| PostalCodes::range(&country, from, to).unwrap();
        let of_range = || self.range.as_ref().map(range);
        TaxRate {
            postal_codes: self
                .prefix
                .as_deref()
                .map(|prefix| PostalCodes::prefix(&country, prefix).unwrap())
                .or_else(of_range),
            percentage: text(&self.percent),
            combines: self.combines,
            ..tax_rate(&self.name, at, self.tax_class.as_deref(), (0, self.on_shipping))
        }
    }
}

impl Cart {
    fn rules(&self, currency: &Currency) -> Rules {
        let money = |amount: i64| Money { amount, currency: currency.clone() };
        let place = self.place.location();
        let zones: Vec<_> = self
            .rate
            .iter()
            .map(|asked| {
                let mut rate = rate(asked.kind, money(asked.price));
                (rate.min, rate.max) = (asked.min, asked.max);
                rate.free_over = asked.free_over.map(money);
                zone(rate)
            })
            .collect();
        let taxes = TaxRules {
            rates: self.tax_rates.iter().map(Rate::tax_rate).collect(),
            place: (!self.is_exempt).then(|| place.clone()),
            // No cart says where it is picked up: as if it were there.
            pickup: Some(place.clone()),
            home: Some(self.home.location()),
            settings: Taxes {
                prices_include_tax: self.prices_include_tax,
                deducts_tax_when_exempt: self.deducts,
                shipping: self.shipping_tax,
            },
        };
        let automatic = (1_i64..).zip(&self.automatic);
        Rules {
            shipping_rate_id: zones.first().map(|zone| zone.rates[0].id.clone()),
            zones,
            destination: Some(place),
            rounds_to: 1,
            requires_rate: false,
            taxes,
            named: self.code.as_ref().map(|code| (0, code.discount(0, currency))),
            automatic: automatic.map(|(n, one)| one.discount(n, currency)).collect(),
            collections: HashMap::new(),
        }
    }

    /// The computed totals of the cart.
    fn priced(&self) -> Expected {
        let store = store(&self.currency);
        let inputs = self.lines.iter().map(|asked| line(&asked.product, asked.quantity));
        let lines = merge(inputs).unwrap();
        let offers = self.lines.iter().map(|asked| {
            let mut offer = offer(&store, &asked.product, asked.price, 1_000);
            let sellable = offer.sellable.as_mut().unwrap();
            sellable.requires_shipping = asked.is_sent;
            sellable.weight_grams = Some(asked.grams);
            sellable.tax_class = asked.tax_class.as_deref().map(text);
            offer
        });
        let rules = self.rules(&store.currency);
        let quote = price_by(&store, lines, offers.collect(), Vec::new(), (&rules, false));
        let quote = quote.unwrap_or_else(|problem| panic!("{}: {problem:?}", self.name));
        let line = |line: &crate::order::pricing::PricedLine| ExpectedLine {
            discount: line.discount.amount,
            tax: line.tax.amount,
            total: line.total.amount,
        };
        let by_rate = quote.totals.tax_lines.iter();
        Expected {
            lines: quote.lines.iter().map(line).collect(),
            shipping: quote.shipping.as_ref().map(|line| ExpectedShipping {
                price: line.price.amount,
                discount: line.discount.amount,
                tax: line.tax.amount,
                total: line.total.amount,
            }),
            tax_by_rate: by_rate.map(|line| (line.name.clone(), line.amount.amount)).collect(),
            subtotal: quote.totals.subtotal.amount,
            discount: quote.totals.discount.amount,
            shipping_price: quote.totals.shipping.amount,
            tax: quote.totals.tax.amount,
            total: quote.totals.total.amount,
        }
    }
}

#[test]
fn carts_match_an_independent_implementation() {
    let carts: Vec<Cart> = serde_json::from_str(include_str!("carts.json")).unwrap();
    assert_eq!(carts.len(), 51);
    check(&carts);
}

#[test]
#[ignore = ".ci/check_carts.py names its file"]
#[expect(clippy::disallowed_methods, reason = "the test has no other input")]
fn carts_of_a_file_match_an_independent_implementation() {
    let file = std::env::var("CARTS").expect("the file in CARTS");
    let carts: Vec<Cart> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert!(!carts.is_empty());
    check(&carts);
}

fn check(carts: &[Cart]) {
    for cart in carts {
        assert_eq!(cart.priced(), cart.expected, "{}", cart.name);
    }
}

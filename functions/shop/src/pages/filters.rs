//! The filters of a list, as themes' forms name them: availability, price, vendor, type and tags, each value with the
//! number of products that it admits.

use std::collections::BTreeMap;

use primitives::currency::exponent;
use serde_json::{Value, json};

use crate::form::Fields;

const AVAILABILITY: &str = "filter.v.availability";
const FROM: &str = "filter.v.price.gte";
const TO: &str = "filter.v.price.lte";
/// Filters by a member of a product: the parameter, the label, the member.
const BY_MEMBER: [(&str, &str, &str); 3] = [
    ("filter.p.product_type", "Product type", "product_type"),
    ("filter.p.vendor", "Vendor", "vendor"),
    ("filter.p.tag", "Tag", "tags"),
];
/// The most values of a filter that are shown.
const MOST: usize = 50;

/// Whether a query has a filter.
pub(super) fn is_active(query: &Fields) -> bool {
    let members = BY_MEMBER.iter().map(|(name, ..)| *name);
    [AVAILABILITY, FROM, TO].into_iter().chain(members).any(|name| query.text(name).is_some())
}

fn chosen<'a>(query: &'a Fields, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
    query.all(name).filter(|value| !value.is_empty())
}

fn values<'a>(product: &'a Value, member: &str) -> Vec<&'a str> {
    match product.get(member) {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_available(product: &Value) -> bool {
    product.get("in_stock").and_then(Value::as_bool).unwrap_or(false)
}

/// The amount at a member of a product, in minor units.
fn amount(product: &Value, member: &str) -> i64 {
    let price = product.get(member).and_then(|price| price.get("amount"));
    price.and_then(Value::as_i64).unwrap_or_default()
}

/// A bound of a form in minor units of the list's currency: `12.5` is 1250 cents. Further decimals are left out.
fn bound(query: &Fields, name: &str, exponent: usize) -> Option<i64> {
    let (whole, decimals) = query.text(name)?.split_once('.').unwrap_or((query.text(name)?, ""));
    let decimals: String = decimals.chars().chain(std::iter::repeat('0')).take(exponent).collect();
    let digits = format!("{whole}{decimals}");
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The number of decimals of the currency of a list's prices.
fn exponent_of(product: &Value) -> usize {
    let currency = product.pointer("/price/currency").and_then(Value::as_str);
    usize::from(exponent(currency.unwrap_or_default()))
}

/// Whether a list with this query has a product. Values of one filter are alternatives; filters must all hold.
pub(super) fn admits(product: &Value, query: &Fields) -> bool {
    let mut availability = chosen(query, AVAILABILITY).peekable();
    if availability.peek().is_some() {
        let own = if is_available(product) { "1" } else { "0" };
        if !availability.any(|value| value == own) {
            return false;
        }
    }
    let bound = |name: &str| bound(query, name, exponent_of(product));
    let is_below = bound(FROM).is_some_and(|from| amount(product, "price_max") < from);
    if is_below || bound(TO).is_some_and(|to| amount(product, "price") > to) {
        return false;
    }
    BY_MEMBER.iter().all(|(name, _, member)| {
        let mut wanted = chosen(query, name).peekable();
        wanted.peek().is_none() || {
            let own = values(product, member);
            wanted.any(|value| own.iter().any(|other| other.eq_ignore_ascii_case(value)))
        }
    })
}

/// The filters of a list's products.
pub(super) fn of(products: &[Value], query: &Fields) -> Value {
    let mut filters = vec![availability(products, query), price(products, query)];
    for (name, label, member) in BY_MEMBER {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for value in products.iter().flat_map(|product| values(product, member)) {
            let count = counts.entry(value).or_default();
            *count = count.saturating_add(1);
        }
        if counts.len() < 2 {
            continue;
        }
        let shown = counts.into_iter().take(MOST).map(|(value, count)| {
            let is_chosen = chosen(query, name).any(|other| other.eq_ignore_ascii_case(value));
            json!({"value": value, "label": value, "count": count, "active": is_chosen})
        });
        let values: Vec<Value> = shown.collect();
        filters.push(json!({"param_name": name, "label": label, "type": "list", "values": values}));
    }
    Value::Array(filters)
}

fn availability(products: &[Value], query: &Fields) -> Value {
    let there = products.iter().filter(|product| is_available(product)).count();
    let value = |value: &str, label: &str, count: usize| {
        let is_chosen = chosen(query, AVAILABILITY).any(|other| other == value);
        json!({"value": value, "label": label, "count": count, "active": is_chosen})
    };
    json!({
        "param_name": AVAILABILITY, "label": "Availability", "type": "list",
        "values": [
            value("1", "In stock", there),
            value("0", "Out of stock", products.len().saturating_sub(there)),
        ],
    })
}

fn price(products: &[Value], query: &Fields) -> Value {
    let exponent = products.first().map_or(2, exponent_of);
    let highest = products.iter().map(|product| amount(product, "price_max")).max();
    json!({
        "param_name": "filter.v.price", "label": "Price", "type": "price_range",
        "min": bound(query, FROM, exponent), "max": bound(query, TO, exponent),
        "range_max": highest.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(vendor: &str, amount: i64, in_stock: bool, tags: &[&str]) -> Value {
        let price = json!({"amount": amount, "currency": "EUR"});
        json!({"vendor": vendor, "price": price, "price_max": price, "in_stock": in_stock, "tags": tags})
    }

    fn query(text: &str) -> Fields {
        Fields::of_query(text.as_bytes())
    }

    #[test]
    fn a_bound_is_exact() {
        let minor = |text: &str, exponent| {
            let query = query(&format!("{FROM}={text}"));
            bound(&query, FROM, exponent)
        };
        assert_eq!(minor("12.5", 2), Some(1250));
        assert_eq!(minor("0.29", 2), Some(29));
        assert_eq!(minor("1500", 0), Some(1_500));
        assert_eq!(minor("7.0129", 3), Some(7_012));
        for wrong in ["-1", "1e3", "x", ""] {
            assert_eq!(minor(wrong, 2), None, "{wrong}");
        }
    }

    #[test]
    fn filters_hold_together_and_their_values_are_alternatives() {
        let all = [
            product("Acme", 1000, true, &["new"]),
            product("Bell", 2000, true, &["new", "sale"]),
            product("Bell", 3000, false, &[]),
        ];
        let count = |text: &str| all.iter().filter(|one| admits(one, &query(text))).count();
        assert_eq!(count(""), 3);
        assert_eq!(count("filter.p.vendor=bell"), 2);
        assert_eq!(count("filter.p.vendor=Bell&filter.p.vendor=Acme"), 3);
        assert_eq!(count("filter.p.vendor=Bell&filter.v.availability=1"), 1);
        assert_eq!(count("filter.v.price.gte=15&filter.v.price.lte=25"), 1);
        assert_eq!(count("filter.p.tag=sale"), 1);
        assert!(
            is_active(&query("filter.p.tag=sale")) && !is_active(&query("filter.p.tag=&page=2"))
        );
        let filters = of(&all, &query("filter.p.vendor=Bell"));
        let vendor =
            filters.as_array().unwrap().iter().find(|one| one["label"] == "Vendor").unwrap();
        assert_eq!(
            vendor["values"][1],
            json!({"value": "Bell", "label": "Bell", "count": 2, "active": true})
        );
    }
}

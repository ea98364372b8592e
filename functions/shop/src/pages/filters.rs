//! The filters of a list, as themes' forms name them: availability, price, options, vendor, type and tags, each value with
//! the number of products that it admits.

use catalogue::facets::{FacetFilter, FacetValue, Facets};
use primitives::currency::exponent;
use serde_json::{Value, json};

use crate::form::Fields;
use crate::words::Words;

const AVAILABILITY: &str = "filter.v.availability";
const PRICE: &str = "filter.v.price";
const FROM: &str = "filter.v.price.gte";
const TO: &str = "filter.v.price.lte";
const VENDOR: &str = "filter.p.vendor";
const TYPE: &str = "filter.p.product_type";
const TAG: &str = "filter.p.tag";
/// Before the name of an option, in lower case.
const OPTION: &str = "filter.v.option.";
/// The most values of a query that are filters.
const MOST: usize = 100;

/// The filters of a page's query. Bounds of the price are in units of the currency there.
pub(super) fn of_query(query: &Fields, currency: &str) -> FacetFilter {
    let all = |name: &'static str| {
        let values = query.all(name).filter(|value| !value.is_empty()).take(MOST);
        values.map(str::to_owned).collect::<Vec<_>>()
    };
    let availability = all(AVAILABILITY);
    let has = |value: &str| availability.iter().any(|other| other == value);
    let options = query.pairs().iter().filter_map(|(name, value)| {
        let option = name.strip_prefix(OPTION).filter(|_| !value.is_empty())?;
        Some((option.to_owned(), value.clone()))
    });
    FacetFilter {
        in_stock: (has("1") != has("0")).then(|| has("1")),
        min_price: bound(query, FROM, currency),
        max_price: bound(query, TO, currency),
        vendors: all(VENDOR),
        product_types: all(TYPE),
        tags: all(TAG),
        options: options.take(MOST).collect(),
    }
}

/// A bound of a form in minor units: `12.5` is 1250 cents. Further decimals are left out.
fn bound(query: &Fields, name: &str, currency: &str) -> Option<i64> {
    let (whole, decimals) = query.text(name)?.split_once('.').unwrap_or((query.text(name)?, ""));
    let places = usize::from(exponent(currency));
    let decimals: String = decimals.chars().chain(std::iter::repeat('0')).take(places).collect();
    let digits = format!("{whole}{decimals}");
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The filters of a list as themes read them.
pub(super) fn of(facets: Facets, filter: &FacetFilter, words: &Words) -> Value {
    let pages = &words.pages;
    let mut filters = vec![availability(&facets, filter, words)];
    if let Some((_, highest)) = facets.price {
        filters.push(json!({
            "param_name": PRICE, "label": pages.price, "type": "price_range",
            "min": filter.min_price, "max": filter.max_price, "range_max": highest,
        }));
    }
    for option in facets.options {
        let name = format!("{OPTION}{}", option.name.to_lowercase());
        filters.push(list(&name, &option.name, option.values));
    }
    let product = [
        (TYPE, pages.product_type, facets.product_types),
        (VENDOR, pages.vendor, facets.vendors),
        (TAG, pages.tag, facets.tags),
    ];
    // A single value distinguishes nothing.
    let is_choice =
        |values: &Vec<FacetValue>| values.len() > 1 || values.iter().any(|value| value.is_selected);
    let shown = product.into_iter().filter(|(_, _, values)| is_choice(values));
    filters.extend(shown.map(|(name, label, values)| list(name, label, values)));
    Value::Array(filters)
}

fn list(name: &str, label: &str, values: Vec<FacetValue>) -> Value {
    let value = |value: FacetValue| {
        json!({
            "value": value.value, "label": value.value, "count": value.count,
            "active": value.is_selected,
        })
    };
    let values: Vec<Value> = values.into_iter().map(value).collect();
    json!({"param_name": name, "label": label, "type": "list", "values": values})
}

fn availability(facets: &Facets, filter: &FacetFilter, words: &Words) -> Value {
    let value = |value: &str, label: &str, count: usize, is_in_stock: bool| {
        let is_chosen = filter.in_stock == Some(is_in_stock);
        json!({"value": value, "label": label, "count": count, "active": is_chosen})
    };
    json!({
        "param_name": AVAILABILITY, "label": words.pages.availability, "type": "list",
        "values": [
            value("1", words.pages.in_stock, facets.in_stock, true),
            value("0", words.pages.out_of_stock, facets.out_of_stock, false),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> FacetFilter {
        of_query(&Fields::of_query(text.as_bytes()), "EUR")
    }

    #[test]
    fn a_bound_is_exact() {
        let minor = |text: &str, currency| {
            let query = Fields::of_query(format!("{FROM}={text}").as_bytes());
            of_query(&query, currency).min_price
        };
        assert_eq!(minor("12.5", "EUR"), Some(1250));
        assert_eq!(minor("0.29", "EUR"), Some(29));
        assert_eq!(minor("1500", "JPY"), Some(1_500));
        assert_eq!(minor("7.0129", "KWD"), Some(7_012));
        for wrong in ["-1", "1e3", "x", ""] {
            assert_eq!(minor(wrong, "EUR"), None, "{wrong}");
        }
    }

    #[test]
    fn a_query_names_options_and_values() {
        let options = filter("filter.v.option.shoe+size=42&filter.v.option.colour=Sky%20blue");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(options.options, [pair("shoe size", "42"), pair("colour", "Sky blue")]);
        assert_eq!(filter("filter.v.availability=1").in_stock, Some(true));
        assert_eq!(filter("filter.v.availability=1&filter.v.availability=0").in_stock, None);
        assert_eq!(filter("filter.p.vendor=A&filter.p.vendor=B").vendors, ["A", "B"]);
        assert!(filter("filter.p.tag=&page=2&sort_by=manual").is_empty());
    }

    #[test]
    fn a_filter_has_its_values_with_their_counts() {
        let value = |value: &str, count, is_selected| FacetValue {
            value: value.to_owned(),
            count,
            is_selected,
        };
        let facets = Facets {
            in_stock: 3,
            price: Some((100, 900)),
            vendors: vec![value("Acme", 2, false), value("Bell", 1, true)],
            product_types: vec![value("Mug", 3, false)],
            ..Facets::default()
        };
        let labels = |filters: &Value| -> Vec<String> {
            let all = filters.as_array().unwrap().iter();
            all.map(|filter| filter["label"].as_str().unwrap().to_owned()).collect()
        };
        let german = Words::of(&serde_json::from_value(json!("de")).unwrap());
        let filters = of(facets.clone(), &FacetFilter::default(), german);
        assert_eq!(labels(&filters), ["Verfügbarkeit", "Preis", "Hersteller"]);
        assert_eq!(filters[0]["values"][0]["label"], "Auf Lager");
        let filters = of(facets, &FacetFilter::default(), Words::english());
        assert_eq!(labels(&filters), ["Availability", "Price", "Vendor"]);
        assert_eq!(filters[1]["range_max"], 900);
        let bell = json!({"value": "Bell", "label": "Bell", "count": 1, "active": true});
        assert_eq!(filters[2]["values"][1], bell);
    }
}

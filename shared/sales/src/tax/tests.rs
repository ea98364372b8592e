//! The rates that apply, and their tax.

use core_types::event::{EXAMPLE_TIME, sample};
use core_types::money::Money;

use super::*;

fn rate(name: &str, (country, region): (&str, Option<&str>), percent: &str) -> TaxRate {
    TaxRate {
        id: TaxRateId::derive(&[name]),
        store_id: StoreId::derive(&["store"]),
        name: name.into(),
        country: sample(country),
        region: region.map(str::to_owned),
        tax_class: None,
        postal_codes: None,
        percentage: sample(percent),
        combines: false,
        on_shipping: true,
        created_at: EXAMPLE_TIME,
        updated_at: EXAMPLE_TIME,
        version: 1,
    }
}

fn combined(rate: TaxRate) -> TaxRate {
    TaxRate { combines: true, ..rate }
}

fn of_class(class: &str, rate: TaxRate) -> TaxRate {
    TaxRate { tax_class: Some(sample(class)), ..rate }
}

fn at(prefix: &str, rate: TaxRate) -> TaxRate {
    TaxRate { postal_codes: PostalCodes::prefix(&rate.country, prefix), ..rate }
}

fn place(country: &str, region: &str, code: &str) -> TaxLocation {
    let postal_code = Some(code).filter(|code| !code.is_empty()).map(str::to_owned);
    TaxLocation { country: sample(country), region: Some(region.into()), postal_code }
}

fn money(amount: i64) -> Money {
    Money { amount, currency: sample("EUR") }
}

/// The names of the rates that apply to goods of a class.
fn names(rates: &[TaxRate], place: &TaxLocation, class: Option<&str>) -> Vec<String> {
    let class = class.map(sample);
    applicable(rates, place, class.as_ref()).iter().map(|rate| rate.name.clone()).collect()
}

/// The amounts of tax by rate.
fn taxes(amount: i64, rates: &[&TaxRate], is_included: bool) -> Vec<i64> {
    levy(&money(amount), rates, is_included).iter().map(|line| line.amount.amount).collect()
}

#[test]
fn a_narrower_jurisdiction_replaces_the_rate_of_a_wider_one() {
    let spain = ("ES", None);
    let rates = [
        rate("IVA", spain, "21"),
        of_class("food", rate("IVA reducido", spain, "10")),
        rate("IGIC", ("ES", Some("GC")), "7"),
    ];
    assert_eq!(names(&rates, &place("ES", "M", ""), None), ["IVA"]);
    assert_eq!(names(&rates, &place("ES", "M", ""), Some("food")), ["IVA reducido"]);
    assert_eq!(names(&rates, &place("ES", "GC", ""), None), ["IGIC"]);
    assert_eq!(names(&rates, &place("ES", "GC", ""), Some("food")), ["IGIC"]);
    let canary = applicable(&rates, &place("ES", "gc", ""), None);
    assert_eq!(taxes(10_000, &canary, false), [700]);
    assert!(names(&rates, &place("PT", "GC", ""), None).is_empty());
}

#[test]
fn rates_of_one_jurisdiction_add_up() {
    let karnataka = ("IN", Some("KA"));
    let rates = [
        rate("IGST", ("IN", None), "18"),
        rate("CGST", karnataka, "9"),
        rate("SGST", karnataka, "9"),
    ];
    let here = applicable(&rates, &place("IN", "KA", ""), None);
    assert_eq!(taxes(10_000, &here, false), [900, 900]);
    assert_eq!(names(&rates, &place("IN", "MH", ""), None), ["IGST"]);
}

#[test]
fn combined_rates_are_levied_beside_those_of_wider_jurisdictions() {
    let california = ("US", Some("CA"));
    let rates = [
        rate("State", california, "7.25"),
        of_class("food", rate("State, food", california, "0")),
        combined(at("902", rate("County", california, "0.25"))),
        combined(at("90210", rate("City", california, "2"))),
        TaxRate {
            postal_codes: PostalCodes::range(&sample("US"), "94100", "94199"),
            ..combined(rate("San Francisco", california, "1.375"))
        },
    ];
    assert_eq!(names(&rates, &place("US", "CA", "90210"), None), ["State", "County", "City"]);
    assert_eq!(names(&rates, &place("US", "CA", "90299-1234"), None), ["State", "County"]);
    assert_eq!(names(&rates, &place("US", "CA", "94103"), None), ["State", "San Francisco"]);
    assert_eq!(names(&rates, &place("US", "CA", "95000"), Some("food")), ["State, food"]);
    let here = applicable(&rates, &place("US", "CA", "90210"), None);
    assert_eq!(taxes(10_000, &here, false), [725, 25, 200]);
    // A rate that does not combine replaces everything wider.
    let alone = [rates[0].clone(), at("90210", rate("City", california, "2"))];
    assert_eq!(names(&alone, &place("US", "CA", "90210"), None), ["City"]);
}

#[test]
fn quebec_and_new_york_have_exact_rates() {
    let quebec = ("CA", Some("QC"));
    let rates = [rate("GST", ("CA", None), "5"), combined(rate("QST", quebec, "9.975"))];
    let here = applicable(&rates, &place("CA", "QC", ""), None);
    assert_eq!(taxes(10_000, &here, false), [500, 998]);
    assert_eq!(taxes(100_000, &here, false), [5_000, 9_975]);
    assert_eq!(taxes(20_000, &[&rate("NYC", ("US", Some("NY")), "8.875")], false), [1_775]);
}

#[test]
fn a_class_with_its_own_rate_is_taxed_only_by_that() {
    let germany = ("DE", None);
    let rates = [rate("MwSt", germany, "19"), of_class("books", rate("Bücher", germany, "0"))];
    let here = place("DE", "BE", "10115");
    assert_eq!(names(&rates, &here, Some("books")), ["Bücher"]);
    assert_eq!(names(&rates, &here, Some("toys")), ["MwSt"]);
    assert_eq!(names(&rates, &here, None), ["MwSt"]);
}

#[test]
fn equal_parts_of_an_included_tax_are_equal() {
    let (central, state) = (rate("CGST", ("IN", None), "9"), rate("SGST", ("IN", None), "9"));
    assert_eq!(taxes(59_900, &[&central, &state], true), [4_569, 4_569]);
    let vat = rate("VAT", ("DE", None), "19");
    assert_eq!(taxes(11_900, &[&vat], true), [1_900]);
    // 19/119 of 0.99 is 0.15806…
    assert_eq!(taxes(99, &[&vat], true), [16]);
}

#[test]
fn tax_is_rounded_half_up_and_never_more_than_a_price_that_includes_it() {
    let half = rate("half", ("DE", None), "50");
    assert_eq!((taxes(1, &[&half], false), taxes(3, &[&half], false)), (vec![1], vec![2]));
    let whole = rate("whole", ("DE", None), "100");
    assert_eq!(taxes(2, &[&whole, &whole, &whole], true), [1, 1, 0]);
}

#[test]
fn a_rate_of_zero_is_listed_with_zero() {
    let zero = rate("zero", ("DE", None), "0");
    assert_eq!(taxes(500, &[&zero], false), [0]);
    assert!(levy(&money(500), &[], true).is_empty());
}

#[test]
fn a_rate_repeats_another_of_its_name_place_and_class() {
    let known = rate("MwSt", ("DE", None), "19");
    assert!(known.repeats(&rate("mwst", ("DE", None), "7")));
    assert!(!known.repeats(&of_class("food", known.clone())));
    assert!(!known.repeats(&rate("MwSt", ("DE", Some("BY")), "19")));
    assert!(!known.repeats(&at("10", known.clone())));
    let riga = |codes: Option<PostalCodes>| TaxRate {
        postal_codes: Some(codes.unwrap()),
        ..rate("VAT", ("LV", None), "21")
    };
    let latvia = sample("LV");
    let prefix = |prefix: &str| riga(PostalCodes::prefix(&latvia, prefix));
    assert!(prefix("10").repeats(&prefix("LV-10")) && prefix("lv10").repeats(&prefix("LV 10")));
    assert!(!prefix("10").repeats(&prefix("LV-101")));
    assert_eq!(prefix("10").specificity(), prefix("LV-10").specificity());
    let range = |from: &str, to: &str| riga(PostalCodes::range(&latvia, from, to));
    assert!(range("LV-1001", "LV-1099").repeats(&range("1001", "LV1099")));
    assert_eq!(range("1001", "1099").specificity(), range("LV-1001", "LV-1099").specificity());
}

#[test]
fn totals_are_by_rate() {
    let (gst, pst) = (rate("GST", ("CA", None), "5"), rate("PST", ("CA", Some("BC")), "7"));
    let (first, second) =
        (levy(&money(1_000), &[&gst, &pst], false), levy(&money(2_000), &[&gst], false));
    let totals = by_rate([(money(1_000), &*first), (money(2_000), &*second)]);
    let found: Vec<_> =
        totals.iter().map(|line| (&*line.name, line.taxable.amount, line.amount.amount)).collect();
    assert_eq!(found, [("GST", 3_000, 150), ("PST", 1_000, 70)]);
}

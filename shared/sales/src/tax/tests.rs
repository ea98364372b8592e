//! The rates that apply, and their tax.

use super::*;

fn rate(name: &str, region: Option<&str>, class: Option<&str>, basis_points: i64) -> TaxRate {
    TaxRate {
        id: TaxRateId::derive(&[name]),
        store_id: StoreId::derive(&["store"]),
        name: name.into(),
        country: sample("CA"),
        region: region.map(str::to_owned),
        tax_class: class.map(sample),
        basis_points,
        on_shipping: region.is_none(),
        created_at: EXAMPLE_TIME,
        updated_at: EXAMPLE_TIME,
        version: 1,
    }
}

fn place(country: &str, region: &str) -> TaxLocation {
    TaxLocation { country: sample(country), region: Some(region.into()), postal_code: None }
}

fn money(amount: i64) -> Money {
    Money { amount, currency: sample("CAD") }
}

#[test]
fn rates_of_a_country_and_of_its_region_add_up() {
    let rates = [rate("GST", None, None, 500), rate("PST", Some("BC"), None, 700)];
    let names = |place: &TaxLocation| {
        on_goods(&rates, place, None).iter().map(|rate| rate.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&place("CA", "BC")), ["GST", "PST"]);
    assert_eq!(names(&place("CA", "AB")), ["GST"]);
    assert!(names(&place("US", "BC")).is_empty());
    let lines = levy(&money(10_005), &on_goods(&rates, &place("CA", "BC"), None), false);
    // 12 % of 100.05 is 12.006: rounded once, and allocated to both rates.
    assert_eq!(lines.iter().map(|line| line.amount.amount).collect::<Vec<_>>(), [500, 701]);
    assert_eq!(sum(&lines, &sample("CAD")), Some(money(1_201)));
    let shipped = on_shipping(&rates, &place("CA", "BC"));
    assert_eq!(shipped.iter().map(|rate| &*rate.name).collect::<Vec<_>>(), ["GST"]);
}

#[test]
fn a_class_with_its_own_rate_is_taxed_only_by_that() {
    let rates = [rate("GST", None, None, 500), rate("Books", None, Some("books"), 0)];
    let points = |class: Option<&str>| {
        let found = on_goods(&rates, &place("CA", "BC"), class.map(sample).as_ref());
        found.iter().map(|rate| rate.basis_points).collect::<Vec<_>>()
    };
    assert_eq!(points(Some("books")), [0]);
    assert_eq!(points(Some("food")), [500]);
    assert_eq!(points(None), [500]);
}

#[test]
fn tax_is_rounded_half_up_and_extracted_from_prices_that_include_it() {
    let half = rate("half", None, None, 5_000);
    assert_eq!(levy(&money(1), &[&half], false)[0].amount, money(1));
    assert_eq!(levy(&money(3), &[&half], false)[0].amount, money(2));
    let vat = rate("VAT", None, None, 1_900);
    assert_eq!(levy(&money(11_900), &[&vat], true)[0].amount, money(1_900));
    // 19/119 of 0.99 is 0.15806…
    assert_eq!(levy(&money(99), &[&vat], true)[0].amount, money(16));
}

#[test]
fn a_rate_of_zero_is_listed_with_zero() {
    let zero = rate("zero", None, Some("books"), 0);
    let lines = levy(&money(500), &[&zero], false);
    assert_eq!(lines[0].amount, money(0));
    assert!(levy(&money(500), &[], true).is_empty());
}

#[test]
fn totals_are_by_rate() {
    let (gst, pst) = (rate("GST", None, None, 500), rate("PST", Some("BC"), None, 700));
    let (first, second) =
        (levy(&money(1_000), &[&gst, &pst], false), levy(&money(2_000), &[&gst], false));
    let totals = by_rate([(money(1_000), &*first), (money(2_000), &*second)]);
    let found: Vec<_> =
        totals.iter().map(|line| (&*line.name, line.taxable.amount, line.amount.amount)).collect();
    assert_eq!(found, [("GST", 3_000, 150), ("PST", 1_000, 70)]);
}

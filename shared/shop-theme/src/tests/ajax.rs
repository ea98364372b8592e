//! Tests of what themes' scripts read.
#![allow(clippy::arithmetic_side_effects, reason = "small numbers")]

use serde_json::{Value as Json, json};

use super::{patient, plate, shop, theme};
use crate::{Data, Listing, Page, cart_json, product_json, render};

#[test]
fn a_cart_has_the_members_that_scripts_read() {
    let data = shop();
    let cart = cart_json(&data.cart, &data);
    for (pointer, expected) in [
        ("/token", json!("crt_1")),
        ("/item_count", json!(2)),
        ("/original_total_price", json!(259_800)),
        ("/total_discount", json!(10_000)),
        ("/total_price", json!(249_800)),
        ("/items_subtotal_price", json!(259_800)),
        ("/currency", json!("INR")),
        ("/requires_shipping", json!(true)),
        ("/attributes/gift", json!("yes")),
        ("/cart_level_discount_applications/0/title", json!("TEN")),
        ("/items/0/id", json!("var_cup1")),
        ("/items/0/key", json!("lin_1")),
        ("/items/0/variant_id", json!("var_cup1")),
        ("/items/0/product_id", json!("prd_cup")),
        ("/items/0/title", json!("Cup <b>& saucer</b> - Blue / S")),
        ("/items/0/quantity", json!(2)),
        ("/items/0/price", json!(129_900)),
        ("/items/0/line_price", json!(259_800)),
        ("/items/0/final_line_price", json!(259_800)),
        ("/items/0/line_level_discount_allocations", json!([])),
        ("/items/0/final_price", json!(129_900)),
        ("/items/0/handle", json!("cup")),
        ("/items/0/url", json!("/products/cup?variant=var_cup1")),
        ("/items/0/image", json!("/media/cup.png")),
        ("/items/0/properties/Engraving", json!("A & B")),
        ("/items/0/options_with_values/0", json!({"name": "Color", "value": "Blue"})),
        ("/items/0/variant_options", json!(["Blue", "S"])),
    ] {
        assert_eq!(cart.pointer(pointer), Some(&expected), "{pointer}");
    }
}

/// A cart of lines with these subtotals, each with its part of each of two discounts, of a product and of the order.
fn discounted(lines: &[(i64, i64, i64)], data: &Data) -> Json {
    let amount = |amount: i64| json!({"amount": amount, "currency": "INR"});
    let line = |(subtotal, own, part): &(i64, i64, i64)| {
        json!({"id": "lin", "variant_id": "var_cup1", "quantity": 1, "merchandise": {
            "price": amount(*subtotal), "title": "Cup", "variant_title": "Default",
            "product_id": "prd_cup", "discount": amount(own + part),
            "discounts": [{"discount_id": "own", "amount": amount(*own)}, {"discount_id": "all", "amount": amount(*part)}],
        }})
    };
    let lines: Vec<Json> = lines.iter().map(line).collect();
    let cart = json!({"lines": lines, "discounts": [
        {"discount_id": "own", "title": "Cups", "code": null, "class": "product"},
        {"discount_id": "all", "title": "Ten", "code": "TEN", "class": "order"},
        {"discount_id": "sent", "title": "Free", "code": null, "class": "shipping", "amount": amount(5)},
    ], "totals": {"discount": amount(1)}});
    cart_json(&cart, data)
}

#[test]
fn a_discount_reduces_its_lines_or_the_whole_cart() {
    let cart = discounted(&[(1_000, 100, 90), (500, 0, 50)], &shop());
    for (pointer, expected) in [
        ("/original_total_price", json!(1_500)),
        ("/items_subtotal_price", json!(1_400)),
        ("/total_discount", json!(240)),
        ("/total_price", json!(1_260)),
        ("/cart_level_discount_applications/0/title", json!("Ten")),
        ("/cart_level_discount_applications/0/total_allocated_amount", json!(140)),
        ("/items/0/line_level_total_discount", json!(100)),
        ("/items/0/final_line_price", json!(900)),
        ("/items/0/line_level_discount_allocations/0/amount", json!(100)),
        ("/items/0/line_level_discount_allocations/0/discount_application/title", json!("Cups")),
        ("/items/1/line_level_discount_allocations", json!([])),
        ("/items/1/final_line_price", json!(500)),
    ] {
        assert_eq!(cart.pointer(pointer), Some(&expected), "{pointer}");
    }
    // Free shipping is for the checkout.
    assert_eq!(cart["cart_level_discount_applications"].as_array().unwrap().len(), 1);
}

proptest::proptest! {
    #[test]
    fn the_sums_of_a_cart_are_exact(
        lines in proptest::collection::vec((0..1_000_000_i64, 0..100_i64, 0..100_i64), 0..9)
    ) {
        let parts = lines.into_iter().map(|(subtotal, one, other)| {
            let own = subtotal * one / 100;
            (subtotal, own, (subtotal - own) * other / 100)
        });
        let parts: Vec<(i64, i64, i64)> = parts.collect();
        let cart = discounted(&parts, &shop());
        let at = |name: &str| cart[name].as_i64().unwrap();
        let sum = |list: &Json, name: &str| -> i64 {
            list.as_array().unwrap().iter().map(|one| one[name].as_i64().unwrap()).sum()
        };
        let (subtotal, own, part) = parts.iter().fold((0, 0, 0), |all, one| {
            (all.0 + one.0, all.1 + one.1, all.2 + one.2)
        });
        assert_eq!(at("original_total_price"), subtotal);
        assert_eq!(at("items_subtotal_price"), subtotal - own);
        assert_eq!(at("total_price"), subtotal - own - part);
        assert_eq!(at("total_discount"), own + part);
        assert_eq!(sum(&cart["items"], "final_line_price"), at("items_subtotal_price"));
        let applied = sum(&cart["cart_level_discount_applications"], "total_allocated_amount");
        assert_eq!(at("items_subtotal_price") - applied, at("total_price"));
        assert_eq!(sum(&cart["items"], "line_level_total_discount") + applied, at("total_discount"));
    }
}

#[test]
fn what_is_not_sold_any_more_is_no_item() {
    let data = shop();
    let mut cart = data.cart.clone();
    let gone = json!({"id": "lin_2", "variant_id": "var_gone", "quantity": 3, "merchandise": null});
    cart["lines"].as_array_mut().unwrap().push(gone);
    let cart = cart_json(&cart, &data);
    assert_eq!(
        (cart["item_count"].clone(), cart["items"].as_array().unwrap().len()),
        (json!(2), 1)
    );
}

#[test]
fn a_line_names_its_variant_where_its_product_is_one_of_a_list() {
    let mut data = shop();
    let mut listed = plate("hanger");
    listed["option_names"] = json!(["Color"]);
    listed["variants"] = json!([{"id": "var_hanger"}, {"id": "var_other"}]);
    data.products = vec![listed];
    let line = &mut data.cart["lines"][0];
    line["variant_id"] = json!("var_hanger");
    line["merchandise"]["product_id"] = json!("prd_hanger");
    line["merchandise"]["variant_title"] = json!("Indigo");
    let template = "{% for item in cart.items %}{{ item.variant.title }}|{{ item.variant.option1 }}|{{ item.variant.price }}|\
        {% for option in item.options_with_values %}{{ option.name }}: {{ option.value }}{% endfor %}|\
        {{ item.product.title }}|{{ item.product.has_only_default_variant }}|{{ item.product.options | join: ',' }}{% endfor %}";
    let html = render(&theme(template, &[]), Page::Index, &data, patient()).unwrap().html;
    assert_eq!(html, "Indigo|Indigo|129900|Color: Indigo|Plate|false|Color");
}

#[test]
fn no_cart_is_an_empty_one() {
    let cart = cart_json(&Json::Null, &shop());
    assert_eq!(cart["item_count"], 0);
    assert_eq!(cart["items"], json!([]));
    assert_eq!(cart["total_price"], 0);
    assert_eq!(cart["requires_shipping"], false);
}

#[test]
fn a_product_has_its_variants() {
    let data = shop();
    let product = product_json(&data.products[0], &data);
    assert_eq!(product["variants"].as_array().unwrap().len(), 4);
    assert_eq!(product["variants"][1]["option2"], "L");
    assert_eq!(product["variants"][1]["available"], false);
    assert_eq!(product["compare_at_price"], 159_900);
    assert_eq!(product["options"][0]["values"], json!(["Blue", "Red"]));
    // Of a product without options scripts expect one.
    let plain = product_json(&plate("plate"), &data);
    assert_eq!(plain["variants"][0]["title"], "Default Title");
    assert_eq!(plain["variants"][0]["price"], 50_000);
    assert_eq!(plain["options"][0]["name"], "Title");
}

#[test]
fn amounts_are_in_hundredths_in_every_currency() {
    let mut data = shop();
    data.store = json!({"name": "A", "currency": "JPY", "currency_exponent": 0});
    let product =
        json!({"handle": "a", "price": {"amount": 500, "currency": "JPY"}, "variants": []});
    assert_eq!(product_json(&product, &data)["price"], 50_000);
    // The bounds of a filter as well.
    let template = [(
        "templates/collection.liquid",
        "{% for filter in collection.filters %}{{ filter.min_value.value }} {{ filter.max_value.value }} {{ filter.range_max }}{% endfor %}",
    )];
    let filters = json!([{"param_name": "filter.v.price", "type": "price_range", "min": 100, "range_max": 500}]);
    let listing = Listing { collection: json!({"handle": "all"}), filters, ..Listing::default() };
    let page = Page::Collection(Box::new(listing));
    let html = render(&theme("", &template), page, &data, patient()).unwrap().html;
    assert_eq!(html, "10000  50000");
}

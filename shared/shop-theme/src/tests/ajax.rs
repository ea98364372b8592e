//! Tests of what themes' scripts read.

use serde_json::{Value as Json, json};

use super::{patient, plate, shop, theme};
use crate::{Listing, Page, cart_json, product_json, render};

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
        ("/items_subtotal_price", json!(249_800)),
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
        ("/items/0/final_line_price", json!(249_800)),
        ("/items/0/final_price", json!(124_900)),
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

//! The cart, its lines, and the items of orders.

use std::sync::Arc;

use liquid::Value;
use serde_json::{Value as Json, json};

use super::plain::{items, nothing};
use super::product::{PRODUCT, VARIANT};
use super::record::{Kind, Record, as_is, no_text};
use super::{media, store};
use crate::ajax;
use crate::data::{list, text};
use crate::shop::Shop;

pub(crate) static CART: Kind = Kind { name: "cart", get: member, shape: as_is, text: no_text };
pub(crate) static LINE: Kind =
    Kind { name: "line_item", get: line_member, shape: as_is, text: no_text };

/// The cart of the page.
pub(crate) fn cart(shop: &Arc<Shop>) -> Value {
    Record::new(&CART, shop, Arc::new(shop.cart().clone())).value()
}

/// The items of an order.
pub(crate) fn of_order(shop: &Arc<Shop>, order: &Json) -> Value {
    list(order, "/items").iter().map(|item| ordered(shop, order, item)).collect()
}

/// An item of an order, with the newest delivery of it.
fn ordered(shop: &Arc<Shop>, order: &Json, item: &Json) -> Value {
    let mut shaped = ajax::item(item, &shop.data, shop.money);
    let id = item.get("id");
    let has_it = |delivery: &&Json| {
        list(delivery, "/items").iter().any(|line| line.get("order_item_id") == id)
    };
    let delivery = list(order, "/fulfillments").iter().rev().find(has_it);
    if let (Some(members), Some(delivery)) = (shaped.as_object_mut(), delivery) {
        members.insert("fulfillment".to_owned(), delivery.clone());
        members.insert("fulfilled".to_owned(), item.get("fulfilled").cloned().unwrap_or_default());
    }
    line(shop, shaped)
}

/// A delivery of an order.
pub(crate) fn fulfillment(shop: &Arc<Shop>, order: &Json, raw: &Json) -> Value {
    let is_in = |item: &&Json| {
        list(raw, "/items").iter().any(|line| line.get("order_item_id") == item.get("id"))
    };
    let items = list(order, "/items").iter().filter(is_in);
    let lines: Value =
        items.map(|item| line(shop, ajax::item(item, &shop.data, shop.money))).collect();
    let delivery = delivery(raw);
    Value::map([
        ("created_at", delivery.get("created_at")),
        ("item_count", Value::from(list(raw, "/items").len())),
        ("fulfillment_line_items", lines),
        ("tracking_company", delivery.get("tracking_company")),
        ("tracking_number", delivery.get("tracking_number")),
        ("tracking_numbers", delivery.get("tracking_numbers")),
        ("tracking_url", delivery.get("tracking_url")),
    ])
}

/// What a line says of its delivery.
fn delivery(raw: &Json) -> Value {
    let part = |pointer: &str| match text(raw, pointer) {
        "" => Value::Nil,
        text => text.into(),
    };
    let number = part("/tracking/number");
    let numbers: Vec<Value> = Some(number.clone()).filter(|it| !it.is_nil()).into_iter().collect();
    // A carrier's page is a link of the merchant's, who could otherwise write a script into it.
    let url = Some(text(raw, "/tracking/url")).filter(|url| url.starts_with("https://"));
    Value::map([
        ("created_at", part("/created_at")),
        ("tracking_company", part("/tracking/company")),
        ("tracking_number", number),
        ("tracking_numbers", numbers.into()),
        ("tracking_url", url.map_or(Value::Nil, Value::from)),
    ])
}

fn line(shop: &Arc<Shop>, shaped: Json) -> Value {
    Record::new(&LINE, shop, Arc::new(shaped)).value()
}

fn member(cart: &Record, name: &str) -> Option<Value> {
    Some(match name {
        "items" => {
            let lines = list(&cart.raw, "/items").iter().enumerate();
            let placed = |(index, item): (usize, &Json)| {
                let mut item = item.clone();
                if let Some(members) = item.as_object_mut() {
                    members.insert("index".to_owned(), index.into());
                }
                line(&cart.shop, item)
            };
            lines.map(placed).collect()
        }
        "empty?" => list(&cart.raw, "/items").is_empty().into(),
        "currency" => store::currency(cart.text_at("/currency")),
        "checkout_charge_amount" => cart.at("/total_price"),
        "discount_applications" => cart.at("/cart_level_discount_applications"),
        "discounts" => Value::from(Vec::new()),
        "taxes_included" => {
            let included = cart.shop.data.cart.pointer("/totals/tax_included");
            (included == Some(&Json::Bool(true))).into()
        }
        "duties_included" => false.into(),
        _ => return None,
    })
}

fn line_member(line: &Record, name: &str) -> Option<Value> {
    let shop = &line.shop;
    let known = || shop.product(line.text_at("/product_id"));
    Some(match name {
        "product" => {
            Record::new(&PRODUCT, shop, Arc::new(known().cloned().unwrap_or_else(|| stub(line))))
                .value()
        }
        "variant" => {
            let product = Arc::new(known().cloned().unwrap_or_else(|| stub(line)));
            let id = line.text_at("/variant_id");
            let all = ajax::variants(&product);
            let found = all.into_iter().find(|variant| text(variant, "/id") == id);
            let found = found.or_else(|| ajax::variants(&stub(line)).into_iter().next());
            let product = Arc::new(Record::new(&PRODUCT, shop, product));
            found.map_or(Value::Nil, |raw| {
                Record::new(&VARIANT, shop, Arc::new(raw)).within(product).value()
            })
        }
        "image" => media::image(shop, line.text_at("/image"), line.text_at("/product_title")),
        "url_to_remove" => {
            let path = format!("/cart/change?id={}&quantity=0", line.text_at("/key"));
            shop.to(&path).into()
        }
        "error_message"
        | "message"
        | "unit_price"
        | "unit_price_measurement"
        | "selling_plan_allocation"
        | "parent_relationship" => Value::Nil,
        "fulfillment" => match line.raw.get("fulfillment") {
            Some(raw) => delivery(raw),
            None => Value::Nil,
        },
        "item_components" | "tax_lines" => Value::from(Vec::new()),
        "instructions" => Value::map([
            ("can_remove", Value::from(true)),
            ("can_update_quantity", Value::from(true)),
        ]),
        "successfully_fulfilled_quantity" => {
            Value::Int(line.raw.get("fulfilled").and_then(Json::as_i64).unwrap_or_default())
        }
        "fulfillment_service" => "manual".into(),
        "vendor" => line.text_at("/vendor").into(),
        "metafields" => nothing(),
        _ => return None,
    })
}

/// What a line has of a product that the page's data does not have.
fn stub(line: &Record) -> Json {
    let amount = |pointer: &str| {
        // Back to the currency's minor unit.
        let cents = line.raw.pointer(pointer).and_then(Json::as_i64).unwrap_or_default();
        json!({"amount": line.shop.money.minor(cents)})
    };
    let price = amount("/price");
    json!({
        "id": line.raw.get("product_id"), "title": line.raw.get("product_title"),
        "handle": line.raw.get("handle"), "price": price, "price_max": price, "in_stock": true,
        "images": line.raw.get("image").filter(|url| url.is_string()).map(|url| vec![json!({"url": url})]),
        "variants": [{"id": line.raw.get("variant_id"), "price": price, "in_stock": true,
                      "options": line.raw.get("variant_options"), "sku": line.raw.get("sku")}],
        "variants_count": 1,
    })
}

/// The items of a product or variant in a cart.
pub(crate) fn items_for(cart: &Value, of: &Value) -> Vec<Value> {
    let id = of.get("id");
    let is_it = |item: &Value| {
        liquid::equal(&item.get("variant_id"), &id) || liquid::equal(&item.get("product_id"), &id)
    };
    items(&cart.get("items")).into_iter().filter(is_it).collect()
}

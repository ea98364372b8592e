//! The cart, its lines, and the items of orders.

use std::sync::Arc;

use liquid::Value;
use serde_json::{Value as Json, json};

use super::plain::{items, nothing, plain};
use super::product::{PRODUCT, VARIANT};
use super::record::{Kind, Record, as_is, no_text};
use super::{media, store};
use crate::ajax;
use crate::data::{list, text};
use crate::discounts::Discounts;
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
    let mut shaped = ajax::item(item, Discounts::of(order, shop.money), &shop.data);
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
    let discounts = Discounts::of(order, shop.money);
    let lines: Value =
        items.map(|item| line(shop, ajax::item(item, discounts, &shop.data))).collect();
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
        "discount_applications" => {
            let own = &cart.shop.data.cart;
            let goods: Vec<&Json> = list(own, "/lines").iter().map(ajax::goods_of).collect();
            let all = Discounts::of(own, cart.shop.money).on_all(&goods);
            all.iter().map(plain).collect()
        }
        "discounts" => Value::from(Vec::new()),
        "taxes_included" => {
            let included = cart.shop.data.cart.pointer("/totals/tax_included");
            let included = included.or_else(|| cart.shop.data.store.get("taxes_included"));
            (included == Some(&Json::Bool(true))).into()
        }
        "duties_included" => false.into(),
        _ => return None,
    })
}

fn line_member(line: &Record, name: &str) -> Option<Value> {
    let shop = &line.shop;
    Some(match name {
        "product" => Record::new(&PRODUCT, shop, Arc::new(product(line))).value(),
        "variant" => {
            let product = Arc::new(product(line));
            let id = line.text_at("/variant_id");
            let of_product = ajax::variants(&product);
            // In a list a product has no options of its variants; the line knows those of its own.
            let found = of_product.into_iter().find(|variant| text(variant, "/id") == id);
            let found = found.filter(|variant| variant.get("options").is_some());
            let raw = found.unwrap_or_else(|| variant(line));
            let product = Arc::new(Record::new(&PRODUCT, shop, product));
            Record::new(&VARIANT, shop, Arc::new(raw)).within(product).value()
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

/// The product of a line, with the options of its variant where the page's data have no others.
fn product(line: &Record) -> Json {
    let known = line.shop.product(line.text_at("/product_id")).cloned();
    let mut product = known.unwrap_or_else(|| stub(line));
    if list(&product, "/options").is_empty()
        && line.raw.get("product_has_only_default_variant") != Some(&Json::Bool(true))
        && let Some(members) = product.as_object_mut()
    {
        let named = list(&line.raw, "/options_with_values").iter();
        let options =
            named.map(|pair| json!({"name": pair.get("name"), "values": [pair.get("value")]}));
        members.insert("options".to_owned(), options.collect());
    }
    product
}

/// The price of a line, in the currency's minor unit.
fn price(line: &Record) -> Json {
    let cents = line.raw.get("price").and_then(Json::as_i64).unwrap_or_default();
    json!({"amount": line.shop.money.minor(cents)})
}

/// The variant of a line.
fn variant(line: &Record) -> Json {
    let has_one = line.raw.get("product_has_only_default_variant") == Some(&Json::Bool(true));
    let options = line.raw.get("variant_options").filter(|_| !has_one);
    json!({
        "id": line.raw.get("variant_id"), "price": price(line), "in_stock": line.raw.get("available"),
        "options": options.cloned().unwrap_or_else(|| json!([])), "sku": line.raw.get("sku"),
        "image_url": line.raw.get("image"),
    })
}

/// What a line has of a product that the page's data does not have.
fn stub(line: &Record) -> Json {
    let price = price(line);
    json!({
        "id": line.raw.get("product_id"), "title": line.raw.get("product_title"),
        "handle": line.raw.get("handle"), "price": price, "price_max": price,
        "in_stock": line.raw.get("available"), "vendor": line.raw.get("vendor"),
        "images": line.raw.get("image").filter(|url| url.is_string()).map(|url| vec![json!({"url": url})]),
        "variants": [variant(line)],
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

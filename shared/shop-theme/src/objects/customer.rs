//! Customers, their addresses and orders.

use std::sync::Arc;

use liquid::{Object, Value};
use serde_json::{Value as Json, json};

use super::plain::{items, nothing, plain};
use super::record::{Kind, Record, as_is, no_text};
use super::{cart, store};
use crate::data::{list, text};
use crate::shop::Shop;

static CUSTOMER: Kind = Kind { name: "customer", get: member, shape, text: no_text };
static ADDRESS: Kind =
    Kind { name: "address", get: address_member, shape: address_shape, text: summary };
static ORDER: Kind = Kind { name: "order", get: order_member, shape: as_is, text: no_text };

/// The customer of the page; nil for a visitor.
pub(crate) fn customer(shop: &Arc<Shop>) -> Value {
    if shop.data.customer.is_object() {
        Record::new(&CUSTOMER, shop, Arc::new(shop.data.customer.clone())).value()
    } else {
        Value::Nil
    }
}

pub(crate) fn address(shop: &Arc<Shop>, raw: &Json) -> Value {
    if raw.is_object() {
        Record::new(&ADDRESS, shop, Arc::new(raw.clone())).value()
    } else {
        Value::Nil
    }
}

pub(crate) fn order(shop: &Arc<Shop>, raw: &Json) -> Value {
    Record::new(&ORDER, shop, Arc::new(raw.clone())).value()
}

fn member(customer: &Record, name: &str) -> Option<Value> {
    let data = &customer.shop.data;
    let full = customer.text_at("/name");
    let orders = || data.orders.iter().map(|raw| order(&customer.shop, raw));
    Some(match name {
        "first_name" => full.split_once(' ').map_or(full, |(first, _)| first).into(),
        "last_name" => full.split_once(' ').map_or("", |(_, last)| last).into(),
        "has_account" => true.into(),
        "b2b?" | "tax_exempt" | "has_avatar?" => false.into(),
        "tags" | "payment_methods" | "company_available_locations" => Value::from(Vec::new()),
        "orders" => orders().collect(),
        "last_order" => orders().next().unwrap_or_default(),
        "total_spent" => {
            let totals = data.orders.iter().filter_map(|order| order.pointer("/totals/total"));
            let totals = totals.map(|total| customer.shop.money.cents(total));
            Value::Int(totals.fold(0, i64::saturating_add))
        }
        "addresses" => data.addresses.iter().map(|raw| address(&customer.shop, raw)).collect(),
        "addresses_count" => data.addresses.len().into(),
        "default_address" => {
            let default =
                data.addresses.iter().find(|raw| raw.get("is_default") == Some(&Json::Bool(true)));
            default.map_or(Value::Nil, |raw| address(&customer.shop, raw))
        }
        "current_location" | "current_company" | "store_credit_account" => Value::Nil,
        "company_available_locations_count" => Value::Int(0),
        "metafields" => nothing(),
        _ => return None,
    })
}

fn shape(customer: &Record) -> Json {
    let mut shape = (*customer.raw).clone();
    if let Some(members) = shape.as_object_mut() {
        for name in ["first_name", "last_name"] {
            let value = customer.get(name).unwrap_or_default();
            members.insert(name.to_owned(), value.to_text().into());
        }
    }
    shape
}

/// The names of an address's members here.
const MEMBERS: [(&str, &str); 10] = [
    ("address1", "/line1"),
    ("address2", "/line2"),
    ("zip", "/postal_code"),
    ("country_code", "/country"),
    ("province_code", "/region"),
    ("company", "/company"),
    ("first_name", "/first_name"),
    ("last_name", "/last_name"),
    ("city", "/city"),
    ("phone", "/phone"),
];

fn address_member(address: &Record, name: &str) -> Option<Value> {
    if let Some((_, pointer)) = MEMBERS.iter().find(|(other, _)| *other == name) {
        return Some(address.at(pointer));
    }
    Some(match name {
        "name" => {
            let (first, last) = (address.text_at("/first_name"), address.text_at("/last_name"));
            format!("{first} {last}").trim().into()
        }
        "street" => joined(&[address.text_at("/line1"), address.text_at("/line2")], ", ").into(),
        "country" => store::country(&address.shop, address.text_at("/country")),
        "province" => province(address).into(),
        "is_default" => address.at("/is_default"),
        "summary" => summary(address).into(),
        "url" => {
            let path = format!("/account/addresses/{}", address.text_at("/id"));
            address.shop.to(&path).into()
        }
        _ => return None,
    })
}

fn province(address: &Record) -> &str {
    store::region_name(&address.shop, address.text_at("/country"), address.text_at("/region"))
}

fn address_shape(address: &Record) -> Json {
    let members = MEMBERS.iter().map(|(name, pointer)| {
        ((*name).to_owned(), address.raw.pointer(pointer).cloned().unwrap_or_default())
    });
    let mut shape: serde_json::Map<String, Json> = members.collect();
    shape.insert("id".to_owned(), address.raw.get("id").cloned().unwrap_or_default());
    shape.insert("country".to_owned(), address.raw.get("country").cloned().unwrap_or_default());
    shape.insert("province".to_owned(), province(address).into());
    shape.into()
}

fn joined(parts: &[&str], glue: &str) -> String {
    let parts = parts.iter().copied().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(glue)
}

fn summary(address: &Record) -> String {
    let parts = ["/first_name", "/line1", "/line2", "/city", "/region", "/postal_code", "/country"];
    joined(&parts.map(|pointer| address.text_at(pointer)), ", ")
}

/// The lines of an address, as `format_address` writes them.
pub(crate) fn lines(address: &Value) -> Vec<String> {
    let part = |name: &str| address.get(name).to_text().into_owned();
    let town = joined(&[&part("zip"), &part("city")], " ");
    let lines = [
        part("name"),
        part("company"),
        part("address1"),
        part("address2"),
        joined(&[&town, &part("province")], ", "),
        part("country"),
    ];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

fn order_member(order: &Record, name: &str) -> Option<Value> {
    let shop = &order.shop;
    let total = |name: &str| order.amount(&format!("/totals/{name}"));
    Some(match name {
        "name" | "order_number" | "confirmation_number" => order.at("/number"),
        "line_items" | "subtotal_line_items" => cart::of_order(shop, &order.raw),
        "item_count" => {
            let items = list(&order.raw, "/items").iter();
            let counts = items.filter_map(|item| item.get("quantity")?.as_i64());
            Value::Int(counts.fold(0, i64::saturating_add))
        }
        "total_price" => total("total"),
        "total_net_amount" => {
            let refunded = liquid::number::loose_integer(&order.amount("/refunded_total"));
            let total = liquid::number::loose_integer(&total("total"));
            Value::Int(total.saturating_sub(refunded))
        }
        "subtotal_price" => total("subtotal"),
        "line_items_subtotal_price" => {
            let lines = cart::of_order(shop, &order.raw);
            let prices = items(&lines).into_iter().map(|line| line.get("final_line_price"));
            let prices = prices.map(|price| liquid::number::loose_integer(&price));
            Value::Int(prices.fold(0, i64::saturating_add))
        }
        "total_discounts" => total("discount"),
        "shipping_price" => total("shipping"),
        "tax_price" => total("tax"),
        "total_refunded_amount" => order.amount("/refunded_total"),
        "cancelled" => (!order.at("/cancelled_at").is_nil()).into(),
        "financial_status_label" => label(shop, order.text_at("/financial_status")).into(),
        "fulfillment_status_label" => label(shop, order.text_at("/fulfillment_status")).into(),
        "customer" => customer(shop),
        "customer_url" | "customer_order_url" => {
            shop.to(&format!("/account/orders/{}", order.text_at("/id"))).into()
        }
        "order_status_url" => shop.to(&format!("/orders/{}", order.text_at("/id"))).into(),
        "fulfillments" => {
            let all = list(&order.raw, "/fulfillments").iter();
            all.map(|raw| cart::fulfillment(shop, &order.raw, raw)).collect()
        }
        "cancel_reason" | "cancel_reason_label" if !order.at("/cancelled_at").is_nil() => {
            "Other".into()
        }
        "shipping_address" => {
            address(shop, order.raw.get("shipping_address").unwrap_or(&Json::Null))
        }
        "billing_address" => match order.raw.get("billing_address") {
            Some(raw) if raw.is_object() => address(shop, raw),
            _ => address(shop, order.raw.get("shipping_address").unwrap_or(&Json::Null)),
        },
        "tax_lines" => {
            let lines = list(&order.raw, "/totals/tax_lines").iter();
            let one = |line: &Json| {
                let price = line.get("amount").map_or(0, |amount| shop.money.cents(amount));
                let rate = line.get("percent").and_then(Json::as_str).unwrap_or_default();
                // A hundredth of it, without a division.
                let share = format!("{rate}e-2").parse::<f64>().map_or(Value::Nil, Value::from);
                Value::map([
                    ("title", Value::from(text(line, "/name"))),
                    ("price", Value::Int(price)),
                    ("rate", share),
                    ("rate_percentage", rate.into()),
                ])
            };
            lines.map(one).collect()
        }
        "shipping_methods" => {
            let line = order.raw.get("shipping_line").filter(|line| line.is_object());
            let one = |line: &Json| {
                let price = line.get("price").map_or(0, |amount| shop.money.cents(amount));
                let names = ["price", "original_price", "price_with_discounts"];
                let prices = names.map(|name| (name, Value::Int(price)));
                let titles = ["title", "handle", "id"];
                let titles = titles.map(|name| (name, Value::from(text(line, "/name"))));
                Value::map(titles.into_iter().chain(prices))
            };
            line.map(one).into_iter().collect()
        }
        "cart_level_discount_applications" | "discount_applications" | "discounts" => {
            let is_of_whole = |discount: &&Json| {
                name != "cart_level_discount_applications" || text(discount, "/class") != "product"
            };
            let discounts = list(&order.raw, "/discounts").iter().filter(is_of_whole);
            let one = |discount: &Json| {
                let amount = discount.get("amount").map_or(0, |amount| shop.money.cents(amount));
                Value::map([
                    ("title", Value::from(text(discount, "/title"))),
                    ("code", text(discount, "/code").into()),
                    ("total_allocated_amount", Value::Int(amount)),
                    ("value", Value::Int(amount)),
                    ("target_selection", "all".into()),
                    ("target_type", "line_item".into()),
                ])
            };
            discounts.map(one).collect()
        }
        "transactions" | "tags" => Value::from(Vec::new()),
        "attributes" | "metafields" => nothing(),
        "note" | "phone" | "cancel_reason" | "cancel_reason_label" | "total_duties" => Value::Nil,
        "pickup_in_store?" => false.into(),
        _ => return own_member(order, name),
    })
}

/// What an order has beyond the reference: without these a page cannot say how its amounts make up the total.
fn own_member(order: &Record, name: &str) -> Option<Value> {
    Some(match name {
        "taxes_included" => {
            (order.raw.pointer("/totals/tax_included") == Some(&Json::Bool(true))).into()
        }
        "rounding_amount" => order.amount("/totals/rounding"),
        "gift_cards_amount" => order.amount("/totals/gift_cards"),
        "due_amount" => order.amount("/totals/due"),
        _ => return None,
    })
}

/// A status as people read it: what the host calls it, or `partially_refunded` as `Partially refunded`.
fn label(shop: &Shop, status: &str) -> String {
    let known = shop.data.labels.statuses.iter().find(|(known, _)| *known == status);
    if let Some((_, label)) = known {
        let mut letters = label.chars();
        let first = letters.next().map(char::to_uppercase);
        return first.into_iter().flatten().chain(letters).collect();
    }
    let mut letters = status.replace('_', " ");
    if let Some(first) = letters.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    letters
}

/// A gift card: `{code, balance, initial_value, expires_at, enabled}`.
pub(crate) fn gift_card(shop: &Arc<Shop>, raw: &Json) -> Value {
    let amount = |name: &str| {
        let amount = raw.get(name).map_or(0, |amount| shop.money.cents(amount));
        Value::Int(amount)
    };
    let code = text(raw, "/code");
    let last = code.get(code.len().saturating_sub(4)..).unwrap_or(code);
    let expires = text(raw, "/expires_at");
    let empty = json!({});
    Value::map([
        ("code", Value::from(code)),
        ("balance", amount("balance")),
        ("initial_value", amount("initial_value")),
        ("currency", shop.data.currency().into()),
        ("enabled", (raw.get("enabled") != Some(&Json::Bool(false))).into()),
        ("expired", (raw.get("expired") == Some(&Json::Bool(true))).into()),
        ("expires_on", if expires.is_empty() { Value::Nil } else { expires.into() }),
        ("last_four_characters", last.into()),
        ("qr_identifier", code.into()),
        ("url", shop.here().into()),
        ("properties", plain(&empty)),
        ("product", Value::Nil),
        ("customer", customer(shop)),
        ("recipient", Value::Nil),
        ("message", Value::Nil),
        ("pass_url", Value::Nil),
    ])
}

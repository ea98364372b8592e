//! Products, their variants and options.

use std::sync::Arc;

use liquid::{Object, Value};
use serde_json::{Value as Json, json};

use super::media::{self, IMAGE};
use super::plain::{nothing, plain};
use super::record::{Kind, Record};
use crate::ajax;
use crate::data::{Page, list, text};
use crate::shop::Shop;

pub(crate) static PRODUCT: Kind = Kind {
    name: "product",
    get: member,
    shape: |product| ajax::product_json(&product.raw, &product.shop.data),
    text: super::record::no_text,
};
pub(crate) static VARIANT: Kind = Kind {
    name: "variant",
    get: variant_member,
    shape: variant_shape,
    text: super::record::no_text,
};

/// A product of this answer.
pub(crate) fn of(shop: &Arc<Shop>, raw: &Json) -> Value {
    Record::new(&PRODUCT, shop, Arc::new(raw.clone())).value()
}

/// The product of the page.
pub(crate) fn of_page(shop: &Arc<Shop>) -> Value {
    match &shop.page {
        Page::Product(raw) => of(shop, raw),
        _ => Value::Nil,
    }
}

/// The variant that sections at `/variants/{id}` are about: where it can be picked up, which is nowhere.
pub(crate) fn variant_of_path(shop: &Arc<Shop>) -> Value {
    let Some(id) = shop.data.path.strip_prefix("/variants/") else { return Value::Nil };
    let raw = Arc::new(json!({"id": id.trim_end_matches('/')}));
    Record::new(&VARIANT, shop, raw).value()
}

/// A product of an answer that others have, too.
pub(crate) fn shared(shop: &Arc<Shop>, raw: Arc<Json>) -> Value {
    Record::new(&PRODUCT, shop, raw).value()
}

/// All products of the page's data.
pub(crate) fn all(shop: &Arc<Shop>) -> Vec<Value> {
    shop.shared(&shop.data.products).iter().map(|raw| shared(shop, Arc::clone(raw))).collect()
}

/// The product of this handle, if the page's data has it.
pub(crate) fn named(shop: &Arc<Shop>, handle: &str) -> Option<Value> {
    let handle = handle.strip_prefix("shopify://products/").unwrap_or(handle);
    shop.product(handle).map(|raw| of(shop, raw))
}

fn member(product: &Record, name: &str) -> Option<Value> {
    Some(match name {
        "id" | "title" | "handle" | "created_at" | "published_at" | "updated_at" => {
            product.at(&format!("/{name}"))
        }
        "vendor" => product.text_at("/vendor").into(),
        "tags" => plain(product.raw.get("tags").unwrap_or(&json!([]))),
        "type" => product.text_at("/product_type").into(),
        "object_type" => "product".into(),
        "description" | "content" => Value::html(product.text_at("/description")),
        "price" | "price_min" => product.amount("/price"),
        "price_max" => match product.amount("/price_max") {
            Value::Nil => product.amount("/price"),
            most => most,
        },
        "price_varies" => {
            let (least, most) =
                (product.raw.pointer("/price/amount"), product.raw.pointer("/price_max/amount"));
            (most.is_some() && least != most).into()
        }
        "compare_at_price" => product.amount("/compare_at"),
        "available" => product.at("/in_stock"),
        "url" => product.shop.to(&format!("/products/{}", product.text_at("/handle"))).into(),
        "variants_count" => match product.at("/variants_count") {
            Value::Nil => list(&product.raw, "/variants").len().into(),
            count => count,
        },
        "has_only_default_variant" => (list(&product.raw, "/options").is_empty()
            && list(&product.raw, "/variants").len() <= 1)
            .into(),
        "gift_card?" | "requires_selling_plan" | "quantity_price_breaks_configured?" => {
            false.into()
        }
        "selling_plan_groups" | "collections" => Value::from(Vec::new()),
        "selected_selling_plan"
        | "selected_selling_plan_allocation"
        | "category"
        | "selected_or_first_available_selling_plan_allocation"
        | "template_suffix" => Value::Nil,
        "images" | "media" => media::of_product(product).into(),
        "featured_image" | "featured_media" => {
            let image = product.raw.pointer("/images/0");
            image.map_or(Value::Nil, |_| {
                media::of_product(product).into_iter().next().unwrap_or_default()
            })
        }
        "variants" => variants(product).into(),
        "first_available_variant" => first_available(product),
        "selected_variant" => selected(product),
        "selected_or_first_available_variant" => match selected(product) {
            // Chosen values that no variant has: there is none to sell.
            Value::Nil if chosen_by_values(product).is_some() => Value::Nil,
            Value::Nil => match first_available(product) {
                Value::Nil => variants(product).into_iter().next().unwrap_or_default(),
                available => available,
            },
            selected => selected,
        },
        "options" => {
            let names = ajax::options_of(&product.raw);
            names.iter().map(|option| Value::from(text(option, "/name"))).collect()
        }
        "options_with_values" => options(product).into(),
        "options_by_name" => {
            let all = options(product).into_iter();
            Value::map(all.map(|option| (option.get("name").to_text().to_lowercase(), option)))
        }
        "related" => {
            let related = list(&product.raw, "/related").iter();
            related.map(|other| of(&product.shop, other)).collect()
        }
        "metafields" => metafields(product),
        _ => return None,
    })
}

/// The metafields that reviews have at Shopify: the only ones here.
fn metafields(product: &Record) -> Value {
    let count = product.raw.pointer("/rating/count").and_then(Json::as_i64).unwrap_or_default();
    let Some(average) =
        product.raw.pointer("/rating/avg").and_then(Json::as_f64).filter(|_| count > 0)
    else {
        return Value::map::<&str>([]);
    };
    let rating = Value::map([
        ("rating", Value::Float(average)),
        ("scale_min", Value::Float(1.0)),
        ("scale_max", Value::Float(5.0)),
    ]);
    let field = |value: Value, kind: &str| Value::map([("value", value), ("type", kind.into())]);
    let reviews = Value::map([
        ("rating", field(rating, "rating")),
        ("rating_count", field(Value::Int(count), "number_integer")),
    ]);
    Value::map([("reviews", reviews)])
}

/// The variants of a product.
pub(crate) fn variants(product: &Record) -> Vec<Value> {
    let parent = Arc::new(product.clone());
    let one = |raw: Json| {
        Record::new(&VARIANT, &product.shop, Arc::new(raw)).within(Arc::clone(&parent)).value()
    };
    ajax::variants(&product.raw).into_iter().map(one).collect()
}

/// The variant that the page's address names, by its id or by the ids of its options' values.
fn selected(product: &Record) -> Value {
    if let Some(chosen) = chosen_by_values(product) {
        return find(product, |variant| has_options(variant, &chosen));
    }
    let Some(id) = product.shop.data.parameter("variant") else { return Value::Nil };
    find(product, |variant| text(variant, "/id") == id)
}

/// The id of an option's value: its places among the product's options and their values.
fn value_id(product: &Record, (option, value): (usize, usize)) -> String {
    format!("{}-{option}-{value}", product.text_at("/id"))
}

/// The values of options that the page's address names by their ids, in the options' order.
fn chosen_by_values(product: &Record) -> Option<Vec<String>> {
    let asked = product.shop.data.parameter("option_values").filter(|asked| !asked.is_empty())?;
    let asked: Vec<&str> = asked.split(',').collect();
    let options = ajax::options_of(&product.raw);
    let chosen = options.iter().enumerate().map(|(place, option)| {
        let values = list(option, "/values").iter().enumerate();
        let is_asked = |index: usize| asked.contains(&&*value_id(product, (place, index)));
        let mut found = values.filter(|(index, _)| is_asked(*index));
        found.next().and_then(|(_, name)| name.as_str())
    });
    completed(product, &chosen.collect::<Vec<_>>())
}

/// The chosen values; where an option has none, as in a list that shows colors alone, those of a variant with the others.
fn completed(product: &Record, chosen: &[Option<&str>]) -> Option<Vec<String>> {
    if chosen.iter().all(Option::is_none) {
        return None;
    }
    let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect();
    if let Some(all) = chosen.iter().copied().collect::<Option<Vec<&str>>>() {
        return Some(owned(all));
    }
    let values = |variant: &Json| -> Vec<String> {
        let own = list(variant, "/options").iter().filter_map(Json::as_str);
        own.map(str::to_owned).collect()
    };
    let has_them = |variant: &&Json| {
        let own = values(variant);
        chosen.iter().zip(&own).all(|(named, own)| named.is_none_or(|named| named == own))
    };
    let mut found: Vec<&Json> = list(&product.raw, "/variants").iter().filter(has_them).collect();
    found.sort_by_key(|variant| variant.get("in_stock") == Some(&Json::Bool(false)));
    found.first().map(|variant| values(variant))
}

/// Whether a variant has these values of its options.
fn has_options(variant: &Json, values: &[String]) -> bool {
    let own = list(variant, "/options").iter().filter_map(Json::as_str);
    own.eq(values.iter().map(String::as_str))
}

fn first_available(product: &Record) -> Value {
    let of_product = product.raw.get("in_stock");
    find(product, |variant| variant.get("in_stock").or(of_product) != Some(&Json::Bool(false)))
}

fn find(product: &Record, is_it: impl Fn(&Json) -> bool) -> Value {
    let found = list(&product.raw, "/variants").iter().find(|variant| is_it(variant));
    found.map_or(Value::Nil, |variant| {
        let raw = Arc::new(ajax::complete(&product.raw, variant));
        let variant = Record::new(&VARIANT, &product.shop, raw);
        variant.within(Arc::new(product.clone())).value()
    })
}

fn variant_shape(variant: &Record) -> Json {
    let product = variant.parent.as_ref().map(|product| (*product.raw).clone());
    ajax::variant_json(&product.unwrap_or_default(), &variant.raw, variant.shop.money)
}

fn variant_member(variant: &Record, name: &str) -> Option<Value> {
    let product = variant.parent.as_deref();
    Some(match name {
        "id" => variant.at("/id"),
        "product" => product.map_or(Value::Nil, |product| product.clone().value()),
        "price" => match variant.amount("/price") {
            Value::Nil => Value::Int(0),
            price => price,
        },
        "compare_at_price" => variant.amount("/compare_at"),
        "available" => match variant.at("/in_stock") {
            Value::Nil => true.into(),
            known => known,
        },
        "selected" => {
            (variant.shop.data.parameter("variant") == Some(variant.text_at("/id"))).into()
        }
        "matched" => true.into(),
        "image" | "featured_image" | "featured_media" => {
            let url = variant.text_at("/image_url");
            let title = product.map(|product| product.text_at("/title")).unwrap_or_default();
            let listed = product.and_then(|product| {
                let images = media::of_product(product);
                images
                    .into_iter()
                    .find(|image| !url.is_empty() && image.get("src").to_text() == url)
            });
            listed.unwrap_or_else(|| media::image(&variant.shop, url, title))
        }
        "url" => {
            let handle = product.map(|product| product.text_at("/handle")).unwrap_or_default();
            let path = format!("/products/{handle}?variant={}", variant.text_at("/id"));
            variant.shop.to(&path).into()
        }
        "inventory_policy" => "continue".into(),
        "inventory_quantity" => Value::Int(0),
        "inventory_management"
        | "unit_price"
        | "unit_price_measurement"
        | "next_incoming_date"
        | "selected_selling_plan_allocation" => Value::Nil,
        "incoming" | "quantity_price_breaks_configured?" | "requires_selling_plan" => false.into(),
        "store_availabilities" | "quantity_price_breaks" | "selling_plan_allocations" => {
            Value::from(Vec::new())
        }
        "weight_unit" => "g".into(),
        "weight_in_unit" | "weight" => match variant.at("/weight_grams") {
            Value::Nil => Value::Int(0),
            grams => grams,
        },
        "sku" | "barcode" => variant.text_at(&format!("/{name}")).into(),
        "metafields" => nothing(),
        _ => return None,
    })
}

/// The options of a product with their values.
fn options(product: &Record) -> Vec<Value> {
    let all = ajax::options_of(&product.raw);
    let chosen = chosen_by_values(product).unwrap_or_else(|| {
        let variant = member(product, "selected_or_first_available_variant").unwrap_or_default();
        let names = ["option1", "option2", "option3"];
        let values = names.map(|name| variant.get(name)).into_iter();
        let known = values.take_while(|value| !value.is_nil());
        known.map(|value| value.to_text().into_owned()).collect()
    });
    let one = |(place, option): (usize, &Json)| {
        let values = list(option, "/values").iter().filter_map(Json::as_str).enumerate();
        let values: Value =
            values.map(|value| option_value(product, (place, &chosen), value)).collect();
        Value::object(ProductOption {
            name: Arc::from(text(option, "/name")),
            position: place.saturating_add(1),
            values,
            selected: chosen.get(place).map_or(Value::Nil, |value| value.as_str().into()),
        })
    };
    all.iter().enumerate().map(one).collect()
}

/// A value of the option at a place, and the variant that it gives with the other chosen values.
fn option_value(
    product: &Record,
    (place, chosen): (usize, &[String]),
    (index, name): (usize, &str),
) -> Value {
    let mut with_it = chosen.to_vec();
    if let Some(value) = with_it.get_mut(place) {
        name.clone_into(value);
    }
    let has_none = list(&product.raw, "/options").is_empty();
    let variant = find(product, |variant| has_none || has_options(variant, &with_it));
    Value::object(OptionValue {
        name: Arc::from(name),
        id: value_id(product, (place, index)).into(),
        is_selected: chosen.get(place).is_some_and(|chosen| chosen == name),
        is_available: variant.get("available").is_truthy(),
        variant,
    })
}

/// An option of a product, which is its name where a text is wanted.
struct ProductOption {
    name: Arc<str>,
    position: usize,
    values: Value,
    selected: Value,
}

impl Object for ProductOption {
    fn get(&self, name: &str) -> Option<Value> {
        Some(match name {
            "name" => self.name.clone().into(),
            "position" => self.position.into(),
            "values" => self.values.clone(),
            "selected_value" => self.selected.clone(),
            _ => return None,
        })
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.name.clone().into())
    }
}

/// A value of an option, which is its name where a text is wanted.
struct OptionValue {
    name: Arc<str>,
    id: Arc<str>,
    is_selected: bool,
    is_available: bool,
    variant: Value,
}

impl Object for OptionValue {
    fn get(&self, name: &str) -> Option<Value> {
        Some(match name {
            "name" => self.name.clone().into(),
            "id" => self.id.clone().into(),
            "selected" => self.is_selected.into(),
            "available" => self.is_available.into(),
            "variant" => self.variant.clone(),
            "swatch" | "product_url" => Value::Nil,
            _ => return None,
        })
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.name.clone().into())
    }
}

/// Whether a value is an image.
pub(crate) fn is_image(record: &Record) -> bool {
    record.kind.name == IMAGE.name
}

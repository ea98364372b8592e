//! What the demo store sells: forty products in a tree of categories and four collections, with
//! pictures and stock; made as any client would make it.

use gateway::embedded::AnyError;
use serde_json::{Value, json};

use super::picture::{self, Shape};
use super::{Api, text};

/// One of the demo's products.
struct Ware {
    title: &'static str,
    /// In paise.
    price: u32,
    /// What it cost before; 0 for what it always cost.
    before: u32,
    /// What its variants differ by.
    choice: Choice,
    tag: &'static str,
    stock: u32,
}

/// What variants differ by.
#[derive(Clone, Copy)]
enum Choice {
    One,
    Sizes,
    Colours,
}

use Choice::{Colours, One, Sizes};

const fn ware(
    title: &'static str,
    price: u32,
    before: u32,
    choice: Choice,
    tag: &'static str,
    stock: u32,
) -> Ware {
    Ware { title, price, before, choice, tag, stock }
}

/// A category with its products.
struct Department {
    name: &'static str,
    parent: Option<&'static str>,
    product_type: &'static str,
    shape: Shape,
    wares: &'static [Ware],
}

/// Parents come before their children.
const DEPARTMENTS: &[Department] = &[
    Department {
        name: "Kitchen",
        parent: None,
        product_type: "Kitchenware",
        shape: Shape::Disc,
        wares: &[
            ware("Walnut Chopping Board", 149_900, 0, One, "wood", 24),
            ware("Stoneware Mixing Bowl", 119_900, 139_900, Sizes, "ceramic", 18),
            ware("Copper Measuring Spoons", 89_900, 0, One, "metal", 40),
            ware("Linen Apron", 129_900, 0, Colours, "textile", 22),
            ware("Beeswax Food Wraps", 59_900, 69_900, One, "organic", 60),
            ware("Cast Iron Skillet", 249_900, 0, Sizes, "metal", 12),
            ware("Acacia Salad Servers", 69_900, 0, One, "wood", 35),
        ],
    },
    Department {
        name: "Cups and Mugs",
        parent: Some("Kitchen"),
        product_type: "Drinkware",
        shape: Shape::Ring,
        wares: &[
            ware("Speckled Coffee Mug", 49_900, 0, Colours, "ceramic", 80),
            ware("Tall Latte Mug", 59_900, 0, One, "ceramic", 44),
            ware("Espresso Cup Pair", 69_900, 79_900, One, "ceramic", 30),
            ware("Enamel Camping Mug", 39_900, 0, Colours, "metal", 90),
            ware("Double-Wall Tea Glass", 44_900, 0, One, "glass", 52),
            ware("Bamboo Travel Cup", 79_900, 0, One, "organic", 26),
        ],
    },
    Department {
        name: "Tea and Coffee",
        parent: None,
        product_type: "Drinks",
        shape: Shape::Chequers,
        wares: &[
            ware("Assam Breakfast Tea", 34_900, 0, One, "organic", 120),
            ware("Darjeeling First Flush", 64_900, 0, One, "organic", 48),
            ware("Masala Chai Blend", 29_900, 0, One, "organic", 150),
            ware("Malabar Filter Coffee", 42_900, 0, Sizes, "roasted", 70),
            ware("Single-Estate Arabica", 54_900, 59_900, Sizes, "roasted", 64),
            ware("Cold Brew Bags", 39_900, 0, One, "roasted", 75),
            ware("Lemongrass Infusion", 27_900, 0, One, "organic", 0),
        ],
    },
    Department {
        name: "Home Textiles",
        parent: None,
        product_type: "Textiles",
        shape: Shape::Stripes,
        wares: &[
            ware("Handloom Cotton Throw", 219_900, 0, Colours, "textile", 16),
            ware("Block-Print Cushion Cover", 69_900, 0, Colours, "textile", 38),
            ware("Waffle Bath Towel", 89_900, 109_900, Colours, "organic", 42),
            ware("Indigo Table Runner", 99_900, 0, One, "textile", 20),
            ware("Linen Napkins, Set of Four", 79_900, 0, Colours, "textile", 33),
            ware("Quilted Bedspread", 459_900, 0, Sizes, "textile", 8),
            ware("Jute Door Mat", 64_900, 0, One, "natural", 27),
        ],
    },
    Department {
        name: "Stationery",
        parent: None,
        product_type: "Paper goods",
        shape: Shape::Diamond,
        wares: &[
            ware("Handmade Paper Notebook", 44_900, 0, Sizes, "paper", 95),
            ware("Brass Fountain Pen", 189_900, 219_900, One, "metal", 14),
            ware("Letterpress Card Set", 54_900, 0, One, "paper", 58),
            ware("Weekly Desk Planner", 49_900, 0, One, "paper", 46),
            ware("Cedar Pencils, Dozen", 24_900, 0, One, "wood", 110),
            ware("Leather Pen Roll", 129_900, 0, Colours, "leather", 19),
        ],
    },
    Department {
        name: "Garden",
        parent: None,
        product_type: "Garden",
        shape: Shape::Disc,
        wares: &[
            ware("Terracotta Planter", 59_900, 0, Sizes, "ceramic", 55),
            ware("Copper Watering Can", 179_900, 0, One, "metal", 11),
            ware("Herb Seed Collection", 34_900, 0, One, "organic", 130),
            ware("Coir Seed Pots", 19_900, 0, One, "natural", 140),
            ware("Hand Trowel", 54_900, 64_900, One, "metal", 37),
            ware("Macrame Plant Hanger", 49_900, 0, Colours, "textile", 29),
            ware("Citronella Candle", 39_900, 0, One, "natural", 66),
        ],
    },
];

/// Makes what is not there yet.
pub async fn stock_up(api: &Api<'_>) -> Result<(), AnyError> {
    let mut known = handles(api, "/v1/products").await?;
    let mut categories = Vec::new();
    let location = location(api).await?;
    let mut place = 0_usize;
    for department in DEPARTMENTS {
        let category = category(api, department, &categories).await?;
        for ware in department.wares {
            place = place.saturating_add(1);
            if known.iter().all(|(handle, _)| *handle != handle_of(ware.title)) {
                let image = upload(api, ware.title, place, department.shape).await?;
                let ask = product(ware, department, place, &category, &location, &image);
                let made = api.call("POST", "/v1/products", Some(ask)).await?;
                known.push((handle_of(ware.title), text(&made, "/id")?));
            }
        }
        categories.push((department.name, category));
    }
    collections(api, &known).await
}

/// Handles and ids of what a list holds.
async fn handles(api: &Api<'_>, path: &str) -> Result<Vec<(String, String)>, AnyError> {
    let list = api.call("GET", &format!("{path}?limit=100"), None).await?;
    let items = list.pointer("/data").and_then(Value::as_array).cloned().unwrap_or_default();
    items.iter().map(|item| Ok((text(item, "/handle")?, text(item, "/id")?))).collect()
}

/// Where the stock lies: the store's own first location, in its own words.
async fn location(api: &Api<'_>) -> Result<String, AnyError> {
    let list = api.call("GET", "/v1/inventory/locations", None).await?;
    if let Some(first) = list.pointer("/data/0/id").and_then(Value::as_str) {
        return Ok(first.to_owned());
    }
    let address = json!({"line1": "12 Mill Road", "city": "Pune", "postal_code": "411001",
        "country": "IN"});
    let ask = json!({"name": "Warehouse", "address": address, "fulfills_online_orders": true});
    text(&api.call("POST", "/v1/inventory/locations", Some(ask)).await?, "/id")
}

async fn category(
    api: &Api<'_>,
    department: &Department,
    made: &[(&str, String)],
) -> Result<String, AnyError> {
    let known = handles(api, "/v1/products/categories").await?;
    let handle = handle_of(department.name);
    if let Some((_, id)) = known.into_iter().find(|(known, _)| *known == handle) {
        return Ok(id);
    }
    let parent = department.parent.and_then(|name| made.iter().find(|(known, _)| *known == name));
    let ask = json!({
        "name": department.name,
        "parent_id": parent.map(|(_, id)| id),
        "position": made.len(),
    });
    text(&api.call("POST", "/v1/products/categories", Some(ask)).await?, "/id")
}

/// Uploads a product's picture; answers with its id.
async fn upload(api: &Api<'_>, title: &str, place: usize, shape: Shape) -> Result<Value, AnyError> {
    let made = api.send("POST", "/v1/media", "image/png", picture::draw(place, shape)?).await?;
    Ok(json!({"media_id": text(&made, "/id")?, "alt": title}))
}

/// The request that makes a product.
fn product(
    ware: &Ware,
    department: &Department,
    place: usize,
    category: &str,
    location: &str,
    image: &Value,
) -> Value {
    let (option, values): (&str, &[&str]) = match ware.choice {
        One => ("", &[""]),
        Sizes => ("Size", &["Small", "Large"]),
        Colours => ("Colour", &["Natural", "Indigo", "Rust"]),
    };
    let money = |amount: u32| json!({"amount": amount, "currency": "INR"});
    let variant = |(number, value): (usize, &&str)| {
        let more = u32::try_from(number).unwrap_or(0);
        // The large one costs a third more; a colour costs what any other does.
        let extra = match ware.choice {
            Sizes => ware.price.div_euclid(3_000).saturating_mul(1_000).saturating_mul(more),
            One | Colours => 0,
        };
        let before = (ware.before > 0).then(|| money(ware.before.saturating_add(extra)));
        let quantity = ware.stock.saturating_sub(more.saturating_mul(2));
        let mut variant = json!({
            "sku": format!("DEMO-{place:02}-{number}"),
            "price": money(ware.price.saturating_add(extra)),
            "inventory": {
                "tracked": true,
                "levels": [{"location_id": location, "quantity": quantity}],
            },
        });
        if let (Some(fields), false) = (variant.as_object_mut(), option.is_empty()) {
            fields.insert("options".into(), json!([value]));
        }
        if let (Some(fields), Some(before)) = (variant.as_object_mut(), before) {
            fields.insert("compare_at".into(), before);
        }
        variant
    };
    let variants: Vec<Value> = values.iter().enumerate().map(variant).collect();
    let options =
        if option.is_empty() { json!([]) } else { json!([{"name": option, "values": values}]) };
    json!({
        "title": ware.title,
        "handle": handle_of(ware.title),
        "description": format!(
            "<p>{}: made in small batches, and packed without plastic.</p>", ware.title),
        "status": "active",
        "vendor": "Demo Works",
        "product_type": department.product_type,
        "category_id": category,
        "tags": [ware.tag, department.product_type.to_lowercase()],
        "options": options,
        "variants": variants,
        "images": [image],
    })
}

async fn collections(api: &Api<'_>, products: &[(String, String)]) -> Result<(), AnyError> {
    let known = handles(api, "/v1/products/collections").await?;
    let every =
        |step: usize| -> Vec<&String> { products.iter().step_by(step).map(|(_, id)| id).collect() };
    let manual = |title: &str, ids: Vec<&String>| {
        json!({"title": title, "handle": handle_of(title), "kind": "manual", "product_ids": ids,
            "sort_order": "manual", "published": true})
    };
    let automated = |title: &str, rule: Value, order: &str| {
        json!({"title": title, "handle": handle_of(title), "kind": "automated", "rules": [rule],
            "match": "all", "sort_order": order, "published": true})
    };
    let sale = json!({"field": "on_sale", "relation": "equals", "value": "true"});
    let small = json!({"field": "price", "relation": "less_than", "value": "50000"});
    for ask in [
        manual("Staff Picks", every(5)),
        manual("Gift Ideas", every(7)),
        automated("On Sale", sale, "price"),
        automated("Under 500", small, "-created_at"),
    ] {
        let handle = text(&ask, "/handle")?;
        if known.iter().all(|(known, _)| *known != handle) {
            api.call("POST", "/v1/products/collections", Some(ask)).await?;
        }
    }
    Ok(())
}

/// `Linen Napkins, Set of Four` is `linen-napkins-set-of-four`.
fn handle_of(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let words: String = title.chars().map(plain).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_forty_products_with_handles_of_their_own() {
        let wares = || DEPARTMENTS.iter().flat_map(|department| department.wares);
        let handles: HashSet<String> = wares().map(|ware| handle_of(ware.title)).collect();
        assert_eq!((wares().count(), handles.len()), (40, 40));
    }
}

//! The catalogue of the demo store: forty products in a tree of categories and four collections, with
//! pictures and stock. It is created through the API, as by any client.

use core_types::id::StoreId;
use emulators::AnyError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::instrument::WithSubscriber;

use super::api::{Api, text};
use super::picture::{self, Shape};
use super::store::SUBDOMAIN;

/// The categories and products to create: `catalogue.json`. Parents come before their children.
const DEPARTMENTS: &str = include_str!("catalogue.json");

/// Pictures that are uploaded ahead of their products.
const PICTURES_AHEAD: usize = 4;

/// A category with its products.
#[derive(Deserialize)]
struct Department {
    name: String,
    parent: Option<String>,
    product_type: String,
    shape: Shape,
    wares: Vec<Ware>,
}

/// One of the demo's products.
#[derive(Deserialize)]
struct Ware {
    title: String,
    /// The price, in paise.
    price: u32,
    /// The previous price, in paise, if it was another.
    before: Option<u32>,
    #[serde(default)]
    choice: Choice,
    tag: String,
    stock: u32,
}

/// The options that variants differ by.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    #[default]
    One,
    Sizes,
    Colours,
    Three,
}

/// An option: its name and its values.
type DemoOption = (&'static str, &'static [&'static str]);

const SIZE: DemoOption = ("Size", &["Small", "Large"]);
const COLOUR: DemoOption = ("Colour", &["Natural", "Indigo", "Rust"]);
const FABRIC: DemoOption = ("Fabric", &["Linen", "Cotton"]);

impl Choice {
    fn options(self) -> &'static [DemoOption] {
        match self {
            Self::One => &[],
            Self::Sizes => &[SIZE],
            Self::Colours => &[COLOUR],
            Self::Three => &[SIZE, COLOUR, FABRIC],
        }
    }

    /// The combinations of the options' values that there are. A product without options has one.
    fn combinations(self) -> Vec<Vec<&'static str>> {
        let each = |all: Vec<Vec<&'static str>>, (_, values): &DemoOption| {
            let more = |chosen: Vec<&'static str>| {
                values.iter().map(move |value| [chosen.as_slice(), &[*value]].concat())
            };
            all.into_iter().flat_map(more).collect()
        };
        let all: Vec<Vec<&str>> = self.options().iter().fold(vec![Vec::new()], each);
        all.into_iter().filter(|it| !(it.contains(&"Rust") && it.contains(&"Cotton"))).collect()
    }

    /// How many pictures the product has: with three options, one of each colour.
    fn pictures(self) -> usize {
        if matches!(self, Self::Three) { COLOUR.1.len() } else { 1 }
    }
}

/// Whether a combination is sold out from the start, so that a shop shows how that looks.
fn is_sold_out(chosen: &[&str]) -> bool {
    chosen == ["Large", "Indigo", "Cotton"]
}

fn departments() -> Result<Vec<Department>, AnyError> {
    Ok(serde_json::from_str(DEPARTMENTS)?)
}

/// Creates the objects that do not exist yet. Pictures are drawn and uploaded while earlier products are
/// created.
pub async fn stock_up(api: &Api, store: &StoreId) -> Result<(), AnyError> {
    let mut known = handles(api, "/v1/products").await?;
    let departments = departments()?;
    let mut categories = Vec::new();
    let location = location(api).await?;
    let wanted: Vec<_> = departments
        .iter()
        .flat_map(|department| {
            department.wares.iter().map(|ware| Sketch {
                title: ware.title.clone(),
                shape: department.shape,
                pictures: ware.choice.pictures(),
            })
        })
        .zip(1_usize..)
        .filter(|(it, _)| known.iter().all(|(handle, _)| *handle != handle_of(&it.title)))
        .collect();
    let all: usize = departments.iter().map(|department| department.wares.len()).sum();
    let (drawn, mut images) = mpsc::channel(PICTURES_AHEAD);
    let mut artist = JoinSet::new();
    let artwork = draw_all(api.clone(), store.clone(), wanted, drawn);
    artist.spawn(artwork.with_current_subscriber());
    let mut place = 0_usize;
    for department in &departments {
        let category = category(api, department, &categories).await?;
        for ware in &department.wares {
            place = place.saturating_add(1);
            api.about(&format!("Preparing the demo store: product {place} of {all}"));
            if known.iter().all(|(handle, _)| *handle != handle_of(&ware.title)) {
                let images = images.recv().await.ok_or("there are too few pictures")??;
                let input = product(ware, department, place, (&category, &location), &images);
                let made = api.call("POST", "/v1/products", Some(input)).await?;
                known.push((handle_of(&ware.title), text(&made, "/id")?));
            }
        }
        categories.push((department.name.as_str(), category));
    }
    collections(api, &known).await
}

/// Uploads the pictures of these titles and positions, in their order.
async fn draw_all(
    api: Api,
    store: StoreId,
    wanted: Vec<(Sketch, usize)>,
    drawn: mpsc::Sender<Result<Vec<Value>, AnyError>>,
) {
    for (sketch, place) in wanted {
        if drawn.send(upload(&api, &store, &sketch, place).await).await.is_err() {
            return;
        }
    }
}

/// The handles and ids of the items of a list.
async fn handles(api: &Api, path: &str) -> Result<Vec<(String, String)>, AnyError> {
    let list = api.call("GET", &format!("{path}?limit=100"), None).await?;
    let items = list.pointer("/data").and_then(Value::as_array).cloned().unwrap_or_default();
    items.iter().map(|item| Ok((text(item, "/handle")?, text(item, "/id")?))).collect()
}

/// The id of the store's first location, which is created if there is none.
async fn location(api: &Api) -> Result<String, AnyError> {
    let list = api.call("GET", "/v1/inventory/locations", None).await?;
    if let Some(first) = list.pointer("/data/0/id").and_then(Value::as_str) {
        return Ok(first.to_owned());
    }
    let address = json!({"line1": "12 Mill Road", "city": "Pune", "postal_code": "411001",
        "country": "IN"});
    let input = json!({"name": "Warehouse", "address": address, "fulfills_online_orders": true});
    text(&api.call("POST", "/v1/inventory/locations", Some(input)).await?, "/id")
}

async fn category(
    api: &Api,
    department: &Department,
    made: &[(&str, String)],
) -> Result<String, AnyError> {
    let known = handles(api, "/v1/products/categories").await?;
    let handle = handle_of(&department.name);
    if let Some((_, id)) = known.into_iter().find(|(known, _)| *known == handle) {
        return Ok(id);
    }
    let parent =
        department.parent.as_deref().and_then(|name| made.iter().find(|(known, _)| *known == name));
    let input = json!({
        "name": department.name,
        "parent_id": parent.map(|(_, id)| id),
        "position": made.len(),
    });
    text(&api.call("POST", "/v1/products/categories", Some(input)).await?, "/id")
}

/// What is drawn of a product.
struct Sketch {
    title: String,
    shape: Shape,
    pictures: usize,
}

/// Uploads a product's pictures. Returns the id of each, and the address that its product will have for it.
async fn upload(
    api: &Api,
    store: &StoreId,
    sketch: &Sketch,
    place: usize,
) -> Result<Vec<Value>, AnyError> {
    let mut media = Vec::new();
    for number in 0..sketch.pictures {
        let picture = picture::draw(place.saturating_add(number), sketch.shape)?;
        let made = api.send("POST", "/v1/media", "image/png", picture).await?;
        // A product names its store by its id, which no renaming changes.
        let url = text(&made, "/url")?.replacen(SUBDOMAIN, store.as_str(), 1);
        media.push(json!({"id": text(&made, "/id")?, "url": url}));
    }
    Ok(media)
}

/// The request that creates a product.
fn product(
    ware: &Ware,
    department: &Department,
    place: usize,
    (category, location): (&str, &str),
    media: &[Value],
) -> Value {
    let variants = ware.choice.combinations().into_iter().enumerate();
    let variants: Vec<Value> = variants
        .map(|(number, chosen)| variant(ware, (place, number), &chosen, location, media))
        .collect();
    let option = |(name, values): &DemoOption| json!({"name": name, "values": values});
    let image = |media: &Value| json!({"media_id": media.get("id"), "alt": ware.title});
    json!({
        "title": ware.title,
        "handle": handle_of(&ware.title),
        "description": format!(
            "<p>{}: made in small batches, and packed without plastic.</p>", ware.title),
        "status": "active",
        "vendor": "Demo Works",
        "product_type": department.product_type,
        "category_id": category,
        "tags": [ware.tag, department.product_type.to_lowercase()],
        "options": ware.choice.options().iter().map(option).collect::<Vec<_>>(),
        "variants": variants,
        "images": media.iter().map(image).collect::<Vec<_>>(),
    })
}

/// The variant of these values of the product's options.
fn variant(
    ware: &Ware,
    (place, number): (usize, usize),
    chosen: &[&str],
    location: &str,
    media: &[Value],
) -> Value {
    let money = |amount: u32| json!({"amount": amount, "currency": "INR"});
    // A large variant costs a third more; all colours cost the same.
    let extra = if chosen.contains(&"Large") {
        ware.price.div_euclid(3_000).saturating_mul(1_000)
    } else {
        0
    };
    let fewer = u32::try_from(number).unwrap_or(0).saturating_mul(2);
    let quantity = if is_sold_out(chosen) { 0 } else { ware.stock.saturating_sub(fewer) };
    let mut variant = json!({
        "sku": format!("DEMO-{place:02}-{number}"),
        "price": money(ware.price.saturating_add(extra)),
        "inventory": {
            "tracked": true,
            "levels": [{"location_id": location, "quantity": quantity}],
        },
    });
    let Some(fields) = variant.as_object_mut() else { return variant };
    if !chosen.is_empty() {
        fields.insert("options".into(), json!(chosen));
    }
    if let Some(before) = ware.before {
        fields.insert("compare_at".into(), money(before.saturating_add(extra)));
    }
    let colour = COLOUR.1.iter().position(|colour| chosen.contains(colour));
    if let Some(url) = colour.filter(|_| media.len() > 1).and_then(|at| media.get(at)?.get("url")) {
        fields.insert("image_url".into(), url.clone());
    }
    variant
}

async fn collections(api: &Api, products: &[(String, String)]) -> Result<(), AnyError> {
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
    for input in [
        manual("Staff Picks", every(5)),
        manual("Gift Ideas", every(7)),
        automated("On Sale", sale, "price"),
        automated("Under 500", small, "-created_at"),
    ] {
        let handle = text(&input, "/handle")?;
        if known.iter().all(|(known, _)| *known != handle) {
            api.call("POST", "/v1/products/collections", Some(input)).await?;
        }
    }
    Ok(())
}

/// The handle of a title: `linen-napkins-set-of-four` of `Linen Napkins, Set of Four`.
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
        let departments = departments().unwrap();
        let wares = || departments.iter().flat_map(|department| &department.wares);
        let handles: HashSet<String> = wares().map(|ware| handle_of(&ware.title)).collect();
        assert_eq!((wares().count(), handles.len()), (40, 40));
    }

    #[test]
    fn a_product_has_three_options_and_lacks_combinations() {
        let departments = departments().unwrap();
        let mut wares = departments.iter().flat_map(|department| &department.wares);
        let choice = wares.find(|ware| ware.choice.options().len() == 3).unwrap().choice;
        let all = choice.combinations();
        assert_eq!((all.len(), choice.pictures()), (10, 3));
        assert_eq!(all.iter().filter(|chosen| is_sold_out(chosen)).count(), 1);
        assert_eq!(Choice::One.combinations(), [[""; 0]]);
    }
}

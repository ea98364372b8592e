//! Inputs about variants, and the variants created from them.

use std::collections::{HashMap, HashSet};

use crate::inventory::{Level, MAX_QUANTITY};
use crate::location;
use crate::product::{FieldErrorList, Image, ImageInput, MAX_OPTIONS, Sku, Variant, variant_title};
use core_types::fields::{Country, HsCode, Metadata, WebUrl};
use core_types::id::{LocationId, ProductId, StoreId, VariantId};
use core_types::money::{Money, MoneyInput};
use identity::store::{InventoryPolicy, Store};
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, Int, Text};
use primitives::input::request;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};

/// The most locations with first stock of a new variant; more by `/v1/inventory/levels`.
pub const MAX_FIRST_LEVELS: usize = 10;
/// The highest weight of a variant: a thousand tonnes.
pub const MAX_GRAMS: i64 = 1_000_000_000;

/// The option values that a variant chooses.
pub type ChoiceInput = AtMost<Text<1, 60>, MAX_OPTIONS>;

/// A variant to create.
#[request]
#[derive(Debug, Clone)]
pub struct VariantInput {
    /// The stock-keeping unit, unique within the store without regard to case.
    pub sku: Option<Sku>,
    /// The price, in the store's currency.
    price: MoneyInput,
    /// The compare-at price: the price before a reduction, or elsewhere.
    compare_at: Option<MoneyInput>,
    /// A value for each of the product's options, in their order.
    options: Option<ChoiceInput>,
    /// The weight in grams.
    weight: Option<Int<0, MAX_GRAMS>>,
    /// The weight in grams; takes precedence over `weight`.
    weight_grams: Option<Int<0, MAX_GRAMS>>,
    /// GTIN, EAN, UPC or ISBN.
    barcode: Option<Text<1, 64>>,
    /// The code of the Harmonized System, for customs.
    hs_code: Option<HsCode>,
    /// The country in which it was made, for customs.
    country_of_origin: Option<Country>,
    /// Whether it is shipped; true by default.
    requires_shipping: Option<Flag>,
    /// Whether tax is levied on it; true by default.
    taxable: Option<Flag>,
    /// Whether it is discontinued: shoppers do not see it, and nobody can order it; false by default.
    discontinued: Option<Flag>,
    /// The address of one of the product's images; the first one by default.
    pub(super) image_url: Option<WebUrl>,
    /// Key-value pairs that apps and merchants store with it.
    metadata: Option<Metadata>,
    /// The inventory settings; without them, stock is not tracked.
    inventory: Option<InventoryInput>,
}

/// The inventory settings of a variant.
#[request]
#[derive(Debug, Clone)]
pub struct InventoryInput {
    /// Whether its stock is tracked; true by default.
    tracked: Option<Flag>,
    /// Whether it is sold beyond its stock; the store's policy by default.
    policy: Option<InventoryPolicy>,
    /// The first stock, by location.
    levels: Option<AtMost<LevelInput, MAX_FIRST_LEVELS>>,
}

/// The first stock of a variant at a location.
#[request]
#[derive(Debug, Clone)]
pub struct LevelInput {
    /// The location; the store's default one by default.
    location_id: Option<LocationId>,
    /// The available quantity.
    quantity: Int<0, MAX_QUANTITY>,
}

/// A variant that is not stored yet, with its first stock.
#[derive(Debug, Clone)]
pub struct NewVariant {
    /// The variant.
    pub variant: Variant,
    /// Its stock.
    pub levels: Vec<Level>,
    /// The flags that the request gives.
    pub given: GivenFlags,
}

/// Flags of a variant that a request gives; the others have their defaults in a draft.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenFlags {
    /// Whether it is shipped.
    pub requires_shipping: Option<bool>,
    /// Whether tax is levied on it.
    pub taxable: Option<bool>,
    /// Whether it is discontinued.
    pub discontinued: Option<bool>,
}

/// The amount in the store's currency; another currency is a field error.
pub fn amount(
    field_errors: &mut FieldErrorList,
    pointer: &str,
    input: &MoneyInput,
    store: &Store,
) -> Option<Money> {
    field_errors.collect(format!("{pointer}/currency"), input.in_currency(&store.currency))
}

impl VariantInput {
    /// The option values that it chooses.
    pub fn choice(&self) -> Vec<String> {
        let values = self.options.iter().flat_map(|options| &options.0);
        values.map(|value| value.as_str().to_owned()).collect()
    }

    /// The draft of this variant of a product, at a position. `pointer` is the JSON pointer of the
    /// variant, for field errors.
    pub fn new_variant(
        self,
        product: &ProductId,
        position: u32,
        pointer: &str,
        (store, field_errors): (&Store, &mut FieldErrorList),
        now: Timestamp,
    ) -> NewVariant {
        let id = VariantId::mint(now);
        let options = self.choice();
        let price = amount(field_errors, &format!("{pointer}/price"), &self.price, store);
        let compare_at = self.compare_at.as_ref().map(|compared| {
            amount(field_errors, &format!("{pointer}/compare_at"), compared, store)
        });
        let stocked = self.inventory.is_some();
        let (tracked, policy, levels) = self.inventory.map_or((false, None, Vec::new()), |input| {
            let levels = input.levels.map(|levels| levels.0).unwrap_or_default();
            (input.tracked.is_none_or(|tracked| tracked.0), input.policy, levels)
        });
        if stocked && !tracked && !levels.is_empty() {
            let detail = "Not allowed: the inventory of the variant is not tracked.";
            field_errors.add(format!("{pointer}/inventory/levels"), "not_tracked", detail);
        }
        let mut stocked = HashSet::new();
        let mut opened = Vec::new();
        for (index, level) in levels.into_iter().enumerate() {
            let Some(location) = level.location_id else { continue };
            if !stocked.insert(location.clone()) {
                let pointer = format!("{pointer}/inventory/levels/{index}/location_id");
                field_errors.add(pointer, "duplicate_location", "Another entry has this location.");
            }
            opened.push(Level::open(&store.id, &id, &location, level.quantity.0, now));
        }
        let grams = self.weight_grams.or(self.weight);
        let given = GivenFlags {
            requires_shipping: self.requires_shipping.map(|flag| flag.0),
            taxable: self.taxable.map(|flag| flag.0),
            discontinued: self.discontinued.map(|flag| flag.0),
        };
        let variant = Variant {
            title: variant_title(&options),
            id,
            store_id: store.id.clone(),
            product_id: product.clone(),
            sku: self.sku.map(String::from),
            // Zero stands in for a rejected price; the request then fails.
            price: price.unwrap_or_else(|| Money::zero(&store.currency)),
            compare_at: compare_at.flatten(),
            options,
            weight_grams: grams.and_then(|grams| u32::try_from(grams.0).ok()),
            barcode: self.barcode.map(String::from),
            hs_code: self.hs_code,
            country_of_origin: self.country_of_origin,
            requires_shipping: given.requires_shipping.unwrap_or(true),
            taxable: given.taxable.unwrap_or(true),
            image_url: self.image_url.map(String::from),
            metadata: self.metadata.map(|metadata| metadata.0).unwrap_or_default(),
            tracked,
            policy,
            discontinued: given.discontinued.unwrap_or(false),
            stocked_at: stocked_at(&opened),
            position,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        NewVariant { variant, levels: opened, given }
    }
}

/// The locations of those levels that have available stock.
pub fn stocked_at<'a>(levels: impl IntoIterator<Item = &'a Level>) -> Vec<LocationId> {
    let stocked = levels.into_iter().filter(|level| level.available > 0);
    stocked.map(|level| level.location_id.clone()).collect()
}

/// Assigns first stock without a location to the store's default location.
pub async fn at_home(
    services: &Services,
    store: &Store,
    inputs: &mut [VariantInput],
) -> Result<(), Problem> {
    let levels = inputs
        .iter_mut()
        .filter_map(|input| input.inventory.as_mut()?.levels.as_mut())
        .flat_map(|levels| &mut levels.0)
        .filter(|level| level.location_id.is_none());
    let mut unassigned: Vec<&mut LevelInput> = levels.collect();
    if !unassigned.is_empty() {
        let home = location::home(services, store).await?;
        for level in &mut unassigned {
            level.location_id = Some(home.clone());
        }
    }
    Ok(())
}

/// An item of any kind, read to check that it exists.
#[derive(Debug, Serialize, Deserialize, Item)]
#[item(kind = "present", key = Key::new(&self.pk, &self.sk))]
struct ExistingItem {
    #[serde(rename = "PK")]
    pk: String,
    #[serde(rename = "SK")]
    sk: String,
    /// Of a location only: whether it is active.
    active: Option<bool>,
    /// Of a location only: whether it is being emptied.
    closing: Option<bool>,
    /// Of media only: the width in pixels.
    width: Option<u32>,
    /// Of media only: the height in pixels.
    height: Option<u32>,
    version: u64,
}

/// The items that references lead to.
#[derive(Debug, Default)]
pub struct Referenced(HashMap<Key, ExistingItem>);

impl Referenced {
    /// Gives images the sizes of their media.
    pub fn measure(&self, store: &StoreId, images: &mut [Image]) {
        for image in images {
            let key = image.media_id.as_ref().map(|id| core_types::key::media(store, id));
            let media = key.and_then(|key| self.0.get(&key));
            if let Some(media) = media {
                (image.width, image.height) = (media.width, media.height);
            }
        }
    }
}

impl ExistingItem {
    /// Whether stock may be added, as [`Location::is_open`](crate::location::Location::is_open).
    fn is_open(&self) -> bool {
        self.active != Some(false) && self.closing != Some(true)
    }
}

/// Adds a field error for every reference to an item that does not exist, or to a location that is not
/// open. A reference is a key, the JSON pointer of its field, and the error code. One round trip for
/// each 100 keys. Returns what there is.
pub async fn validate_references(
    services: &Services,
    references: Vec<(Key, String, &'static str)>,
    field_errors: &mut FieldErrorList,
) -> Result<Referenced, Problem> {
    let mut seen: HashSet<&Key> = HashSet::new();
    let distinct: Vec<&Key> =
        references.iter().map(|(key, ..)| key).filter(|key| seen.insert(*key)).collect();
    let mut present = HashMap::new();
    for keys in distinct.chunks(100) {
        let mut batch = services.table.get_many(keys).await?;
        for key in keys {
            present.extend(batch.take::<ExistingItem>(key)?.map(|one| ((*key).clone(), one)));
        }
    }
    for (key, pointer, code) in &references {
        match present.get(key).map(ExistingItem::is_open) {
            None => {
                let noun = code.strip_prefix("unknown_").unwrap_or("object");
                field_errors.add(pointer, code, format!("There is no such {noun} in the store."));
            }
            Some(false) => {
                field_errors.add(pointer, "location_inactive", "The location is not active.");
            }
            Some(true) => {}
        }
    }
    Ok(Referenced(present))
}

/// The references of first stock to locations. `pointer` gives the JSON pointer of a draft.
pub fn locations(
    new_variants: &[NewVariant],
    pointer: impl Fn(usize) -> String,
) -> Vec<(Key, String, &'static str)> {
    let mut references = Vec::new();
    for (variant_index, new_variant) in new_variants.iter().enumerate() {
        for (index, level) in new_variant.levels.iter().enumerate() {
            let at = format!("{}/inventory/levels/{index}/location_id", pointer(variant_index));
            let key = core_types::key::location(&level.store_id, &level.location_id);
            references.push((key, at, "unknown_location"));
        }
    }
    references
}

/// The references of images to the store's media.
pub fn media(store: &Store, images: &[ImageInput]) -> Vec<(Key, String, &'static str)> {
    let own = images.iter().enumerate().filter_map(|(index, image)| {
        let id = image.media_id.as_ref()?;
        let pointer = format!("/images/{index}/media_id");
        Some((core_types::key::media(&store.id, id), pointer, "unknown_media"))
    });
    own.collect()
}

/// The images as stored; media of the store have their public addresses ([`Image::address`]).
pub fn images(services: &Services, store: &Store, inputs: Vec<ImageInput>) -> Vec<Image> {
    let public =
        |id: &core_types::id::MediaId| Image::address(&services.config.base_url, &store.id, id);
    let image = |input: ImageInput| Image {
        url: match (&input.media_id, input.url) {
            (Some(id), _) => public(id),
            (None, url) => url.map(String::from).unwrap_or_default(),
        },
        media_id: input.media_id,
        alt: input.alt.map(String::from).unwrap_or_default(),
        width: None,
        height: None,
    };
    inputs.into_iter().map(image).collect()
}

/// The variants of drafts, each with the JSON pointer of its input.
pub fn with_pointers(new_variants: &[NewVariant]) -> impl Iterator<Item = (&Variant, String)> {
    let place = |(index, new_variant): (usize, _)| (new_variant, format!("/variants/{index}"));
    new_variants.iter().map(|new_variant| &new_variant.variant).enumerate().map(place)
}

/// Validates that the image of each variant is among the product's.
pub fn validate_image_choices<'a>(
    images: &[Image],
    variants: impl IntoIterator<Item = (&'a Variant, String)>,
    field_errors: &mut FieldErrorList,
) {
    for (variant, pointer) in variants {
        if !is_shown(images, variant) {
            let detail = "Must be the URL of one of the product's images.";
            field_errors.add(format!("{pointer}/image_url"), "unknown_image", detail);
        }
    }
}

fn is_shown(images: &[Image], variant: &Variant) -> bool {
    variant.image_url.as_ref().is_none_or(|url| images.iter().any(|image| image.url == *url))
}

/// The variants, without images that the product no longer has; each changed one at its next version.
pub fn without_missing_images(
    images: &[Image],
    variants: Vec<Variant>,
    now: Timestamp,
) -> Vec<Variant> {
    let checked = |variant: Variant| {
        if is_shown(images, &variant) {
            return variant;
        }
        Variant { image_url: None, ..variant.changed(now) }
    };
    variants.into_iter().map(checked).collect()
}

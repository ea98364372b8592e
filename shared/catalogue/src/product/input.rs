//! Field types of requests about products.

use std::collections::HashSet;

use core_types::fields::WebUrl;
use core_types::id::MediaId;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use primitives::fields::{AtMost, FieldErrors, FromText, Text, Violation};
use primitives::input::request;
use schemars::JsonSchema;

use super::{MAX_VARIANTS, ProductOption, Seo};

/// The most tags of one product.
const MAX_TAGS: usize = 250;

/// A stock-keeping unit: 1 to 100 characters without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sku(String);

impl FromText for Sku {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let text = text.trim();
        let clean = !text.chars().any(char::is_control);
        if clean && (1..=100).contains(&text.chars().count()) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must have 1 to 100 characters, without control characters.";
            Err(Violation::new("invalid_sku", detail))
        }
    }
}

primitives::text_field!(Sku);
primitives::string_schema!(Sku: {"minLength": 1, "maxLength": 100, "pattern": primitives::schema::LINE});

impl From<Sku> for String {
    fn from(sku: Sku) -> Self {
        sku.0
    }
}

/// The tags of a product: at most 250 of at most 40 characters. Duplicates, compared without case,
/// are dropped.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub struct Tags(#[schemars(with = "AtMost<Text<1, 40>, MAX_TAGS>")] pub Vec<String>);

impl Deserr<FieldErrors> for Tags {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let tags = AtMost::<Text<1, 40>, MAX_TAGS>::deserialize_from_value(value, location)?;
        let mut seen = HashSet::new();
        let tags = tags.0.into_iter().map(String::from);
        Ok(Self(tags.filter(|tag| seen.insert(tag.to_lowercase())).collect()))
    }
}

/// An option of a product, with its values.
#[request]
#[derive(Debug, Clone)]
pub struct OptionInput {
    /// The name that shoppers see: `Size`.
    name: Text<1, 60>,
    /// The values to choose from, in display order.
    values: AtMost<Text<1, 60>, MAX_VARIANTS>,
}

impl From<OptionInput> for ProductOption {
    fn from(input: OptionInput) -> Self {
        Self {
            name: input.name.into(),
            values: input.values.0.into_iter().map(String::from).collect(),
        }
    }
}

/// An image of a product: an address, or media of the store.
#[request(validate = ensure_has_source -> FieldErrors)]
#[derive(Debug, Clone)]
pub struct ImageInput {
    /// The address of an image that is hosted elsewhere.
    pub url: Option<WebUrl>,
    /// Media of the store; takes precedence over `url`.
    pub media_id: Option<MediaId>,
    /// The alternative text.
    pub alt: Option<Text<0, 250>>,
}

fn ensure_has_source(
    input: ImageInput,
    location: ValuePointerRef<'_>,
) -> Result<ImageInput, FieldErrors> {
    if input.url.is_none() && input.media_id.is_none() {
        let violation = Violation::new("required", "An image must have a `url` or a `media_id`.");
        return Err(FieldErrors::at(location.push_key("url"), violation));
    }
    Ok(input)
}

/// The title and the description of a page for search engines.
#[request]
#[derive(Debug, Clone)]
pub struct SeoInput {
    /// The page's title.
    title: Option<Text<1, 200>>,
    /// The page's description.
    description: Option<Text<1, 500>>,
}

impl From<SeoInput> for Seo {
    fn from(input: SeoInput) -> Self {
        Self {
            title: input.title.map(String::from),
            description: input.description.map(String::from),
        }
    }
}

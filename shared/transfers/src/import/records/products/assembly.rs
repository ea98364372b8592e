//! A product that is put together of rows.

use catalogue::product::{MAX_IMAGES, MAX_VARIANTS};
use serde_json::{Map, Value, json};

use super::super::cells::Reading;
use super::super::record::Record;

/// The placeholder for an option value that a row leaves out.
const NOT_CHOSEN: &str = "?";
/// The most characters of an option value.
const MAX_VALUE: usize = 60;

/// The values of an option.
#[derive(Debug, Default)]
struct OptionValues {
    all: Vec<String>,
    /// Values that are too long, with what stands for them.
    shortened: Vec<(String, String)>,
}

impl OptionValues {
    /// The value as it is imported: short enough, and spelt as before.
    fn add(&mut self, value: &str) -> String {
        // A missing value is the variant's error, not the option's.
        if value.is_empty() {
            self.push(NOT_CHOSEN);
            return String::new();
        }
        let value =
            if value.chars().count() > MAX_VALUE { self.shorten(value) } else { value.to_owned() };
        let lower = value.to_lowercase();
        if let Some(known) = self.all.iter().find(|known| known.to_lowercase() == lower) {
            return known.clone();
        }
        self.push(&value);
        value
    }

    fn push(&mut self, value: &str) {
        if !self.all.iter().any(|known| known == value) {
            self.all.push(value.to_owned());
        }
    }

    fn shorten(&mut self, value: &str) -> String {
        if let Some((_, short)) = self.shortened.iter().find(|(long, _)| long == value) {
            return short.clone();
        }
        let number = self.shortened.len().saturating_add(1);
        let end = format!("\u{2026} {number}");
        let available = MAX_VALUE.saturating_sub(end.chars().count());
        let start: String = value.chars().take(available).collect();
        let short = format!("{}{end}", start.trim_end());
        self.shortened.push((value.to_owned(), short.clone()));
        short
    }
}

/// A product under construction.
#[derive(Debug)]
pub(super) struct ProductBody {
    body: Map<String, Value>,
    /// The names of its options.
    pub(super) options: Vec<String>,
    values: Vec<OptionValues>,
    variants: Vec<Map<String, Value>>,
    images: Vec<(Option<i64>, Value)>,
}

impl ProductBody {
    pub(super) fn of(body: Map<String, Value>) -> Self {
        let (values, variants, images) = (Vec::new(), Vec::new(), Vec::new());
        Self { body, options: Vec::new(), values, variants, images }
    }

    /// Adds metadata of the product itself.
    pub(super) fn add_metadata(&mut self, metadata: Map<String, Value>) {
        if metadata.is_empty() {
            return;
        }
        if let Value::Object(known) =
            self.body.entry("metadata").or_insert_with(|| Map::new().into())
        {
            known.extend(metadata);
        }
    }

    /// The pointer of the next variant.
    pub(super) fn next_variant(&self) -> String {
        format!("/variants/{}", self.variants.len())
    }

    /// The pointer of the next image.
    pub(super) fn next_image(&self) -> String {
        format!("/images/{}", self.images.len())
    }

    /// Whether it may have another variant; otherwise the row is left out, with a warning.
    pub(super) fn has_room_for_variant(&self, reading: &mut Reading<'_>, row: u64) -> bool {
        let has_room = self.variants.len() < MAX_VARIANTS;
        if !has_room {
            let detail = format!(
                "A product can have at most {MAX_VARIANTS} variants. This one was not imported."
            );
            reading.warn_of_row(row, "too_many_variants", &detail);
        }
        has_room
    }

    /// Adds a variant with its option values, each with the name of its column.
    pub(super) fn add_variant(
        &mut self,
        reading: &mut Reading<'_>,
        row: u64,
        mut variant: Map<String, Value>,
        values: Vec<(String, String)>,
    ) {
        self.values.resize_with(self.options.len(), OptionValues::default);
        let chosen = self.values.iter_mut().zip(values).map(|(known, (value, column))| {
            let short = known.add(&value);
            if value.chars().count() > MAX_VALUE {
                let detail =
                    format!("Must have at most {MAX_VALUE} characters. The value was truncated.");
                reading.warn(row, &column, "too_long", &detail);
            }
            short
        });
        let chosen: Vec<String> = chosen.collect();
        if !self.options.is_empty() {
            variant.insert("options".into(), chosen.into());
        }
        self.variants.push(variant);
    }

    /// Adds an image at a position; by default behind the others.
    pub(super) fn add_image(
        &mut self,
        reading: &mut Reading<'_>,
        row: u64,
        position: Option<i64>,
        image: Value,
    ) {
        if self.images.len() < MAX_IMAGES {
            self.images.push((position, image));
            return;
        }
        let detail =
            format!("A product can have at most {MAX_IMAGES} images. This one was not imported.");
        reading.warn_of_row(row, "too_many_images", &detail);
    }

    /// The record, with its images in their order. Their sources follow them.
    pub(super) fn record(self, mut reading: Reading<'_>, row: u64) -> Record {
        let Self { mut body, options, values, variants, images } = self;
        let mut order: Vec<usize> = (0..images.len()).collect();
        let position = |number: &usize| {
            let behind = i64::try_from(*number).unwrap_or(i64::MAX).saturating_add(1);
            images.get(*number).and_then(|(position, _)| *position).unwrap_or(behind)
        };
        order.sort_by_key(position);
        reading.reorder("/images", &order);
        let image = |number: &usize| images.get(*number).map(|(_, image)| image.clone());
        let mut images: Vec<Value> = order.iter().filter_map(image).collect();
        add_images(&mut images, &variants);
        if !options.is_empty() {
            let option = |(name, values): (String, OptionValues)| json!({"name": name, "values": values.all});
            body.insert("options".into(), options.into_iter().zip(values).map(option).collect());
        }
        if !reading.unpriced.variants.is_empty() {
            reading.unpriced.status = body.insert("status".into(), "draft".into());
        }
        body.insert("variants".into(), variants.into_iter().map(Value::Object).collect());
        if !images.is_empty() {
            body.insert("images".into(), images.into());
        }
        reading.record(row, body)
    }
}

/// Appends the images of variants that are not among the product's, as far as it has room for them.
fn add_images(images: &mut Vec<Value>, variants: &[Map<String, Value>]) {
    for url in variants.iter().filter_map(|variant| variant.get("image_url")) {
        let is_known = images.iter().any(|image| image.get("url") == Some(url));
        if !is_known && images.len() < MAX_IMAGES {
            images.push(json!({"url": url}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_and_spelt_in_one_way() {
        let mut values = OptionValues::default();
        let long = "x".repeat(80);
        let first = values.add(&format!("{long}a"));
        let second = values.add(&format!("{long}b"));
        assert_eq!(values.add(&format!("{long}a")), first);
        assert!(first != second && first.chars().count() == MAX_VALUE);
        assert_eq!((values.add("Red").as_str(), values.add("red").as_str()), ("Red", "Red"));
        assert_eq!(values.add(""), "");
        assert_eq!(values.all, [first, second, "Red".to_owned(), NOT_CHOSEN.to_owned()]);
    }
}

//! Overwrites a product with the data of an import, whose author need not know the current product.

use core_types::id::ProductId;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{Completion, Write, retry};

use super::change::topic;
use super::create::{CreateRequest, list, several};
use super::input::{
    NewVariant, at_home, images, locations, media, validate_image_choices, validate_references,
    with_pointers, without_missing_images,
};
use super::write::{Revision, WriteStep};
use crate::product::{
    self, FieldErrorList, MAX_VARIANTS, Product, ProductOption, ProductView, Seo, Variant,
};

/// Overwrites a product with the given fields. Fields and variants that are not given stay, and so does
/// the stock of existing variants. Variants are matched by their option values; the option names must be
/// the product's. New variants are added with their first stock. `extend` adds actions to the
/// transaction.
///
/// # Errors
/// `not_found`; `handle_taken`, `sku_taken`, `variant_limit`; `options_in_use` and others as field
/// errors; the errors of the added actions.
pub async fn overwrite<C: Completion<ProductView>>(
    services: &Services,
    store: &Store,
    (id, mut input): (&ProductId, CreateRequest),
    extend: impl Fn(Write) -> Write,
    completion: &C,
) -> Result<C::Output, Problem> {
    if let Some(variants) = &mut input.variants {
        at_home(services, store, &mut variants.0).await?;
    }
    let own = input.images.as_ref().map(|images| media(store, &images.0)).unwrap_or_default();
    let (input, own, extend) = (&input, &own, &extend);
    retry(|| async move {
        let now = services.clock.now();
        let (before, variants) =
            product::load(services, &store.id, id).await?.ok_or(Code::NotFound)?;
        let mut field_errors = FieldErrorList::default();
        let (mut wanted, new_variants) =
            wanted(services, store, (&before, input.clone()), &mut field_errors, now);
        validate_image_choices(&wanted.images, with_pointers(&new_variants), &mut field_errors);
        let (after, added) = arranged(&wanted, &variants, new_variants, now);
        let after = without_missing_images(&wanted.images, after, now);
        let mut references = own.clone();
        references.extend(locations(&added, |index| format!("/variants/{index}")));
        let referenced = validate_references(services, references, &mut field_errors).await?;
        field_errors.into_result()?;
        referenced.measure(&store.id, &mut wanted.images);
        if after.len() > MAX_VARIANTS {
            return Err(Code::VariantLimit.with("limit", MAX_VARIANTS));
        }
        if wanted == before && after == variants {
            return Ok(completion.unchanged(&ProductView::of(&before, &variants)));
        }
        let product = wanted.changed(now).with_prices_of(&after);
        product.ensure_size()?;
        let add = |new_variant: NewVariant| {
            let sellable = Box::new(product.sellable(&new_variant.variant));
            WriteStep::Add(Box::new(new_variant.variant), sellable, new_variant.levels)
        };
        let steps = added.into_iter().map(add).collect();
        let revision = Revision { before: (&before, &variants), after: (&product, &after) };
        let announced = (topic(&before, &product), extend);
        revision.write_with(services, (steps, Vec::new()), announced, completion, now).await
    })
    .await
}

/// The product with the given fields, at its current version, and drafts of the given variants.
fn wanted(
    services: &Services,
    store: &Store,
    (before, input): (&Product, CreateRequest),
    field_errors: &mut FieldErrorList,
    now: Timestamp,
) -> (Product, Vec<NewVariant>) {
    let given: Vec<ProductOption> = input.options.map(list).unwrap_or_default();
    let options = united(&before.options, given, field_errors);
    let new_variants = input
        .variants
        .map(|inputs| several(&before.id, &options, inputs.0, (store, &mut *field_errors), now));
    let mut wanted = Product {
        title: input.title.into(),
        description: input
            .description
            .map_or_else(|| before.description.clone(), |html| html.as_str().to_owned()),
        vendor: input.vendor.map(String::from).or_else(|| before.vendor.clone()),
        product_type: input.product_type.map(String::from).or_else(|| before.product_type.clone()),
        category_id: input.category_id.or_else(|| before.category_id.clone()),
        tax_class: input.tax_class.or_else(|| before.tax_class.clone()),
        options,
        ..before.clone()
    };
    if let Some(tags) = input.tags {
        wanted.tags = tags.0;
    }
    if let Some(inputs) = input.images {
        wanted.images = images(services, store, inputs.0);
    }
    if let Some(seo) = input.seo.map(Seo::from) {
        wanted.seo.title = seo.title.or(wanted.seo.title);
        wanted.seo.description = seo.description.or(wanted.seo.description);
    }
    if let Some(metadata) = input.metadata {
        wanted.metadata.extend(metadata.0);
    }
    if let Some(status) = input.status {
        wanted = wanted.in_status(status, now);
    }
    (wanted, new_variants.unwrap_or_default())
}

/// The options with the values of the given ones appended. The names must be the same, regardless of
/// case.
fn united(
    before: &[ProductOption],
    given: Vec<ProductOption>,
    field_errors: &mut FieldErrorList,
) -> Vec<ProductOption> {
    let names = |options: &[ProductOption]| -> Vec<String> {
        options.iter().map(|option| option.name.to_lowercase()).collect()
    };
    if given.is_empty() {
        return before.to_vec();
    }
    if names(before) != names(&given) {
        let detail = "The stored product has variants with other options.";
        field_errors.add("/options", "options_in_use", detail);
        return before.to_vec();
    }
    let with = |(option, given): (&ProductOption, ProductOption)| {
        let mut option = option.clone();
        let new = given.values.into_iter().filter(|value| !option.values.contains(value));
        let new: Vec<String> = new.collect();
        option.values.extend(new);
        option
    };
    let options: Vec<ProductOption> = before.iter().zip(given).map(with).collect();
    field_errors.validate_options(&options);
    options
}

fn owned((name, text): (&String, &String)) -> (String, String) {
    (name.clone(), text.clone())
}

/// All variants after the change, each changed one at its next version, and the drafts of the new ones.
fn arranged(
    product: &Product,
    before: &[Variant],
    new_variants: Vec<NewVariant>,
    now: Timestamp,
) -> (Vec<Variant>, Vec<NewVariant>) {
    let (mut after, mut added) = (before.to_vec(), Vec::new());
    for mut new_variant in new_variants {
        let found = after.iter_mut().find(|variant| variant.options == new_variant.variant.options);
        if let Some(variant) = found {
            let (given, flags) = (new_variant.variant, new_variant.given);
            let wanted = Variant {
                sku: given.sku.or_else(|| variant.sku.clone()),
                price: given.price,
                compare_at: given.compare_at.or_else(|| variant.compare_at.clone()),
                weight_grams: given.weight_grams.or(variant.weight_grams),
                barcode: given.barcode.or_else(|| variant.barcode.clone()),
                hs_code: given.hs_code.or_else(|| variant.hs_code.clone()),
                country_of_origin: given
                    .country_of_origin
                    .or_else(|| variant.country_of_origin.clone()),
                requires_shipping: flags.requires_shipping.unwrap_or(variant.requires_shipping),
                taxable: flags.taxable.unwrap_or(variant.taxable),
                discontinued: flags.discontinued.unwrap_or(variant.discontinued),
                image_url: given.image_url.or_else(|| variant.image_url.clone()),
                metadata: variant.metadata.iter().chain(&given.metadata).map(owned).collect(),
                tracked: given.tracked || variant.tracked,
                policy: given.policy.or(variant.policy),
                ..variant.clone()
            };
            if wanted != *variant {
                *variant = wanted.changed(now);
            }
        } else {
            let position = after.len().saturating_add(1);
            new_variant.variant.position = u32::try_from(position).unwrap_or(u32::MAX);
            new_variant.variant.product_id = product.id.clone();
            after.push(new_variant.variant.clone());
            added.push(new_variant);
        }
    }
    (after, added)
}

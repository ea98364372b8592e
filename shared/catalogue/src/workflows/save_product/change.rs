//! Changes, archives and deletes a product.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::inventory::Level;
use crate::policy::SafeHtml;
use crate::product::{
    self, FieldErrorList, ImageInput, MAX_IMAGES, MAX_OPTIONS, OptionInput, PRODUCT_ARCHIVED,
    PRODUCT_DELETED, PRODUCT_UPDATED, Product, ProductOption, ProductStatus, ProductView, Sellable,
    Seo, SeoInput, Tags, Variant, variant_title,
};
use core_types::event::Topic;
use core_types::fields::{Handle, Metadata, TaxClass};
use core_types::id::{CategoryId, ProductId, StoreId};
use core_types::key;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use services::Services;
use table::item::Key;
use table::{Completion, retry};

use super::create::list;
use super::input::{images, media, validate_references, without_missing_images};
use super::write::{self, Chore, Released, Revision};

/// The changes of a product.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The title that shoppers see.
    title: Option<Text<1, 255>>,
    /// The name in URLs; the previous one is released at once.
    handle: Option<Handle>,
    /// HTML, at most 64 KiB; scripts and other active content are removed.
    description: Patch<SafeHtml>,
    /// The status: draft, active or archived.
    status: Option<ProductStatus>,
    /// The vendor or manufacturer.
    vendor: Patch<Text<1, 100>>,
    /// The product type, in the merchant's words.
    product_type: Patch<Text<1, 100>>,
    /// The tags; the list replaces the current one.
    tags: Option<Tags>,
    /// The options in which its variants differ: all options with all values. Options may be renamed and
    /// values added. Values that variants have chosen must stay, unless there is only one variant, which
    /// then takes the first value.
    options: Option<AtMost<OptionInput, MAX_OPTIONS>>,
    /// The images; the list replaces the current one.
    images: Option<AtMost<ImageInput, MAX_IMAGES>>,
    /// The title and the description for search engines.
    seo: Patch<SeoInput>,
    /// Key-value pairs of apps and merchants; the object replaces the current one.
    metadata: Patch<Metadata>,
    /// Its category.
    category_id: Patch<CategoryId>,
    /// The tax class; `null` for goods without one.
    tax_class: Patch<TaxClass>,
}

/// Sets a field to the given value, if there is one.
fn set<T, U: Into<T>>(field: &mut T, value: Option<U>) {
    if let Some(value) = value {
        *field = value.into();
    }
}

/// Sets a field to the given value, or clears it to its default.
fn patch<T: Default, U>(field: &mut T, value: Patch<U>, into: impl Fn(U) -> T) {
    match value {
        Patch::Keep => {}
        Patch::Clear => *field = T::default(),
        Patch::Set(value) => *field = into(value),
    }
}

impl UpdateRequest {
    /// The product with these changes, at its current version.
    fn apply(
        self,
        services: &Services,
        store: &Store,
        product: &Product,
        now: Timestamp,
    ) -> Product {
        let mut wanted = product.clone();
        set(&mut wanted.title, self.title);
        set(&mut wanted.handle, self.handle);
        patch(&mut wanted.description, self.description, |html| html.as_str().to_owned());
        self.vendor.apply(&mut wanted.vendor);
        self.product_type.apply(&mut wanted.product_type);
        set(&mut wanted.tags, self.tags.map(|tags| tags.0));
        set(&mut wanted.options, self.options.map(list::<_, ProductOption, MAX_OPTIONS>));
        set(&mut wanted.images, self.images.map(|inputs| images(services, store, inputs.0)));
        patch(&mut wanted.seo, self.seo, Seo::from);
        patch(&mut wanted.metadata, self.metadata, |metadata| metadata.0);
        self.category_id.apply(&mut wanted.category_id);
        self.tax_class.apply(&mut wanted.tax_class);
        match self.status {
            Some(status) => wanted.in_status(status, now),
            None => wanted,
        }
    }
}

/// The variants after a change of the options; each changed variant is at its next version.
fn rechosen(
    options: &[ProductOption],
    variants: &[Variant],
    now: Timestamp,
) -> Result<Vec<Variant>, Problem> {
    let mut field_errors = FieldErrorList::default();
    field_errors.validate_options(options);
    let mut after = variants.to_vec();
    if let [variant] = after.as_mut_slice() {
        let chosen = |index: usize, option: &ProductOption| {
            let before = variant.options.get(index);
            let value = before.filter(|value| option.values.contains(value));
            value.or(option.values.first()).cloned().unwrap_or_default()
        };
        let choice: Vec<String> =
            options.iter().enumerate().map(|(index, option)| chosen(index, option)).collect();
        if choice != variant.options {
            let title = variant_title(&choice);
            *variant = Variant { options: choice, title, ..variant.changed(now) };
        }
    } else {
        let fits = |variant: &Variant| {
            let pairs = || options.iter().zip(&variant.options);
            variant.options.len() == options.len()
                && pairs().all(|(option, value)| option.values.contains(value))
        };
        if !variants.iter().all(fits) {
            let detail = "A variant has a value that these options no longer have.";
            field_errors.add("/options", "options_in_use", detail);
        }
    }
    field_errors.into_result().map(|()| after)
}

/// The topic that announces a change of a product.
pub(super) fn topic(before: &Product, after: &Product) -> &'static Topic<ProductView> {
    let archived = ProductStatus::Archived;
    if after.status == archived && before.status != archived {
        &PRODUCT_ARCHIVED
    } else {
        &PRODUCT_UPDATED
    }
}

/// Changes a product.
///
/// # Errors
/// `not_found`, `handle_taken`, `precondition_failed`; `options_in_use`, `unknown_category` as
/// field errors.
pub async fn change<C: Completion<ProductView>>(
    services: &Services,
    store: &Store,
    (id, expected): (&ProductId, ExpectedVersion),
    input: UpdateRequest,
    completion: &C,
) -> Result<C::Output, Problem> {
    let now = services.clock.now();
    let own = input.images.as_ref().map(|images| media(store, &images.0)).unwrap_or_default();
    let mut field_errors = FieldErrorList::default();
    let referenced = &validate_references(services, own, &mut field_errors).await?;
    field_errors.into_result()?;
    retry(|| async {
        let (before, variants) =
            product::load(services, &store.id, id).await?.ok_or(Code::NotFound)?;
        expected.check(before.version)?;
        let mut wanted = input.clone().apply(services, store, &before, now);
        referenced.measure(&store.id, &mut wanted.images);
        if wanted == before {
            return Ok(completion.unchanged(&ProductView::of(&before, &variants)));
        }
        let after = if wanted.options == before.options {
            variants.clone()
        } else {
            rechosen(&wanted.options, &variants, now)?
        };
        let after = without_missing_images(&wanted.images, after, now);
        let product = wanted.changed(now).with_prices_of(&after);
        product.ensure_size()?;
        let revision = Revision { before: (&before, &variants), after: (&product, &after) };
        let nothing = (Vec::new(), Vec::new());
        revision.write(services, nothing, topic(&before, &product), completion, now).await
    })
    .await
}

/// Archives a product.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn archive<C: Completion<ProductView>>(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
    expected: ExpectedVersion,
    completion: &C,
) -> Result<C::Output, Problem> {
    let now = services.clock.now();
    retry(|| async {
        let (before, variants) = product::load(services, store, id).await?.ok_or(Code::NotFound)?;
        expected.check(before.version)?;
        if before.status == ProductStatus::Archived {
            return Ok(completion.unchanged(&ProductView::of(&before, &variants)));
        }
        let product = before.changed(now).in_status(ProductStatus::Archived, now);
        let revision = Revision { before: (&before, &variants), after: (&product, &variants) };
        let nothing = (Vec::new(), Vec::new());
        revision.write(services, nothing, &PRODUCT_ARCHIVED, completion, now).await
    })
    .await
}

/// Deletes a product with its variants and their stock, unless `have_ended` rejects the orders of those that were
/// ordered. If they are too many for one transaction, the product is archived first.
///
/// # Errors
/// `not_found`, `precondition_failed`; those of `have_ended`.
pub async fn remove<F: Future<Output = Result<(), Problem>>, C: Completion<ProductView>>(
    services: &Services,
    store: &StoreId,
    (id, expected): (&ProductId, ExpectedVersion),
    have_ended: impl Fn(Vec<Variant>) -> F,
    completion: &C,
) -> Result<C::Output, Problem> {
    // The expected version is the one before this request archived the product.
    let archived_at = AtomicU64::new(0);
    retry(|| async {
        let now = services.clock.now();
        let (mut product, variants) =
            product::load(services, store, id).await?.ok_or(Code::NotFound)?;
        if archived_at.load(Ordering::Relaxed) != product.version {
            expected.check(product.version)?;
        }
        let mut released = released(services, &variants, &have_ended).await?;
        if !write::go_at_once(&variants) {
            if product.status != ProductStatus::Archived {
                let archived = product.changed(now).in_status(ProductStatus::Archived, now);
                let revision =
                    Revision { before: (&product, &variants), after: (&archived, &variants) };
                revision.commit(services, &PRODUCT_ARCHIVED, now).await?;
                product = archived;
                archived_at.store(product.version, Ordering::Relaxed);
            }
            // Includes deferred work of earlier changes.
            product::refresh(services, store, id).await?;
            released = self::released(services, &variants, &have_ended).await?;
        }
        let of = (&product, &*variants);
        write::remove(services, of, &released, &PRODUCT_DELETED, completion, now).await
    })
    .await
}

/// Finds those of the variants that were ordered, and requires by `have_ended` that their orders have ended.
///
/// # Errors
/// Those of `have_ended`.
pub async fn released<F: Future<Output = Result<(), Problem>>>(
    services: &Services,
    variants: &[Variant],
    have_ended: impl Fn(Vec<Variant>) -> F,
) -> Result<Released, Problem> {
    let key = |variant: &Variant| key::sellable(&variant.store_id, &variant.id);
    let keys: Vec<Key> = variants.iter().map(key).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let (mut released, mut ordered) = (Released::new(), Vec::new());
    for (key, variant) in keys.iter().zip(variants) {
        let sellable = batch.take::<Sellable>(key)?.filter(|sellable| sellable.was_ordered);
        if let Some(sellable) = sellable {
            released.insert(variant.id.clone(), sellable.version);
            ordered.push(variant.clone());
        }
    }
    if !ordered.is_empty() {
        have_ended(ordered).await?;
    }
    Ok(released)
}

/// The chores that delete the levels of a removed variant.
///
/// # Errors
/// `product_has_orders`: some of its stock is reserved or committed.
pub async fn close(services: &Services, variant: &Variant) -> Result<Vec<Chore>, Problem> {
    let partition = key::sellable(&variant.store_id, &variant.id).pk;
    let query = table::Query::partition(partition).begins_with(key::LEVELS);
    let levels: Vec<Level> = services.table.all(&query, 100).await?;
    if levels.iter().any(|level| level.committed != 0 || level.reserved != 0) {
        return Err(Code::ProductHasOrders.into());
    }
    Ok(levels.into_iter().map(|level| Chore::Close(Box::new(level))).collect())
}

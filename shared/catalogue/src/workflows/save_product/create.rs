//! Creates a product.

use std::collections::{BTreeMap, HashSet};

use crate::policy::SafeHtml;
use crate::product::{
    DEFAULT_TITLE, FieldErrorList, ImageInput, MAX_IMAGES, MAX_OPTIONS, MAX_VARIANTS, OptionInput,
    PRODUCT_CREATED, Product, ProductOption, ProductStatus, ProductView, Seo, SeoInput, Sku, Tags,
    UniqueProductHandle, Variant,
};
use core_types::fields::{Handle, Metadata, TaxClass};
use core_types::id::{CategoryId, ProductId, VariantId};
use core_types::key;
use core_types::money::Money;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, FromText, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::Completion;
use table::item::Key;

use super::input::{
    GivenFlags, NewVariant, VariantInput, at_home, images, locations, media,
    validate_image_choices, validate_references, with_pointers,
};
use super::write::{self, WriteStep, release_orphans};

/// The product to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The title that shoppers see.
    pub(super) title: Text<1, 255>,
    /// The name in URLs; derived from the title by default.
    pub(super) handle: Option<Handle>,
    /// HTML, at most 64 KiB; scripts and other active content are removed.
    pub(super) description: Option<SafeHtml>,
    /// The status; `draft` by default.
    pub(super) status: Option<ProductStatus>,
    /// The vendor or manufacturer.
    pub(super) vendor: Option<Text<1, 100>>,
    /// The product type, in the merchant's words.
    pub(super) product_type: Option<Text<1, 100>>,
    /// The tags, for search, filters and automated collections.
    pub(super) tags: Option<Tags>,
    /// The options in which its variants differ.
    pub(super) options: Option<AtMost<OptionInput, MAX_OPTIONS>>,
    /// Its variants; at most one without options. Without any, the product gets one with price 0.
    pub(super) variants: Option<AtMost<VariantInput, MAX_VARIANTS>>,
    /// Its images; the first represents it in lists.
    pub(super) images: Option<AtMost<ImageInput, MAX_IMAGES>>,
    /// The title and the description for search engines.
    pub(super) seo: Option<SeoInput>,
    /// Key-value pairs that apps and merchants store with it.
    pub(super) metadata: Option<Metadata>,
    /// Its category.
    pub(super) category_id: Option<CategoryId>,
    /// The tax class, as the store's tax rates name it: `books`, `food`.
    pub(super) tax_class: Option<TaxClass>,
}

impl CreateRequest {
    /// Splits the request into copies with at most `most` variants each, for a change that is too large
    /// for one transaction.
    pub fn in_parts(self, most: usize) -> Vec<Self> {
        let Some(AtMost(variants)) = &self.variants else { return vec![self] };
        let parts = variants.chunks(most);
        parts.map(|part| Self { variants: Some(AtMost(part.to_vec())), ..self.clone() }).collect()
    }
}

impl Rules for CreateRequest {
    /// Validates how options and variants go together, if other fields are malformed. A well-formed
    /// request is validated as a whole, along with stored references ([`plan`]).
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let options = given.get::<AtMost<OptionInput, MAX_OPTIONS>>("options");
        if given.is::<Self>() || given.has("options") != options.is_some() {
            return Vec::new();
        }
        let options: Vec<ProductOption> = options.map(list).unwrap_or_default();
        let mut field_errors = FieldErrorList::default();
        field_errors.validate_options(&options);
        let variants = given.get::<AtMost<VariantInput, MAX_VARIANTS>>("variants");
        let choices = variants.iter().flat_map(|variants| &variants.0).map(VariantInput::choice);
        for (index, choice) in choices.enumerate() {
            field_errors.validate_choice(&options, &choice, &format!("/variants/{index}"));
        }
        field_errors.into_errors()
    }
}

/// Creates a product with its variants, their SKU claims, sellables and first stock. The caller passes
/// the `id`, so that a repeated request creates it once.
///
/// # Errors
/// `handle_taken`, `sku_taken`; all field errors at once; `version_conflict` if a product with this id
/// exists.
pub async fn create<C: Completion<ProductView>>(
    services: &Services,
    store: &Store,
    (id, input): (ProductId, CreateRequest),
    now: Timestamp,
    completion: &C,
) -> Result<C::Output, Problem> {
    let is_named = input.handle.is_some();
    let (mut product, new_variants) = plan(services, store, (id, input), now).await?;
    let variants: Vec<Variant> =
        new_variants.iter().map(|new_variant| new_variant.variant.clone()).collect();
    let mut tries: u32 = 0;
    loop {
        let (all, steps) = ((&product, &*variants), steps(&product, &new_variants));
        let topic = &PRODUCT_CREATED;
        let written = write::create((services, store), all, steps, topic, completion, now).await;
        tries = tries.saturating_add(1);
        match written {
            Err(problem) if problem.code == Code::HandleTaken && !is_named && tries < 5 => {
                // If the numbered handle is taken too, many compete for it: the id makes it unique.
                product.handle = match tries {
                    1 => numbered_handle(services, &product).await?,
                    _ => own_handle(&product)?,
                };
            }
            Err(problem) if problem.code == Code::SkuTaken && tries < 5 => {
                let skus: Vec<&str> =
                    variants.iter().filter_map(|variant| variant.sku.as_deref()).collect();
                if !release_orphans(services, &store.id, &skus, now).await? {
                    return Err(problem);
                }
            }
            outcome => return outcome,
        }
    }
}

fn steps(product: &Product, new_variants: &[NewVariant]) -> Vec<WriteStep> {
    let add = |new_variant: &NewVariant| {
        let sellable = product.sellable(&new_variant.variant);
        WriteStep::Add(
            Box::new(new_variant.variant.clone()),
            Box::new(sellable),
            new_variant.levels.clone(),
        )
    };
    new_variants.iter().map(add).collect()
}

/// Validates a request, and returns the product and the variants to create.
///
/// # Errors
/// All field errors at once.
pub async fn plan(
    services: &Services,
    store: &Store,
    (id, mut input): (ProductId, CreateRequest),
    now: Timestamp,
) -> Result<(Product, Vec<NewVariant>), Problem> {
    let mut field_errors = FieldErrorList::default();
    let options: Vec<ProductOption> = input.options.take().map(list).unwrap_or_default();
    field_errors.validate_options(&options);
    let new_variants = match input.variants.take() {
        Some(mut variants) if !variants.0.is_empty() => {
            at_home(services, store, &mut variants.0).await?;
            several(&id, &options, variants.0, (store, &mut field_errors), now)
        }
        _ if options.is_empty() => {
            let (variant, given) = (only(&id, store, now), GivenFlags::default());
            vec![NewVariant { variant, levels: vec![], given }]
        }
        _ => {
            let detail = "A product with options must have at least one variant.";
            field_errors.add("/variants", "required", detail);
            Vec::new()
        }
    };
    let image_inputs = input.images.take().map(|images| images.0).unwrap_or_default();
    let mut references = locations(&new_variants, |index| format!("/variants/{index}"));
    references.extend(media(store, &image_inputs));
    let referenced = validate_references(services, references, &mut field_errors).await?;
    let mut new_images = images(services, store, image_inputs);
    referenced.measure(&store.id, &mut new_images);
    validate_image_choices(&new_images, with_pointers(&new_variants), &mut field_errors);
    field_errors.into_result()?;
    let variants: Vec<Variant> =
        new_variants.iter().map(|new_variant| new_variant.variant.clone()).collect();
    let status = input.status.unwrap_or(ProductStatus::Draft);
    let product = Product { options, images: new_images, ..input.product(id, store, now)? };
    let product = product.in_status(status, now).with_prices_of(&variants);
    product.ensure_size()?;
    Ok((product, new_variants))
}

impl CreateRequest {
    /// The title.
    pub fn title(&self) -> &str {
        self.title.as_str()
    }

    /// The name in URLs, if given.
    pub const fn handle(&self) -> Option<&Handle> {
        self.handle.as_ref()
    }

    /// The SKU of each variant, if given.
    pub fn skus(&self) -> impl Iterator<Item = Option<&Sku>> {
        self.variants.iter().flat_map(|variants| &variants.0).map(|variant| variant.sku.as_ref())
    }

    /// The product as a draft, from its own fields: without options, images, variants and status.
    fn product(self, id: ProductId, store: &Store, now: Timestamp) -> Result<Product, Problem> {
        let handle = match self.handle {
            Some(handle) => handle,
            None => derived(&Handle::made_of(self.title.as_str(), "product"))?,
        };
        Ok(Product {
            id,
            store_id: store.id.clone(),
            title: self.title.into(),
            handle,
            description: self.description.map(|html| html.as_str().to_owned()).unwrap_or_default(),
            status: ProductStatus::Draft,
            vendor: self.vendor.map(String::from),
            product_type: self.product_type.map(String::from),
            tags: self.tags.map(|tags| tags.0).unwrap_or_default(),
            options: Vec::new(),
            images: Vec::new(),
            seo: self.seo.map(Seo::from).unwrap_or_default(),
            metadata: self.metadata.map(|metadata| metadata.0).unwrap_or_default(),
            category_id: self.category_id,
            tax_class: self.tax_class,
            variants_count: 0,
            discontinued_count: 0,
            variant_ids: Vec::new(),
            prices: Vec::new(),
            compare_at: None,
            on_sale: false,
            currency: store.currency.clone(),
            always_sells: false,
            follows_store: false,
            rating_count: 0,
            rating_sum: 0,
            published_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        })
    }
}

/// The inputs of a list as stored values.
pub(super) fn list<A, T: From<A>, const MAX: usize>(input: AtMost<A, MAX>) -> Vec<T> {
    input.0.into_iter().map(T::from).collect()
}

/// The handle that [`Handle::made_of`] made.
pub fn derived(made: &str) -> Result<Handle, Problem> {
    let unfit = |violation: primitives::fields::Violation| {
        Problem::internal(format!("{made}: {}", violation.detail))
    };
    Handle::from_text(made).map_err(unfit)
}

/// The variants of a request, validated together.
pub(super) fn several(
    product: &ProductId,
    options: &[ProductOption],
    inputs: Vec<VariantInput>,
    (store, field_errors): (&Store, &mut FieldErrorList),
    now: Timestamp,
) -> Vec<NewVariant> {
    let choices: Vec<Vec<String>> = inputs.iter().map(VariantInput::choice).collect();
    let pointer = |index: usize| format!("/variants/{index}");
    let (mut skus, mut new_variants) = (HashSet::new(), Vec::new());
    for (index, input) in inputs.into_iter().enumerate() {
        let pointer = pointer(index);
        if let Some(choice) = choices.get(index) {
            field_errors.validate_choice(options, choice, &pointer);
        }
        let sku = input.sku.clone().map(String::from);
        if sku.is_some_and(|sku| !skus.insert(sku.to_lowercase())) {
            let detail = "Another variant has this SKU.";
            field_errors.add(format!("{pointer}/sku"), "duplicate_sku", detail);
        }
        let position = u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX);
        new_variants.push(input.new_variant(
            product,
            position,
            &pointer,
            (store, &mut *field_errors),
            now,
        ));
    }
    let chosen = choices.iter().enumerate();
    field_errors
        .validate_distinct(chosen.map(|(index, choice)| (choice.as_slice(), Some(pointer(index)))));
    new_variants
}

/// The variant of a product that is created without options and variants.
fn only(product: &ProductId, store: &Store, now: Timestamp) -> Variant {
    Variant {
        id: VariantId::mint(now),
        store_id: store.id.clone(),
        product_id: product.clone(),
        title: DEFAULT_TITLE.to_owned(),
        sku: None,
        price: Money::zero(&store.currency),
        compare_at: None,
        options: Vec::new(),
        weight_grams: None,
        barcode: None,
        hs_code: None,
        country_of_origin: None,
        requires_shipping: true,
        taxable: true,
        image_url: None,
        metadata: BTreeMap::new(),
        tracked: false,
        policy: None,
        discontinued: false,
        stocked_at: Vec::new(),
        position: 1,
        created_at: now,
        updated_at: now,
        version: 1,
    }
}

/// The handle derived from the title, with the first free number from 2 to 50 as suffix.
async fn numbered_handle(services: &Services, product: &Product) -> Result<Handle, Problem> {
    let made = Handle::made_of(&product.title, "product");
    let candidates: Vec<String> = (2..=50).map(|number| format!("{made}-{number}")).collect();
    let keys: Vec<Key> = candidates
        .iter()
        .map(|handle| key::unique_product_handle(&product.store_id, handle))
        .collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    for (candidate, key) in candidates.iter().zip(&keys) {
        if batch.take::<UniqueProductHandle>(key)?.is_none() {
            return derived(candidate);
        }
    }
    own_handle(product)
}

/// The handle derived from the title, with the last 12 digits of the product's id as suffix.
fn own_handle(product: &Product) -> Result<Handle, Problem> {
    let (made, digits) = (Handle::made_of(&product.title, "product"), product.id.digits());
    let end = digits.get(digits.len().saturating_sub(12)..).unwrap_or(digits);
    derived(&format!("{made}-{end}"))
}

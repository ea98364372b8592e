//! Handlers that list, create, update and delete the variants of a product.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::product::{
    self, FieldErrorList, MAX_VARIANTS, PRODUCT_UPDATED, Product, ProductView, Sku, Variant,
    VariantView, variant_title,
};
use core_types::fields::{Country, HsCode, Metadata, MetadataFilter, WebUrl};
use core_types::id::{ProductId, VariantId};
use core_types::money::MoneyInput;
use core_types::scope::{ReadProducts, WriteProducts};
use gateway::app::App;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, Query};
use identity::store::{InventoryPolicy, Store};
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Int, Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::workflows::ended_orders;
use services::Services;
use table::retry;

use catalogue::workflows::save_product::input::{
    ChoiceInput, MAX_GRAMS, VariantInput, amount, at_home, locations, validate_image_choices,
    validate_references,
};
use catalogue::workflows::save_product::write::{Revision, WriteStep, release_orphans};
use catalogue::workflows::save_product::{close, released};

use crate::products::no_content;

/// Loads the product with its variants.
async fn load(
    services: &Services,
    store: &Store,
    id: &ProductId,
) -> Result<(Product, Vec<Variant>), Problem> {
    product::load(services, &store.id, id).await?.ok_or_else(|| Code::NotFound.into())
}

/// Filters of a list of variants.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only variants with this metadata entry, written as `name:text`.
    metadata: Option<MetadataFilter>,
}

/// `GET /v1/products/{id}/variants` (`listVariants`): List variants of a product.
///
/// Variants come in the order of their `position`. A product has at most 100.
///
/// # Errors
/// `invalid_cursor`, `not_found`.
pub async fn list(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Path(id): Path<ProductId>,
    Query(query): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<VariantView>, Problem> {
    let (_, mut variants) = load(&app, &caller.store, &id).await?;
    variants.retain(|it| query.metadata.as_ref().is_none_or(|wanted| wanted.takes(&it.metadata)));
    let views = variants.iter().map(VariantView::from).collect();
    paging.slice(&app, views, |view| view.id.to_string()).await
}

/// `POST /v1/products/{id}/variants` (`createVariant`): Create a variant of a product.
///
/// The variant is added after the others. Its `options` must hold one value for each of the product's
/// options, in a combination that no other variant has. First stock without a location goes to the store's
/// first location. A product has at most 100 variants. The event is `product.updated`.
///
/// # Errors
/// `not_found`, `variant_limit`, `sku_taken`; `duplicate_variant` and `unknown_option_value` as field errors.
pub async fn create(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<ProductId>,
    Body(mut input): Body<VariantInput>,
) -> Result<Created<VariantView>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    at_home(&app, store, std::slice::from_mut(&mut input)).await?;
    let written = retry(|| add(&app, store, &id, input.clone(), now)).await;
    match written {
        Err(problem) if problem.code == Code::SkuTaken => {
            let sku = input.sku.clone().map(String::from).unwrap_or_default();
            if !release_orphans(&app, &store.id, &[&sku], now).await? {
                return Err(problem);
            }
            retry(|| add(&app, store, &id, input.clone(), now)).await
        }
        outcome => outcome,
    }
}

async fn add(
    services: &Services,
    store: &Store,
    id: &ProductId,
    input: VariantInput,
    now: Timestamp,
) -> Result<Created<VariantView>, Problem> {
    let (before, variants) = load(services, store, id).await?;
    if variants.len() >= MAX_VARIANTS {
        return Err(Code::VariantLimit.with("limit", MAX_VARIANTS));
    }
    let mut field_errors = FieldErrorList::default();
    let choice = input.choice();
    field_errors.validate_choice(&before.options, &choice, "");
    validate_new(&mut field_errors, &variants, &choice, None);
    let position = u32::try_from(variants.len().saturating_add(1)).unwrap_or(u32::MAX);
    let new_variant = input.new_variant(id, position, "", (store, &mut field_errors), now);
    validate_image_choices(
        &before.images,
        [(&new_variant.variant, String::new())],
        &mut field_errors,
    );
    let references = locations(std::slice::from_ref(&new_variant), |_| String::new());
    validate_references(services, references, &mut field_errors).await?;
    field_errors.into_result()?;
    let mut after = variants.clone();
    after.push(new_variant.variant.clone());
    let product = before.changed(now).with_prices_of(&after);
    let revision = Revision { before: (&before, &variants), after: (&product, &after) };
    let sellable = product.sellable(&new_variant.variant);
    let created = Created::new(&VariantView::from(&new_variant.variant)).version(1);
    let completion = answering(|_: &ProductView| created.clone());
    let add = WriteStep::Add(Box::new(new_variant.variant), Box::new(sellable), new_variant.levels);
    revision.write(services, (vec![add], Vec::new()), &PRODUCT_UPDATED, &completion, now).await
}

/// Validates that no other variant has the same option values.
fn validate_new(
    field_errors: &mut FieldErrorList,
    variants: &[Variant],
    choice: &[String],
    own: Option<&VariantId>,
) {
    let others = variants.iter().filter(|variant| Some(&variant.id) != own);
    let others = others.map(|variant| (variant.options.as_slice(), None));
    field_errors.validate_distinct(others.chain([(choice, Some(String::new()))]));
}

/// Fields of a variant to update.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The stock-keeping unit, unique within the store; case is ignored. `null` removes it.
    sku: Patch<Sku>,
    /// The price, in the store's currency.
    price: Option<MoneyInput>,
    /// The price to compare with, such as the price before a sale. `null` removes it.
    compare_at: Patch<MoneyInput>,
    /// One value for each of the product's options, in their order.
    options: Option<ChoiceInput>,
    /// The weight in grams, 0 to 1,000,000,000. `null` removes it.
    weight: Patch<Int<0, MAX_GRAMS>>,
    /// The weight in grams, 0 to 1,000,000,000. It overrides `weight` when both are given.
    weight_grams: Patch<Int<0, MAX_GRAMS>>,
    /// The barcode: GTIN, EAN, UPC or ISBN. `null` removes it.
    barcode: Patch<Text<1, 64>>,
    /// The code of the Harmonized System, for customs. `null` removes it.
    hs_code: Patch<HsCode>,
    /// The country in which it was made, for customs. `null` removes it.
    country_of_origin: Patch<Country>,
    /// Whether the variant must be shipped.
    requires_shipping: Option<Flag>,
    /// Whether tax is levied on the variant.
    taxable: Option<Flag>,
    /// The URL of the product image that shows the variant. `null` selects the product's first image.
    image_url: Patch<WebUrl>,
    /// Metadata of merchants and apps. It replaces all entries; `null` removes them.
    metadata: Patch<Metadata>,
    /// The inventory settings. Quantities are changed through `/v1/inventory/levels`.
    inventory: Option<StockRequest>,
    /// Whether the variant is discontinued: shoppers do not see it, and nobody can order it. Its orders keep it.
    discontinued: Option<Flag>,
    /// The position among the product's variants, 1 to 100. Other variants shift.
    position: Option<Int<1, 100>>,
}

/// Stock settings of a variant to update.
#[request]
#[derive(Debug, Clone)]
pub struct StockRequest {
    /// Whether stock is tracked.
    tracked: Option<Flag>,
    /// Whether the variant sells when stock runs out. `null` selects the store's policy.
    policy: Patch<InventoryPolicy>,
}

impl UpdateRequest {
    /// Applies the changes, and leaves version and position as they are.
    fn apply(
        self,
        variant: &Variant,
        (store, field_errors): (&Store, &mut FieldErrorList),
    ) -> Variant {
        let mut wanted = variant.clone();
        self.sku.apply(&mut wanted.sku);
        if let Some(price) = &self.price
            && let Some(price) = amount(field_errors, "/price", price, store)
        {
            wanted.price = price;
        }
        match &self.compare_at {
            Patch::Keep => {}
            Patch::Clear => wanted.compare_at = None,
            Patch::Set(compared) => {
                wanted.compare_at = amount(field_errors, "/compare_at", compared, store);
            }
        }
        if let Some(options) = self.options {
            wanted.options = options.0.into_iter().map(String::from).collect();
            wanted.title = variant_title(&wanted.options);
        }
        for weight in [self.weight, self.weight_grams] {
            match weight {
                Patch::Keep => {}
                Patch::Clear => wanted.weight_grams = None,
                Patch::Set(grams) => wanted.weight_grams = u32::try_from(grams.0).ok(),
            }
        }
        self.barcode.apply(&mut wanted.barcode);
        self.hs_code.apply(&mut wanted.hs_code);
        self.country_of_origin.apply(&mut wanted.country_of_origin);
        if let Some(flag) = self.requires_shipping {
            wanted.requires_shipping = flag.0;
        }
        if let Some(flag) = self.taxable {
            wanted.taxable = flag.0;
        }
        if let Some(flag) = self.discontinued {
            wanted.discontinued = flag.0;
        }
        match self.image_url {
            Patch::Keep => {}
            Patch::Clear => wanted.image_url = None,
            Patch::Set(url) => wanted.image_url = Some(url.into()),
        }
        match self.metadata {
            Patch::Keep => {}
            Patch::Clear => wanted.metadata.clear(),
            Patch::Set(metadata) => wanted.metadata = metadata.0,
        }
        if let Some(stock) = self.inventory {
            if let Some(flag) = stock.tracked {
                wanted.tracked = flag.0;
            }
            stock.policy.apply(&mut wanted.policy);
        }
        wanted
    }
}

/// Replaces one variant and moves it to `position`. Its version increases only if it changed. The other
/// variants shift, and keep their versions.
fn arranged(
    variants: &[Variant],
    wanted: Variant,
    position: Option<i64>,
    now: Timestamp,
) -> Vec<Variant> {
    let mut after: Vec<Variant> = variants.to_vec();
    let Some(found) = after.iter().position(|variant| variant.id == wanted.id) else {
        return after;
    };
    let before = after.remove(found);
    let index = position.and_then(|position| usize::try_from(position.saturating_sub(1)).ok());
    let index = index.unwrap_or(found).min(after.len());
    let changes = wanted != before || index != found;
    after.insert(index, if changes { wanted.changed(now) } else { wanted });
    for (variant, position) in after.iter_mut().zip(1_u32..) {
        variant.position = position;
    }
    after
}

/// `PATCH /v1/products/{id}/variants/{vid}` (`updateVariant`): Update a variant.
///
/// Omitted fields keep their values. A new `position` shifts the other variants. Stock quantities are changed
/// through the inventory operations. The event is `product.updated`; an update without a difference sends
/// none.
///
/// # Errors
/// `not_found`, `sku_taken`, `precondition_failed`; `duplicate_variant` and `unknown_option_value` as field
/// errors.
pub async fn update(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path((id, variant_id)): Path<(ProductId, VariantId)>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<VariantView>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    retry(|| async {
        let (before, variants) = load(&app, store, &id).await?;
        let variant = variants.iter().find(|variant| variant.id == variant_id);
        let variant = variant.ok_or(Code::NotFound)?;
        if_match.check(variant.version)?;
        let mut field_errors = FieldErrorList::default();
        let position = input.position.map(|position| position.0);
        let wanted = input.clone().apply(variant, (store, &mut field_errors));
        if wanted.options != variant.options {
            field_errors.validate_choice(&before.options, &wanted.options, "");
            validate_new(&mut field_errors, &variants, &wanted.options, Some(&variant.id));
        }
        validate_image_choices(&before.images, [(&wanted, String::new())], &mut field_errors);
        field_errors.into_result()?;
        let after = arranged(&variants, wanted, position, now);
        let shown = after.iter().find(|variant| variant.id == variant_id).unwrap_or(variant);
        let response = Json::new(&VariantView::from(shown)).version(shown.version);
        if after == variants {
            return Ok(response);
        }
        let product = before.changed(now).with_prices_of(&after);
        let revision = Revision { before: (&before, &variants), after: (&product, &after) };
        let nothing = (Vec::new(), Vec::new());
        let completion = answering(|_: &ProductView| response.clone());
        revision.write(&app, nothing, &PRODUCT_UPDATED, &completion, now).await
    })
    .await
}

/// `DELETE /v1/products/{id}/variants/{vid}` (`deleteVariant`): Delete a variant and its stock.
///
/// Only a variant whose orders were all cancelled or have expired can be deleted; others can be discontinued. A
/// product keeps at least one variant. The variant's stock levels are deleted with it. The event is
/// `product.updated`.
///
/// # Errors
/// `not_found`, `last_variant`, `precondition_failed`; `product_has_orders` when the variant has orders that
/// were neither cancelled nor expired.
pub async fn delete(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path((id, variant_id)): Path<(ProductId, VariantId)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    retry(|| async {
        let (before, variants) = load(&app, store, &id).await?;
        let (deleted, after): (Vec<Variant>, Vec<Variant>) =
            variants.iter().cloned().partition(|variant| variant.id == variant_id);
        let deleted = deleted.into_iter().next().ok_or(Code::NotFound)?;
        if_match.check(deleted.version)?;
        if after.is_empty() {
            return Err(Code::LastVariant.into());
        }
        let product = before.changed(now).with_prices_of(&after);
        let after = product.arranged(after);
        let revision = Revision { before: (&before, &variants), after: (&product, &after) };
        let have_ended = |ordered: Vec<Variant>| ended_orders::ensure(&app, ordered);
        let released = released(&app, std::slice::from_ref(&deleted), have_ended).await?;
        let closed = close(&app, &deleted).await?;
        let more = (vec![WriteStep::remove(deleted, &released)], closed);
        revision.write(&app, more, &PRODUCT_UPDATED, &answering(no_content), now).await
    })
    .await
}

//! Variants of a product.

use axum::extract::State;
use catalogue::product::{
    self, Faults, MAX_VARIANTS, PRODUCT_UPDATED, Product, Sku, Variant, VariantView, variant_title,
};
use core_types::fields::{Metadata, MetadataFilter, WebUrl};
use core_types::id::{ProductId, VariantId};
use core_types::money::MoneyInput;
use core_types::scope::{ReadProducts, WriteProducts};
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Body, Flag, IfMatch, Int, Patch, Path, Query, Text, request};
use gateway::table::retry;
use identity::store::{InventoryPolicy, Store};
use platform::caller::StoreAccess;

use catalogue::workflows::save_product::close;
use catalogue::workflows::save_product::input::{
    ChoiceInput, MAX_GRAMS, VariantInput, amount, at_home, locations, validate_pictures,
    validate_references,
};
use catalogue::workflows::save_product::write::{Revision, WriteStep, release_orphans};

/// The product of this id with its variants.
async fn load(
    app: &App,
    store: &Store,
    id: &ProductId,
) -> Result<(Product, Vec<Variant>), Problem> {
    product::load(app, &store.id, id).await?.ok_or_else(|| Code::NotFound.into())
}

/// Which variants to list.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only those that keep this text under this name in their metadata: `name:text`.
    metadata: Option<MetadataFilter>,
}

/// `GET /v1/products/{id}/variants` (`listVariants`): List variants of a product.
///
/// Variants come in the product's order.
///
/// # Errors
/// `not_found`.
pub async fn list(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Path(id): Path<ProductId>,
    Query(query): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<VariantView>, Problem> {
    let (_, mut variants) = load(&app, &caller.store, &id).await?;
    variants.retain(|it| query.metadata.as_ref().is_none_or(|kept| kept.takes(&it.metadata)));
    let views = variants.iter().map(VariantView::from).collect();
    paging.whole(&app, views, |view| view.id.to_string()).await
}

/// `POST /v1/products/{id}/variants` (`createVariant`): Create a variant of a product.
///
/// Its options must differ from those of the others.
///
/// # Errors
/// `not_found`, `variant_limit`, `sku_taken`; `duplicate_variant` and `unknown_option_value` as
/// faults of their fields.
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
    app: &App,
    store: &Store,
    id: &ProductId,
    input: VariantInput,
    now: Timestamp,
) -> Result<Created<VariantView>, Problem> {
    let (before, variants) = load(app, store, id).await?;
    if variants.len() >= MAX_VARIANTS {
        return Err(Code::VariantLimit.with("limit", MAX_VARIANTS));
    }
    let mut faults = Faults::default();
    let choice = input.choice();
    faults.validate_choice(&before.options, &choice, "");
    validate_new(&mut faults, &variants, &choice, None);
    let position = u32::try_from(variants.len().saturating_add(1)).unwrap_or(u32::MAX);
    let draft = input.draft(id, position, "", (store, &mut faults), now);
    validate_pictures(&before.images, [(&draft.variant, String::new())], &mut faults);
    let references = locations(std::slice::from_ref(&draft), |_| String::new());
    validate_references(app, references, &mut faults).await?;
    faults.done()?;
    let mut after = variants.clone();
    after.push(draft.variant.clone());
    let product = before.changed(now).over(&after);
    let revision = Revision { before: (&before, &variants), after: (&product, &after) };
    let sellable = product.sellable(&draft.variant);
    let answer = Created::new(&VariantView::from(&draft.variant)).version(1);
    let add = WriteStep::Add(Box::new(draft.variant), Box::new(sellable), draft.levels);
    revision.write(app, (vec![add], Vec::new()), &PRODUCT_UPDATED, answer, now).await
}

/// Validates that a choice is not one of another variant's.
fn validate_new(
    faults: &mut Faults,
    variants: &[Variant],
    choice: &[String],
    own: Option<&VariantId>,
) {
    let others = variants.iter().filter(|variant| Some(&variant.id) != own);
    let others = others.map(|variant| (variant.options.as_slice(), None));
    faults.validate_distinct(others.chain([(choice, Some(String::new()))]));
}

/// What to change about a variant.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The stock-keeping unit.
    sku: Patch<Sku>,
    /// What it costs, in the store's currency.
    price: Option<MoneyInput>,
    /// What it cost before, or elsewhere.
    compare_at: Patch<MoneyInput>,
    /// A value for each of the product's options, in their order.
    options: Option<ChoiceInput>,
    /// What it weighs, in grams.
    weight: Patch<Int<0, MAX_GRAMS>>,
    /// What it weighs, in grams; the name with its unit wins.
    weight_grams: Patch<Int<0, MAX_GRAMS>>,
    /// GTIN, EAN, UPC or ISBN.
    barcode: Patch<Text<1, 64>>,
    /// Whether it is sent by parcel.
    requires_shipping: Option<Flag>,
    /// Which of the product's pictures shows it, by its address; `null`: its first one.
    image_url: Patch<WebUrl>,
    /// What apps and merchants keep with it, all of it.
    metadata: Patch<Metadata>,
    /// How it is stocked; how much there is is changed by `/v1/inventory/levels`.
    inventory: Option<StockRequest>,
    /// Its place among the product's variants, from 1; the others make room.
    position: Option<Int<1, 100>>,
}

/// What to change about how a variant is stocked.
#[request]
#[derive(Debug, Clone)]
pub struct StockRequest {
    /// Whether its stock is counted.
    tracked: Option<Flag>,
    /// What happens to an order when its stock is short; the store's policy when it is null.
    policy: Patch<InventoryPolicy>,
}

impl UpdateRequest {
    /// The variant as the caller wants it, at the version and the position it is.
    fn apply(self, variant: &Variant, (store, faults): (&Store, &mut Faults)) -> Variant {
        let mut wanted = variant.clone();
        self.sku.apply(&mut wanted.sku);
        if let Some(price) = &self.price
            && let Some(price) = amount(faults, "/price", price, store)
        {
            wanted.price = price;
        }
        match &self.compare_at {
            Patch::Keep => {}
            Patch::Clear => wanted.compare_at = None,
            Patch::Set(compared) => {
                wanted.compare_at = amount(faults, "/compare_at", compared, store);
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
        if let Some(flag) = self.requires_shipping {
            wanted.requires_shipping = flag.0;
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

/// The variants with this one in place of its former self, at its next version if it changes, and
/// at this position. The others make room; that is no change of theirs.
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
    let asked = position.and_then(|position| usize::try_from(position.saturating_sub(1)).ok());
    let index = asked.unwrap_or(found).min(after.len());
    let changes = wanted != before || index != found;
    after.insert(index, if changes { wanted.changed(now) } else { wanted });
    for (variant, position) in after.iter_mut().zip(1_u32..) {
        variant.position = position;
    }
    after
}

/// `PATCH /v1/products/{id}/variants/{vid}` (`updateVariant`): Update a variant.
///
/// Members that are left out keep their values.
///
/// # Errors
/// `not_found`, `sku_taken`, `precondition_failed`; `duplicate_variant` and `unknown_option_value` as
/// faults of their fields.
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
        let mut faults = Faults::default();
        let position = input.position.map(|position| position.0);
        let wanted = input.clone().apply(variant, (store, &mut faults));
        if wanted.options != variant.options {
            faults.validate_choice(&before.options, &wanted.options, "");
            validate_new(&mut faults, &variants, &wanted.options, Some(&variant.id));
        }
        validate_pictures(&before.images, [(&wanted, String::new())], &mut faults);
        faults.done()?;
        let after = arranged(&variants, wanted, position, now);
        let shown = after.iter().find(|variant| variant.id == variant_id).unwrap_or(variant);
        let answer = Json::new(&VariantView::from(shown)).version(shown.version);
        if after == variants {
            return Ok(answer);
        }
        let product = before.changed(now).over(&after);
        let revision = Revision { before: (&before, &variants), after: (&product, &after) };
        let nothing = (Vec::new(), Vec::new());
        revision.write(&app, nothing, &PRODUCT_UPDATED, answer, now).await
    })
    .await
}

/// `DELETE /v1/products/{id}/variants/{vid}` (`deleteVariant`): Delete a variant and its stock.
///
/// Orders that have it keep what they say of it.
///
/// # Errors
/// `not_found`, `last_variant`; `product_in_use`: it was ordered; `precondition_failed`.
pub async fn remove(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path((id, variant_id)): Path<(ProductId, VariantId)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    retry(|| async {
        let (before, variants) = load(&app, store, &id).await?;
        let (gone, after): (Vec<Variant>, Vec<Variant>) =
            variants.iter().cloned().partition(|variant| variant.id == variant_id);
        let gone = gone.into_iter().next().ok_or(Code::NotFound)?;
        if_match.check(gone.version)?;
        if after.is_empty() {
            return Err(Code::LastVariant.into());
        }
        let product = before.changed(now).over(&after);
        let after = product.arranged(after);
        let revision = Revision { before: (&before, &variants), after: (&product, &after) };
        let closed = close(&app, &gone).await?;
        let more = (vec![WriteStep::Drop(Box::new(gone))], closed);
        revision.write(&app, more, &PRODUCT_UPDATED, NoContent::default(), now).await
    })
    .await
}

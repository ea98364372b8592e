//! Handlers of collections, the groups of products that a merchant shows together.

mod members;

use std::collections::BTreeSet;

use axum::extract::State;
use callers::StoreAccess;
use catalogue::category::Category;
use catalogue::collection::{
    COLLECTION_CREATED, COLLECTION_DELETED, COLLECTION_UPDATED, Collection, CollectionKind,
    CollectionProducts, CollectionView, MAX_MEMBERS, MAX_RULES, MatchMode, Rule, RuleInput,
    SortOrder,
};
use catalogue::policy::SafeHtml;
use catalogue::product::{FieldErrorList, Seo, SeoInput};
use core_types::fields::{Handle, WebUrl};
use core_types::id::{CategoryId, CollectionId, ProductId, StoreId};
use core_types::key;
use core_types::resource::{Resource, load};
use core_types::scope::{ReadProducts, WriteProducts};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, Ruled};
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, Patch, Text, Written};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Condition, Query, Write, retry};

use catalogue::workflows::save_product::derived;
use replies::{ResourceReply, change_with};

pub use members::{list as list_products, remove_products, update_products};

/// Filters of a list of collections.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only collections of this kind.
    kind: Option<CollectionKind>,
    /// Only published, or only unpublished collections.
    published: Option<Written<Flag>>,
}

/// `GET /v1/products/collections` (`listCollections`): List collections of a store.
///
/// Collections come newest first, published or not. Their products are listed by
/// `GET /v1/products/collections/{id}/products`.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    paging: Paging,
    gateway::request::Query(query): gateway::request::Query<ListQuery>,
) -> Result<Page<CollectionView>, Problem> {
    let matches = |collection: &Collection| {
        query.kind.is_none_or(|kind| collection.kind == kind)
            && query.published.is_none_or(|flag| collection.published == flag.0.0)
    };
    let all = Query::list(key::list::collections_of_store(&caller.store.id)).newest_first();
    paging.query(&app, &all, matches, |collection| CollectionView::from(&collection)).await
}

/// A collection to create.
#[request]
#[derive(Debug)]
pub struct CreateRequest {
    /// The title that shoppers see, 1 to 255 characters.
    title: Text<1, 255>,
    /// The name in URLs, unique within the store. Derived from `title` by default.
    handle: Option<Handle>,
    /// The description as HTML, at most 64 KiB. Scripts and other active content are removed.
    description: Option<SafeHtml>,
    /// The way in which products are selected. The default is `automated` with `rules`, otherwise `manual`.
    kind: Option<CollectionKind>,
    /// The products of a manual collection, in their order. At most 1,000.
    product_ids: Option<AtMost<ProductId, MAX_MEMBERS>>,
    /// The rules of an automated collection: 1 to 20.
    rules: Option<AtMost<RuleInput, MAX_RULES>>,
    /// Whether a product must match all rules or any. The default is `all`.
    #[deserr(default, rename = "match")]
    mode: Option<MatchMode>,
    /// The order of the products on the storefront, unless the shopper chooses another.
    sort_order: Option<SortOrder>,
    /// Whether shoppers see the collection. The default is `true`.
    published: Option<Flag>,
    /// The URL of the collection's image.
    image_url: Option<WebUrl>,
    /// Title and description for search engines.
    seo: Option<SeoInput>,
}

/// Validates that the rules and products fit the collection's kind.
fn validate(
    kind: CollectionKind,
    rules: Option<usize>,
    has_products: bool,
    is_new: bool,
) -> Result<(), Problem> {
    let rejected = match (kind, rules) {
        (CollectionKind::Manual, Some(1..)) => {
            Some(("/rules", "not_applicable", "Not allowed for a manual collection."))
        }
        (CollectionKind::Automated, None) if is_new => {
            Some(("/rules", "required", "An automated collection must have at least one rule."))
        }
        (CollectionKind::Automated, Some(0)) => {
            Some(("/rules", "too_few", "An automated collection must have at least one rule."))
        }
        (CollectionKind::Automated, _) if has_products => Some((
            "/product_ids",
            "not_applicable",
            "The rules of an automated collection choose its products.",
        )),
        _ => None,
    };
    match rejected {
        Some((pointer, code, detail)) => Err(Problem::field(pointer, code, detail)),
        None => Ok(()),
    }
}

impl Rules for CreateRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let rules = given.count("rules");
        let chosen = match rules {
            Some(1..) => CollectionKind::Automated,
            _ => CollectionKind::Manual,
        };
        let kind = given.get("kind").unwrap_or(chosen);
        let has_products = given.count("product_ids").is_some_and(|count| count > 0);
        let validated = validate(kind, rules, has_products, true);
        validated.err().map(|problem| problem.errors().to_vec()).unwrap_or_default()
    }
}

impl CreateRequest {
    /// Builds the collection and the list of its first products.
    fn plan(
        self,
        store: &StoreId,
        now: Timestamp,
    ) -> Result<(Collection, CollectionProducts), Problem> {
        let rules = self.rules.map(|rules| rules.0.into_iter().map(Rule::from).collect::<Vec<_>>());
        let kind = self.kind.unwrap_or(match &rules {
            Some(rules) if !rules.is_empty() => CollectionKind::Automated,
            _ => CollectionKind::Manual,
        });
        let product_ids = self.product_ids.map(|ids| ids.0).unwrap_or_default();
        let handle = match self.handle {
            Some(handle) => handle,
            None => derived(&Handle::made_of(self.title.as_str(), "collection"))?,
        };
        let mut collection = Collection {
            id: CollectionId::mint(now),
            store_id: store.clone(),
            title: self.title.into(),
            handle,
            description: self.description.map(|html| html.as_str().to_owned()).unwrap_or_default(),
            kind,
            rules: rules.unwrap_or_default(),
            mode: self.mode.unwrap_or(MatchMode::All),
            sort_order: self.sort_order.unwrap_or(SortOrder::Manual),
            published: self.published.is_none_or(|flag| flag.0),
            image_url: self.image_url.map(String::from),
            seo: self.seo.map(Seo::from).unwrap_or_default(),
            products_count: 0,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        let members = CollectionProducts::new(&collection, product_ids);
        collection.products_count = members::count(&members);
        Ok((collection, members))
    }
}

/// `POST /v1/products/collections` (`createCollection`): Create a collection.
///
/// A manual collection lists up to 1,000 products. An automated collection has 1 to 20 rules, and holds the
/// products that match them. The kind cannot be changed later. A missing handle is derived from the title
/// and made unique. The event is `collection.created`.
///
/// # Errors
/// `handle_taken`; `unknown_product`, `unknown_category`, `required`, `too_few` and `not_applicable` as field
/// errors.
pub async fn create(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateRequest>>,
) -> Result<Created<CollectionView>, Problem> {
    let (store, now) = (&caller.store.id, app.clock.now());
    let has_own_handle = input.handle.is_some();
    let product_ids = input.product_ids.as_ref().map(|ids| ids.0.clone()).unwrap_or_default();
    members::ensure_products_exist(&app, store, &product_ids, "/product_ids").await?;
    let rules = input.rules.as_ref().map(|rules| rules.0.as_slice()).unwrap_or_default();
    ensure_categories_exist(&app, store, rules).await?;
    let (mut collection, members) = input.plan(store, now)?;
    let slug = collection.handle.as_str().to_owned();
    let mut number: u32 = 1;
    loop {
        let write = claim(app.table.write(), &collection, now)
            .create(&collection, Code::VersionConflict)
            .create(&members, Code::VersionConflict)
            .emit(collection.event(&COLLECTION_CREATED, now));
        number = number.saturating_add(1);
        match write.answer(collection.to_created_response(), now).await {
            Err(problem) if problem.code == Code::HandleTaken && !has_own_handle && number < 10 => {
                collection.handle = derived(&format!("{slug}-{number}"))?;
            }
            // All numbered handles are taken: append the end of the id instead.
            Err(problem)
                if problem.code == Code::HandleTaken && !has_own_handle && number == 10 =>
            {
                let digits = collection.id.digits();
                let end = digits.get(digits.len().saturating_sub(12)..).unwrap_or(digits);
                collection.handle = derived(&format!("{slug}-{end}"))?;
            }
            outcome => return outcome,
        }
    }
}

/// Ensures that the categories that rules name exist. Rules without categories cost no read.
async fn ensure_categories_exist(
    services: &Services,
    store: &StoreId,
    rules: &[RuleInput],
) -> Result<(), Problem> {
    let referenced = rules.iter().map(RuleInput::category);
    let ids: BTreeSet<CategoryId> = referenced.clone().flatten().collect();
    if ids.is_empty() {
        return Ok(());
    }
    let keys: Vec<Key> = ids.iter().map(|id| key::category(store, id)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut unknown = BTreeSet::new();
    for (id, key) in ids.iter().zip(&keys) {
        if batch.take::<Category>(key)?.is_none() {
            unknown.insert(id);
        }
    }
    let mut field_errors = FieldErrorList::default();
    for (number, id) in referenced.enumerate() {
        if id.is_some_and(|id| unknown.contains(&id)) {
            let detail = "There is no such category in the store.";
            field_errors.add(format!("/rules/{number}/value"), "unknown_category", detail);
        }
    }
    field_errors.into_result()
}

/// Claims the collection's handle.
fn claim(write: Write, collection: &Collection, now: Timestamp) -> Write {
    let taken = Code::HandleTaken.with("handle", collection.handle.as_str());
    write.create(&collection.claim(now), taken)
}

/// Releases the collection's handle.
fn release(write: Write, collection: &Collection, now: Timestamp) -> Write {
    let mine = Condition::new("collection_id = :id").value(":id", &collection.id);
    write.delete_if(&collection.claim(now).key(), mine, Code::VersionConflict)
}

/// `GET /v1/products/collections/{id}` (`getCollection`): Get a collection.
///
/// The response has the collection's settings and rules. Its products are listed by
/// `GET /v1/products/collections/{id}/products`.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Path(id): Path<CollectionId>,
) -> Result<Json<CollectionView>, Problem> {
    let key = key::collection(&caller.store.id, &id);
    load::<Collection>(&app, &key).await.map(|collection| collection.to_response())
}

/// Fields of a collection to update. The kind cannot be changed.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The title that shoppers see, 1 to 255 characters.
    title: Option<Text<1, 255>>,
    /// The name in URLs, unique within the store.
    handle: Option<Handle>,
    /// The description as HTML, at most 64 KiB. Scripts and other active content are removed.
    description: Patch<SafeHtml>,
    /// The rules of an automated collection: 1 to 20. They replace all earlier rules.
    rules: Option<AtMost<RuleInput, MAX_RULES>>,
    /// Whether a product must match all rules or any.
    #[deserr(default, rename = "match")]
    mode: Option<MatchMode>,
    /// The order of the products on the storefront, unless the shopper chooses another.
    sort_order: Option<SortOrder>,
    /// Whether shoppers see the collection.
    published: Option<Flag>,
    /// The URL of the collection's image.
    image_url: Patch<WebUrl>,
    /// Title and description for search engines.
    seo: Patch<SeoInput>,
}

impl UpdateRequest {
    /// Applies the changes, and leaves the version as it is.
    fn apply(self, collection: &Collection) -> Collection {
        let mut wanted = collection.clone();
        if let Some(title) = self.title {
            wanted.title = title.into();
        }
        if let Some(handle) = self.handle {
            wanted.handle = handle;
        }
        match self.description {
            Patch::Keep => {}
            Patch::Clear => wanted.description.clear(),
            Patch::Set(html) => html.as_str().clone_into(&mut wanted.description),
        }
        if let Some(rules) = self.rules {
            wanted.rules = rules.0.into_iter().map(Rule::from).collect();
        }
        wanted.mode = self.mode.unwrap_or(wanted.mode);
        wanted.sort_order = self.sort_order.unwrap_or(wanted.sort_order);
        wanted.published = self.published.map_or(wanted.published, |flag| flag.0);
        self.image_url.apply(&mut wanted.image_url);
        match self.seo {
            Patch::Keep => {}
            Patch::Clear => wanted.seo = Seo::default(),
            Patch::Set(seo) => wanted.seo = seo.into(),
        }
        wanted
    }
}

/// `PATCH /v1/products/collections/{id}` (`updateCollection`): Update a collection.
///
/// Omitted fields keep their values; `rules` is replaced as a whole. The old handle is released at once. The
/// event is `collection.updated`; an update without a difference sends none.
///
/// # Errors
/// `not_found`, `handle_taken`, `precondition_failed`; `unknown_category`, `too_few` and `not_applicable` as
/// field errors.
pub async fn update(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<CollectionId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<CollectionView>, Problem> {
    let key = key::collection(&caller.store.id, &id);
    let rules = input.rules.as_ref().map(|rules| rules.0.as_slice()).unwrap_or_default();
    if rules.iter().any(|rule| rule.category().is_some()) {
        load::<Collection>(&app, &key).await?;
        ensure_categories_exist(&app, &caller.store.id, rules).await?;
    }
    let next = |before: &Collection, now| {
        validate(before.kind, input.rules.as_ref().map(|rules| rules.0.len()), false, false)?;
        let wanted = input.clone().apply(before);
        Ok((wanted != *before).then(|| wanted.changed(now)))
    };
    let move_handle = |write, (before, after): (&Collection, &Collection), now| {
        let renamed = (after.handle != before.handle).then_some(before);
        Write::when_some(write, renamed, |write, before| {
            release(claim(write, after, now), before, now)
        })
    };
    change_with(&app, &key, if_match, &COLLECTION_UPDATED, next, move_handle).await
}

/// `DELETE /v1/products/collections/{id}` (`deleteCollection`): Delete a collection.
///
/// The collection is deleted, and its products are kept. The event is `collection.deleted`.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn delete(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<CollectionId>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let (store, now) = (&caller.store.id, app.clock.now());
    retry(|| async {
        let collection: Collection = load(&app, &key::collection(store, &id)).await?;
        if_match.check(collection.version)?;
        let write = app.table.write().delete_unchanged(&collection, Code::VersionConflict);
        release(write.delete(&key::collection_members(store, &id)), &collection, now)
            .emit(collection.changed(now).event(&COLLECTION_DELETED, now))
            .answer(NoContent::default(), now)
            .await
    })
    .await
}

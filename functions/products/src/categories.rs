//! Handlers of categories, the tree into which a store sorts its products.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::category::{
    CATEGORY_CREATED, CATEGORY_DELETED, CATEGORY_UPDATED, Category, CategoryDrain, CategoryInput,
    CategoryView, Tree, begin_guarded_write,
};
use core_types::event::{Event, Topic};
use core_types::fields::Handle;
use core_types::id::CategoryId;
use core_types::scope::{ReadProducts, WriteProducts};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page, Reply};
use gateway::request::{Body, IfMatch, Path};
use primitives::clock::Timestamp;
use primitives::fields::{Int, Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use table::{Write, retry};

/// The largest position. It leaves room to insert siblings.
const MAX_POSITION: i64 = 1_000_000;

/// Adds the event to the write, commits it and returns the reply.
async fn conclude<R: Reply>(
    write: Write,
    (category, view): (&Category, &CategoryView),
    topic: &Topic<CategoryView>,
    reply: R,
    now: Timestamp,
) -> Result<R, Problem> {
    write.emit(Event::new(topic, category.event_subject(), view, now)).answer(reply, now).await
}

/// `GET /v1/products/categories` (`listCategories`): List the category tree.
///
/// Categories come in tree order: each parent directly before its children, siblings by `position`. A store
/// has at most 500 categories.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<CategoryView>, Problem> {
    let tree = Tree::load(&app, &caller.store.id).await?;
    let views = tree.walk().into_iter().map(|(category, _)| CategoryView::of(category, &tree));
    paging.slice(&app, views.collect(), |view| view.id.to_string()).await
}

/// `GET /v1/products/categories/{id}` (`getCategory`): Get a category.
///
/// The response includes the category's parent and its position among its siblings.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadProducts>,
    State(app): State<App>,
    Path(id): Path<CategoryId>,
) -> Result<Json<CategoryView>, Problem> {
    let tree = Tree::load(&app, &caller.store.id).await?;
    let category = tree.get(&id).ok_or(Code::NotFound)?;
    Ok(Json::new(&CategoryView::of(category, &tree)).version(category.version))
}

/// A category to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The name that shoppers see, 1 to 100 characters.
    name: Text<1, 100>,
    /// The name in URLs, unique within the store. Derived from `name` by default.
    handle: Option<Handle>,
    /// The parent category. Without one, the category is a root.
    parent_id: Option<CategoryId>,
    /// The sort position among its siblings, 0 to 1,000,000. The default is 0.
    position: Option<Int<0, MAX_POSITION>>,
}

/// `POST /v1/products/categories` (`createCategory`): Create a category.
///
/// Without `parent_id` the category is a root. A store has at most 500 categories, at most 6 levels deep. A
/// missing handle is derived from the name and made unique. The event is `category.created`.
///
/// # Errors
/// `handle_taken`, `category_limit`; `unknown_category` and `too_deep` as field errors of `parent_id`.
pub async fn create(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Body(input): Body<CreateRequest>,
) -> Result<Created<CategoryView>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    let position = input.position.and_then(|position| u32::try_from(position.0).ok());
    let input = CategoryInput {
        name: input.name.into(),
        handle: input.handle,
        parent_id: input.parent_id,
        position: position.unwrap_or(0),
    };
    retry(|| async {
        let (guard, tree) = Tree::load_guarded(&app, &store.id).await?;
        let category = tree.plan(&input, &store.id, now)?;
        let view = CategoryView::of(&category, &tree);
        let write = begin_guarded_write(&app, &guard).create(&category, Code::VersionConflict);
        let answer = Created::new(&view).version(1);
        conclude(write, (&category, &view), &CATEGORY_CREATED, answer, now).await
    })
    .await
}

/// Fields of a category to update.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The name that shoppers see, 1 to 100 characters.
    name: Option<Text<1, 100>>,
    /// The name in URLs, unique within the store.
    handle: Option<Handle>,
    /// The new parent category. All descendants move along. `null` makes the category a root.
    parent_id: Patch<CategoryId>,
    /// The sort position among its siblings, 0 to 1,000,000.
    position: Option<Int<0, MAX_POSITION>>,
}

impl UpdateRequest {
    /// Applies the changes, and leaves the version as it is.
    fn apply(self, category: &Category) -> Category {
        let mut wanted = category.clone();
        if let Some(name) = self.name {
            wanted.name = name.into();
        }
        if let Some(handle) = self.handle {
            wanted.handle = handle;
        }
        self.parent_id.apply(&mut wanted.parent_id);
        if let Some(position) = self.position.and_then(|requested| u32::try_from(requested.0).ok())
        {
            wanted.position = position;
        }
        wanted
    }
}

/// `PATCH /v1/products/categories/{id}` (`updateCategory`): Rename or move a category.
///
/// Omitted fields keep their values. A category moves with all its descendants, and cannot move below itself.
/// The event is `category.updated`; an update without a difference sends none.
///
/// # Errors
/// `not_found`, `handle_taken`, `cycle`, `precondition_failed`; `unknown_category` and `too_deep` as field
/// errors of `parent_id`.
pub async fn update(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<CategoryId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<CategoryView>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    retry(|| async {
        let (guard, tree) = Tree::load_guarded(&app, &store.id).await?;
        let before = tree.get(&id).ok_or(Code::NotFound)?;
        if_match.check(before.version)?;
        let wanted = input.clone().apply(before);
        if wanted == *before {
            return Ok(Json::new(&CategoryView::of(before, &tree)).version(before.version));
        }
        tree.admit(&wanted)?;
        tree.ensure_handle_free(wanted.handle.clone(), &id)?;
        let version = before.version.saturating_add(1);
        let category = Category { updated_at: now, version, ..wanted };
        let view = CategoryView::of(&category, &tree);
        let write = begin_guarded_write(&app, &guard).replace(&category, Code::VersionConflict);
        let answer = Json::new(&view).version(version);
        conclude(write, (&category, &view), &CATEGORY_UPDATED, answer, now).await
    })
    .await
}

/// `DELETE /v1/products/categories/{id}` (`deleteCategory`): Delete a category.
///
/// Only a category without children can be deleted. Its products are kept, and their `category_id` is
/// cleared within minutes. The event is `category.deleted`.
///
/// # Errors
/// `not_found`, `has_children`, `precondition_failed`.
pub async fn delete(
    caller: StoreAccess<WriteProducts>,
    State(app): State<App>,
    Path(id): Path<CategoryId>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    retry(|| async {
        let (guard, tree) = Tree::load_guarded(&app, &store.id).await?;
        let category = tree.get(&id).ok_or(Code::NotFound)?;
        if_match.check(category.version)?;
        if tree.children(Some(&id)).next().is_some() {
            return Err(Code::HasChildren.into());
        }
        let version = category.version.saturating_add(1);
        let deleted = Category { updated_at: now, version, ..category.clone() };
        let write = begin_guarded_write(&app, &guard)
            .delete_unchanged(category, Code::VersionConflict)
            .create(&CategoryDrain::of(category, now), Code::VersionConflict);
        let view = CategoryView::of(&deleted, &tree);
        conclude(write, (&deleted, &view), &CATEGORY_DELETED, NoContent::default(), now).await
    })
    .await
}

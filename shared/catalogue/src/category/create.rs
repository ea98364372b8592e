//! Creation of categories, one by one or along a path of names.

use core_types::event::{Event, EventSubject};
use core_types::fields::Handle;
use core_types::id::{CategoryId, StoreId};
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{Write, retry};

use super::{CATEGORY_CREATED, Category, CategoryView, Tree, TreeGuard};
use crate::workflows::save_product::derived;

/// A category to create.
#[derive(Debug, Clone)]
pub struct CategoryInput {
    /// The name that shoppers see.
    pub name: String,
    /// Its name in URLs; derived from the name by default.
    pub handle: Option<Handle>,
    /// The parent category; none at the first level.
    pub parent_id: Option<CategoryId>,
    /// Its position among its siblings.
    pub position: u32,
}

impl Tree {
    /// Loads the guard of a store and then its tree, so that a change based on the tree is written under the
    /// guard.
    ///
    /// # Errors
    /// 503.
    pub async fn load_guarded(
        services: &Services,
        store: &StoreId,
    ) -> Result<(TreeGuard, Self), Problem> {
        let guard = TreeGuard::load(services, store).await?;
        Ok((guard, Self::load(services, store).await?))
    }

    /// The category that a path of names leads to, regardless of case, as far as there is one; and the
    /// names that lead further.
    pub fn along<'p>(&self, path: &'p [String]) -> (Option<&Category>, &'p [String]) {
        let (mut found, mut rest) = (None, path);
        while let Some((name, below)) = rest.split_first() {
            let Some(child) = self.child(found.map(|category: &Category| &category.id), name)
            else {
                break;
            };
            (found, rest) = (Some(child), below);
        }
        (found, rest)
    }

    /// The child of a category with this name, regardless of case.
    pub fn child(&self, parent: Option<&CategoryId>, name: &str) -> Option<&Category> {
        let name = name.to_lowercase();
        self.children(parent).find(|child| child.name.to_lowercase() == name)
    }

    /// The tree with one more category.
    #[must_use]
    pub fn added(self, category: Category) -> Self {
        Self::of(self.by_id.into_values().chain([category]).collect())
    }

    /// The new category, with a handle that no other has.
    ///
    /// # Errors
    /// `handle_taken`, `category_limit`; `unknown_category` and `too_deep` as field errors of `parent_id`.
    pub fn plan(
        &self,
        input: &CategoryInput,
        store: &StoreId,
        now: Timestamp,
    ) -> Result<Category, Problem> {
        let id = CategoryId::mint(now);
        let handle = match &input.handle {
            Some(handle) => self.ensure_handle_free(handle.clone(), &id)?,
            None => self.free_handle(&input.name, &id)?,
        };
        let category = Category {
            id,
            store_id: store.clone(),
            parent_id: input.parent_id.clone(),
            name: input.name.clone(),
            handle,
            position: input.position,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        self.admit(&category)?;
        Ok(category)
    }

    /// The handle, if no other category has it.
    ///
    /// # Errors
    /// `handle_taken`.
    pub fn ensure_handle_free(&self, handle: Handle, id: &CategoryId) -> Result<Handle, Problem> {
        if self.is_free(handle.as_str(), id) {
            Ok(handle)
        } else {
            Err(Code::HandleTaken.with("handle", handle.as_str()))
        }
    }

    /// A free handle that is derived from a name. A number is appended if the handle is taken.
    fn free_handle(&self, name: &str, id: &CategoryId) -> Result<Handle, Problem> {
        let made = Handle::made_of(name, "category");
        let numbered = (2..).map(|number: u32| format!("{made}-{number}"));
        let mut candidates = std::iter::once(made.clone()).chain(numbered);
        // The tree is finite, so one of them is free.
        let free = candidates.find(|handle| self.is_free(handle, id)).unwrap_or(made.clone());
        derived(&free)
    }
}

impl Category {
    /// The subject of an event about it.
    pub fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

/// Begins a write that changes the tree. Of two concurrent changes, one loads the tree again.
pub fn begin_guarded_write(services: &Services, guard: &TreeGuard) -> Write {
    services.table.write().create_or_replace(&guard.changed(), Code::VersionConflict)
}

/// The category of a name below a parent, which is created if there is none.
///
/// # Errors
/// `category_limit`; `unknown_category` and `too_deep` as field errors of `parent_id`; 503.
pub async fn ensure(
    services: &Services,
    store: &Store,
    input: &CategoryInput,
) -> Result<Category, Problem> {
    retry(|| async {
        let now = services.clock.now();
        let (guard, tree) = Tree::load_guarded(services, &store.id).await?;
        if let Some(present) = tree.child(input.parent_id.as_ref(), &input.name) {
            return Ok(present.clone());
        }
        let category = tree.plan(input, &store.id, now)?;
        let view = CategoryView::of(&category, &tree);
        let event = Event::new(&CATEGORY_CREATED, category.event_subject(), &view, now);
        let write = begin_guarded_write(services, &guard).create(&category, Code::VersionConflict);
        write.emit(event).commit().await?;
        Ok(category)
    })
    .await
}

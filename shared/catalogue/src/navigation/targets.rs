//! Validation of the resources that menu items reference by id.

use std::collections::HashMap;

use core_types::id::{CategoryId, CollectionId, ProductId, StoreId};
use core_types::key;
use primitives::problem::{FieldError, Problem};
use services::Services;
use table::item::Key;

use super::{Items, MenuItem, MenuItemKind};
use crate::category::Category;
use crate::collection::Collection;
use crate::product::ProductSummary;

/// Keys of one strongly consistent batch read.
const AT_ONCE: usize = 100;

/// The field errors of the ids in a menu: each must be of a resource of the store, of the item's type.
/// Handles are not checked, because a menu may name one before it is in use; the storefront leaves out
/// items that it does not find. One round trip for each 100 ids.
///
/// # Errors
/// 503 when the table cannot be reached.
pub async fn unknown_targets(
    services: &Services,
    store: &StoreId,
    items: &Items,
) -> Result<Vec<FieldError>, Problem> {
    let mut referenced = Vec::new();
    collect(&items.0, "/items", &mut referenced);
    let mut errors = Vec::new();
    let mut targets: HashMap<Key, (MenuItemKind, Vec<String>)> = HashMap::new();
    for (kind, id, pointer) in referenced {
        match key_of(store, kind, id) {
            Some(key) => targets.entry(key).or_insert((kind, Vec::new())).1.push(pointer),
            None => errors.push(unknown(kind, pointer)),
        }
    }
    let targets: Vec<_> = targets.into_iter().collect();
    for some in targets.chunks(AT_ONCE) {
        let keys: Vec<&Key> = some.iter().map(|(key, _)| key).collect();
        let mut found = services.table.get_many(&keys).await?;
        for (key, (kind, pointers)) in some {
            let is_there = match kind {
                MenuItemKind::Product => found.take::<ProductSummary>(key)?.is_some(),
                MenuItemKind::Collection => found.take::<Collection>(key)?.is_some(),
                _ => found.take::<Category>(key)?.is_some(),
            };
            if !is_there {
                errors.extend(pointers.iter().map(|at| unknown(*kind, at.clone())));
            }
        }
    }
    errors.sort_by(|a, b| a.pointer.cmp(&b.pointer));
    Ok(errors)
}

/// The references by id in a menu, with their JSON pointers.
fn collect<'a>(
    items: &'a [MenuItem],
    at: &str,
    referenced: &mut Vec<(MenuItemKind, &'a str, String)>,
) {
    for (index, item) in items.iter().enumerate() {
        let has_ids = matches!(
            item.kind,
            MenuItemKind::Product | MenuItemKind::Collection | MenuItemKind::Category
        );
        if let Some(reference) = item.reference.as_ref().filter(|it| has_ids && it.is_id()) {
            referenced.push((item.kind, reference.as_str(), format!("{at}/{index}/ref")));
        }
        collect(&item.children, &format!("{at}/{index}/children"), referenced);
    }
}

/// The key of the resource; none if the id is of another kind.
fn key_of(store: &StoreId, kind: MenuItemKind, id: &str) -> Option<Key> {
    match kind {
        MenuItemKind::Product => ProductId::parse(id).map(|id| key::summary(store, &id)),
        MenuItemKind::Collection => CollectionId::parse(id).map(|id| key::collection(store, &id)),
        _ => CategoryId::parse(id).map(|id| key::category(store, &id)),
    }
}

fn unknown(kind: MenuItemKind, pointer: String) -> FieldError {
    let code = match kind {
        MenuItemKind::Product => "unknown_product",
        MenuItemKind::Collection => "unknown_collection",
        _ => "unknown_category",
    };
    FieldError::new(pointer, code, format!("There is no such {kind} in the store."))
}

//! Navigation menus: the trees of links on a storefront.

mod link;
mod targets;
mod topics;

use std::borrow::Cow;

use core_types::event::EventSubject;
use core_types::fields::Handle;
use core_types::id::StoreId;
use core_types::key;
use core_types::resource::Resource;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use primitives::clock::Timestamp;
use primitives::fields::{FieldErrors, FromText, Text, Violation};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use table::item::Item;

use crate::policy::PolicyHandle;

pub use link::{LinkUrl, Reference};
pub use targets::unknown_targets;
pub use topics::*;

/// The most items of one menu, at all levels together.
pub const MAX_ITEMS: usize = 200;
/// The most levels of one menu.
pub const MAX_DEPTH: usize = 3;
/// The most bytes of one menu's items as JSON (our choice): all menus of a store fit into one response,
/// which has at most 6 MB, and an event fits into an item of the table.
pub const MAX_BYTES: usize = 100 * 1024;
/// The most characters of an item's title.
const MAX_TITLE: usize = 100;

primitives::string_enum! {
    /// The type of a menu item's target.
    MenuItemKind {
        /// Any URL.
        Link = "link",
        /// A product.
        Product = "product",
        /// A collection.
        Collection = "collection",
        /// A category.
        Category = "category",
        /// A page of the storefront's theme.
        Page = "page",
        /// A policy page.
        Policy = "policy",
        /// The storefront's home page.
        Home = "home",
    }
}

/// One item of a menu, with the items below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields, validate = coherent -> FieldErrors)]
pub struct MenuItem {
    /// The title that shoppers see.
    pub title: Text<1, MAX_TITLE>,
    /// The type of its target.
    #[serde(rename = "type")]
    #[deserr(rename = "type")]
    pub kind: MenuItemKind,
    /// The handle or the id of the resource, for all types except `link` and `home`.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    #[deserr(rename = "ref", default)]
    pub reference: Option<Reference>,
    /// The URL, for `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[deserr(default)]
    pub url: Option<LinkUrl>,
    /// The items below this one.
    #[deserr(default)]
    pub children: Vec<MenuItem>,
}

/// Validates the fields of an item together, and its level.
fn coherent(item: MenuItem, location: ValuePointerRef<'_>) -> Result<MenuItem, FieldErrors> {
    if level(location) == MAX_DEPTH.saturating_add(1) {
        let detail = format!("A menu must have at most {MAX_DEPTH} levels.");
        return Err(FieldErrors::at(location, Violation::new("too_deep", detail)));
    }
    let (takes_url, takes_reference) = match item.kind {
        MenuItemKind::Link => (true, false),
        MenuItemKind::Home => (false, false),
        _ => (false, true),
    };
    let fields = [
        ("url", takes_url, item.url.is_some()),
        ("ref", takes_reference, item.reference.is_some()),
    ];
    let mut errors = FieldErrors::default();
    for (name, taken, given) in fields {
        let (code, verb) = match (taken, given) {
            (true, false) => ("required", "requires"),
            (false, true) => ("not_applicable", "does not allow"),
            _ => continue,
        };
        let violation =
            Violation::new(code, format!("An item of type `{}` {verb} `{name}`.", item.kind));
        errors.add_at(location.push_key(name), || violation);
    }
    if let (MenuItemKind::Policy, Some(reference)) = (item.kind, &item.reference)
        && let Err(violation) = PolicyHandle::from_text(reference.as_str())
    {
        errors.add_at(location.push_key("ref"), || violation);
    }
    if let (MenuItemKind::Page, Some(reference)) = (item.kind, &item.reference)
        && reference.is_id()
    {
        let violation =
            Violation::new("invalid_reference", "Must be the handle of the page, not its id.");
        errors.add_at(location.push_key("ref"), || violation);
    }
    if errors.is_empty() { Ok(item) } else { Err(errors) }
}

/// The level of an item, from 1: one more than the `children` in its location.
fn level(location: ValuePointerRef<'_>) -> usize {
    match location {
        ValuePointerRef::Origin => 1,
        ValuePointerRef::Key { key, prev } => {
            level(*prev).saturating_add(usize::from(key == "children"))
        }
        ValuePointerRef::Index { prev, .. } => level(*prev),
    }
}

/// The items of a menu: at most [`MAX_ITEMS`], in at most [`MAX_DEPTH`] levels and [`MAX_BYTES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items(Vec<MenuItem>);

impl Deserr<FieldErrors> for Items {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let items = Vec::deserialize_from_value(value, location)?;
        if count(&items) > MAX_ITEMS {
            let detail =
                format!("A menu must have at most {MAX_ITEMS} items, at all levels together.");
            return Err(FieldErrors::at(location, Violation::new("too_many", detail)));
        }
        if serde_json::to_vec(&items).is_ok_and(|json| json.len() > MAX_BYTES) {
            let detail = format!("The items of a menu must have at most {MAX_BYTES} bytes.");
            return Err(FieldErrors::at(location, Violation::new("too_long", detail)));
        }
        Ok(Self(items))
    }
}

fn count(items: &[MenuItem]) -> usize {
    items.iter().fold(items.len(), |sum, item| sum.saturating_add(count(&item.children)))
}

/// A menu of a store.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "navigation", key = key::navigation(&self.store_id, self.handle.as_str()))]
pub struct Menu {
    /// Part of the key.
    pub store_id: StoreId,
    /// The name by which a storefront requests it.
    pub handle: Handle,
    /// The items of the first level.
    pub items: Vec<MenuItem>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Resource for Menu {
    type View = MenuView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.handle.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

impl Menu {
    /// A menu that does not exist yet: version 0.
    pub fn blank(store: &StoreId, handle: Handle, now: Timestamp) -> Self {
        let store_id = store.clone();
        Self { store_id, handle, items: Vec::new(), created_at: now, updated_at: now, version: 0 }
    }

    /// The menu at its next version, with these items.
    #[must_use]
    pub fn with(&self, items: Items, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { items: items.0, updated_at: now, version, ..self.clone() }
    }

    /// The deleted menu, at its next version, for the event.
    #[must_use]
    pub fn deleted(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

core_types::view! {
    /// A navigation menu.
    MenuView of menu: Menu {
        /// The handle, which identifies the menu within the store.
        id: Handle = menu.handle.clone(),
        /// The name by which a storefront requests it.
        handle: Handle,
        /// The items of the first level.
        items: Vec<MenuItem>,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

/// The schema is expanded level by level: the schema of an event is embedded into another document, in
/// which a recursive reference would not resolve.
impl JsonSchema for MenuItem {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MenuItem".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        levels(generator, &["title", "type", "children"])
    }
}

impl JsonSchema for Items {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MenuItems".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = levels(generator, &["title", "type"]);
        json_schema!({"type": "array", "items": item, "maxItems": MAX_ITEMS})
    }
}

/// The schema of an item with its descendants down to the last level, with these required members.
fn levels(generator: &mut SchemaGenerator, required: &[&str]) -> Schema {
    let kind = generator.subschema_for::<MenuItemKind>();
    let title = generator.subschema_for::<Text<1, MAX_TITLE>>();
    let item = |children: Schema| {
        json_schema!({
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": {
                "title": title,
                "type": kind,
                "ref": {"type": "string"},
                "url": {"type": "string"},
                "children": children,
            }
        })
    };
    let below = |schema: Schema| json_schema!({"type": "array", "items": schema});
    let none = json_schema!({"type": "array", "maxItems": 0});
    (1..MAX_DEPTH).fold(item(none), |lower, _| item(below(lower)))
}

#[cfg(test)]
mod tests {
    use primitives::input::{read, request};
    use serde_json::{Value, json};

    use super::link::MAX_URL;
    use super::*;

    #[request]
    #[derive(Debug)]
    struct Input {
        items: Items,
    }

    /// Pointers and codes of the field errors of these items.
    fn field_errors(items: &Value) -> Vec<(String, &'static str)> {
        match read::<Input>(json!({"items": items})) {
            Ok(_) => Vec::new(),
            Err(problem) => {
                let violation =
                    |e: &primitives::problem::FieldError| (e.pointer.clone(), e.violation.code);
                let mut all: Vec<_> = problem.errors().iter().map(violation).collect();
                all.sort();
                all
            }
        }
    }

    fn violation(pointer: &str, code: &'static str) -> (String, &'static str) {
        (pointer.to_owned(), code)
    }

    fn home(children: &Value) -> Value {
        json!({"title": "Home", "type": "home", "children": children})
    }

    #[test]
    fn a_menu_with_every_type_is_accepted_and_returned_unchanged() {
        let items = json!([
            {"title": "Home", "type": "home", "children": []},
            {"title": "Shop", "type": "collection", "ref": "all", "children": [
                {"title": "Tea", "type": "category", "ref": "tea", "children": [
                    {"title": "Assam", "type": "product", "ref": "assam", "children": []}]}]},
            {"title": "About", "type": "page", "ref": "about", "children": []},
            {"title": "Refunds", "type": "policy", "ref": "refund", "children": []},
            {"title": "Blog", "type": "link", "url": "https://example.com/blog", "children": []},
        ]);
        let input: Input = read(json!({"items": items})).unwrap();
        assert_eq!(serde_json::to_value(&input.items.0).unwrap(), items);
        assert_eq!(count(&input.items.0), 7);
    }

    #[test]
    fn every_invalid_item_is_reported_with_its_pointer() {
        let items = json!([
            {"title": "", "type": "home"},
            {"title": "A", "type": "link"},
            {"title": "B", "type": "product", "url": "/x"},
            {"title": "C", "type": "home", "children": [
                {"title": "D", "type": "link", "url": "javascript:alert(1)"},
                {"title": "E", "type": "policy", "ref": "cookies"},
                {"title": "F", "type": "page", "ref": "Not A Handle"}]},
            {"type": "planet", "extra": 1},
        ]);
        assert_eq!(
            field_errors(&items),
            [
                violation("/items/0/title", "too_short"),
                violation("/items/1/url", "required"),
                violation("/items/2/ref", "required"),
                violation("/items/2/url", "not_applicable"),
                violation("/items/3/children/0/url", "invalid_url"),
                violation("/items/3/children/1/ref", "invalid_choice"),
                violation("/items/3/children/2/ref", "invalid_reference"),
                violation("/items/4/extra", "unknown_field"),
                violation("/items/4/title", "required"),
                violation("/items/4/type", "invalid_choice"),
            ]
        );
    }

    #[test]
    fn three_levels_are_accepted_and_the_fourth_is_rejected() {
        let three = home(&json!([home(&json!([home(&json!([]))]))]));
        assert_eq!(field_errors(&json!([three])), []);
        let five = home(&json!([home(&json!([home(&json!([home(&json!([home(&json!([]))]))]))]))]));
        let pointer = "/items/0/children/0/children/0/children/0";
        assert_eq!(field_errors(&json!([five])), [violation(pointer, "too_deep")]);
    }

    #[test]
    fn two_hundred_items_are_accepted_and_one_more_is_rejected() {
        let many = |n: usize| json!([home(&Value::Array(vec![home(&json!([])); n]))]);
        assert_eq!(field_errors(&many(MAX_ITEMS - 1)), []);
        assert_eq!(field_errors(&many(MAX_ITEMS)), [violation("/items", "too_many")]);
    }

    #[test]
    fn the_bytes_of_a_menu_are_limited_too() {
        let url = format!("/{}", "x".repeat(MAX_URL - 1));
        let largest = json!({"title": "\u{1F375}".repeat(MAX_TITLE), "type": "link", "url": url});
        assert_eq!(field_errors(&json!(vec![largest.clone(); 65])), []);
        assert_eq!(field_errors(&json!(vec![largest; 75])), [violation("/items", "too_long")]);
    }
}

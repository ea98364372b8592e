//! Collections as their store's owner and apps see them.

use gateway::clock::Timestamp;
use ground::event::{EXAMPLE_TIME, Example, sample};
use ground::fields::Handle;
use ground::id::{CollectionId, StoreId};
use ground::sample_id;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Collection, CollectionKind, MatchMode, Rule, RuleField, RuleRelation, SortOrder};
use crate::product::Seo;

/// A collection.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CollectionView {
    /// The id.
    pub id: CollectionId,
    /// The store.
    pub store_id: StoreId,
    /// What shoppers read.
    pub title: String,
    /// Its name in URLs.
    pub handle: Handle,
    /// HTML that can be put on a page as it is.
    pub description: String,
    /// How its products are chosen.
    pub kind: CollectionKind,
    /// The rules, of an automated one.
    pub rules: Vec<Rule>,
    /// Whether a product must meet all of the rules or any.
    #[serde(rename = "match")]
    pub mode: MatchMode,
    /// The order in which a storefront shows it.
    pub sort_order: SortOrder,
    /// Whether shoppers see it.
    pub published: bool,
    /// Where its picture is.
    pub image_url: Option<String>,
    /// What search engines read.
    pub seo: Seo,
    /// How many products a manual one lists; an automated one is counted by nobody.
    pub products_count: Option<u32>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&Collection> for CollectionView {
    fn from(collection: &Collection) -> Self {
        let is_manual = collection.kind == CollectionKind::Manual;
        Self {
            id: collection.id.clone(),
            store_id: collection.store_id.clone(),
            title: collection.title.clone(),
            handle: collection.handle.clone(),
            description: collection.description.clone(),
            kind: collection.kind,
            rules: collection.rules.clone(),
            mode: collection.mode,
            sort_order: collection.sort_order,
            published: collection.published,
            image_url: collection.image_url.clone(),
            seo: collection.seo.clone(),
            products_count: is_manual.then_some(collection.products_count),
            created_at: collection.created_at,
            updated_at: collection.updated_at,
            version: collection.version,
        }
    }
}

impl Example for CollectionView {
    fn example() -> Self {
        let rule =
            Rule { field: RuleField::Tag, relation: RuleRelation::Equals, value: "coffee".into() };
        Self {
            id: sample_id!(CollectionId),
            store_id: sample_id!(StoreId),
            title: "Coffee".into(),
            handle: sample("coffee"),
            description: String::new(),
            kind: CollectionKind::Automated,
            rules: vec![rule],
            mode: MatchMode::All,
            sort_order: SortOrder::Newest,
            published: true,
            image_url: None,
            seo: Seo::default(),
            products_count: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

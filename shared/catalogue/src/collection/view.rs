//! Responses with collections, for the store's members and for apps.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::Handle;
use core_types::id::{CollectionId, StoreId};
use core_types::sample_id;
use primitives::clock::Timestamp;

use super::{Collection, CollectionKind, MatchMode, Rule, RuleField, RuleRelation, SortOrder};
use crate::product::Seo;

core_types::view! {
    /// A collection.
    CollectionView of collection: Collection {
        /// The id.
        id: CollectionId,
        /// The store.
        store_id: StoreId,
        /// The title that shoppers see.
        title: String,
        /// Its name in URLs.
        handle: Handle,
        /// Sanitized HTML: safe to embed in a page unchanged.
        description: String,
        /// The way in which its products are selected.
        kind: CollectionKind,
        /// The rules of an automated collection.
        rules: Vec<Rule>,
        /// Whether a product must meet all of the rules or any.
        #[serde(rename = "match")]
        mode: MatchMode,
        /// The sort order on a storefront.
        sort_order: SortOrder,
        /// Whether shoppers see it.
        published: bool,
        /// The address of its image.
        image_url: Option<String>,
        /// The title and the description for search engines.
        seo: Seo,
        /// The number of products of a manual collection; null for an automated one.
        products_count: Option<u32> = collection.is_manual().then_some(collection.products_count),
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
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

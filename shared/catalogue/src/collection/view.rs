//! Collections as their store's owner and apps see them.

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
        /// What shoppers read.
        title: String,
        /// Its name in URLs.
        handle: Handle,
        /// HTML that can be put on a page as it is.
        description: String,
        /// How its products are chosen.
        kind: CollectionKind,
        /// The rules, of an automated one.
        rules: Vec<Rule>,
        /// Whether a product must meet all of the rules or any.
        #[serde(rename = "match")]
        mode: MatchMode,
        /// The order in which a storefront shows it.
        sort_order: SortOrder,
        /// Whether shoppers see it.
        published: bool,
        /// Where its picture is.
        image_url: Option<String>,
        /// What search engines read.
        seo: Seo,
        /// How many products a manual one lists; an automated one is counted by nobody.
        products_count: Option<u32> = collection.is_manual().then_some(collection.products_count),
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
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

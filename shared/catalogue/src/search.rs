//! Product search over the folded [`words`](crate::words) of title, SKUs, vendor, type and tags, over joined
//! words and parts of them. A word of the query matches every word that begins with it, and every term of the
//! query ([`Term`]) must match.
//!
//! Each word of a product is an item of its own ([`Token`]), written and deleted by the product's change
//! or its deferred work. Tokens only give candidates: each is validated by the product's summary, so that
//! a stale token finds nothing. A [`Search`] reads tokens in the order of their keys.

mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use core_types::id::ProductId;
use core_types::key;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

use crate::product::{ProductSummary, id_of, newest_first};
use crate::words::{Term, index_words};

pub use walk::Search;

/// The most words of a product; those of its title come first (our choice).
pub const MAX_TOKENS: usize = 64;

primitives::string_enum! {
    /// The rank of a word, by the field that it is from.
    Rank {
        /// The title.
        Title = "0",
        /// A SKU, the vendor, the type or a tag.
        Other = "1",
    }
}

/// The texts of a product that its words are from.
#[derive(Debug, Clone, Copy)]
pub struct Searchable<'a> {
    /// The title.
    pub title: &'a str,
    /// The vendor.
    pub vendor: Option<&'a str>,
    /// The product type.
    pub product_type: Option<&'a str>,
    /// The tags.
    pub tags: &'a [String],
    /// The folded words of its SKUs.
    pub sku_words: &'a [String],
}

impl<'a> From<&'a ProductSummary> for Searchable<'a> {
    fn from(summary: &'a ProductSummary) -> Self {
        Self {
            title: &summary.title,
            vendor: summary.vendor.as_deref(),
            product_type: summary.product_type.as_deref(),
            tags: &summary.tags,
            sku_words: &summary.sku_words,
        }
    }
}

/// The words of a product, each with its best rank.
pub fn tokens<'a>(product: impl Into<Searchable<'a>>) -> BTreeMap<String, Rank> {
    let Searchable { title, vendor, product_type, tags, sku_words } = product.into();
    let title = index_words(title).into_iter().map(|word| (word, Rank::Title));
    let texts = [vendor, product_type].into_iter().flatten();
    let texts = texts.chain(tags.iter().map(String::as_str)).flat_map(index_words);
    let others = sku_words.iter().cloned().chain(texts).map(|word| (word, Rank::Other));
    let mut tokens = BTreeMap::new();
    for (word, rank) in title.chain(others) {
        if tokens.len() >= MAX_TOKENS {
            break;
        }
        tokens.entry(word).or_insert(rank);
    }
    tokens
}

/// The item of a product's word; it has only a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Item)]
#[item(kind = "word", key = Key::new(&self.partition, &self.place), version = 1)]
pub struct Token {
    #[serde(rename = "PK")]
    partition: String,
    #[serde(rename = "SK")]
    place: String,
}

impl Token {
    /// The product's id.
    fn product(&self) -> Option<ProductId> {
        id_of(self.place.rsplit('#').next()?)
    }

    /// The word and its rank.
    fn word(&self) -> Option<(Rank, &str)> {
        let (rank, rest) = self.place.split_once('#')?;
        let (word, _) = rest.rsplit_once('#')?;
        let rank = Rank::ALL.iter().find(|known| known.as_str() == rank)?;
        Some((*rank, word))
    }

    /// Whether this is the first token of its product with a word that begins so. A search returns the
    /// product at this token, and at no other.
    fn is_first_of(&self, own: &BTreeMap<String, Rank>, beginning: &str) -> bool {
        let found = own.iter().filter(|(word, _)| word.starts_with(beginning));
        let first = found.map(|(word, rank)| (rank.as_str(), word.as_str())).min();
        self.word().is_some_and(|(rank, word)| first == Some((rank.as_str(), word)))
    }
}

/// The tokens of a product, as stored.
pub fn rows(summary: &ProductSummary) -> BTreeSet<Token> {
    let newest_first = newest_first(summary.id());
    let row = |(word, rank): (String, Rank)| {
        let key = key::search_word(summary.store_id(), (rank.as_str(), &word), &newest_first);
        Token { partition: key.pk, place: key.sk }
    };
    tokens(summary).into_iter().map(row).collect()
}

/// Whether a product has all terms of a query.
pub fn matches<'a>(product: impl Into<Searchable<'a>>, query: &[Term]) -> bool {
    query.is_empty() || have(&tokens(product), query)
}

/// The rank of a product with these words among the results of a query: that of its title, if that has all terms; none
/// for a product that is no result.
pub fn rank(own: &BTreeMap<String, Rank>, query: &[Term]) -> Option<Rank> {
    let in_title = |beginning: &str| {
        let found = own.range::<str, _>((Bound::Included(beginning), Bound::Unbounded));
        found
            .take_while(|(word, _)| word.starts_with(beginning))
            .any(|(_, rank)| *rank == Rank::Title)
    };
    if !have(own, query) {
        return None;
    }
    let is_title = query.iter().all(|term| term.is_met(in_title));
    Some(if is_title { Rank::Title } else { Rank::Other })
}

/// Whether the words in `own` meet all terms of a query.
fn have(own: &BTreeMap<String, Rank>, query: &[Term]) -> bool {
    query.iter().all(|term| term.is_met(|word| begins_one(own, word)))
}

/// Whether one of the words in `own` begins so.
fn begins_one(own: &BTreeMap<String, Rank>, beginning: &str) -> bool {
    let from = (Bound::Included(beginning), Bound::Unbounded);
    own.range::<str, _>(from).next().is_some_and(|(next, _)| next.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::Product;
    use crate::product::tests::{product, variant};
    use crate::words::terms;

    fn summary() -> ProductSummary {
        let text = |text: &str| Some(text.to_owned());
        let product = Product {
            title: "Café mug".into(),
            vendor: text("Blue Works"),
            product_type: text("Mug"),
            tags: vec!["Été".into()],
            ..product()
        };
        ProductSummary::of(&product, &[variant("TEE-M", 5), variant("TEE-L", 5)])
    }

    #[test]
    fn every_word_of_a_query_must_begin_a_word_of_the_product() {
        for (query, expected) in [
            ("cafe", true),
            ("CAF mu", true),
            ("blue ete", true),
            ("tee-l", true),
            ("teel", true),
            ("te-el", true),
            ("ug", false),
            ("mug red", false),
            ("", true),
        ] {
            assert_eq!(matches(&summary(), &terms(query)), expected, "{query}");
        }
    }

    #[test]
    fn a_product_is_found_at_the_first_of_its_matching_words() {
        let product = Product {
            title: "Mugs".into(),
            tags: vec!["mug".into(), "museum".into()],
            ..product()
        };
        let summary = ProductSummary::of(&product, &[]);
        let rows = rows(&summary);
        let own = tokens(&summary);
        let first = |beginning: &str| {
            let found = rows.iter().filter(|row| row.is_first_of(&own, beginning));
            found.map(|row| row.word().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(first("mu"), [(Rank::Title, "mugs")]);
        assert_eq!(first("mus"), [(Rank::Other, "museum")]);
        assert_eq!(first("cup"), []);
        assert!(rows.iter().all(|row| row.product().as_ref() == Some(summary.id())));
    }

    #[test]
    fn a_word_has_its_best_rank_and_words_are_limited() {
        let found = tokens(&summary());
        assert_eq!(found.get("mug"), Some(&Rank::Title));
        assert_eq!(found.get("tee"), Some(&Rank::Other));
        assert_eq!(found.len(), 10, "{found:?}");
        let many = (0..90).map(|n| format!("tag{n}")).collect();
        let many = ProductSummary::of(
            &Product { title: "Last but kept".into(), tags: many, ..product() },
            &[],
        );
        let found = tokens(&many);
        assert_eq!((found.len(), found.contains_key("kept")), (MAX_TOKENS, true));
    }
}

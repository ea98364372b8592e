//! What products are found by: the words of their title, SKUs, vendor, type and tags, folded
//! ([`words`](crate::words)). A word that is asked for stands for all that begin with it, and every
//! one of them must be found.
//!
//! Each word of a product is an item of its own ([`Token`]), written and removed with the product's
//! change or as its deferred work. They say where to look: what is found is validated by the product's
//! card, so that a word that is left over finds nothing. A [`Search`] reads them in their order.

mod walk;

use std::collections::{BTreeMap, BTreeSet};

use core_types::id::ProductId;
use core_types::key;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

use crate::product::{ProductSummary, id_of, newest_first};
use crate::words::words;

pub use walk::Search;

/// Words that a product is found by, at most; those of its title come first (our choice).
pub const MAX_TOKENS: usize = 64;

primitives::string_enum! {
    /// How good a place a word stands in.
    Rank {
        /// The title.
        Title = "0",
        /// A SKU, the vendor, the type or a tag.
        Other = "1",
    }
}

/// The words that a product is found by, each with the best place that it stands in.
pub fn tokens(summary: &ProductSummary) -> BTreeMap<String, Rank> {
    let title = words(&summary.title).into_iter().map(|word| (word, Rank::Title));
    let texts = [summary.vendor.as_deref(), summary.product_type.as_deref()].into_iter().flatten();
    let texts = texts.chain(summary.tags.iter().map(String::as_str)).flat_map(words);
    let others = summary.sku_words.iter().cloned().chain(texts).map(|word| (word, Rank::Other));
    let mut tokens = BTreeMap::new();
    for (word, rank) in title.chain(others) {
        if tokens.len() >= MAX_TOKENS {
            break;
        }
        tokens.entry(word).or_insert(rank);
    }
    tokens
}

/// A word that a product is found by: a key, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token {
    #[serde(rename = "PK")]
    partition: String,
    #[serde(rename = "SK")]
    place: String,
}

impl Item for Token {
    const KIND: &'static str = "word";
    fn key(&self) -> Key {
        Key::new(&self.partition, &self.place)
    }
    fn version(&self) -> u64 {
        1
    }
}

impl Token {
    /// The product.
    fn product(&self) -> Option<ProductId> {
        id_of(self.place.rsplit('#').next()?)
    }

    /// Where the word stands, and the word.
    fn word(&self) -> Option<(Rank, &str)> {
        let (rank, rest) = self.place.split_once('#')?;
        let (word, _) = rest.rsplit_once('#')?;
        let rank = Rank::ALL.iter().find(|known| known.as_str() == rank)?;
        Some((*rank, word))
    }

    /// Whether this is the first of the words by which its product is found that begins so: it is shown
    /// there, and nowhere else.
    fn is_first_of(&self, own: &BTreeMap<String, Rank>, beginning: &str) -> bool {
        let found = own.iter().filter(|(word, _)| word.starts_with(beginning));
        let first = found.map(|(word, rank)| (rank.as_str(), word.as_str())).min();
        self.word().is_some_and(|(rank, word)| first == Some((rank.as_str(), word)))
    }
}

/// The words of a product as they are kept.
pub fn rows(summary: &ProductSummary) -> BTreeSet<Token> {
    let newest_first = newest_first(summary.id());
    let row = |(word, rank): (String, Rank)| {
        let key = key::search_word(summary.store_id(), (rank.as_str(), &word), &newest_first);
        Token { partition: key.pk, place: key.sk }
    };
    tokens(summary).into_iter().map(row).collect()
}

/// Whether every one of these folded words begins one of the product's.
pub fn answers(summary: &ProductSummary, asked: &[String]) -> bool {
    asked.is_empty() || have(&tokens(summary), asked)
}

/// Whether every one of these folded words begins one of those.
fn have(own: &BTreeMap<String, Rank>, asked: &[String]) -> bool {
    let begins_one = |word: &String| {
        own.range(word.clone()..).next().is_some_and(|(next, _)| next.starts_with(word.as_str()))
    };
    asked.iter().all(begins_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::Product;
    use crate::product::tests::{product, variant};

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
    fn every_word_must_begin_one_that_the_product_has() {
        for (asked, expected) in [
            ("cafe", true),
            ("CAF mu", true),
            ("blue ete", true),
            ("tee-l", true),
            ("ug", false),
            ("mug red", false),
            ("", true),
        ] {
            assert_eq!(answers(&summary(), &words(asked)), expected, "{asked}");
        }
    }

    #[test]
    fn a_product_is_shown_by_the_first_of_its_words_that_begin_so() {
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
    fn a_word_has_its_best_place_and_there_are_so_many_at_most() {
        let found = tokens(&summary());
        assert_eq!(found.get("mug"), Some(&Rank::Title));
        assert_eq!(found.get("tee"), Some(&Rank::Other));
        assert_eq!(found.len(), 8, "{found:?}");
        let many = (0..90).map(|n| format!("tag{n}")).collect();
        let many = ProductSummary::of(
            &Product { title: "Last but kept".into(), tags: many, ..product() },
            &[],
        );
        let found = tokens(&many);
        assert_eq!((found.len(), found.contains_key("kept")), (MAX_TOKENS, true));
    }
}

//! What products are found by: the words of their title, SKUs, vendor, type and tags, folded
//! ([`words`](crate::words)). A word that is asked for stands for all that begin with it, and every
//! one of them must be found.

use std::collections::BTreeMap;

use crate::product::Card;
use crate::words::words;

/// Words that a product is found by, at most; those of its title come first (our choice).
pub const MAX_TOKENS: usize = 64;

gateway::words! {
    /// How good a place a word stands in.
    Rank {
        /// The title.
        Title = "0",
        /// A SKU, the vendor, the type or a tag.
        Other = "1",
    }
}

/// The words that a product is found by, each with the best place that it stands in.
pub fn tokens(card: &Card) -> BTreeMap<String, Rank> {
    let title = words(&card.title).into_iter().map(|word| (word, Rank::Title));
    let texts = [card.vendor.as_deref(), card.product_type.as_deref()].into_iter().flatten();
    let texts = texts.chain(card.tags.iter().map(String::as_str)).flat_map(words);
    let others = card.sku_words.iter().cloned().chain(texts).map(|word| (word, Rank::Other));
    let mut tokens = BTreeMap::new();
    for (word, rank) in title.chain(others) {
        if tokens.len() >= MAX_TOKENS {
            break;
        }
        tokens.entry(word).or_insert(rank);
    }
    tokens
}

/// Whether every one of these folded words begins one of the product's.
pub fn answers(card: &Card, asked: &[String]) -> bool {
    if asked.is_empty() {
        return true;
    }
    let tokens = tokens(card);
    asked.iter().all(|word| tokens.keys().any(|token| token.starts_with(word.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::Product;
    use crate::product::tests::{product, variant};

    fn card() -> Card {
        let text = |text: &str| Some(text.to_owned());
        let product = Product {
            title: "Café mug".into(),
            vendor: text("Blue Works"),
            product_type: text("Mug"),
            tags: vec!["Été".into()],
            ..product()
        };
        Card::of(&product, &[variant("TEE-M", 5), variant("TEE-L", 5)])
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
            assert_eq!(answers(&card(), &words(asked)), expected, "{asked}");
        }
    }

    #[test]
    fn a_word_has_its_best_place_and_there_are_so_many_at_most() {
        let found = tokens(&card());
        assert_eq!(found.get("mug"), Some(&Rank::Title));
        assert_eq!(found.get("tee"), Some(&Rank::Other));
        assert_eq!(found.len(), 8, "{found:?}");
        let many = (0..90).map(|n| format!("tag{n}")).collect();
        let many =
            Card::of(&Product { title: "Last but kept".into(), tags: many, ..product() }, &[]);
        let found = tokens(&many);
        assert_eq!((found.len(), found.contains_key("kept")), (MAX_TOKENS, true));
    }
}

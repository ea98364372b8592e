//! Normalized words for search and sorting: folded regardless of case and accents, split at the word
//! boundaries of Unicode (UAX #29 §4).

use core_types::fold::fold;
use unicode_segmentation::UnicodeSegmentation;

/// The characters of a word that are compared (our choice).
const LONGEST: usize = 40;

/// The folded words of a text, in order.
pub fn words(text: &str) -> Vec<String> {
    fold(text).unicode_words().map(|word| word.chars().take(LONGEST).collect()).collect()
}

/// The sort key of a text: folded, with single blanks, at most `longest` characters.
pub fn sort_key(text: &str, longest: usize) -> String {
    let parts: Vec<String> = fold(text).split_whitespace().map(str::to_owned).collect();
    parts.join(" ").chars().take(longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_unicode_boundaries() {
        for (text, expected) in [
            ("Blue-Mug, 2nd edition!", vec!["blue", "mug", "2nd", "edition"]),
            ("TEE-M/01", vec!["tee", "m", "01"]),
            ("l'été", vec!["l'ete"]),
            ("緑茶", vec!["緑", "茶"]),
            (" -- ", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(words(&"x".repeat(90))[0].len(), LONGEST);
    }

    #[test]
    fn a_sort_key_is_short_and_has_single_blanks() {
        assert_eq!(sort_key("  Éclair   No. 5 ", 60), "eclair no. 5");
        assert_eq!(sort_key("Éclair", 3), "ecl");
    }
}

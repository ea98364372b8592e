//! Normalized words for search and sorting: folded regardless of case and accents, split at the word
//! boundaries of Unicode (UAX #29 §4).

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// The characters of a word that are compared (our choice).
const LONGEST: usize = 40;

/// Folds a text: lower case, NFKD, without accents. `Café` and `CAFE` fold to the same text.
pub fn fold(text: &str) -> String {
    let plain: String = text.nfkd().filter(|c| !is_accent(*c)).collect();
    // Lower case may bring marks with it, as of `İ`; and `ß` is written `ss`.
    let small = plain.to_lowercase().replace('ß', "ss");
    small.nfkd().filter(|c| !is_accent(*c)).collect()
}

/// Whether a character is in the blocks of combining diacritical marks. Other marks are part of the
/// text, such as the vowel signs of Devanagari.
fn is_accent(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

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
    fn case_and_accents_make_no_difference() {
        for (text, expected) in [
            ("Café au lait", "cafe au lait"),
            ("CAFE\u{301}", "cafe"),
            ("Straße", "strasse"),
            ("İstanbul", "istanbul"),
            ("ﬁn", "fin"),
            ("Ἀθῆναι", "αθηναι"),
            ("茶", "茶"),
            ("हिन्दी", "हिन्दी"),
        ] {
            assert_eq!(fold(text), expected, "{text}");
        }
    }

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

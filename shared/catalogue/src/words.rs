//! Words as they are searched and sorted: without case and accents, cut where Unicode says
//! (UAX #29 §4).

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Characters of a word that tell it from others (our choice).
const LONGEST: usize = 40;

/// The text without case and accents: `Café` and `CAFE` are one (NFKD, without its accents).
pub fn fold(text: &str) -> String {
    let plain: String = text.nfkd().filter(|c| !is_accent(*c)).collect();
    // Lower case may bring marks with it, as of `İ`; and `ß` is written `ss`.
    let small = plain.to_lowercase().replace('ß', "ss");
    small.nfkd().filter(|c| !is_accent(*c)).collect()
}

/// Whether it is an accent: of the blocks of combining diacritical marks. Other marks are letters, as
/// the vowels of Devanagari are.
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

/// The words of a text, folded, in its order.
pub fn words(text: &str) -> Vec<String> {
    fold(text).unicode_words().map(|word| word.chars().take(LONGEST).collect()).collect()
}

/// What a text sorts by among others: its folded words and signs, at most so many characters.
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
    fn words_end_where_unicode_says() {
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

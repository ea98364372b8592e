//! Normalized words for search and sorting: folded regardless of case, accents and spelling, split at the word
//! boundaries of Unicode (UAX #29 §4).

use core_types::fold::fold;
use unicode_segmentation::UnicodeSegmentation;

/// The characters of a word that are compared (our choice).
const LONGEST: usize = 40;
/// The most words that are joined to one (our choice).
const MOST_JOINED: usize = 4;
/// Signs that join words to one: `T-Shirt`, `AB/4711.X`.
const JOINTS: &[char] = &['-', '.', '/', '_', '+', '&'];

/// The folded words of a text, in order. An apostrophe parts no word, and is left out.
pub fn words(text: &str) -> Vec<String> {
    fold(text).unicode_words().map(plain).collect()
}

/// The words that a text is found by: its own in order, then parts of them and joined ones. `T-Shirt` is found by
/// `t`, `shirt` and `tshirt`, `AB4711X` by `4711x`, and `l'été` by `ete`.
pub fn index_words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let (mut found, mut more, mut joined) = (Vec::new(), Vec::new(), Vec::new());
    let mut end = 0;
    for (start, word) in folded.unicode_word_indices() {
        let between = folded.get(end..start).unwrap_or_default();
        if !is_joint(between) {
            more.extend(joint(&joined));
            joined.clear();
        }
        end = start.saturating_add(word.len());
        joined.push(plain(word));
        found.push(plain(word));
        more.extend(inner(word));
    }
    more.extend(joint(&joined));
    found.extend(more);
    found
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| *c != '\'').take(LONGEST).collect()
}

fn is_joint(between: &str) -> bool {
    let mut signs = between.chars();
    signs.next().is_some_and(|sign| JOINTS.contains(&sign)) && signs.next().is_none()
}

/// Several words as one.
fn joint(words: &[String]) -> Option<String> {
    (2..=MOST_JOINED).contains(&words.len()).then(|| words.concat().chars().take(LONGEST).collect())
}

/// The parts of a word by which it is found as well: what follows an apostrophe or letters before a number.
fn inner(word: &str) -> Vec<String> {
    let mut before = ' ';
    let mut parts = Vec::new();
    for (at, c) in word.char_indices() {
        let begins = before == '\'' || (before.is_alphabetic() && c.is_numeric());
        before = c;
        let part = word.get(at..).filter(|part| begins && part.chars().nth(1).is_some());
        parts.extend(part.map(plain));
    }
    parts
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
            ("l'été", vec!["lete"]),
            ("Women’s", vec!["womens"]),
            ("緑茶", vec!["緑", "茶"]),
            (" -- ", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(words(&"x".repeat(90))[0].len(), LONGEST);
    }

    #[test]
    fn a_text_is_found_by_joined_words_and_parts_as_well() {
        for (text, expected) in [
            ("T-Shirt", vec!["t", "shirt", "tshirt"]),
            ("Blue Wi‑Fi mug", vec!["blue", "wi", "fi", "mug", "wifi"]),
            ("AB-4711-X", vec!["ab", "4711", "x", "ab4711x"]),
            ("AB4711X", vec!["ab4711x", "4711x"]),
            ("iPhone15 Pro", vec!["iphone15", "pro", "15"]),
            ("500ml, 2nd", vec!["500ml", "2nd"]),
            ("l'été", vec!["lete", "ete"]),
            ("women's", vec!["womens"]),
            ("red, green", vec!["red", "green"]),
            ("緑茶", vec!["緑", "茶"]),
            ("a-b-c-d-e", vec!["a", "b", "c", "d", "e"]),
        ] {
            assert_eq!(index_words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_sort_key_is_short_and_has_single_blanks() {
        assert_eq!(sort_key("  Éclair   No. 5 ", 60), "eclair no. 5");
        assert_eq!(sort_key("Éclair", 3), "ecl");
    }
}

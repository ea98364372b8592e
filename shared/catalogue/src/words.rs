//! Normalized words for search and sorting: folded regardless of case, accents and spelling, split at the word
//! boundaries of Unicode (UAX #29 §4).

use core_types::fold::fold;
use unicode_segmentation::UnicodeSegmentation;

/// The characters of a word that are compared (our choice).
const LONGEST: usize = 40;
/// The most words that are joined to one (our choice).
const MAX_JOINED: usize = 4;
/// Signs that join words to one: `T-Shirt`, `AB/4711.X`.
const JOINTS: &[char] = &['-', '.', '/', '_', '+', '&'];

/// The folded words of a text, in order. An apostrophe parts no word, and is left out.
pub fn words(text: &str) -> Vec<String> {
    runs(&fold(text)).into_iter().flatten().map(plain).collect()
}

/// The words that a text is found by: its own in order, then parts of them and joined ones. `T-Shirt` is found by
/// `t`, `shirt` and `tshirt`, `AB4711X` by `4711x`, and `l'été` by `ete`.
pub fn index_words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let (mut found, mut more) = (Vec::new(), Vec::new());
    for run in runs(&folded) {
        found.extend(run.iter().copied().map(plain));
        more.extend(run.iter().flat_map(|word| inner(word)));
        more.extend(joint(&run));
    }
    found.extend(more);
    found
}

/// Words of a query that are looked for together. Those of `wi-fi` or `t shirt` may be one word of a text, and
/// may be several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// The folded words, in order.
    pub words: Vec<String>,
    /// The words as one, if there are several.
    pub joined: Option<String>,
}

impl Term {
    /// Whether a text has the term, where `begins` says whether a word of the text begins so.
    pub fn is_met(&self, begins: impl Fn(&str) -> bool) -> bool {
        self.joined.as_deref().is_some_and(&begins) || self.words.iter().all(|word| begins(word))
    }
}

/// The terms of a query; none of an empty one, nor of `*`, which finds everything. A query of signs alone has a term that
/// no text has.
pub fn terms(text: &str) -> Vec<Term> {
    let folded = fold(text);
    let signs = folded.trim();
    if !matches!(signs, "" | "*") && folded.unicode_words().next().is_none() {
        return vec![Term { words: vec![signs.to_owned()], joined: None }];
    }
    let term = |run: Vec<&str>| -> Vec<Term> {
        let words = || run.iter().copied().map(plain);
        match joint(&run) {
            Some(joined) => vec![Term { words: words().collect(), joined: Some(joined) }],
            None => words().map(|word| Term { words: vec![word], joined: None }).collect(),
        }
    };
    runs(&folded).into_iter().flat_map(term).collect()
}

/// The words of a folded text in runs. Those of a run are written as one word elsewhere: a sign joins them, or
/// the first is a single letter before a blank (`t shirt`).
fn runs(folded: &str) -> Vec<Vec<&str>> {
    let (mut runs, mut end): (Vec<Vec<&str>>, usize) = (Vec::new(), 0);
    for (start, word) in folded.unicode_word_indices() {
        let between = folded.get(end..start).unwrap_or_default();
        end = start.saturating_add(word.len());
        match runs.last_mut() {
            Some(run) if is_joint(between) || (between == " " && is_letter(run)) => {
                run.extend(split(word));
            }
            _ => runs.push(split(word).collect()),
        }
    }
    runs
}

/// The parts of a word that Unicode keeps whole (`node.js`, `ab_12`), where other texts have another sign. A
/// point among digits is one of decimals.
fn split(word: &str) -> impl Iterator<Item = &str> {
    let has_digits = word.contains(char::is_numeric);
    let parts = word.split(move |c| c == '_' || (c == '.' && !has_digits));
    parts.filter(|part| !part.is_empty())
}

fn is_letter(run: &[&str]) -> bool {
    matches!(run, [letter] if letter.len() == 1 && letter.bytes().all(|c| c.is_ascii_alphabetic()))
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| *c != '\'').take(LONGEST).collect()
}

fn is_joint(between: &str) -> bool {
    let mut signs = between.chars();
    signs.next().is_some_and(|sign| JOINTS.contains(&sign)) && signs.next().is_none()
}

/// Several words as one.
fn joint(run: &[&str]) -> Option<String> {
    let joined = || run.iter().copied().flat_map(str::chars).filter(|c| *c != '\'');
    (2..=MAX_JOINED).contains(&run.len()).then(|| joined().take(LONGEST).collect())
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
            ("T Shirt", vec!["t", "shirt", "tshirt"]),
            ("Shirt T", vec!["shirt", "t"]),
            ("AB_4711", vec!["ab", "4711", "ab4711"]),
            ("Node.js 3.5", vec!["node", "js", "3.5", "nodejs"]),
        ] {
            assert_eq!(index_words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_term_is_met_by_its_words_or_by_all_of_them_as_one() {
        for (query, texts, others) in [
            ("wi-fi", &["WiFi", "Wi-Fi", "wi fi", "Wi‑Fi 6"][..], &["wine", "fir"][..]),
            ("e-mail", &["Email", "e mail", "E-Mail set"], &["mail"]),
            ("t shirt", &["tshirt", "T-Shirts", "Shirt T"], &["shirt", "t"]),
            ("tshirt", &["T Shirt", "T-Shirt", "tshirt"], &["shirt"]),
            ("co-op", &["Coop", "CO-OP", "co_op"], &["op", "cooker"]),
            ("ab1234", &["AB-1234", "AB-1234-X", "ab_1234", "AB.1234"], &["1234"]),
            ("1234", &["AB-1234", "AB1234", "AB_1234"], &["12-3", "4321"]),
            ("ab-1234", &["AB1234", "AB 1234"], &["ab 12"]),
            ("node.js", &["NodeJS", "node js", "Node.js"], &["node"]),
            ("😀", &[], &["mug", "😀 mug"]),
            ("#!", &[], &["#1 mug"]),
        ] {
            let terms = terms(query);
            let is_met = |text: &&&str| {
                let own = index_words(text);
                let begins = |word: &str| own.iter().any(|one| one.starts_with(word));
                terms.iter().all(|term| term.is_met(begins))
            };
            assert_eq!(texts.iter().filter(is_met).count(), texts.len(), "{query}");
            assert_eq!(others.iter().find(is_met), None, "{query}");
        }
        for all in ["", " ", "*"] {
            assert_eq!(terms(all), [], "{all}");
        }
    }

    #[test]
    fn a_sort_key_is_short_and_has_single_blanks() {
        assert_eq!(sort_key("  Éclair   No. 5 ", 60), "eclair no. 5");
        assert_eq!(sort_key("Éclair", 3), "ecl");
    }
}

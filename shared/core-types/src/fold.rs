//! Text as it is compared, regardless of case, accents and spelling: for search, sorting, and names of regions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::props::{EnumeratedProperty, GeneralCategory};

/// Small letters, apostrophes and dashes that have no decomposition, in ASCII: CLDR's transform Latin-ASCII
/// (`fold/update.py`).
static LATIN_ASCII: LazyLock<BTreeMap<char, &'static str>> = LazyLock::new(|| {
    let pair = |line: &'static str| {
        let (character, written) = line.split_once(' ')?;
        Some((character.chars().next()?, written))
    };
    include_str!("fold/latin_ascii.txt").lines().filter_map(pair).collect()
});

const NFKD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfkd();

/// Folds a text as ICU's collation for searching compares it at its first level (CLDR, `root.xml`): `Smørrebrød`
/// and `SMORREBROD` fold to the same text.
///
/// - Compatibility forms are decomposed (NFKD), and marks that only modify a letter are dropped: accents, the points
///   of Arabic and Hebrew, the nukta of Devanagari. Signs that are letters of their own stay: vowel signs, viramas,
///   the voicing marks of kana.
/// - Letters of Latin that have no decomposition are written in ASCII (`ø`, `ł`, `ß`), and so are apostrophes and
///   dashes.
/// - Characters that are not seen are dropped.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let small: String = NFKD.normalize(text).chars().filter_map(unmarked).flat_map(small).collect();
    let mut folded = String::with_capacity(small.len());
    // Lower case may bring marks with it, as of `İ`.
    for c in NFKD.normalize(&small).chars().filter_map(unmarked) {
        match c {
            ..='\u{7f}' => folded.push(c),
            // CLDR, `root.xml`, search: these differ at the second level.
            'ى' => folded.push('ي'),
            'ة' => folded.push('ه'),
            'ـ' | '׳' | '״' => {}
            c => match latin_ascii(c) {
                Some(written) => folded.push_str(written),
                None => folded.push(c),
            },
        }
    }
    nasals(&folded).into_owned()
}

/// The character in ASCII, if it is a small letter of Latin, an apostrophe or a dash, and has no decomposition.
pub fn latin_ascii(c: char) -> Option<&'static str> {
    LATIN_ASCII.get(&c).copied()
}

/// The text with full-width forms in their usual width (NFKC), and the digits of all scripts in ASCII.
pub fn in_usual_width(text: &str) -> String {
    const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();
    NFKC.normalize(text).chars().map(|c| digit(c).unwrap_or(c)).collect()
}

/// A decimal digit of any script in ASCII. The digits of a script are ten characters in a row (Unicode §4.6).
fn digit(c: char) -> Option<char> {
    let is_digit =
        |c: char| !c.is_ascii() && GeneralCategory::for_char(c) == GeneralCategory::DecimalNumber;
    let before = |count: u32| u32::from(c).checked_sub(count).and_then(char::from_u32);
    let zero = (1..10).take_while(|count| before(*count).is_some_and(is_digit)).last();
    is_digit(c).then(|| char::from_digit(zero.unwrap_or(0), 10)).flatten()
}

/// The character, unless it only modifies the one before it, or is not seen.
fn unmarked(c: char) -> Option<char> {
    const CLASSES: CanonicalCombiningClassMapBorrowed<'static> =
        CanonicalCombiningClassMapBorrowed::new();
    let is_mark = match CLASSES.get_u8(c) {
        // Overlays, nuktas; the points of Hebrew, Arabic and Syriac; marks above and below.
        1 | 7 | 10..=36 | 200..=240 => true,
        _ => !c.is_ascii() && GeneralCategory::for_char(c) == GeneralCategory::Format,
    };
    (!is_mark).then_some(c)
}

/// The lower case of the upper case, in which `ς` and `σ` are one letter.
fn small(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// Writes nasals of Devanagari as the anusvara, as most do: `हिन्दी` and `हिंदी`, `पञ्जाब` and `पंजाब`, `चाँद` and
/// `चांद` are spellings of one word.
fn nasals(text: &str) -> Cow<'_, str> {
    const ANUSVARA: char = 'ं';
    const CANDRABINDU: char = 'ँ';
    const VIRAMA: char = '्';
    if !text.contains([CANDRABINDU, VIRAMA]) {
        return text.into();
    }
    let mut written = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_nasal = matches!(c, 'ङ' | 'ञ' | 'ण' | 'न' | 'म');
        if c == CANDRABINDU || (is_nasal && rest.next_if_eq(&VIRAMA).is_some()) {
            written.push(ANUSVARA);
        } else {
            written.push(c);
        }
    }
    written.into()
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
            ("ΟΔΟΣ", "οδοσ"),
            ("οδός", "οδοσ"),
            ("茶", "茶"),
            ("ガ", "ガ"),
        ] {
            assert_eq!(fold(text).nfd(), expected.nfd(), "{text}");
        }
        assert_ne!(fold("バンド"), fold("ハンド"));
    }

    #[test]
    fn letters_without_a_decomposition_are_written_in_ascii() {
        for (text, expected) in [
            ("Smørrebrød", "smorrebrod"),
            ("Łódź", "lodz"),
            ("Ærø", "aero"),
            ("Đà Nẵng", "da nang"),
            ("women’s", "women's"),
            ("ｗｏｍｅｎ＇ｓ", "women's"),
        ] {
            assert_eq!(fold(text), expected, "{text}");
        }
    }

    #[test]
    fn spellings_of_other_scripts_fold_to_one() {
        for (one, other) in [
            ("مُحَمَّد", "محمد"),
            ("أحمد", "احمد"),
            ("إسلام", "اسلام"),
            ("مكتبة", "مكتبه"),
            ("مصطفى", "مصطفي"),
            ("كتـــاب", "كتاب"),
            ("हिन्दी", "हिंदी"),
            ("चाँद", "चांद"),
            ("क़लम", "कलम"),
            ("שָׁלוֹם", "שלום"),
            ("می\u{200c}خواهم", "میخواهم"),
        ] {
            assert_eq!(fold(one), fold(other), "{one}");
        }
        assert_ne!(fold("कम"), fold("काम"));
    }

    #[test]
    fn digits_of_all_scripts_are_those_of_ascii() {
        for (text, expected) in [
            ("１２３４５６７８９０", "1234567890"),
            ("٠١٢٣٤٥٦٧٨٩", "0123456789"),
            ("۰۱۲۳۴۵۶۷۸۹", "0123456789"),
            ("०१२३४५६७८९", "0123456789"),
            ("๐๑๒๓๔๕๖๗๘๙", "0123456789"),
            ("𝟘𝟙𝟚 ＳＷ１Ａ", "012 SW1A"),
        ] {
            assert_eq!(in_usual_width(text), expected);
        }
    }

    trait Nfd {
        fn nfd(&self) -> String;
    }

    impl Nfd for str {
        fn nfd(&self) -> String {
            DecomposingNormalizerBorrowed::new_nfd().normalize(self).into_owned()
        }
    }
}

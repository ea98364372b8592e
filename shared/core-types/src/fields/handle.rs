//! Readable names in URLs: handles in any script, slugs in ASCII.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::props::{EnumeratedProperty, GeneralCategory, GeneralCategoryGroup};
use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::subdomain::{LABEL, is_label};
use crate::fold::latin_ascii;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
const NFD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfd();
/// The most characters of a handle.
const LONGEST: usize = 255;
/// The most characters of a handle that is made of a title: it leaves room for a suffix.
const LONGEST_MADE: usize = 240;

text_type! {
    /// A readable name in a URL: `summer-sale`, `café`, `日本茶`. Letters and digits of any script, with single hyphens
    /// between them. It is stored in lower case and composed (NFC).
    #[schemars(extend("pattern" = "^[^\\s\\x00-,./:-@A-Z\\[-`{-\\x9f]+$", "minLength" = 1, "maxLength" = 255))]
    Handle
}

impl FromText for Handle {
    const EXPECTS: &'static str = "a handle";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let handle = NFC.normalize(&text.trim().to_lowercase()).into_owned();
        let is_word =
            |word: &str| word.starts_with(char::is_alphanumeric) && word.chars().all(is_part);
        let is_handle = handle.split('-').all(is_word) && handle.chars().count() <= LONGEST;
        if is_handle || is_label(&handle, 1, LONGEST) {
            return Ok(Self(handle));
        }
        let detail =
            "Must be 1 to 255 letters and digits of any script, with single hyphens between them.";
        Err(Violation::new("invalid_handle", detail))
    }
}

/// Whether a character can be part of a word. Marks are: the vowel signs of Devanagari, for example.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && GeneralCategoryGroup::Mark.contains(GeneralCategory::for_char(c))
}

impl Handle {
    /// The handle that a title makes: letters of Latin in ASCII, as `cafe-au-lait` of `Café au lait`, and those of
    /// other scripts as they are. A title without letters and digits makes `fallback`.
    pub fn made_of(title: &str, fallback: &str) -> String {
        let (mut made, mut count, mut is_apart) = (String::new(), 0_usize, false);
        for c in NFC.normalize(&title.to_lowercase()).chars() {
            let plain = plain(c);
            // `Ann's` is one word.
            if plain == "'" {
                continue;
            }
            if !plain.starts_with(is_part) {
                is_apart = true;
                continue;
            }
            count = count.saturating_add(plain.chars().count()).saturating_add(is_apart.into());
            if count > LONGEST_MADE {
                break;
            }
            if is_apart && !made.is_empty() {
                made.push('-');
            }
            is_apart = false;
            made.push_str(&plain);
        }
        // A mark has a letter before it.
        let made = made.trim_start_matches(is_mark);
        if made.is_empty() { fallback.to_owned() } else { made.to_owned() }
    }
}

/// A letter of Latin in ASCII, and any other character as it is.
fn plain(c: char) -> String {
    let mut decomposed = NFD.normalize_iter(std::iter::once(c)).filter(|c| !is_mark(*c));
    let base = decomposed.next().filter(|base| base.is_ascii() || latin_ascii(*base).is_some());
    let written = |base: char| latin_ascii(base).map_or_else(|| base.into(), str::to_owned);
    base.map_or_else(|| c.into(), written)
}

text_type! {
    /// A readable name in a URL, in ASCII: `order-exports`.
    #[schemars(extend("pattern" = LABEL, "maxLength" = 100))]
    Slug
}

impl FromText for Slug {
    const EXPECTS: &'static str = "a slug";

    fn from_text(text: &str) -> Result<Self, Violation> {
        if is_label(text, 1, 100) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be 1 to 100 lower-case letters, digits and inner hyphens.";
            Err(Violation::new("invalid_handle", detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_words_of_any_script() {
        for (given, stored) in [
            ("summer-sale", "summer-sale"),
            ("Café", "café"),
            ("cafe\u{301}", "café"),
            ("日本茶", "日本茶"),
            ("हिन्दी-किताब", "हिन्दी-किताब"),
            ("كتاب", "كتاب"),
            ("xn--80ak6aa92e", "xn--80ak6aa92e"),
            (" mug ", "mug"),
        ] {
            assert_eq!(Handle::from_text(given).unwrap().as_str(), stored, "{given}");
        }
        for bad in
            ["", "-", "-a", "a-", "a--b", "a b", "a/b", "a_b", "a.b", "\u{301}a", "No Handle!"]
        {
            assert_eq!(Handle::from_text(bad).unwrap_err().code, "invalid_handle", "{bad}");
        }
        assert!(Handle::from_text(&"é".repeat(255)).is_ok());
        assert!(Handle::from_text(&"é".repeat(256)).is_err());
        assert!(Slug::from_text("café").is_err() && Slug::from_text("order-exports").is_ok());
    }

    #[test]
    fn a_title_makes_a_handle() {
        for (title, handle) in [
            ("Blue mug", "blue-mug"),
            ("  Ann's Café — Größe 38  ", "anns-cafe-grosse-38"),
            ("Ann’s", "anns"),
            ("Fűszerőrlő", "fuszerorlo"),
            ("Łódź & Smørrebrød", "lodz-smorrebrod"),
            ("Cafe\u{301}", "cafe"),
            ("Чай № 1", "чай-1"),
            ("日本茶", "日本茶"),
            ("हिन्दी किताब", "हिन्दी-किताब"),
            ("Đà Nẵng", "da-nang"),
            ("Straße", "strasse"),
            ("\u{301}!", "product"),
            ("Mug ☕ 2×", "mug-2"),
            ("!!!", "product"),
        ] {
            assert_eq!(Handle::made_of(title, "product"), handle, "{title}");
        }
        assert_eq!(Handle::made_of(&"a".repeat(300), "product").len(), LONGEST_MADE);
    }
}

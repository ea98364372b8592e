//! The codes of gift cards: 16 characters of Crockford's base32, or a code that the merchant chose.

use std::fmt;

use crypto::seal;
use primitives::fields::{FromText, Violation};

/// Crockford's base32: no I, L, O or U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The length of a generated code, in characters: 80 random bits.
const LENGTH: usize = 16;
/// How many characters of a code remain readable.
const SHOWN: usize = 4;

/// A gift card code: 8 to 20 letters and digits. Case, hyphens and blanks are ignored. Letters that are
/// easily mistaken for digits are compared as these digits.
#[derive(Clone, PartialEq, Eq)]
pub struct GiftCardCode(String);

impl GiftCardCode {
    /// Generates a random code.
    pub fn random() -> Self {
        let character = |byte: u8| {
            let index = usize::from(byte & 31);
            ALPHABET.get(index).copied().map_or('0', char::from)
        };
        Self(seal::random_bytes::<LENGTH>().into_iter().map(character).collect())
    }

    /// The code in plain text, which is returned only once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The form in which codes are compared: `O` is `0`, `I` and `L` are `1` (Crockford).
    pub(super) fn canonical(&self) -> String {
        let digit = |c: char| match c {
            'O' => '0',
            'I' | 'L' => '1',
            c => c,
        };
        self.0.chars().map(digit).collect()
    }

    /// The last four characters, which responses show of it later.
    pub fn last_characters(&self) -> String {
        self.0.chars().skip(self.0.chars().count().saturating_sub(SHOWN)).collect()
    }
}

/// The last four letters and digits of a code, in capitals. Case and blanks around them are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastCharacters(String);

impl LastCharacters {
    /// The four characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromText for LastCharacters {
    const EXPECTS: &'static str = "the last characters of a gift-card code";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let text = text.trim();
        if text.len() == SHOWN && text.bytes().all(|b| b.is_ascii_alphanumeric()) {
            Ok(Self(text.to_ascii_uppercase()))
        } else {
            Err(Violation::new("invalid_code", "Must be four letters and digits."))
        }
    }
}

primitives::text_field!(LastCharacters);
primitives::string_schema!(LastCharacters: {"pattern": r"^\s*[A-Za-z0-9]{4}\s*$"});

/// Formats only the last characters: whoever has the code can spend the card.
impl fmt::Debug for GiftCardCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GiftCardCode(…{})", self.last_characters())
    }
}

impl FromText for GiftCardCode {
    const EXPECTS: &'static str = "a gift-card code";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let plain = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
        let code: String = plain.map(|c| c.to_ascii_uppercase()).collect();
        if (8..=20).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphanumeric()) {
            Ok(Self(code))
        } else {
            Err(Violation::new("invalid_code", "Must be 8 to 20 letters and digits."))
        }
    }
}

primitives::text_field!(GiftCardCode);
primitives::string_schema!(GiftCardCode: {"pattern": r"^[\s-]*([A-Za-z0-9][\s-]*){8,20}$"});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_codes_are_read_back_however_they_are_written() {
        let code = GiftCardCode::random();
        assert_eq!(code.reveal().len(), LENGTH);
        assert!(code.reveal().bytes().all(|b| ALPHABET.contains(&b)));
        let spaced = code.reveal().to_lowercase().replace('0', "o").replace('1', "l");
        let (left, right) = spaced.split_at(8);
        let read = GiftCardCode::from_text(&format!(" {left}-{right} ")).unwrap();
        assert_eq!(read.canonical(), code.canonical());
        assert_ne!(GiftCardCode::random(), code);
        assert!(!format!("{code:?}").contains(code.reveal()));
    }

    #[test]
    fn codes_of_invalid_length_or_characters_are_rejected() {
        for bad in ["", "ABC", "ABCDEFGHIJKLMNOPQRSTU", "ABCDEFG!", "ÄBCDEFGH"] {
            assert!(GiftCardCode::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_last_characters_are_four_letters_and_digits() {
        assert_eq!(LastCharacters::from_text(" 7k3q ").unwrap().as_str(), "7K3Q");
        for bad in ["", " 000", "7K3", "7K3QX", "7K-3", "ÄK3Q"] {
            assert!(LastCharacters::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn random_codes_use_the_whole_alphabet() {
        let codes: String = (0..200).map(|_| GiftCardCode::random().0).collect();
        let used: std::collections::BTreeSet<u8> = codes.bytes().collect();
        assert_eq!(used.len(), ALPHABET.len(), "{used:?}");
        // Each is expected a hundred times.
        let zeroes = codes.bytes().filter(|b| *b == b'0').count();
        assert!((40..200).contains(&zeroes), "{zeroes}");
    }

    #[test]
    fn a_code_is_normalized_and_displayed_by_its_last_characters() {
        let code = GiftCardCode::from_text("oIl0-1abz").unwrap();
        assert_eq!((code.reveal(), code.canonical().as_str()), ("OIL01ABZ", "01101ABZ"));
        assert_eq!(code.last_characters(), "1ABZ");
        assert_eq!(format!("{code:?}"), "GiftCardCode(…1ABZ)");
    }
}

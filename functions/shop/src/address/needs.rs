//! What an address must have.

use core_types::fields::is_format;
use identity::address::errors_in_country;
use serde_json::json;

/// What an address of a form must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Street and city, and what else its country requires.
    pub(crate) place: bool,
    /// Whom it is for: a family name.
    pub(crate) name: bool,
    /// A telephone number for the carrier.
    pub(crate) phone: bool,
}

impl Needs {
    /// A place alone, as in an address book.
    pub(crate) const PLACE: Self = Self { place: true, name: false, phone: false };
    /// A place and who is there.
    pub(crate) const RECIPIENT: Self = Self { place: true, name: true, phone: false };

    /// The members that an address in a country needs, in the order of its inputs.
    pub(crate) fn members(self, country: &str) -> Vec<&'static str> {
        let of_country: Vec<&str> = if self.place {
            let errors = errors_in_country(&json!({ "country": country }));
            errors.into_iter().map(|(member, _)| member).collect()
        } else {
            Vec::new()
        };
        let needs = |member: &str| match member {
            "last_name" => self.name,
            "line1" | "city" => self.place,
            "phone" => self.phone,
            other => of_country.contains(&other),
        };
        let all = ["last_name", "line1", "postal_code", "city", "region", "phone"];
        all.into_iter().filter(|member| needs(member)).collect()
    }
}

/// Whether a text shows nothing: blanks, and characters that have no shape.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        let has_no_shape =
            matches!(c, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
        c.is_whitespace() || c.is_control() || is_format(c) || has_no_shape
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_what_its_country_does() {
        let all = ["last_name", "line1", "postal_code", "city", "region"];
        assert_eq!(Needs::RECIPIENT.members("US"), all);
        assert_eq!(Needs::RECIPIENT.members("DE"), ["last_name", "line1", "postal_code", "city"]);
        assert_eq!(Needs::PLACE.members("IE"), ["line1", "city"]);
        let called = Needs { phone: true, ..Needs::PLACE };
        assert_eq!(called.members("AE"), ["line1", "city", "region", "phone"]);
        assert!(Needs::default().members("US").is_empty());
    }

    #[test]
    fn characters_that_show_nothing_are_no_name() {
        for blank in ["", " ", "\u{200b}", "\u{200b}\u{a0}\u{2060}", "\u{3164}", "\u{ad}\u{202e}"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for name in ["O", "\u{200b}Rao", "ー", "आशा"] {
            assert!(!is_blank(name), "{name:?}");
        }
    }
}

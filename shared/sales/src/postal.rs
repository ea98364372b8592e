//! Postal codes as places: prefixes and ranges of them.

use core_types::fields::Country;
use core_types::fold::in_usual_width;
use identity::address;

/// A postal code for comparison: capitals and digits only.
fn compact(text: &str) -> String {
    let significant = text.chars().filter(char::is_ascii_alphanumeric);
    significant.map(|c| c.to_ascii_uppercase()).collect()
}

/// A postal code, or a part of one, for comparison: as it is, and without the sign of its country, which may be part
/// of the code (`LV-1050`) and is often left out.
fn spellings(country: &Country, text: &str) -> [String; 2] {
    [compact(text), compact(address::without_country(country.as_str(), text))]
}

/// The beginning of a country's postal codes as it is stored: without the sign of the country, unless every code
/// has it (`D-10` is `10`, and `LV-10` is `LV10`).
pub(crate) fn prefix_of(country: &Country, text: &str) -> String {
    normalized_prefix(address::prefix_of(country.as_str(), &usual(text)))
}

/// A stored prefix for comparison with others: `LV10` and `10` cover the same codes.
pub(crate) fn prefix_key(country: &Country, prefix: &str) -> String {
    normalized_prefix(address::prefix_key(country.as_str(), prefix))
}

/// A text in capitals: full width and the digits of other scripts as well.
fn usual(text: &str) -> String {
    in_usual_width(text).to_uppercase()
}

/// A postal code or the beginning of one, in capitals. Its parts are separated by one blank; a blank at the end
/// of a prefix says that a part ends there: `NG1 ` does not cover `NG10 1AA`.
fn normalized_prefix(text: &str) -> String {
    let text = usual(text);
    let ends_part = text.ends_with(char::is_whitespace);
    let parts: Vec<String> = text
        .split_whitespace()
        .map(|part| part.chars().filter(char::is_ascii_alphanumeric).collect())
        .filter(|part: &String| !part.is_empty())
        .collect();
    let mut prefix = parts.join(" ");
    if ends_part && !prefix.is_empty() {
        prefix.push(' ');
    }
    prefix
}

/// Whether a postal code of a country begins with a normalized prefix. Blanks count only if the prefix has one.
pub(crate) fn has_prefix(country: &Country, code: &str, prefix: &str) -> bool {
    if prefix.contains(' ') {
        // The end of a code ends its last part.
        let code = address::postal_code_of(country.as_str(), code).replace('-', " ");
        let ended = |code: &str| format!("{} ", normalized_prefix(code).trim_end());
        return ended(&code).starts_with(prefix)
            || ended(&prefix_key(country, &code)).starts_with(&prefix_key(country, prefix));
    }
    let spelt = spellings(country, code).into_iter().zip(spellings(country, prefix));
    spelt.into_iter().any(|(code, prefix)| code.starts_with(&prefix))
}

/// Whether the beginning of a postal code is within a range of codes that have one length: `90210-1234` is
/// within `90001` and `90899`.
pub(crate) fn is_within(country: &Country, code: &str, (from, to): (&str, &str)) -> bool {
    let [codes, from, to] = [code, from, to].map(|code| spellings(country, code));
    codes.iter().zip(from.iter().zip(&to)).any(|(code, (from, to))| {
        code.get(..from.len()).is_some_and(|code| **from <= *code && *code <= **to)
    })
}

/// The ends of a range for comparison with others; none if it is no range: both have one length, and the first is
/// not after the last.
pub(crate) fn range_key(country: &Country, (from, to): (&str, &str)) -> Option<(String, String)> {
    let key = |end: &str| compact(address::prefix_key(country.as_str(), &usual(end)));
    let (from, to) = (key(from), key(to));
    let is_range = !from.is_empty() && from.len() == to.len() && from <= to;
    is_range.then_some((from, to))
}

/// The number of characters with which all codes of a range begin.
pub(crate) fn common_length((from, to): &(String, String)) -> usize {
    from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use core_types::event::sample;

    use super::*;

    #[test]
    fn a_blank_in_a_prefix_ends_a_part() {
        let gb = sample("GB");
        let covers = |prefix: &str, code: &str| has_prefix(&gb, code, &prefix_of(&gb, prefix));
        assert!(covers("NG1", "NG1 1AA") && covers("NG1", "NG10 1AA"));
        assert!(covers("NG1 ", "NG1 1AA") && covers("ng1 ", "ng1"));
        assert!(!covers("NG1 ", "NG10 1AA"));
        assert!(covers("ng1 1", "NG1 1AA") && !covers("NG1 1", "NG11 1AA"));
        assert!(covers("NG1 ", "NG11AA") && !covers("NG1 ", "ng101aa"));
        assert!(covers("00-9", "00-950") && covers("009", "00-950") && covers("００", "00-950"));
    }

    #[test]
    fn a_range_covers_codes_of_its_length_and_longer_ones() {
        let us = sample("US");
        let is_within = |code: &str| is_within(&us, code, ("90001", "90899"));
        assert!(is_within("90210") && is_within("90210-1234"));
        assert!(!is_within("91000") && !is_within("902"));
        let common = |ends| range_key(&us, ends).as_ref().map(common_length);
        assert_eq!(common(("90001", "90899")), Some(2));
        assert_eq!(common(("90899", "90001")), None);
        assert_eq!(common(("1", "20")), None);
    }

    #[test]
    fn the_sign_of_a_country_makes_no_difference() {
        let latvia = sample("LV");
        for prefix in ["10", "LV-10", "lv10", "LV 10"] {
            let prefix = prefix_of(&latvia, prefix);
            assert!(has_prefix(&latvia, "LV-1050", &prefix), "{prefix}");
            assert!(!has_prefix(&latvia, "LV-1150", &prefix), "{prefix}");
            assert_eq!(prefix_key(&latvia, &prefix), "10");
        }
        assert!(is_within(&latvia, "LV-1050", ("1001", "1099")));
        assert_eq!(range_key(&latvia, ("LV-1001", "lv1099")), range_key(&latvia, ("1001", "1099")));
        for (country, written, stored) in [
            ("DE", "D-10", "10"),
            ("DE", "de10", "10"),
            ("DE", "１０", "10"),
            ("FI", "FIN-00", "00"),
            ("GB", "GB-NG1 ", "NG1 "),
            ("GB", "GBX", "GBX"),
            ("MT", "MTA", "MTA"),
            ("LV", "LV-10", "LV10"),
            ("JE", "JE2 ", "JE2 "),
        ] {
            assert_eq!(prefix_of(&sample(country), written), stored, "{written}");
        }
        let jersey = sample("JE");
        assert!(["JE2 ", "2 ", "je2", "2"].iter().all(|prefix| has_prefix(
            &jersey,
            "JE2 3AB",
            &prefix_of(&jersey, prefix)
        )));
        let malta = sample("MT");
        assert!(has_prefix(&malta, "MTA 1234", "MT") && has_prefix(&malta, "MTA 1234", "MTA 1"));
        assert!(!has_prefix(&malta, "BZN 1130", "MT"));
    }
}

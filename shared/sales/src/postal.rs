//! Postal codes as places: prefixes and ranges of them.

/// A postal code for comparison: capitals and digits only.
fn compact(text: &str) -> String {
    let significant = text.chars().filter(char::is_ascii_alphanumeric);
    significant.map(|c| c.to_ascii_uppercase()).collect()
}

/// A postal code or the beginning of one, in capitals. Its parts are separated by one blank; a blank at the end
/// of a prefix says that a part ends there: `NG1 ` does not cover `NG10 1AA`.
pub(crate) fn normalized_prefix(text: &str) -> String {
    let ends_part = text.ends_with(char::is_whitespace);
    let parts: Vec<String> =
        text.split_whitespace().map(compact).filter(|part| !part.is_empty()).collect();
    let mut prefix = parts.join(" ");
    if ends_part && !prefix.is_empty() {
        prefix.push(' ');
    }
    prefix
}

/// Whether a postal code begins with a normalized prefix. Blanks count only if the prefix has one.
pub(crate) fn has_prefix(code: &str, prefix: &str) -> bool {
    if prefix.contains(' ') {
        // The end of a code ends its last part.
        let code = normalized_prefix(&code.replace('-', " "));
        return format!("{} ", code.trim_end()).starts_with(prefix);
    }
    compact(code).starts_with(prefix)
}

/// Whether the beginning of a postal code is within a range of codes that have one length: `90210-1234` is
/// within `90001` and `90899`.
pub(crate) fn is_within(code: &str, from: &str, to: &str) -> bool {
    let (code, from, to) = (compact(code), compact(from), compact(to));
    code.get(..from.len()).is_some_and(|code| *from <= *code && *code <= *to)
}

/// The length of a range's common prefix, and whether it is a range: both ends have one length, and the first
/// is not after the last.
pub(crate) fn range_prefix(from: &str, to: &str) -> Option<usize> {
    let (from, to) = (compact(from), compact(to));
    let is_range = !from.is_empty() && from.len() == to.len() && from <= to;
    is_range.then(|| from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_in_a_prefix_ends_a_part() {
        let covers = |prefix: &str, code: &str| has_prefix(code, &normalized_prefix(prefix));
        assert!(covers("NG1", "NG1 1AA") && covers("NG1", "NG10 1AA"));
        assert!(covers("NG1 ", "NG1 1AA") && covers("ng1 ", "ng1"));
        assert!(!covers("NG1 ", "NG10 1AA"));
        assert!(covers("ng1 1", "NG1 1AA") && !covers("NG1 1", "NG11 1AA"));
        assert!(covers("00-9", "00-950") && covers("009", "00-950"));
    }

    #[test]
    fn a_range_covers_codes_of_its_length_and_longer_ones() {
        assert!(is_within("90210", "90001", "90899") && is_within("90210-1234", "90001", "90899"));
        assert!(!is_within("91000", "90001", "90899") && !is_within("902", "90001", "90899"));
        assert_eq!(range_prefix("90001", "90899"), Some(2));
        assert_eq!(range_prefix("90899", "90001"), None);
        assert_eq!(range_prefix("1", "20"), None);
    }
}

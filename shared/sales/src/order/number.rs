//! Order numbers. An order is found by its number, as its id is derived from it.

use primitives::id::MAX_NUMBER;

/// The number before the first order's.
pub(crate) const FIRST: u64 = 1_000;

/// The numbers that a text may end in, as its prefix may end in digits.
pub(super) fn serials_in(text: &str) -> impl Iterator<Item = u64> + '_ {
    let prefix = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let digits = text.get(prefix..).unwrap_or_default();
    let ends = (0..digits.len()).filter_map(move |start| digits.get(start..));
    let plain = ends.filter(|end| !end.starts_with('0'));
    let serials = plain.filter_map(|end| end.parse().ok());
    serials.filter(|serial| *serial > FIRST && *serial <= MAX_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_possible_end_of_the_prefix_yields_a_number() {
        let serials = |text| serials_in(text).collect::<Vec<_>>();
        assert_eq!(serials("1001"), [1001]);
        assert_eq!(serials("#1001"), [1001]);
        assert_eq!(serials("B2-1001"), [1001]);
        assert_eq!(serials("202410017"), [202_410_017, 2_410_017, 410_017, 10_017]);
        assert!(serials("#1000").is_empty() && serials("1001x").is_empty());
        assert_eq!(serials("Bücher1001"), [1001]);
        assert_eq!(serials(&"9".repeat(40)).len(), 11, "no number is longer than an id holds");
    }
}

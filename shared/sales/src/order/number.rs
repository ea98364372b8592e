//! Numbers: what people call an order, and how it is found by that: its id follows from it.

use primitives::id::MAX_NUMBER;

/// What the first order's number comes after.
pub(crate) const FIRST: u64 = 1_000;

/// The numbers that a text can end in: where its prefix ends, the text does not say.
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
    fn a_number_is_looked_for_wherever_its_prefix_may_end() {
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

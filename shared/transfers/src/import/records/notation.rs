//! Numbers as spreadsheets and shops write them: with a comma or a point, grouped, or in powers of ten.

/// The digits of a number: those of its whole part, and its decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) is_negative: bool,
    whole: String,
    decimals: String,
}

/// Which sign a file has before decimals, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::import) enum Decimals {
    /// A point, or none of them has any.
    #[default]
    Point,
    /// A comma: a point may group digits.
    Comma,
}

/// The largest power of ten that is read.
const MAX_POWER: usize = 15;

impl Number {
    /// Reads a number: `1299.00`, `1299,00`, `1,299.00`, `1.299,00`, `1 299,00`, `1.299E+3`. `1,299` may
    /// be either of two numbers, and is none; nor is `1.299` in a file with decimal commas.
    pub(super) fn of(text: &str, decimals: Decimals) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let text = text.trim();
        let number = match text.split_once(['e', 'E']) {
            // Before a power of ten no digits are grouped.
            Some((number, power)) => Self::plain(number, Decimals::Point)?.times_ten_to(power)?,
            None => Self::plain(text, decimals)?,
        };
        Some(Self { is_negative, ..number })
    }

    fn plain(text: &str, notation: Decimals) -> Option<Self> {
        // A space between digits groups them, also one that does not break, and so does an apostrophe.
        let is_group = |c: char| c.is_whitespace() || matches!(c, '\'' | '\u{2019}');
        let spaced = text.contains(is_group);
        if spaced && !text.split(is_group).skip(1).all(starts_with_three) {
            return None;
        }
        let text: String = text.chars().filter(|c| !is_group(*c)).collect();
        let count = |sign: char| text.matches(sign).count();
        let (whole, decimals) = match (count('.'), count(',')) {
            (1, 0) if notation == Decimals::Point => text.split_once('.')?,
            (1, 0) => text.split_once('.').filter(|parts| !may_be_grouped(*parts))?,
            (0, 1) => text.split_once(',').filter(|parts| !may_be_grouped(*parts))?,
            (_, 0) | (0, _) => (text.as_str(), ""),
            (points, commas) => {
                let decimal = if text.rfind('.') > text.rfind(',') { '.' } else { ',' };
                let is_once = if decimal == '.' { points == 1 } else { commas == 1 };
                text.split_once(decimal).filter(|_| is_once)?
            }
        };
        let whole = ungrouped(whole)?;
        let is_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let has_digits = !whole.is_empty() || !decimals.is_empty();
        (has_digits && is_digits(&whole) && is_digits(decimals)).then(|| Self {
            is_negative: false,
            whole,
            decimals: decimals.trim_end_matches('0').to_owned(),
        })
    }

    fn times_ten_to(self, power: &str) -> Option<Self> {
        let power: usize = power.strip_prefix('+').unwrap_or(power).parse().ok()?;
        if power > MAX_POWER {
            return None;
        }
        let moved = power.min(self.decimals.len());
        let (front, decimals) = self.decimals.split_at(moved);
        let zeroes = "0".repeat(power.saturating_sub(moved));
        let whole = format!("{}{front}{zeroes}", self.whole);
        Some(Self { whole, decimals: decimals.to_owned(), ..self })
    }

    /// The number with so many decimals, as one whole number; none if it has more.
    pub(super) fn with_decimals(&self, count: usize) -> Option<i64> {
        if self.decimals.len() > count {
            return None;
        }
        let digits = format!("0{}{:0<count$}", self.whole, self.decimals);
        let number: i64 = digits.parse().ok()?;
        Some(if self.is_negative { number.saturating_neg() } else { number })
    }

    /// The number times `10^places`, rounded half up in its size.
    pub(super) fn rounded(&self, places: usize) -> Option<i64> {
        let digits = self.decimals.get(..places).unwrap_or(&self.decimals);
        let rest = self.decimals.get(places..).unwrap_or_default();
        let number = Self { decimals: digits.to_owned(), ..self.clone() }.with_decimals(places)?;
        let is_up = rest.bytes().next().is_some_and(|digit| digit >= b'5');
        let away = if self.is_negative { -1 } else { 1 };
        number.checked_add(if is_up { away } else { 0 })
    }
}

/// Whether a sign between these digits may group them as well as be before decimals.
fn may_be_grouped((before, after): (&str, &str)) -> bool {
    (1..=3).contains(&before.len()) && !before.starts_with('0') && after.len() == 3
}

/// Whether a text is a number with a decimal comma, and cannot be another one: `19,99`, `1.299,00`.
pub(in crate::import) fn has_decimal_comma(text: &str) -> bool {
    let Some((whole, decimals)) = text.rsplit_once(',') else { return false };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_once = !whole.contains(',');
    let is_clear = is_once && (whole.contains('.') || !may_be_grouped((whole, decimals)));
    is_clear && is_digits(decimals) && Number::of(text, Decimals::Comma).is_some()
}

fn starts_with_three(group: &str) -> bool {
    let digits = group.bytes().take_while(u8::is_ascii_digit).count();
    digits == 3
}

/// Digits without the signs that group them by three.
fn ungrouped(text: &str) -> Option<String> {
    let Some(sign) = text.chars().find(|c| matches!(c, '.' | ',')) else {
        return Some(text.to_owned());
    };
    let mut groups = text.split(sign);
    let first = groups.next().unwrap_or_default();
    let is_grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    is_grouped.then(|| text.replace(sign, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_notations_of_spreadsheets() {
        for (text, expected) in [
            ("19.99", Some(1_999)),
            ("19,99", Some(1_999)),
            ("19,9", Some(1_990)),
            ("19", Some(1_900)),
            ("19.9900", Some(1_999)),
            ("1,299.00", Some(129_900)),
            ("1.299,00", Some(129_900)),
            ("1 299,00", Some(129_900)),
            ("1\u{a0}299,00", Some(129_900)),
            ("1'299.00", Some(129_900)),
            ("1,299,000", Some(129_900_000)),
            ("1.299.000,5", Some(129_900_050)),
            ("1.5E+3", Some(150_000)),
            ("1e3", Some(100_000)),
            ("-4.5", Some(-450)),
            (".5", Some(50)),
            ("1,299", None),
            ("1.999", None),
            ("12,34.56,78", None),
            ("1,29.00", None),
            ("1 29", None),
            ("1.2.3", None),
            ("1e400", None),
            ("", None),
            ("-", None),
            ("$5", None),
            ("5 EUR", None),
            ("99999999999999999999", None),
        ] {
            let number = Number::of(text, Decimals::Point);
            let number = number.and_then(|number| number.with_decimals(2));
            assert_eq!(number, expected, "{text}");
        }
    }

    #[test]
    fn a_point_may_group_digits_where_a_comma_is_before_decimals() {
        for (text, expected) in [
            ("1.500", None),
            ("-12.500", None),
            ("1.299,50", Some(1_299_500)),
            ("1.500.000", Some(1_500_000_000)),
            ("1.5", Some(1_500)),
            ("1.50", Some(1_500)),
            ("0.500", Some(500)),
            (".500", Some(500)),
            ("1500.250", Some(1_500_250)),
            ("0,500", Some(500)),
            ("1,500", None),
            ("1.500E+3", Some(1_500_000)),
        ] {
            let number = Number::of(text, Decimals::Comma);
            let number = number.and_then(|number| number.with_decimals(3));
            assert_eq!(number, expected, "{text}");
        }
        for text in ["19,99", "1.299,00", "0,125", "1299,5"] {
            assert!(has_decimal_comma(text), "{text}");
        }
        for text in ["1,299", "1,299,000", "1,299.00", "a,5", "5,", "1.5", "red, blue", "2024,1,2"]
        {
            assert!(!has_decimal_comma(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_rounded_half_up() {
        for (text, places, expected) in [
            ("226.796185", 0, 227),
            ("226.4", 0, 226),
            ("0.5", 0, 1),
            ("-0.5", 0, -1),
            ("1.2345", 3, 1_235),
            ("1.2", 3, 1_200),
        ] {
            let number = Number::of(text, Decimals::Point).unwrap();
            assert_eq!(number.rounded(places), Some(expected), "{text}");
        }
    }
}

//! How amounts of money are written, and what scripts are told of it.

/// How a language writes amounts of a currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountStyle {
    /// What stands before the number, such as a symbol.
    pub before: String,
    /// What stands behind the number.
    pub after: String,
    /// What stands before the decimals.
    pub decimal: String,
    /// What stands between groups of digits.
    pub group: String,
    /// The digits of the last group, and of each group before it.
    pub sizes: (usize, usize),
    /// The fewest digits of a number with groups.
    pub least: usize,
    /// The digit of zero: the others follow it in Unicode.
    pub zero: char,
}

impl AmountStyle {
    /// That of a symbol, with the separators of English.
    pub fn english(symbol: String) -> Self {
        Self {
            before: symbol,
            after: String::new(),
            decimal: ".".to_owned(),
            group: ",".to_owned(),
            sizes: (3, 3),
            least: 4,
            zero: '0',
        }
    }

    /// A number: whole units, and the digits of its decimals.
    pub(crate) fn number(&self, whole: u64, decimals: &str) -> String {
        let digits = whole.to_string();
        let (last, other) = self.sizes;
        let mut number = String::new();
        for (place, digit) in digits.chars().enumerate() {
            let left = digits.len().saturating_sub(place);
            let is_begin = left == last
                || left > last && left.saturating_sub(last).is_multiple_of(other.max(1));
            if place > 0 && is_begin && digits.len() >= self.least {
                number.push_str(&self.group);
            }
            number.push(self.digit(digit));
        }
        if !decimals.is_empty() {
            number.push_str(&self.decimal);
            number.extend(decimals.chars().map(|digit| self.digit(digit)));
        }
        number
    }

    fn digit(&self, digit: char) -> char {
        let value = digit.to_digit(10).unwrap_or_default();
        char::from_u32(u32::from(self.zero).saturating_add(value)).unwrap_or(digit)
    }

    /// A number with what stands around it.
    pub(crate) fn around(&self, number: &str) -> String {
        format!("{}{number}{}", self.before, self.after)
    }

    /// The format as scripts read it: the placeholder of Shopify's whose separators are those of the style.
    pub(crate) fn format(&self, has_decimals: bool) -> String {
        let is_space = !self.group.is_empty() && self.group.chars().all(char::is_whitespace);
        let ending = match (self.decimal.as_str(), self.group.as_str()) {
            (_, "'" | "\u{2019}") => "_with_apostrophe_separator",
            (",", _) if is_space => "_with_space_separator",
            (_, _) if is_space && has_decimals => "_with_period_and_space_separator",
            (_, _) if is_space => "_with_space_separator",
            (",", _) | (_, ".") => "_with_comma_separator",
            _ => "",
        };
        let decimals = if has_decimals { "" } else { "_no_decimals" };
        // There is none without decimals that has apostrophes.
        let ending = if !has_decimals && ending.contains("apostrophe") { "" } else { ending };
        self.around(&format!("{{{{amount{decimals}{ending}}}}}"))
    }
}

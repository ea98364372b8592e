//! The words, numbers and symbols of a date.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Digits, and what they are as a number.
    Number(&'t str, i64),
    Word(&'t str),
    Symbol(char),
}

impl<'t> Part<'t> {
    pub(super) fn number(self) -> Option<i64> {
        match self {
            Self::Number(_, number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn word(self) -> Option<&'t str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn digits(self) -> usize {
        match self {
            Self::Number(digits, _) => digits.len(),
            _ => 0,
        }
    }
}

/// No date has more parts.
const MOST: usize = 40;

/// Cuts a text; nothing if it is longer than any date.
pub(super) fn scan(text: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_ascii_digit() {
            rest.find(|c: char| !c.is_ascii_digit())
        } else if c.is_alphabetic() {
            rest.find(|c: char| !c.is_alphabetic())
        } else {
            Some(c.len_utf8())
        };
        let (part, after) = rest.split_at_checked(length.unwrap_or(rest.len()))?;
        rest = after;
        if c.is_ascii_digit() {
            parts.push(Part::Number(part, part.parse().ok()?));
        } else if c.is_alphabetic() {
            parts.push(Part::Word(part));
        } else if !c.is_whitespace() && c != ',' {
            parts.push(Part::Symbol(c));
        }
        if parts.len() > MOST {
            return None;
        }
    }
    Some(parts)
}

//! Card numbers in texts.

use super::HIDDEN;

/// Digits of a card number (ISO/IEC 7812), without the rare ones of 13, which barcodes have as well.
const CARD: std::ops::RangeInclusive<usize> = 14..=19;

/// A text without card numbers, whose groups spaces or hyphens may separate.
pub(super) fn without_cards(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, run) = rest.split_at(start);
        shown.push_str(before);
        let is_part = |letter: &char| letter.is_alphanumeric() || *letter == '_';
        let goes_on = |letter: char| letter.is_ascii_digit() || matches!(letter, ' ' | '-');
        let end = run.find(|letter| !goes_on(letter)).unwrap_or(run.len());
        let (run, after) = run.split_at(end);
        let is_word = shown.chars().next_back().as_ref().is_some_and(is_part)
            || after.chars().next().as_ref().is_some_and(is_part) && !run.ends_with([' ', '-']);
        if is_word {
            shown.push_str(run);
        } else {
            hide_cards(run, &mut shown);
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Adds groups of digits, without those that are a card number together.
fn hide_cards(run: &str, shown: &mut String) {
    let mut rest = run;
    while !rest.is_empty() {
        let ends = rest.match_indices([' ', '-']).map(|(at, _)| at).chain([rest.len()]);
        let mut numbers = ends.filter_map(|end| rest.get(..end));
        if let Some(number) = numbers.rfind(|number| is_card(number)) {
            shown.push_str(HIDDEN);
            rest = rest.get(number.len()..).unwrap_or_default();
        }
        let next = rest.find([' ', '-']).map_or(rest.len(), |at| at.saturating_add(1));
        let (group, after) = rest.split_at(next);
        shown.push_str(group);
        rest = after;
    }
}

/// Whether this is a number with the check digit of a card (ISO/IEC 7812-1, annex B).
pub(super) fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let is_whole = text.ends_with(|letter: char| letter.is_ascii_digit());
    let separators = text.chars().filter(|letter| matches!(letter, ' ' | '-')).count();
    if !is_whole
        || !CARD.contains(&digits.len())
        || digits.len().saturating_add(separators) != text.len()
    {
        return false;
    }
    let sum = digits.iter().rev().enumerate().fold(0_u32, |sum, (place, digit)| {
        let doubled = if place % 2 == 1 { digit.saturating_mul(2) } else { *digit };
        sum.saturating_add(if doubled > 9 { doubled.saturating_sub(9) } else { doubled })
    });
    sum % 10 == 0
}

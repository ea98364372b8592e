//! Merchants' text in mails: plain words without links.

use crate::fields::is_format;

/// The dots of host names (UTS 46 §2.3), and characters that NFKC turns into a dot.
const DOTS: &[char] = &['.', '\u{3002}', '\u{ff0e}', '\u{ff61}', '\u{2024}', '\u{fe52}'];
/// Characters that end a sentence or a quotation after a dot; no host name continues with one.
const CLOSING: &[char] =
    &[',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '\u{201d}', '\u{2019}'];
/// Dots in an IPv4 address.
const ADDRESS_DOTS: usize = 3;

/// Inserts a blank wherever a mail program could make a link: after the colon of `https://`, and after every
/// dot between two characters that are not blank. All such characters count, because programs differ in what
/// they accept in a name. Format characters (Unicode category Cf) are dropped: they are invisible, and a
/// program may skip them. Numbers and the ends of sentences stay unchanged.
pub fn unlinked(text: &str) -> String {
    let chars = seen(text);
    let mut plain = String::with_capacity(text.len());
    for (index, c) in chars.iter().copied().enumerate() {
        plain.push(c);
        let (before, rest) = around(&chars, index);
        let links = match c {
            ':' => begins_authority(rest),
            _ if DOTS.contains(&c) => {
                let goes_on = |c: &char| !c.is_whitespace() && !is_dot(*c) && !CLOSING.contains(c);
                before.is_some_and(|c| !c.is_whitespace())
                    && rest.first().is_some_and(goes_on)
                    && !is_in_number(&chars, index)
            }
            _ => false,
        };
        if links {
            plain.push(' ');
        }
    }
    plain
}

/// Whether a merchant's text has an obvious address. It matches less than [`unlinked`] changes: `e.g.` is no
/// address.
pub fn holds_link(text: &str) -> bool {
    let chars = seen(text);
    let links = |(index, c): (usize, &char)| {
        let (before, rest) = around(&chars, index);
        match c {
            ':' => begins_authority(rest),
            c if is_dot(*c) => {
                before.is_some_and(|c| !c.is_whitespace() && !c.is_ascii_punctuation())
                    && matches!(rest, [a, b, ..] if a.is_alphabetic() && b.is_alphanumeric())
            }
            _ => false,
        }
    };
    chars.iter().enumerate().any(links)
}

/// Puts a name on one line, so that it cannot change the lines around it.
pub fn on_one_line(name: &str) -> String {
    let words = name.split(|c: char| c.is_control() || c.is_whitespace());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The visible characters.
fn seen(text: &str) -> Vec<char> {
    text.chars().filter(|c| !is_format(*c)).collect()
}

fn around(chars: &[char], index: usize) -> (Option<char>, &[char]) {
    let before = index.checked_sub(1).and_then(|index| chars.get(index)).copied();
    (before, chars.get(index.saturating_add(1)..).unwrap_or_default())
}

const fn begins_authority(rest: &[char]) -> bool {
    matches!(rest, ['/' | '\\', '/' | '\\', ..])
}

fn is_dot(c: char) -> bool {
    DOTS.contains(&c)
}

/// Whether the dot at this index is part of a number or a date: between digits, and not one of the three dots
/// of an IPv4 address.
fn is_in_number(chars: &[char], index: usize) -> bool {
    let is_part = |c: &&char| c.is_ascii_digit() || is_dot(**c);
    let (before, from) = chars.split_at_checked(index).unwrap_or_default();
    let before = before.iter().rev().take_while(is_part);
    let run: Vec<&char> = before.chain(from.iter().take_while(is_part)).collect();
    let (left, right) = around(chars, index);
    let is_between =
        left.is_some_and(|c| c.is_ascii_digit()) && right.first().is_some_and(char::is_ascii_digit);
    is_between && run.iter().filter(|c| is_dot(***c)).count() < ADDRESS_DOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_mail_programs_link_is_broken_up() {
        for (text, plain) in [
            ("See https://evil.example/x?y=1", "See https: //evil. example/x?y=1"),
            ("http://192.0.2.1/login", "http: //192. 0. 2. 1/login"),
            ("www.evil.co.uk now", "www. evil. co. uk now"),
            ("mail a@evil.com", "mail a@evil. com"),
            ("xn--e1a.xn--p1ai", "xn--e1a. xn--p1ai"),
            ("evil\u{3002}com", "evil\u{3002} com"),
            ("evil\u{2024}com", "evil\u{2024} com"),
            // A mark, an emoji and a variation selector before the dot; one letter after it.
            ("evile\u{301}.com", "evile\u{301}. com"),
            ("\u{1f512}.com", "\u{1f512}. com"),
            ("\u{2764}\u{fe0f}.ws", "\u{2764}\u{fe0f}. ws"),
            ("evil-.c", "evil-. c"),
            ("1.com", "1. com"),
            // What nobody sees.
            ("evil\u{200b}.\u{200d}com", "evil. com"),
            ("ev\u{ad}il.c\u{2060}om", "evil. com"),
            ("https:\u{200b}//evil", "https: //evil"),
        ] {
            assert_eq!(unlinked(text), plain, "{text:?}");
        }
    }

    #[test]
    fn words_and_numbers_stay() {
        for text in [
            "Happy birthday. Enjoy!",
            "It cost 3.50, nothing...",
            "On 24.12.2026 (at noon.) \"Yes.\"",
            "10:30",
            "a/b",
            "",
        ] {
            assert_eq!(unlinked(text), text);
            assert_eq!(unlinked(&unlinked(text)), text);
        }
    }

    #[test]
    fn a_name_is_on_one_line() {
        let name = " A Shop\r\n\n  Your account\u{2029}is\u{85}locked ";
        assert_eq!(on_one_line(name), "A Shop Your account is locked");
    }

    #[test]
    fn a_text_with_an_address_is_rejected() {
        for text in ["See https://evil", "evil.example", "e\u{301}.com", "evil\u{200b}.com"] {
            assert!(holds_link(text), "{text}");
        }
        for text in ["z.B. this, e.g. that", "{{ total }}.{% if link %}", "3.50", "Yes. No."] {
            assert!(!holds_link(text), "{text}");
        }
    }
}

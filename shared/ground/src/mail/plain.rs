//! Text of merchants in mails: words, and no links.

/// The text with a blank wherever mail programs would else see a link and make it one to click on:
/// after the colon of `https://`, and after a dot that a name follows, as in `example.com`. Numbers
/// and sentences stay as they are.
pub fn unlinked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut plain = String::with_capacity(text.len());
    for (index, c) in chars.iter().copied().enumerate() {
        plain.push(c);
        let rest = chars.get(index.saturating_add(1)..).unwrap_or_default();
        let before = index.checked_sub(1).and_then(|index| chars.get(index));
        let links = match c {
            ':' => matches!(rest, ['/' | '\\', '/' | '\\', ..]),
            // The dots that host names may be written with (UTS 46 §2.3).
            '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => {
                before.is_some_and(|c| c.is_alphanumeric())
                    && matches!(rest, [a, b, ..] if a.is_alphabetic() && b.is_alphanumeric())
            }
            _ => false,
        };
        if links {
            plain.push(' ');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mail_program_would_link_is_taken_apart() {
        for (text, plain) in [
            ("See https://evil.example/x?y=1", "See https: //evil. example/x?y=1"),
            ("http://192.0.2.1/login", "http: //192.0.2.1/login"),
            ("www.evil.co.uk now", "www. evil. co. uk now"),
            ("mail a@evil.com", "mail a@evil. com"),
            ("xn--e1a.xn--p1ai", "xn--e1a. xn--p1ai"),
            ("evil\u{3002}com", "evil\u{3002} com"),
        ] {
            assert_eq!(unlinked(text), plain);
        }
    }

    #[test]
    fn words_and_numbers_stay() {
        for text in ["Happy birthday. Enjoy!", "It cost 3.50, i.e. nothing...", "10:30", "a/b", ""]
        {
            assert_eq!(unlinked(text), text);
        }
    }
}

//! Several values in one query parameter: separated by commas, which a backslash makes part of a value.

use primitives::fields::{FromText, Violation};

/// The most values of a parameter.
const MAX_VALUES: usize = 100;
/// The most characters of a parameter.
const MAX_LENGTH: usize = 5_000;

/// Texts separated by commas; empty ones are left out, as forms send them.
#[derive(Debug, Clone)]
pub struct Texts(pub Vec<String>);

impl FromText for Texts {
    const EXPECTS: &'static str = "texts separated by commas";

    fn from_text(text: &str) -> Result<Self, Violation> {
        ensure_short(text)?;
        let texts = parts(text).into_iter().map(unescaped);
        few(texts.filter(|text| !text.is_empty()).collect()).map(Self)
    }
}

primitives::text_field!(Texts);
primitives::string_schema!(Texts: {"maxLength": 5_000});

/// Values of options, each with the name of its option; pairs with an empty text are left out.
#[derive(Debug, Clone)]
pub struct OptionValues(pub Vec<(String, String)>);

impl FromText for OptionValues {
    const EXPECTS: &'static str = "options with their values: `Colour:Blue,Size:M`";

    fn from_text(text: &str) -> Result<Self, Violation> {
        ensure_short(text)?;
        let mut values = Vec::new();
        for part in parts(text).into_iter().filter(|part| !part.trim().is_empty()) {
            let Some(colon) = unescaped_at(part, ':').next() else {
                let detail = format!("Must be {}.", Self::EXPECTS);
                return Err(Violation::new("invalid_option", detail));
            };
            let (name, value) = part.split_at(colon);
            let pair = (unescaped(name), unescaped(value.strip_prefix(':').unwrap_or(value)));
            if !pair.0.is_empty() && !pair.1.is_empty() {
                values.push(pair);
            }
        }
        few(values).map(Self)
    }
}

primitives::text_field!(OptionValues);
primitives::string_schema!(OptionValues: {
    "maxLength": 5_000, "pattern": r"^([^:,\\]|\\.)+:([^,\\]|\\.)*(,([^:,\\]|\\.)+:([^,\\]|\\.)*)*$"
});

fn ensure_short(text: &str) -> Result<(), Violation> {
    if text.chars().count() > MAX_LENGTH {
        return Err(Violation::new(
            "too_long",
            format!("Must be at most {MAX_LENGTH} characters."),
        ));
    }
    Ok(())
}

fn few<T>(values: Vec<T>) -> Result<Vec<T>, Violation> {
    if values.len() > MAX_VALUES {
        return Err(Violation::new("too_many", format!("Must be at most {MAX_VALUES} values.")));
    }
    Ok(values)
}

/// The places of a sign that no backslash precedes.
fn unescaped_at(text: &str, sign: char) -> impl Iterator<Item = usize> {
    let mut is_escaped = false;
    text.char_indices().filter_map(move |(at, c)| {
        let is_plain = !is_escaped;
        is_escaped = is_plain && c == '\\';
        (is_plain && c == sign).then_some(at)
    })
}

fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut from) = (Vec::new(), 0);
    for comma in unescaped_at(text, ',') {
        parts.push(text.get(from..comma).unwrap_or_default());
        from = comma.saturating_add(1);
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}

fn unescaped(text: &str) -> String {
    let mut is_escaped = false;
    let plain = text.trim().chars().filter(|c| {
        let is_left_out = *c == '\\' && !is_escaped;
        is_escaped = is_left_out;
        !is_left_out
    });
    plain.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_by_commas_that_are_not_escaped() {
        let texts = |text: &str| Texts::from_text(text).map(|texts| texts.0).ok();
        assert_eq!(texts("Acme, Bell"), Some(vec!["Acme".into(), "Bell".into()]));
        assert_eq!(texts(r"Smith\, Sons,a\\b"), Some(vec!["Smith, Sons".into(), r"a\b".into()]));
        assert_eq!(texts("Acme, ,Bell,"), Some(vec!["Acme".into(), "Bell".into()]));
        assert_eq!(texts(""), Some(Vec::new()));
        assert_eq!(texts(&"x,".repeat(100)).map(|texts| texts.len()), Some(100));
        assert_eq!(texts(&"x,".repeat(101)), None);
        assert_eq!(texts(&"x".repeat(5_001)), None);
    }

    #[test]
    fn an_option_ends_at_its_first_colon() {
        let found = |text: &str| OptionValues::from_text(text).map(|all| all.0).ok();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            found("Colour:Blue,Size:M"),
            Some(vec![pair("Colour", "Blue"), pair("Size", "M")])
        );
        assert_eq!(found("Ratio:16:9"), Some(vec![pair("Ratio", "16:9")]));
        assert_eq!(found(r"A\:B:C\,D"), Some(vec![pair("A:B", "C,D")]));
        assert_eq!(found("Colour"), None);
        for empty in ["", " ", "Colour:", ":Blue", " : ,"] {
            assert_eq!(found(empty), Some(Vec::new()), "{empty}");
        }
        assert_eq!(found("Colour:Blue,"), Some(vec![pair("Colour", "Blue")]));
    }
}

//! Fonts: the families and variants that handles like `assistant_n4` name.

use liquid::{Object, Value};

/// A font. Its files are not hosted here: a browser takes what it has, or the fallback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Font {
    family: String,
    style: &'static str,
    /// From 100 to 900.
    weight: i64,
}

/// Words in the names of families with serifs.
const SERIF: [&str; 14] = [
    "serif",
    "times",
    "georgia",
    "garamond",
    "playfair",
    "merriweather",
    "lora",
    "baskerville",
    "caslon",
    "bodoni",
    "crimson",
    "cormorant",
    "slab",
    "bembo",
];

impl Font {
    /// Reads a handle: a family, a style (normal, italic, oblique) and the first digit of a weight.
    pub(crate) fn parse(handle: &str) -> Option<Self> {
        let (family, variant) = handle.trim().rsplit_once('_')?;
        let mut letters = variant.chars();
        let style = match letters.next()? {
            'n' => "normal",
            'i' => "italic",
            'o' => "oblique",
            _ => return None,
        };
        let weight = i64::from(letters.next()?.to_digit(10)?).saturating_mul(100);
        let word = |word: &str| -> String {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect()
        };
        let family = family.split('_').map(word).collect::<Vec<_>>().join(" ");
        Some(Self { family, style, weight: weight.max(100) })
    }

    /// The font with another style or weight; none if that does not exist.
    pub(crate) fn modified(&self, property: &str, to: &str) -> Option<Self> {
        match (property, to) {
            ("style", "normal") => Some(Self { style: "normal", ..self.clone() }),
            ("style", "italic") => Some(Self { style: "italic", ..self.clone() }),
            ("style", "oblique") => Some(Self { style: "oblique", ..self.clone() }),
            ("weight", to) => {
                let weight = match to {
                    "normal" => 400,
                    "bold" => 700,
                    "bolder" => match self.weight {
                        ..400 => 400,
                        400..600 => 700,
                        _ => 900,
                    },
                    "lighter" => match self.weight {
                        ..600 => 100,
                        600..800 => 400,
                        _ => 700,
                    },
                    _ => {
                        let number: i64 = to.trim_start_matches('+').parse().ok()?;
                        let is_step = to.starts_with(['+', '-']);
                        if is_step { self.weight.saturating_add(number) } else { number }
                    }
                };
                (100..=900).contains(&weight).then(|| Self { weight, ..self.clone() })
            }
            _ => None,
        }
    }

    fn fallback(&self) -> &'static str {
        let family = self.family.to_ascii_lowercase();
        if family.contains("mono") || family.contains("courier") {
            "monospace"
        } else if !family.contains("sans") && SERIF.iter().any(|word| family.contains(word)) {
            "serif"
        } else {
            "sans-serif"
        }
    }

    /// The family as CSS writes it.
    fn css_family(&self) -> String {
        match self.family.as_str() {
            "Sans Serif" => "sans-serif".to_owned(),
            "Monospace" => "monospace".to_owned(),
            family if family.contains(' ') => format!("\"{family}\""),
            family => family.to_owned(),
        }
    }
}

impl Object for Font {
    fn get(&self, name: &str) -> Option<Value> {
        Some(match name {
            "family" => self.css_family().into(),
            "fallback_families" => self.fallback().into(),
            "weight" => Value::Int(self.weight),
            "style" => self.style.into(),
            "baseline_ratio" => Value::Float(0.133),
            // Themes preload the files of other fonts, and connect to their host.
            "system?" => true.into(),
            "variants" => Value::from(vec![Value::object(self.clone())]),
            _ => return None,
        })
    }

    fn text(&self) -> String {
        self.family.clone()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let any: &dyn std::any::Any = other;
        any.downcast_ref::<Self>() == Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_font_is_to_be_loaded() {
        let font = Font::parse("assistant_n4").unwrap();
        assert!(font.get("system?").is_some_and(|is_system| is_system.is_truthy()));
    }

    #[test]
    fn fonts_are_read_and_modified() {
        let font = Font::parse("work_sans_n4").unwrap();
        assert_eq!((font.css_family().as_str(), font.fallback()), ("\"Work Sans\"", "sans-serif"));
        assert_eq!(font.modified("weight", "bold").unwrap().weight, 700);
        assert_eq!(font.modified("weight", "+200").unwrap().weight, 600);
        assert_eq!(font.modified("style", "italic").unwrap().style, "italic");
        assert!(font.modified("weight", "+900").is_none());
        assert!(Font::parse("arial").is_none());
    }
}

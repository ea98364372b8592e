//! Swatches: the colors of an option's values, where their names are colors.

use liquid::Value;

use super::color::Color;

/// Names of options whose values are colors.
const OPTIONS: [&str; 6] = ["color", "colour", "couleur", "farbe", "colore", "cor"];

/// Names of colors (CSS Color Module Level 4), and a few that shops use.
const NAMES: [(&str, &str); 46] = [
    ("aqua", "#00ffff"),
    ("beige", "#f5f5dc"),
    ("black", "#000000"),
    ("blue", "#0000ff"),
    ("brown", "#a52a2a"),
    ("burgundy", "#800020"),
    ("charcoal", "#36454f"),
    ("chocolate", "#d2691e"),
    ("coral", "#ff7f50"),
    ("cream", "#fffdd0"),
    ("crimson", "#dc143c"),
    ("cyan", "#00ffff"),
    ("emerald", "#50c878"),
    ("fuchsia", "#ff00ff"),
    ("gold", "#ffd700"),
    ("gray", "#808080"),
    ("green", "#008000"),
    ("grey", "#808080"),
    ("indigo", "#4b0082"),
    ("ivory", "#fffff0"),
    ("khaki", "#f0e68c"),
    ("lavender", "#e6e6fa"),
    ("lime", "#00ff00"),
    ("magenta", "#ff00ff"),
    ("maroon", "#800000"),
    ("mint", "#98ff98"),
    ("mustard", "#ffdb58"),
    ("navy", "#000080"),
    ("olive", "#808000"),
    ("orange", "#ffa500"),
    ("peach", "#ffe5b4"),
    ("pink", "#ffc0cb"),
    ("plum", "#dda0dd"),
    ("purple", "#800080"),
    ("red", "#ff0000"),
    ("rust", "#b7410e"),
    ("salmon", "#fa8072"),
    ("sand", "#c2b280"),
    ("silver", "#c0c0c0"),
    ("sky blue", "#87ceeb"),
    ("tan", "#d2b48c"),
    ("teal", "#008080"),
    ("turquoise", "#40e0d0"),
    ("violet", "#ee82ee"),
    ("white", "#ffffff"),
    ("yellow", "#ffff00"),
];

/// Whether the values of an option of this name are colors.
pub(crate) fn is_of_colors(option: &str) -> bool {
    OPTIONS.contains(&option.to_lowercase().as_str())
}

/// The swatch of a value; nil if its name is no color.
pub(crate) fn swatch(value: &str) -> Value {
    let name = value.trim().to_lowercase();
    let named = NAMES.iter().find(|(known, _)| *known == name).map(|(_, color)| *color);
    match Color::parse(named.unwrap_or(&name)) {
        Some(color) => Value::map([("color", Value::object(color)), ("image", Value::Nil)]),
        None => Value::Nil,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_color_has_a_swatch() {
        let rgb = |value: &str| swatch(value).get("color").get("rgb").to_text().to_string();
        assert_eq!(rgb("Navy"), "0 0 128");
        assert_eq!(rgb("#fa0"), "255 170 0");
        assert!(swatch("Paisley").is_nil());
        assert!(is_of_colors("Colour") && !is_of_colors("Size"));
    }
}

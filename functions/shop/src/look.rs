//! The store's look on the platform's own pages: its color, with contrasts that everybody can read.

use std::fmt::Write as _;

use crypto::seal;
use identity::store::Store;
use shop_theme::Color;

use crate::document::STYLE;

/// The backgrounds of the style sheet, light and dark: page, and what is beside it.
const LIGHT: [&str; 2] = ["#ffffff", "#f5f6f8"];
const DARK: [&str; 2] = ["#16181b", "#202327"];
/// The least contrast of a text with its background (WCAG 2.2, 1.4.3).
const LEAST: f64 = 4.5;

/// The address of the style sheet: another one for other colors, for browsers keep it for minutes.
pub(crate) fn style_of(store: &Store) -> String {
    match colors_of(store).as_str() {
        "" => STYLE.to_owned(),
        colors => {
            let digest = seal::digest(colors);
            format!("{STYLE}?v={}", digest.get(..12).unwrap_or_default())
        }
    }
}

/// What the style sheet of a store has beyond that of others; nothing for a store without a color.
pub(crate) fn colors_of(store: &Store) -> String {
    let primary = store.branding.primary_color.as_ref();
    primary.map_or_else(String::new, |color| colors(color.as_str()))
}

/// The color is the background of buttons, with black or white on it. As a text it is made darker or lighter until it can be
/// read.
fn colors(accent: &str) -> String {
    let Some(accent) = Color::parse(accent) else { return String::new() };
    let ink = |backgrounds: [&str; 2]| {
        let all = backgrounds.into_iter().filter_map(Color::parse);
        all.fold(accent, |ink, background| ink.readable_on(&background, LEAST)).hex()
    };
    let mut css = String::new();
    let (fill, on) = (accent.hex(), accent.text_on_it());
    let _ = write!(css, ":root{{--fill:{fill};--on-fill:{on};--accent:{};}}", ink(LIGHT));
    let dark = ink(DARK);
    let _ = writeln!(css, "@media (prefers-color-scheme:dark){{:root{{--accent:{dark};}}}}");
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_color_can_be_read() {
        let ratio = |a: &str, b: &str| Color::parse(a).unwrap().ratio(&Color::parse(b).unwrap());
        let value = |css: &str, name: &str| {
            let all: Vec<String> = css
                .split(&format!("{name}:"))
                .skip(1)
                .map(|rest| rest.split(';').next().unwrap().to_owned())
                .collect();
            all
        };
        for accent in
            ["#ffee00", "#777777", "#767676", "#0b5a70", "#000000", "#ffffff", "#ff0000", "#16181b"]
        {
            let css = colors(accent);
            let (fill, on) = (value(&css, "--fill"), value(&css, "--on-fill"));
            assert_eq!(fill, [accent]);
            assert!(ratio(&fill[0], &on[0]) >= LEAST, "{css}");
            let inks = value(&css, "--accent");
            for (ink, backgrounds) in inks.iter().zip([LIGHT, DARK]) {
                for background in backgrounds {
                    assert!(ratio(ink, background) >= LEAST, "{accent}: {ink} on {background}");
                }
            }
        }
        assert_eq!(colors("url(x)"), "");
    }
}

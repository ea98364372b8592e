//! Colors, and what filters compute with them.
#![expect(
    clippy::float_arithmetic,
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    clippy::suboptimal_flops,
    reason = "colors are computed in fractions, and shown with few digits"
)]

use liquid::{Object, Value};

/// A color in sRGB: channels from 0 to 255, and the alpha from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Color {
    pub(crate) red: f64,
    pub(crate) green: f64,
    pub(crate) blue: f64,
    pub(crate) alpha: f64,
}

impl Color {
    /// Reads `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb(…)`, `rgba(…)`, `hsl(…)`, `hsla(…)`, `transparent`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if let Some(hex) = text.strip_prefix('#') {
            return Self::of_hex(hex);
        }
        match text.as_str() {
            "transparent" => {
                return Some(Self { red: 0.0, green: 0.0, blue: 0.0, alpha: 0.0 });
            }
            "black" => return Self::of_hex("000"),
            "white" => return Self::of_hex("fff"),
            _ => {}
        }
        let (name, rest) = text.split_once('(')?;
        let inner = rest.strip_suffix(')')?;
        let parts: Vec<&str> =
            inner.split([',', ' ', '/']).filter(|part| !part.is_empty()).collect();
        let number = |place: usize| -> Option<f64> {
            let part = parts.get(place)?.trim_end_matches("deg");
            match part.strip_suffix('%') {
                Some(percent) => percent.parse::<f64>().ok().map(|value| value / 100.0),
                None => part.parse().ok(),
            }
        };
        let alpha = number(3).unwrap_or(1.0).clamp(0.0, 1.0);
        match name {
            "rgb" | "rgba" => {
                let channel = |place: usize| {
                    let scale = if parts.get(place)?.ends_with('%') { 255.0 } else { 1.0 };
                    number(place).map(|value| (value * scale).clamp(0.0, 255.0))
                };
                Some(Self { red: channel(0)?, green: channel(1)?, blue: channel(2)?, alpha })
            }
            "hsl" | "hsla" => Some(Self::of_hsl(number(0)?, number(1)?, number(2)?, alpha)),
            _ => None,
        }
    }

    fn of_hex(hex: &str) -> Option<Self> {
        if !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let long: String = match hex.len() {
            3 | 4 => hex.chars().flat_map(|digit| [digit, digit]).collect(),
            6 | 8 => hex.to_owned(),
            _ => return None,
        };
        let byte = |place: usize| {
            let pair = long.get(place..place.saturating_add(2))?;
            u8::from_str_radix(pair, 16).ok().map(f64::from)
        };
        let alpha = byte(6).map_or(1.0, |alpha| alpha / 255.0);
        Some(Self { red: byte(0)?, green: byte(2)?, blue: byte(4)?, alpha })
    }

    /// A color by hue in degrees, and saturation and lightness from 0 to 1.
    pub(crate) fn of_hsl(hue: f64, saturation: f64, lightness: f64, alpha: f64) -> Self {
        let (s, l) = (saturation.clamp(0.0, 1.0), lightness.clamp(0.0, 1.0));
        let chroma = (1.0 - (2.0 * l - 1.0).abs()) * s;
        let sector = hue.rem_euclid(360.0) / 60.0;
        let x = chroma * (1.0 - (sector % 2.0 - 1.0).abs());
        let (r, g, b) = match sector as u8 {
            0 => (chroma, x, 0.0),
            1 => (x, chroma, 0.0),
            2 => (0.0, chroma, x),
            3 => (0.0, x, chroma),
            4 => (x, 0.0, chroma),
            _ => (chroma, 0.0, x),
        };
        let base = l - chroma / 2.0;
        let channel = |value: f64| ((value + base) * 255.0).clamp(0.0, 255.0);
        Self { red: channel(r), green: channel(g), blue: channel(b), alpha }
    }

    /// Hue in degrees, saturation and lightness from 0 to 1.
    pub(crate) fn hsl(&self) -> (f64, f64, f64) {
        let (r, g, b) = (self.red / 255.0, self.green / 255.0, self.blue / 255.0);
        let (most, least) = (r.max(g).max(b), r.min(g).min(b));
        let (lightness, chroma) = (f64::midpoint(most, least), most - least);
        if chroma < f64::EPSILON {
            return (0.0, 0.0, lightness);
        }
        let saturation = chroma / (1.0 - (2.0 * lightness - 1.0).abs()).max(f64::EPSILON);
        let sector = if (most - r).abs() < f64::EPSILON {
            ((g - b) / chroma).rem_euclid(6.0)
        } else if (most - g).abs() < f64::EPSILON {
            (b - r) / chroma + 2.0
        } else {
            (r - g) / chroma + 4.0
        };
        (sector * 60.0, saturation, lightness)
    }

    /// Lightness and chroma from 0 to 1, and hue in degrees, in OKLCH.
    pub(crate) fn oklch(&self) -> (f64, f64, f64) {
        let linear = |channel: f64| {
            let value = channel / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let (r, g, b) = (linear(self.red), linear(self.green), linear(self.blue));
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        let lightness = 0.210_454_255_3 * l + 0.793_617_785 * m - 0.004_072_046_8 * s;
        let a = 1.977_998_495_1 * l - 2.428_592_205 * m + 0.450_593_709_9 * s;
        let b = 0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766 * s;
        let chroma = a.hypot(b);
        let hue = if chroma < 0.0001 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) };
        (lightness, chroma, hue)
    }

    /// The brightness that people perceive, from 0 to 255 (W3C, AERT).
    pub(crate) fn brightness(&self) -> f64 {
        hundredths((self.red * 299.0 + self.green * 587.0 + self.blue * 114.0) / 1000.0)
    }

    /// The relative luminance (WCAG 2).
    pub(crate) fn luminance(&self) -> f64 {
        let linear = |channel: f64| {
            let value = channel / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }

    /// The color with another lightness, both from 0 to 1.
    pub(crate) fn lighter(&self, by: f64) -> Self {
        let (h, s, l) = self.hsl();
        Self::of_hsl(h, s, l + by, self.alpha)
    }

    /// The color with another saturation, both from 0 to 1.
    pub(crate) fn saturated(&self, by: f64) -> Self {
        let (h, s, l) = self.hsl();
        Self::of_hsl(h, s + by, l, self.alpha)
    }

    /// This color to the share `part` of 0 to 1, and another one.
    pub(crate) fn mixed(&self, other: &Self, part: f64) -> Self {
        let mix = |a: f64, b: f64| a * part + b * (1.0 - part);
        Self {
            red: mix(self.red, other.red),
            green: mix(self.green, other.green),
            blue: mix(self.blue, other.blue),
            alpha: mix(self.alpha, other.alpha),
        }
    }

    /// The contrast of two colors, from 1 to 21 (WCAG 2), as themes read it.
    pub(crate) fn contrast(&self, other: &Self) -> f64 {
        tenths(self.ratio(other))
    }

    /// The contrast of two colors, from 1 to 21 (WCAG 2).
    pub fn ratio(&self, other: &Self) -> f64 {
        let (a, b) = (self.luminance() + 0.05, other.luminance() + 0.05);
        a.max(b) / a.min(b)
    }

    /// Black or white, whichever is easier to read on this color: the contrast is 4.58 at least.
    pub fn text_on_it(&self) -> &'static str {
        // Where the contrasts with black and with white are equal.
        if self.luminance() > 0.179_129 { "#000000" } else { "#ffffff" }
    }

    /// This color, or one as much darker or lighter as it takes to be read on a background.
    #[must_use]
    pub fn readable_on(&self, background: &Self, least: f64) -> Self {
        let end = Self::parse(background.text_on_it()).unwrap_or(*self);
        let steps = (0..=50_u8).map(|step| end.mixed(self, f64::from(step) / 50.0));
        // What is written has whole channels.
        let mut written = steps.filter_map(|color| Self::parse(&color.hex()));
        written.find(|color| color.ratio(background) >= least).unwrap_or(end)
    }

    /// The difference of the brightness of two colors, from 0 to 255.
    pub(crate) fn brightness_difference(&self, other: &Self) -> i64 {
        (self.brightness() - other.brightness()).abs().round() as i64
    }

    /// The sum of the differences of the channels, from 0 to 765.
    pub(crate) fn difference(&self, other: &Self) -> i64 {
        let of = |a: f64, b: f64| (a.round() - b.round()).abs();
        (of(self.red, other.red) + of(self.green, other.green) + of(self.blue, other.blue)) as i64
    }

    /// One component by its name.
    pub(crate) fn component(&self, name: &str) -> Option<Value> {
        let (h, s, l) = self.hsl();
        Some(match name {
            "red" => whole(self.red),
            "green" => whole(self.green),
            "blue" => whole(self.blue),
            "alpha" => fraction(self.alpha),
            "hue" => whole(h),
            "saturation" => whole(s * 100.0),
            "lightness" => whole(l * 100.0),
            "chroma" => fraction((self.oklch().1 * 1000.0).round() / 1000.0),
            _ => return None,
        })
    }

    /// The color with one component replaced.
    pub(crate) fn with(&self, name: &str, value: f64) -> Option<Self> {
        let (h, s, l) = self.hsl();
        let channel = value.clamp(0.0, 255.0);
        Some(match name {
            "red" => Self { red: channel, ..*self },
            "green" => Self { green: channel, ..*self },
            "blue" => Self { blue: channel, ..*self },
            "alpha" => Self { alpha: value.clamp(0.0, 1.0), ..*self },
            "hue" => Self::of_hsl(value, s, l, self.alpha),
            "saturation" => Self::of_hsl(h, value / 100.0, l, self.alpha),
            "lightness" => Self::of_hsl(h, s, value / 100.0, self.alpha),
            _ => return None,
        })
    }

    /// `#rrggbb`, or `rgba(…)` if it is not opaque.
    pub(crate) fn css(&self) -> String {
        if self.alpha >= 1.0 { self.hex() } else { self.rgb() }
    }

    /// The color as `#rrggbb`, with two digits more if it is transparent.
    pub fn hex(&self) -> String {
        let byte = |channel: f64| channel.round().clamp(0.0, 255.0) as u8;
        let plain =
            format!("#{:02x}{:02x}{:02x}", byte(self.red), byte(self.green), byte(self.blue));
        if self.alpha >= 1.0 { plain } else { format!("{plain}{:02x}", byte(self.alpha * 255.0)) }
    }

    pub(crate) fn rgb(&self) -> String {
        let [r, g, b] = [self.red, self.green, self.blue].map(|channel| channel.round() as i64);
        if self.alpha >= 1.0 {
            format!("rgb({r}, {g}, {b})")
        } else {
            format!("rgba({r}, {g}, {b}, {})", short(self.alpha))
        }
    }

    pub(crate) fn hsl_css(&self) -> String {
        let (h, s, l) = self.hsl();
        let [h, s, l] = [h, s * 100.0, l * 100.0].map(|value| value.round() as i64);
        if self.alpha >= 1.0 {
            format!("hsl({h}, {s}%, {l}%)")
        } else {
            format!("hsla({h}, {s}%, {l}%, {})", short(self.alpha))
        }
    }

    pub(crate) fn oklch_css(&self) -> String {
        format!("oklch({})", self.oklch_parts(self.alpha < 1.0))
    }

    fn oklch_parts(&self, with_alpha: bool) -> String {
        let (l, c, h) = self.oklch();
        let parts = format!("{}% {} {}", short(l * 100.0), short(c), short(h));
        if with_alpha { format!("{parts} / {}", short(self.alpha)) } else { parts }
    }
}

/// The share in the other direction.
pub(crate) fn less(share: f64) -> f64 {
    -share
}

/// A number of filters as a share of 100, from a whole number of percent.
pub(crate) fn percent(value: &Value) -> f64 {
    number(value) / 100.0
}

/// A number of filters.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        _ => value.to_text().trim().parse().unwrap_or_default(),
    }
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// A number with one decimal.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn short(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    rounded.to_string()
}

fn whole(value: f64) -> Value {
    Value::Int(value.round() as i64)
}

/// A whole number if it is one.
fn fraction(value: f64) -> Value {
    if value.fract() == 0.0 {
        Value::Float(value)
    } else {
        Value::Float((value * 100.0).round() / 100.0)
    }
}

impl Object for Color {
    fn get(&self, name: &str) -> Option<Value> {
        let [r, g, b] = [self.red, self.green, self.blue].map(|channel| channel.round() as i64);
        match name {
            "rgb" => Some(format!("{r} {g} {b}").into()),
            "rgba" => Some(format!("{r} {g} {b} / {}", short(self.alpha)).into()),
            "oklch" => Some(self.oklch_parts(false).into()),
            "oklcha" => Some(self.oklch_parts(true).into()),
            "color_space" => Some("srgb".into()),
            _ => self.component(name),
        }
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.css().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_read_and_written() {
        let color = |text: &str| Color::parse(text).unwrap();
        assert_eq!(color("#fff").css(), "#ffffff");
        assert_eq!(color("#7ab55c").hsl_css(), "hsl(100, 38%, 54%)");
        assert_eq!(color("hsl(100, 38%, 54%)").hex(), "#7bb65d");
        assert_eq!(color("rgba(18, 18, 18, 0.5)").css(), "rgba(18, 18, 18, 0.5)");
        assert_eq!(color("rgb(100% 0% 0%)").hex(), "#ff0000");
        assert_eq!(color("#7ab55c").lighter(0.3).hex(), "#d0e5c5");
        assert_eq!(color("#7ab55c").lighter(-0.3).hex(), "#355325");
        assert_eq!(color("#000").contrast(&color("#fff")).to_string(), "21");
        assert_eq!(color("#7ab55c").brightness().to_string(), "153.21");
        assert_eq!(color("#fff00f").brightness_difference(&color("#0b72ab")), 129);
        assert_eq!(color("#ff0000").difference(&color("#abcdef")), 528);
        for bad in ["", "red", "#12", "url(x)", "rgb(1)"] {
            assert!(Color::parse(bad).is_none(), "{bad}");
        }
    }
}

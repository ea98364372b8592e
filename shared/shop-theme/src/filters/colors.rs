//! Colors.

use liquid::{Args, Context, Result, Value};

use super::call::Named;
use crate::objects::color::{Color, less, number, percent};

pub(super) const FILTERS: &[Named] = &[
    ("brightness_difference", brightness_difference),
    ("color_brightness", |input, _, _| Ok(color(input).map(|color| color.brightness()).into())),
    ("color_contrast", |input, args, _| {
        let other = args.get(0).and_then(color);
        Ok(color(input).zip(other).map(|(color, other)| color.contrast(&other)).into())
    }),
    ("color_darken", |input, args, _| Ok(changed(input, |color| color.lighter(by(args, true))))),
    ("color_desaturate", |input, args, _| {
        Ok(changed(input, |color| color.saturated(by(args, true))))
    }),
    ("color_difference", |input, args, _| {
        let other = args.get(0).and_then(color);
        Ok(color(input).zip(other).map(|(color, other)| color.difference(&other)).into())
    }),
    ("color_extract", |input, args, _| {
        Ok(color(input).and_then(|color| color.component(&args.text(0))).unwrap_or_default())
    }),
    ("color_lighten", |input, args, _| Ok(changed(input, |color| color.lighter(by(args, false))))),
    ("color_mix", color_mix),
    ("color_modify", |input, args, _| {
        let value = args.get(1).map(number).unwrap_or_default();
        Ok(changed(input, |color| color.with(&args.text(0), value).unwrap_or(*color)))
    }),
    ("color_saturate", |input, args, _| {
        Ok(changed(input, |color| color.saturated(by(args, false))))
    }),
    ("color_to_hex", |input, _, _| Ok(text(input, Color::hex))),
    ("color_to_hsl", |input, _, _| Ok(text(input, Color::hsl_css))),
    ("color_to_oklch", |input, _, _| Ok(text(input, Color::oklch_css))),
    ("color_to_rgb", |input, _, _| Ok(text(input, Color::rgb))),
    ("hex_to_rgba", |input, args, _| {
        let alpha = args.get(0).map_or(1.0, number);
        Ok(text(input, |color| color.with("alpha", alpha).unwrap_or(*color).rgb()))
    }),
];

/// The color of a value, or of a text.
fn color(value: &Value) -> Option<Color> {
    match value.downcast::<Color>() {
        Some(color) => Some(*color),
        None => Color::parse(&value.to_text()),
    }
}

/// The first argument as a share of 100 percent.
fn by(args: &Args, is_less: bool) -> f64 {
    let share = args.get(0).map(percent).unwrap_or_default();
    if is_less { less(share) } else { share }
}

/// Another color of a color; what is none passes.
fn changed(input: &Value, change: impl FnOnce(&Color) -> Color) -> Value {
    color(input).map_or_else(|| input.clone(), |color| Value::object(change(&color)))
}

fn text(input: &Value, write: impl FnOnce(&Color) -> String) -> Value {
    color(input).map_or_else(|| input.clone(), |color| write(&color).into())
}

fn color_mix(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let part = args.get(1).map_or(0.5, percent);
    let other = args.get(0).and_then(color);
    Ok(match other {
        Some(other) => changed(input, |color| color.mixed(&other, part)),
        None => input.clone(),
    })
}

fn brightness_difference(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let other = args.get(0).and_then(color);
    Ok(color(input).zip(other).map(|(color, other)| color.brightness_difference(&other)).into())
}

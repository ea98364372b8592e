//! Fonts.

use liquid::{Args, Context, Result, Value};

use super::call::Named;
use crate::objects::font::Font;

pub(super) const FILTERS: &[Named] = &[
    // Fonts are not hosted here: a browser takes what it has, or the fallback.
    ("font_face", |_, _, _| Ok("".into())),
    ("font_url", |_, _, _| Ok("".into())),
    ("font_modify", font_modify),
];

fn font_modify(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let modified = input.downcast::<Font>();
    let modified = modified.and_then(|font| font.modified(&args.text(0), &args.text(1)));
    Ok(modified.map_or(Value::Nil, Value::object))
}

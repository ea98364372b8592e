//! Validates and sanitizes the value of a setting.

use primitives::fields::{Violation, counted};
use serde_json::Value;

use super::{decimal, formats, html};
use crate::schema::{Setting, SettingKind};

/// The maximum length of a line of text, in characters.
const MAX_LINE: usize = 1_000;
/// The maximum length of a text of several lines, in characters.
const MAX_TEXT: usize = 20_000;
/// The maximum size of HTML and template code in bytes, both in the request and as stored.
const MAX_HTML: usize = 50 * 1024;
/// The maximum number of handles in a list.
const MAX_LIST: u32 = 50;
/// The maximum number of members of a palette or a style.
const MAX_MEMBERS: usize = 50;
/// The maximum length of the name of a scheme or an element, in characters.
const MAX_NAME: usize = 64;

/// Validates a value by its setting's type. Returns it as stored: normalized and sanitized.
pub(super) fn safe(setting: &Setting, value: &Value) -> Result<Value, Violation> {
    use SettingKind as K;
    if setting.kind != K::Liquid && value.as_str().is_some_and(is_dynamic) {
        return Ok(value.clone());
    }
    match setting.kind {
        K::Checkbox => match value {
            Value::Bool(_) => Ok(value.clone()),
            _ => Err(Violation::new("invalid_type", "Must be a boolean.")),
        },
        K::Number | K::Range => number(setting, value),
        K::ArticleList => list(setting, value, formats::article),
        K::CollectionList | K::MetaobjectList | K::ProductList => {
            list(setting, value, formats::handle)
        }
        K::ColorPalette => members(value, &|value| {
            let color = value.as_str().map(|text| text.is_empty() || formats::color(text).is_ok());
            color.unwrap_or_default()
        }),
        K::StyleLayout | K::StyleSize | K::StyleSpacing => members(value, &is_style),
        K::Html => cleaned(value, html::free),
        K::InlineRichtext => cleaned(value, html::inline),
        K::Richtext => cleaned(value, html::rich),
        // A page runs it as it runs the theme.
        K::Liquid => cleaned(value, str::to_owned),
        K::ColorSchemeGroup | K::Header | K::Paragraph => {
            Err(Violation::new("invalid_type", "Settings of this type have no value."))
        }
        _ => {
            let text = value
                .as_str()
                .ok_or_else(|| Violation::new("invalid_type", "Must be a string."))?;
            let is_blank = text.is_empty() && !is_choice(setting.kind);
            if is_blank { Ok(value.clone()) } else { plain(setting, text).map(|()| value.clone()) }
        }
    }
}

/// The value of a setting without a default.
pub(super) fn blank(setting: &Setting) -> Value {
    use SettingKind as K;
    match setting.kind {
        K::Checkbox => false.into(),
        K::Number => Value::Null,
        K::Range => setting.min.clone().map_or(Value::Null, Value::Number),
        K::Radio | K::Select => {
            setting.options.first().map_or_else(String::new, |first| first.value.clone()).into()
        }
        K::TextAlignment => "left".into(),
        K::ArticleList | K::CollectionList | K::MetaobjectList | K::ProductList => {
            Vec::<Value>::new().into()
        }
        K::ColorPalette | K::ColorSchemeGroup | K::StyleLayout | K::StyleSize | K::StyleSpacing => {
            serde_json::Map::new().into()
        }
        _ => "".into(),
    }
}

/// Whether the value must be one of several options, so that it cannot be empty.
const fn is_choice(kind: SettingKind) -> bool {
    matches!(kind, SettingKind::Radio | SettingKind::Select | SettingKind::TextAlignment)
}

/// Validates a text that is stored unchanged.
fn plain(setting: &Setting, text: &str) -> Result<(), Violation> {
    use SettingKind as K;
    match setting.kind {
        K::Radio | K::Select => {
            let values = || setting.options.iter().map(|option| option.value.as_str());
            let known = || values().collect::<Vec<_>>().join(", ");
            choice(values().any(|value| value == text), known)
        }
        K::TextAlignment => {
            choice(matches!(text, "left" | "center" | "right"), || "left, center, right".to_owned())
        }
        K::Text => line(text, MAX_LINE, false),
        K::Textarea => line(text, MAX_TEXT, true),
        K::Color => formats::color(text),
        K::ColorBackground => formats::background(text),
        K::ColorScheme => name(text),
        K::FontPicker => formats::font(text),
        K::ImagePicker => formats::image(text),
        K::Video => formats::video(text),
        K::VideoUrl => formats::video_url(text, &setting.accept),
        K::Url => formats::url(text),
        K::Article => formats::article(text),
        _ => formats::handle(text),
    }
}

fn choice(is_known: bool, known: impl Fn() -> String) -> Result<(), Violation> {
    if is_known {
        return Ok(());
    }
    Err(Violation::new("invalid_choice", format!("Must be one of {}.", known())))
}

/// Validates the name of a scheme or an element.
pub(super) fn name(text: &str) -> Result<(), Violation> {
    let is_name = (1..=MAX_NAME).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if is_name {
        return Ok(());
    }
    let detail = "Must be 1 to 64 letters, digits, hyphens and underscores.";
    Err(Violation::new("invalid_name", detail))
}

pub(super) fn line(text: &str, most: usize, many: bool) -> Result<(), Violation> {
    if text.chars().count() > most {
        return Err(Violation::new(
            "too_long",
            format!("Must have at most {}.", counted(most, "character")),
        ));
    }
    let is_allowed = |c: char| !c.is_control() || (many && matches!(c, '\n' | '\r' | '\t'));
    if text.chars().all(is_allowed) {
        return Ok(());
    }
    Err(Violation::new("invalid_characters", "Must not contain control characters."))
}

fn cleaned(value: &Value, clean: impl Fn(&str) -> String) -> Result<Value, Violation> {
    let too_long = || Violation::new("too_long", format!("Must have at most {MAX_HTML} bytes."));
    let text = value.as_str().ok_or_else(|| Violation::new("invalid_type", "Must be a string."))?;
    if text.len() > MAX_HTML {
        return Err(too_long());
    }
    if text.contains('\0') {
        return Err(Violation::new("invalid_characters", "Must not contain NUL."));
    }
    let clean = clean(text);
    // Escaping can make the text longer.
    if clean.len() > MAX_HTML { Err(too_long()) } else { Ok(clean.into()) }
}

fn number(setting: &Setting, value: &Value) -> Result<Value, Violation> {
    let Value::Number(number) = value else {
        return Err(Violation::new("invalid_type", "Must be a number."));
    };
    let too_fine = || {
        let detail = "Must be a number below 10^12 with at most six decimals.";
        Violation::new("out_of_range", detail)
    };
    let scaled = decimal::millionths(number).ok_or_else(too_fine)?;
    let bound = |bound: &Option<serde_json::Number>| bound.as_ref().and_then(decimal::millionths);
    let (min, max) = (bound(&setting.min), bound(&setting.max));
    if min.is_some_and(|min| scaled < min) || max.is_some_and(|max| scaled > max) {
        let text = |bound: &Option<serde_json::Number>| {
            bound.as_ref().map_or_else(|| "…".to_owned(), ToString::to_string)
        };
        let detail = format!("Must be from {} to {}.", text(&setting.min), text(&setting.max));
        return Err(Violation::new("out_of_range", detail));
    }
    let step = bound(&setting.step).zip(min);
    let rest = step.and_then(|(step, min)| scaled.saturating_sub(min).checked_rem(step));
    if rest.is_some_and(|rest| rest != 0) {
        let step = setting.step.as_ref().map(ToString::to_string).unwrap_or_default();
        let min = setting.min.as_ref().map(ToString::to_string).unwrap_or_default();
        return Err(Violation::new(
            "off_step",
            format!("Must be {min} plus a multiple of {step}."),
        ));
    }
    Ok(decimal::normal(number).into())
}

/// Whether a text is a dynamic source: one expression, whose value is read when the page is rendered.
fn is_dynamic(text: &str) -> bool {
    let inner = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    inner.is_some_and(|inner| {
        line(inner, MAX_LINE, false).is_ok() && !inner.contains(['{', '}', '<', '>'])
    })
}

/// Validates an object with names as keys.
fn members(value: &Value, is_allowed: &dyn Fn(&Value) -> bool) -> Result<Value, Violation> {
    let Value::Object(members) = value else {
        return Err(Violation::new("invalid_type", "Must be an object."));
    };
    let is_member = |(key, value): (&String, &Value)| {
        let is_query = key.starts_with("@media") && key.chars().all(is_of_query);
        (name(key).is_ok() || is_query) && is_allowed(value)
    };
    if members.len() <= MAX_MEMBERS && members.iter().all(is_member) {
        return Ok(value.clone());
    }
    let detail = format!("Must have at most {MAX_MEMBERS} members with names and values of CSS.");
    Err(Violation::new("invalid_style", detail))
}

/// Whether a character may be in a media query.
fn is_of_query(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '@' | '(' | ')' | '-' | ':' | ' ' | '.')
}

/// Whether a value is that of a CSS property, or an object of such for one size of screen. A style cannot
/// be left by it.
fn is_style(value: &Value) -> bool {
    match value {
        Value::Object(_) => members(value, &|value| !value.is_object() && is_style(value)).is_ok(),
        Value::String(text) => {
            line(text, 200, false).is_ok()
                && !text.contains([';', '{', '}', '<', '>', '"', '\'', '\\', '@'])
                && !text.to_ascii_lowercase().contains("url(")
        }
        _ => value.is_number(),
    }
}

fn list(
    setting: &Setting,
    value: &Value,
    is_item: fn(&str) -> Result<(), Violation>,
) -> Result<Value, Violation> {
    let Value::Array(items) = value else {
        return Err(Violation::new("invalid_type", "Must be an array of handles."));
    };
    let most = setting.limit.unwrap_or(MAX_LIST).min(MAX_LIST);
    if u32::try_from(items.len()).is_ok_and(|count| count > most) || items.len() > 50 {
        return Err(Violation::new(
            "too_many",
            format!(
                "Must have at most {}.",
                counted(usize::try_from(most).unwrap_or(usize::MAX), "handle")
            ),
        ));
    }
    let all = items.iter().all(|item| item.as_str().is_some_and(|item| is_item(item).is_ok()));
    if all {
        return Ok(value.clone());
    }
    Err(Violation::new(
        "invalid_handle",
        "Each element must be a handle: lower-case letters, digits and hyphens.",
    ))
}

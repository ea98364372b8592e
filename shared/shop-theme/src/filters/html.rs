//! Elements: links, lists of pages and of errors, pictures that stand in for others.

use std::fmt::Write as _;

use liquid::{Args, Context, Result, Value};

use super::call::{Named, attribute, named};
use crate::objects::plain::{handleize, items};
use crate::settings::{Settings, Style};

pub(super) const FILTERS: &[Named] = &[
    ("class_list", class_list),
    ("default_errors", default_errors),
    ("default_pagination", default_pagination),
    ("highlight", highlight),
    ("link_to", link_to),
    ("metafield_tag", metafield),
    ("metafield_text", metafield),
    ("placeholder_svg_tag", placeholder_svg_tag),
];

fn link_to(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let (text, url) = (input.to_text(), args.text(0));
    let mut html = format!("<a href=\"{}\"", attribute(&url));
    if let Some(title) = args.get(1).filter(|title| !title.is_nil()) {
        let _ = write!(html, " title=\"{}\"", attribute(&title.to_text()));
    }
    for (name, value) in args.all_named() {
        let _ = write!(html, " {}=\"{}\"", attribute(name), attribute(&value.to_text()));
    }
    let _ = write!(html, ">{text}</a>");
    Ok(Value::html(html))
}

/// The links to other pages: `{{ paginate | default_pagination }}`.
fn default_pagination(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let anchor = named(args, "anchor").map(|anchor| format!("#{anchor}")).unwrap_or_default();
    let link = |part: &Value, title: &str| {
        let url = format!("{}{anchor}", part.get("url").to_text());
        format!("<a href=\"{}\">{title}</a>", attribute(&url))
    };
    let mut parts = Vec::new();
    let previous = input.get("previous");
    if !previous.is_nil() {
        let title =
            named(args, "previous").unwrap_or_else(|| previous.get("title").to_text().into_owned());
        parts.push(format!("<span class=\"prev\">{}</span>", link(&previous, &title)));
    }
    for part in items(&input.get("parts")) {
        let title = part.get("title").to_text().into_owned();
        let is_current = title == input.get("current_page").to_text();
        parts.push(if part.get("is_link").is_truthy() {
            format!("<span class=\"page\">{}</span>", link(&part, &title))
        } else if is_current {
            format!("<span class=\"page current\">{title}</span>")
        } else {
            format!("<span class=\"deco\">{title}</span>")
        });
    }
    let next = input.get("next");
    if !next.is_nil() {
        let title = named(args, "next").unwrap_or_else(|| next.get("title").to_text().into_owned());
        parts.push(format!("<span class=\"next\">{}</span>", link(&next, &title)));
    }
    Ok(Value::html(parts.join(" ")))
}

/// The messages of a form's errors as a list.
fn default_errors(input: &Value, _: &Args, _: &mut Context<'_>) -> Result<Value> {
    let messages = items(&input.get("messages"));
    if messages.is_empty() {
        return Ok("".into());
    }
    let mut html = "<div class=\"errors\"><ul>".to_owned();
    let names = input.get("translated_fields");
    for pair in messages {
        let Value::Array(pair) = pair else { continue };
        let part = |at: usize| pair.get(at).map(|part| part.to_text().into_owned());
        let (field, message) = (part(0).unwrap_or_default(), part(1).unwrap_or_default());
        let name = names.get(&field).to_text().into_owned();
        let sentence = if matches!(field.as_str(), "form" | "") || name.is_empty() {
            message
        } else {
            capitalized(&format!("{name} {message}"))
        };
        let _ = write!(html, "<li>{}</li>", attribute(&sentence));
    }
    html.push_str("</ul></div>");
    Ok(Value::html(html))
}

/// A text that begins with a capital letter.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The text with a term in `<strong class="highlight">`.
fn highlight(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let (text, term) = (input.to_text(), args.text(0));
    if term.is_empty() {
        return Ok(input.clone());
    }
    let marked = format!("<strong class=\"highlight\">{term}</strong>");
    let grown = text.matches(&*term).count().saturating_mul(marked.len());
    cx.reserve(text.len().saturating_add(grown))?;
    Ok(Value::html(text.replace(&*term, &marked)))
}

/// A picture that stands in for one that is missing.
fn placeholder_svg_tag(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let class = args.text(0);
    let class = if class.is_empty() { "placeholder-svg".into() } else { class };
    let name = handleize(&input.to_text());
    Ok(Value::html(format!(
        "<svg class=\"{}\" data-placeholder=\"{name}\" xmlns=\"http://www.w3.org/2000/svg\" \
         viewBox=\"0 0 525 525\" preserveAspectRatio=\"xMidYMid slice\" aria-hidden=\"true\">\
         <path fill=\"currentColor\" fill-opacity=\".08\" d=\"M0 0h525v525H0z\"/>\
         <path fill=\"currentColor\" fill-opacity=\".25\" d=\"M150 345h225l-70-95-50 65-35-40z\
         M200 230a25 25 0 1 0 0-50 25 25 0 0 0 0 50z\"/></svg>",
        attribute(&class)
    )))
}

/// The value of a metafield.
fn metafield(input: &Value, _: &Args, _: &mut Context<'_>) -> Result<Value> {
    Ok(input.get("value"))
}

/// The class of the CSS properties of settings, or of one of them. Its rules go into the head of the page.
fn class_list(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    use crate::notes::Notes;
    let mut rules = Rules::default();
    if let Some(settings) = input.downcast::<Settings>() {
        settings.styles().for_each(|style| rules.add(&style));
    } else if let Some(style) = input.downcast::<Style>() {
        rules.add(style);
    }
    let Rules { own, media } = rules;
    if own.is_empty() && media.is_empty() {
        return Ok("".into());
    }
    let class = format!("style-{:x}", fingerprint(&format!("{own}{media}")));
    let css = format!(".{class}{{{own}}}{}", media.replace("SELF", &format!(".{class}")));
    let css: std::sync::Arc<str> = css.into();
    let notes = cx.register::<Notes>();
    if !notes.styles.contains(&css) {
        notes.styles.push(css);
    }
    Ok(class.into())
}

/// The rules of a class: its declarations, and those of media queries, with `SELF` in place of its selector.
#[derive(Default)]
struct Rules {
    own: String,
    media: String,
}

impl Rules {
    fn add(&mut self, style: &Style) {
        if style.is_flex {
            // Direction, gap and alignment are those of a container, which the theme's own CSS does not make.
            self.own.push_str("display:flex;");
        }
        for (name, value) in style.properties() {
            if let serde_json::Value::Object(inner) = value {
                let query = name.trim_start_matches("@media").trim();
                let query = query.replace("(--mobile)", "(max-width: 749px)");
                let query = query.replace("(--tablet)", "(max-width: 989px)");
                let inner: String = inner.iter().map(declaration).collect();
                let _ = write!(self.media, "@media {query}{{SELF{{{inner}}}}}");
            } else {
                self.own.push_str(&declaration((name, value)));
            }
        }
    }
}

fn declaration((name, value): (&String, &serde_json::Value)) -> String {
    let text = match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.is_empty() { String::new() } else { format!("{name}:{text};") }
}

/// A short name of a text (FNV-1a).
fn fingerprint(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

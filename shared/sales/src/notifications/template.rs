//! Mail templates with placeholders: `{{ name }}`, and `{% if name %} … {% else %} … {% endif %}`. They have
//! no arithmetic, calls or comparisons.

use std::collections::BTreeMap;

use core_types::mail::{holds_link, unlinked};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use primitives::fields::Fault;
use primitives::problem::{FieldError, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{NotificationKind, Place, Placeholder};

/// The first of the characters that stand for links while other links are broken up.
const LINK_MARK: char = '\u{e000}';
/// The numbers of the links that a mail may have.
const LINKS: std::ops::Range<u32> = 0..8;

/// The subject and text of a mail, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wording {
    /// The subject.
    pub subject: String,
    /// The text.
    pub body: String,
}

/// A mail with its placeholders filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RenderedMail")]
pub struct Rendered {
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
}

/// The values of placeholders; one without a value is empty.
pub type Values = Vec<(&'static str, String)>;

fn environment<'a>() -> Result<Environment<'a>, Problem> {
    let mut environment = Environment::empty();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .map_err(Problem::internal)?;
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    Ok(environment)
}

/// The names of the placeholders in a text.
///
/// # Errors
/// `invalid_template`: the first broken tag.
fn names(text: &str) -> Result<Vec<&str>, Fault> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let tag = rest.get(at..).unwrap_or_default();
        let (is_shown, end) = match tag.as_bytes() {
            [b'{', b'{', ..] => (true, "}}"),
            [b'{', b'%', ..] => (false, "%}"),
            [b'{', b'#', ..] => return Err(broken("A comment has no place here.")),
            _ => {
                rest = tag.get(1..).unwrap_or_default();
                continue;
            }
        };
        let Some(length) = tag.find(end) else {
            return Err(broken(&format!("`{}` is not closed.", cut(tag))));
        };
        let inner = tag.get(2..length).unwrap_or_default().trim_matches(['-', '+']).trim();
        let words: Vec<&str> = inner.split_whitespace().collect();
        match (is_shown, words.as_slice()) {
            (true, [name]) | (false, ["if" | "elif", name] | ["if" | "elif", "not", name]) => {
                found.push(*name);
            }
            (false, ["else" | "endif"]) => {}
            _ => return Err(broken(&format!("`{}` is no placeholder.", cut(tag)))),
        }
        rest = tag.get(length.saturating_add(2)..).unwrap_or_default();
    }
    Ok(found)
}

/// The beginning of a tag, for an error's detail.
fn cut(tag: &str) -> String {
    tag.chars().take(40).collect()
}

fn broken(detail: &str) -> Fault {
    Fault::new("invalid_template", detail.to_owned())
}

impl Wording {
    /// Validates the texts for a mail of this kind.
    ///
    /// # Errors
    /// `invalid_template`, `unknown_placeholder`, `placeholder_not_allowed`, `placeholder_required`,
    /// `link_not_allowed` as field errors of `/subject` and `/body`.
    pub fn validate(&self, kind: NotificationKind) -> Result<(), Problem> {
        let mut errors = Vec::new();
        let mut fault = |pointer: &str, fault| {
            errors.push(FieldError { pointer: pointer.to_owned(), fault });
        };
        for (pointer, text) in [("/subject", &self.subject), ("/body", &self.body)] {
            match used(text, kind) {
                Err(wrong) => fault(pointer, wrong),
                Ok(used) => {
                    let hidden = used.iter().find(|one| one.place != Place::Anywhere);
                    if let Some(one) = hidden.filter(|_| pointer == "/subject") {
                        let detail = format!("`{}` stands in the body alone.", one.name);
                        fault(pointer, Fault::new("placeholder_not_allowed", detail));
                    }
                    let is_there = |name: &&str| used.iter().any(|one| one.name == *name);
                    let missing = kind.required().filter(|name| !is_there(name));
                    if let Some(name) = missing.filter(|_| pointer == "/body") {
                        let detail = format!("Without `{{{{ {name} }}}}` it is of no use.");
                        fault(pointer, Fault::new("placeholder_required", detail));
                    }
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
    }

    /// Renders the mail. Text that a mail program would turn into a link is broken up, except the links
    /// among the values.
    ///
    /// # Errors
    /// `internal` if a text is no valid template, which [`Wording::validate`] rejects.
    pub fn render(&self, kind: NotificationKind, values: &Values) -> Result<Rendered, Problem> {
        let text = |name: &str| {
            let found = values.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
        };
        let known = kind.placeholders();
        let links = || known.iter().filter(|one| one.place == Place::Link).zip(LINKS);
        let mark = |one: &Placeholder| {
            let place = links().find(|(link, _)| link.name == one.name)?.1;
            char::from_u32(u32::from(LINK_MARK).saturating_add(place))
        };
        let stands = |one: &Placeholder| match (text(one.name), mark(one)) {
            (None, _) => String::new(),
            (Some(_), Some(mark)) => mark.to_string(),
            (Some(text), None) => text.chars().filter(|c| !is_mark(*c)).collect(),
        };
        let given: BTreeMap<&str, Value> =
            known.iter().map(|one| (one.name, stands(one).into())).collect();
        let given = Value::from_object(given);
        let environment = environment()?;
        let say = |template: &str| {
            let said = environment.render_str(template, given.clone());
            let mut said = unlinked(&said.map_err(Problem::internal)?);
            for (link, _) in links() {
                if let Some(mark) = mark(link) {
                    said = said.replace(mark, text(link.name).unwrap_or_default());
                }
            }
            Ok::<_, Problem>(said)
        };
        let subject = say(&self.subject)?;
        let subject: Vec<&str> = subject.split(|c: char| c.is_control()).collect();
        let text = format!("{}\n", say(&self.body)?.trim_end());
        Ok(Rendered { subject: subject.join(" ").trim().to_owned(), text })
    }

    /// Renders the mail with sample values.
    ///
    /// # Errors
    /// `internal` if a text is no valid template.
    pub fn preview(&self, kind: NotificationKind) -> Result<Rendered, Problem> {
        let samples = kind.placeholders().iter().map(|one| (one.name, one.sample.to_owned()));
        self.render(kind, &samples.collect())
    }
}

fn is_mark(c: char) -> bool {
    LINKS.contains(&u32::from(c).wrapping_sub(u32::from(LINK_MARK)))
}

/// The placeholders that a text uses.
fn used(text: &str, kind: NotificationKind) -> Result<Vec<Placeholder>, Fault> {
    let mut used = Vec::new();
    for name in names(text)? {
        let known = kind.placeholders().iter().find(|known| known.name == name);
        let Some(known) = known else {
            let all: Vec<&str> = kind.placeholders().iter().map(|known| known.name).collect();
            let detail = format!("`{}` is not one of: {}.", cut(name), all.join(", "));
            return Err(Fault::new("unknown_placeholder", detail));
        };
        used.push(*known);
    }
    let environment = environment().map_err(|problem| broken(&problem.to_string()))?;
    environment.template_from_str(text).map_err(|error| broken(&error.to_string()))?;
    if holds_link(text) || text.contains(is_mark) {
        let detail = "A mail has no links but its placeholders: write no addresses.";
        return Err(Fault::new("link_not_allowed", detail));
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::super::built_in;
    use super::*;

    fn wording(subject: &str, body: &str) -> Wording {
        Wording { subject: subject.to_owned(), body: body.to_owned() }
    }

    #[test]
    fn built_in_texts_are_valid_short_ascii() {
        for kind in NotificationKind::ALL {
            let words = built_in::wording(*kind);
            words.validate(*kind).unwrap();
            for values in [words.preview(*kind).unwrap(), words.render(*kind, &Vec::new()).unwrap()]
            {
                assert!(values.text.is_ascii() && values.text.ends_with('\n'), "{values:?}");
                assert!(!values.text.contains("\n\n\n") && !values.text.contains(['{', '%']));
                assert!(values.text.lines().all(|line| line.len() < 75), "{}", values.text);
            }
        }
    }

    #[test]
    fn each_field_error_is_reported() {
        let kind = NotificationKind::PaymentRequested;
        for (subject, body, expected) in [
            ("{{ order }}", "{{ link }}", vec![("/subject", "unknown_placeholder")]),
            ("{{ link }}", "{{ link }}", vec![("/subject", "placeholder_not_allowed")]),
            ("Pay", "Now", vec![("/body", "placeholder_required")]),
            ("Pay", "{{ link }", vec![("/body", "invalid_template")]),
            ("Pay", "{% if link %}{{ link }}", vec![("/body", "invalid_template")]),
            (
                "Pay",
                "{% for a in link %}{{ link }}{% endfor %}",
                vec![("/body", "invalid_template")],
            ),
            ("Pay", "{{ link * 9 }}", vec![("/body", "invalid_template")]),
            ("Pay", "{# {{ link }} #}", vec![("/body", "invalid_template")]),
            ("Pay at evil.example", "{{ link }}", vec![("/subject", "link_not_allowed")]),
            (
                "{{ x }}",
                "{{ y }}",
                vec![("/subject", "unknown_placeholder"), ("/body", "unknown_placeholder")],
            ),
        ] {
            let rejected = wording(subject, body).validate(kind).unwrap_err();
            let errors = rejected.errors().iter();
            let found: Vec<_> = errors.map(|one| (one.pointer.as_str(), one.fault.code)).collect();
            assert_eq!(found, expected, "{subject} {body}");
        }
        let sound =
            "Zahlen: {{link}} {% if not outstanding %}\u{20ac}{%- else -%}{ {{ shop }}{% endif %}";
        wording("Bestellung {{order_number}}", sound).validate(kind).unwrap();
    }

    #[test]
    fn values_and_text_never_form_a_link() {
        let kind = NotificationKind::OrderShipped;
        let words =
            wording("{{ shop }}", "{{ shop }}.{{ carrier }}\n{{ tracking_url }}|{{ link }}");
        let values = vec![
            ("shop", "evil\u{e000}\nshop".to_owned()),
            ("carrier", "example".to_owned()),
            ("tracking_url", "https://post.example/1".to_owned()),
        ];
        let mail = words.render(kind, &values).unwrap();
        assert_eq!(mail.subject, "evil shop");
        assert_eq!(mail.text, "evil\nshop. example\nhttps://post.example/1|\n");
    }
}

//! Mail templates with placeholders: `{{ name }}`, `{% if name %} … {% else %} … {% endif %}`, and loops over
//! the lists of an order: `{% for line in lines %} {{ line.title }} {% endfor %}`. They have no arithmetic, calls
//! or comparisons. A tab in a line separates a label from its amount.

use std::collections::BTreeMap;

use core_types::fields::Locale;
use core_types::mail::{holds_link, unlinked};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use primitives::fields::Violation;
use primitives::problem::{FieldError, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::html;
use super::kind::{NotificationKind, Placeholder, PlaceholderList, PlaceholderPosition};
use super::tags::{invalid_template, used, without_dots_in_tags};

/// The first of the characters that stand for links while other links are broken up.
const LINK_MARK: char = '\u{e000}';
/// The longest text of a mail, in bytes; the built-in one is sent instead of a longer one (our choice).
const LONGEST: usize = 60_000;
/// The numbers of the links that a mail may have.
const LINKS: std::ops::Range<u32> = 0..8;

/// The subject and text of a mail, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailTemplate {
    /// The subject.
    pub subject: String,
    /// The text.
    pub body: String,
}

/// A mail with its placeholders filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RenderedMail")]
pub struct RenderedMail {
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The same as HTML.
    pub html: String,
}

/// The values of placeholders by name; one without a value is empty.
pub type TemplateFields = Vec<(&'static str, String)>;

/// The values of a mail.
#[derive(Debug, Clone, Default)]
pub struct TemplateValues {
    /// The values of placeholders.
    pub fields: TemplateFields,
    /// The entries of each list.
    pub lists: Vec<(&'static str, Vec<TemplateFields>)>,
}

impl From<TemplateFields> for TemplateValues {
    fn from(fields: TemplateFields) -> Self {
        Self { fields, lists: Vec::new() }
    }
}

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

impl MailTemplate {
    /// Validates the texts for a mail of this kind.
    ///
    /// # Errors
    /// `invalid_template`, `unknown_placeholder`, `placeholder_not_allowed`, `placeholder_required`,
    /// `link_not_allowed` as field errors of `/subject` and `/body`.
    pub fn validate(&self, kind: NotificationKind) -> Result<(), Problem> {
        let mut errors = Vec::new();
        let mut violation = |pointer: &str, violation| {
            errors.push(FieldError::at(pointer, violation));
        };
        for (pointer, text, place) in [
            ("/subject", &self.subject, PlaceholderPosition::Anywhere),
            ("/body", &self.body, PlaceholderPosition::Body),
        ] {
            match checked(text, kind, place) {
                Err(wrong) => violation(pointer, wrong),
                Ok(used) => {
                    let hidden = used.iter().find(|one| one.place != PlaceholderPosition::Anywhere);
                    if let Some(one) = hidden.filter(|_| pointer == "/subject") {
                        let detail = format!("`{}` is only allowed in the body.", one.name);
                        violation(pointer, Violation::new("placeholder_not_allowed", detail));
                    }
                    let is_there = |name: &&str| used.iter().any(|one| one.name == *name);
                    let missing = kind.required().filter(|name| !is_there(name));
                    if let Some(name) = missing.filter(|_| pointer == "/body") {
                        let detail = format!("Must contain `{{{{ {name} }}}}`.");
                        violation(pointer, Violation::new("placeholder_required", detail));
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
    /// `internal` if a text is no valid template, which [`MailTemplate::validate`] rejects.
    pub fn render(
        &self,
        kind: NotificationKind,
        language: &Locale,
        values: &TemplateValues,
    ) -> Result<RenderedMail, Problem> {
        let text = |name: &str| {
            let found = values.fields.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
        };
        let known = kind.placeholders();
        let links = || known.iter().filter(|one| one.place == PlaceholderPosition::Link).zip(LINKS);
        let mark = |one: &Placeholder| {
            let place = links().find(|(link, _)| link.name == one.name)?.1;
            char::from_u32(u32::from(LINK_MARK).saturating_add(place))
        };
        let value = |one: &Placeholder| match (text(one.name), mark(one)) {
            (None, _) => String::new(),
            (Some(_), Some(mark)) => mark.to_string(),
            (Some(text), None) => unmarked(text),
        };
        let of_lists = kind.lists().iter().map(|list| (list.name, entries(list, values)));
        let given: BTreeMap<&str, Value> =
            known.iter().map(|one| (one.name, value(one).into())).chain(of_lists).collect();
        let given = Value::from_object(given);
        let environment = environment()?;
        let say = |template: &str| {
            let rendered = environment.render_str(template, given.clone());
            let mut rendered = unlinked(&rendered.map_err(Problem::internal)?);
            for (link, _) in links() {
                if let Some(mark) = mark(link) {
                    rendered = rendered.replace(mark, text(link.name).unwrap_or_default());
                }
            }
            Ok::<_, Problem>(rendered)
        };
        let subject = say(&self.subject)?;
        let subject: Vec<&str> = subject.split(|c: char| c.is_control()).collect();
        let text = format!("{}\n", single_spaced(&say(&self.body)?).trim_end());
        if text.len() > LONGEST {
            return Err(Problem::internal("a mail is too long"));
        }
        let subject = subject.join(" ").trim().to_owned();
        let html = html::page(&subject, &text, language);
        Ok(RenderedMail { text: html::plain(&text), html, subject })
    }

    /// Renders the mail with sample values.
    ///
    /// # Errors
    /// `internal` if a text is no valid template.
    pub fn preview(
        &self,
        kind: NotificationKind,
        language: &Locale,
    ) -> Result<RenderedMail, Problem> {
        let fields = kind.placeholders().iter().map(|one| (one.name, one.sample.to_owned()));
        let entry = |list: &PlaceholderList| {
            let fields = list.fields.iter().map(|(name, sample)| (*name, (*sample).to_owned()));
            (list.name, vec![fields.collect()])
        };
        let lists = kind.lists().iter().map(entry).collect();
        self.render(kind, language, &TemplateValues { fields: fields.collect(), lists })
    }
}

/// The text with one empty line where it has several, as of parts that have no value.
fn single_spaced(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let is_empty = line.trim().is_empty();
        if !(is_empty && lines.last().is_none_or(|last| last.trim().is_empty())) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// The entries of a list, each with all of its fields.
fn entries(list: &PlaceholderList, values: &TemplateValues) -> Value {
    let found = values.lists.iter().find(|(name, _)| *name == list.name);
    let entries = found.map(|(_, entries)| entries.as_slice()).unwrap_or_default();
    let entry = |entry: &TemplateFields| {
        let text = |name: &str| entry.iter().find(|(known, _)| *known == name);
        let fields = list.fields.iter().map(|(name, _)| {
            let text = text(name).map(|(_, text)| unmarked(text)).unwrap_or_default();
            (*name, Value::from(text))
        });
        Value::from_object(fields.collect::<BTreeMap<&str, Value>>())
    };
    entries.iter().map(entry).collect()
}

/// A text without the characters that stand for links.
fn unmarked(text: &str) -> String {
    text.chars().filter(|c| !is_mark(*c)).collect()
}

fn is_mark(c: char) -> bool {
    LINKS.contains(&u32::from(c).wrapping_sub(u32::from(LINK_MARK)))
}

/// The placeholders of a text that is a valid template.
fn checked(
    text: &str,
    kind: NotificationKind,
    place: PlaceholderPosition,
) -> Result<Vec<Placeholder>, Violation> {
    let used = used(text, kind, place)?;
    let environment = environment().map_err(|problem| invalid_template(&problem.to_string()))?;
    environment.template_from_str(text).map_err(|error| invalid_template(&error.to_string()))?;
    if holds_link(&without_dots_in_tags(text)) || text.contains(is_mark) {
        let detail = "Links are not allowed: use the placeholders.";
        return Err(Violation::new("link_not_allowed", detail));
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::super::built_in;
    use super::*;

    fn wording(subject: &str, body: &str) -> MailTemplate {
        MailTemplate { subject: subject.to_owned(), body: body.to_owned() }
    }

    #[test]
    fn built_in_texts_are_valid_short_ascii() {
        for kind in NotificationKind::ALL {
            let words = built_in::wording(*kind);
            words.validate(*kind).unwrap();
            for values in [
                words.preview(*kind, &Locale::default()).unwrap(),
                words.render(*kind, &Locale::default(), &TemplateValues::default()).unwrap(),
            ] {
                assert!(values.text.is_ascii() && values.text.ends_with('\n'), "{values:?}");
                assert!(!values.text.contains("\n\n\n") && !values.text.contains(['{', '}']));
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
                vec![("/body", "unknown_placeholder")],
            ),
            (
                "{% for line in lines %}{% endfor %}",
                "{{ link }}",
                vec![("/subject", "placeholder_not_allowed")],
            ),
            ("Pay", "{{ link }}{{ line.title }}", vec![("/body", "placeholder_not_allowed")]),
            (
                "Pay",
                "{% for line in lines %}{{ line.cost }}{% endfor %}{{ link }}",
                vec![("/body", "unknown_placeholder")],
            ),
            (
                "Pay",
                "{% for line in lines %}{% for tax in taxes %}{% endfor %}{% endfor %}{{ link }}",
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
            let found: Vec<_> =
                errors.map(|one| (one.pointer.as_str(), one.violation.code)).collect();
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
        let mail = words.render(kind, &Locale::default(), &values.into()).unwrap();
        assert_eq!(mail.subject, "evil shop");
        assert_eq!(mail.text, "evil\nshop. example\nhttps://post.example/1|\n");
    }
}

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
/// The value of a placeholder in a rendering that checks whether it is shown: no text has this character.
const SHOWN: char = '\u{e0ff}';
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
                    if let Some(name) = self.missing(kind).filter(|_| pointer == "/body") {
                        let detail = format!("Must show `{{{{ {name} }}}}` in every mail.");
                        violation(pointer, Violation::new("placeholder_required", detail));
                    }
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
    }

    /// The placeholder that the body must show and does not show in every mail: with all values, and with no others.
    fn missing(&self, kind: NotificationKind) -> Option<&'static str> {
        let name = kind.required()?;
        let body = Self { subject: String::new(), body: self.body.clone() };
        let shows = |mut values: TemplateValues| {
            values.fields.retain(|(other, _)| *other != name);
            values.fields.push((name, SHOWN.to_string()));
            let mail = body.render(kind, &Locale::default(), &values);
            mail.is_ok_and(|mail| mail.text.contains(SHOWN))
        };
        let is_shown = shows(sample(kind)) && shows(TemplateValues::default());
        (!is_shown).then_some(name)
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
        let marked = |template: &str| {
            let rendered = environment.render_str(template, given.clone());
            rendered.map(|rendered| unlinked(&rendered)).map_err(Problem::internal)
        };
        let link = |(one, _): (&Placeholder, u32)| Some((mark(one)?, text(one.name)?));
        let links: Vec<(char, &str)> = links().filter_map(link).collect();
        let linked = |marked: &str| {
            links.iter().fold(marked.to_owned(), |text, (mark, url)| text.replace(*mark, url))
        };
        let subject = linked(&marked(&self.subject)?);
        let subject: Vec<&str> = subject.split(|c: char| c.is_control()).collect();
        let body = format!("{}\n", single_spaced(&marked(&self.body)?).trim_end());
        let text = linked(&body);
        if text.len() > LONGEST {
            return Err(Problem::internal("a mail is too long"));
        }
        let subject = subject.join(" ").trim().to_owned();
        let html = html::page(&subject, &body, &links, language);
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
        self.render(kind, language, &sample(kind))
    }
}

/// The values of a mail in a preview.
fn sample(kind: NotificationKind) -> TemplateValues {
    let fields = kind.placeholders().iter().map(|one| (one.name, one.sample.to_owned()));
    let entry = |list: &PlaceholderList| {
        let fields = list.fields.iter().map(|(name, sample)| (*name, (*sample).to_owned()));
        (list.name, vec![fields.collect()])
    };
    TemplateValues { fields: fields.collect(), lists: kind.lists().iter().map(entry).collect() }
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
    if holds_link(&without_dots_in_tags(text)) || text.contains(|c| is_mark(c) || c == SHOWN) {
        let detail = "Links are not allowed: use the placeholders.";
        return Err(Violation::new("link_not_allowed", detail));
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::super::built_in::{ALL, Wording};
    use super::*;

    fn wording(subject: &str, body: &str) -> MailTemplate {
        MailTemplate { subject: subject.to_owned(), body: body.to_owned() }
    }

    #[test]
    fn built_in_texts_are_valid_and_have_short_lines() {
        let texts =
            ALL.iter().flat_map(|words| NotificationKind::ALL.iter().map(|kind| (*words, *kind)));
        for (words, kind) in texts {
            let language = words.locale();
            let text = words.text(kind);
            text.validate(kind).unwrap();
            for mail in [
                text.preview(kind, &language).unwrap(),
                text.render(kind, &language, &TemplateValues::default()).unwrap(),
            ] {
                let of = format!("{language} {kind:?}: {}", mail.text);
                assert!(mail.text.ends_with('\n') && !mail.text.contains("\n\n\n"), "{of}");
                assert!(!mail.text.contains(['{', '}', '\t']), "{of}");
                assert!(mail.text.lines().all(|line| line.chars().count() < 80), "{of}");
                assert!(!mail.subject.is_empty() && mail.subject.chars().count() < 60, "{of}");
                assert!(mail.html.contains(&format!("<html lang=\"{language}\">")), "{of}");
                assert!(language == Locale::default() || !has_english(&mail), "{of}");
            }
            assert!(!text.subject.contains(char::is_control), "{language} {kind:?}");
            let mail = text.preview(kind, &language).unwrap();
            let sample = kind.placeholders().iter().find(|one| kind.required() == Some(one.name));
            assert!(sample.is_none_or(|one| mail.text.contains(one.sample)), "{}", mail.text);
        }
        let shown = |kind| ALL.map(|words: &Wording| words.text(kind).subject);
        for kind in NotificationKind::ALL {
            let subjects: std::collections::BTreeSet<_> = shown(*kind).into_iter().collect();
            assert_eq!(subjects.len(), ALL.len(), "{kind:?}");
        }
    }

    /// Whether a mail has words that only English has, outside the values of its preview.
    fn has_english(mail: &RenderedMail) -> bool {
        let left = ["your", "the", "you", "and", "with", "order"];
        let values = ["Goods can be returned within", "Transfer the total with the order number"];
        let text = format!("{}\n{}", mail.subject, mail.text).to_lowercase();
        let text = values.iter().fold(text, |text, value| text.replace(&value.to_lowercase(), ""));
        text.split(|c: char| !c.is_alphabetic() && c != '\'').any(|word| left.contains(&word))
    }

    #[test]
    fn what_a_label_precedes_stands_in_every_language() {
        let values = || -> TemplateValues {
            let fields = vec![
                ("payment_method", "Stripe".to_owned()),
                ("shipping", "5,00 EUR".to_owned()),
                ("shipping_method", "DHL".to_owned()),
                ("outstanding", "5,00 EUR".to_owned()),
            ];
            fields.into()
        };
        let kind = NotificationKind::OrderPlaced;
        for (words, lines) in ALL.iter().zip([
            ["Payment: Stripe", "Shipping, DHL: 5,00 EUR"],
            ["Zahlung: Stripe", "Versand, DHL: 5,00 EUR"],
            ["Pago: Stripe", "Envío, DHL: 5,00 EUR"],
            ["Paiement : Stripe", "Expédition, DHL: 5,00 EUR"],
            ["भुगतान: Stripe", "शिपिंग, DHL: 5,00 EUR"],
            ["お支払い：Stripe", "配送：DHL: 5,00 EUR"],
        ]) {
            let mail = words.text(kind).render(kind, &words.locale(), &values()).unwrap();
            for line in lines {
                assert!(mail.text.lines().any(|found| found == line), "{line} in {}", mail.text);
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
            ("Pay", "{% if link %}Now{% endif %}", vec![("/body", "placeholder_required")]),
            (
                "Pay",
                "{% if not link %}{{ link }}{% endif %}",
                vec![("/body", "placeholder_required")],
            ),
            ("Pay", "{% if tax %}{{ link }}{% endif %}", vec![("/body", "placeholder_required")]),
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
        // The sample of a code is none.
        let copied = wording("Hi", "Code: 042137").validate(NotificationKind::CustomerSignInCode);
        assert_eq!(copied.unwrap_err().errors()[0].violation.code, "placeholder_required");
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

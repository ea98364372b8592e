//! Submissions of a storefront's forms by visitors.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, EventSubject, Example, sample};
use core_types::fields::Handle;
use core_types::id::{FormSubmissionId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::resource::Resource;
use core_types::sample_id;
use primitives::clock::Timestamp;
use primitives::fields::escaped;
use primitives::problem::{FieldError, Problem};
use schemars::json_schema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use table::item::{Item, Key};

core_types::topics! {
    FORM_SUBMITTED = "form.submitted", "form_submission", Some("read_forms"), FormSubmissionView,
        "A form was submitted; not sent for what is certainly spam.";
}

/// The most fields of one submission.
pub const MAX_FIELDS: usize = 50;
/// The name of the form by which shops take sign-ups for news: nobody has to read those one by one.
pub const NEWSLETTER: &str = "newsletter";
/// The most bytes of a submission's request body.
pub const MAX_BYTES: usize = 10 * 1024;
/// The most characters of a field's name (our choice).
const MAX_NAME: usize = 100;
/// A field that is hidden from people; only bots fill it in.
const HONEYPOT: &str = "_gotcha";
/// The score of certain spam.
const CERTAIN: u8 = 100;
/// The score of each link, and the most that links add, which is below [`CERTAIN`].
const PER_LINK: (usize, usize) = (20, 80);

primitives::string_enum! {
    /// The status of a submission.
    FormStatus {
        /// Unread.
        New = "new",
        /// Read by the merchant.
        Read = "read",
        /// Handled.
        Archived = "archived",
        /// Spam.
        Spam = "spam",
    }
}

/// A submission of a form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FormSubmission {
    /// Part of the key.
    pub id: FormSubmissionId,
    /// Part of the key.
    pub store_id: StoreId,
    /// The form's name.
    pub form: Handle,
    /// The fields, by name.
    pub fields: BTreeMap<String, String>,
    /// The status.
    pub status: FormStatus,
    /// The spam score, from 0 to 100 (certain).
    pub spam_score: u8,
    /// The network prefix of the sender's IP address.
    pub source_ip_prefix: String,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for FormSubmission {
    const KIND: &'static str = "form_submission";
    fn key(&self) -> Key {
        key::form_submission(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let status = self.status.as_str();
        vec![key::form_submissions_by_status(&self.store_id, status, self.created_at, &self.id)]
    }
}

/// The validated fields of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    fields: BTreeMap<String, String>,
    trapped: bool,
}

primitives::inline_schema!([] Filled, "FilledForm", |_generator| {
    json_schema!({
        "type": "object",
        "properties": {
            "fields": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": MAX_FIELDS,
                "propertyNames": {"minLength": 1, "maxLength": 100},
                "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            },
            HONEYPOT: {"description": "A field that people leave empty, and bots fill in."},
        },
        "required": ["fields"],
        "additionalProperties": false,
    })
});

impl Filled {
    /// The texts of an HTML form. Those with the same name, as of checkboxes, are joined by commas. Empty
    /// values are dropped.
    ///
    /// # Errors
    /// `validation_failed` with every field error.
    pub fn of_form(texts: impl IntoIterator<Item = (String, String)>) -> Result<Self, Problem> {
        Self::validate(joined(texts), "")
    }

    /// The fields of `{"fields": {…}}`.
    ///
    /// # Errors
    /// `validation_failed` with every field error.
    pub fn of_json(object: Value) -> Result<Self, Problem> {
        let Value::Object(mut object) = object else {
            return Err(Problem::field("", "invalid_type", "Must be an object."));
        };
        let trap = object.remove(HONEYPOT);
        let fields = object.remove("fields");
        let unknown = object.keys().map(|name| {
            violation(
                &format!("/{}", escaped(name)),
                "unknown_field",
                "Unknown field; the only field is `fields`.",
            )
        });
        let mut errors: Vec<FieldError> = unknown.collect();
        match fields {
            Some(Value::Object(mut fields)) if errors.is_empty() => {
                fields.extend(trap.map(|trap| (HONEYPOT.to_owned(), trap)));
                return Self::validate(fields, "/fields");
            }
            Some(Value::Object(_)) => {}
            None => errors.push(violation("/fields", "required", "This field is required.")),
            Some(_) => errors.push(violation("/fields", "invalid_type", "Must be an object.")),
        }
        Err(Problem::invalid(errors))
    }

    fn validate(mut given: Map<String, Value>, at: &str) -> Result<Self, Problem> {
        let trapped = given.remove(HONEYPOT).is_some_and(|trap| !is_blank(&trap));
        let mut errors = Vec::new();
        if given.is_empty() && !trapped {
            errors.push(violation(at, "required", "Must have at least one field with a value."));
        }
        if given.len() > MAX_FIELDS {
            let detail = format!("Must have at most {MAX_FIELDS} fields.");
            errors.push(violation(at, "too_many", detail));
        }
        let mut fields = BTreeMap::new();
        for (name, value) in given {
            let pointer = format!("{at}/{}", escaped(&name));
            if !(1..=MAX_NAME).contains(&name.chars().count()) {
                let detail = format!("A name must have 1 to {MAX_NAME} characters.");
                errors.push(violation(&pointer, "invalid_length", detail));
                continue;
            }
            match plain(value) {
                Some(text) => drop(fields.insert(name, text)),
                None => errors.push(violation(
                    &pointer,
                    "invalid_type",
                    "Must be a string, a number or a boolean.",
                )),
            }
        }
        if errors.is_empty() { Ok(Self { fields, trapped }) } else { Err(Problem::invalid(errors)) }
    }

    /// The spam score: certain if the hidden field is filled in, otherwise higher with every link (our
    /// choice).
    fn spam_score(&self) -> u8 {
        if self.trapped {
            return CERTAIN;
        }
        let links: usize =
            self.fields.values().map(|text| text.to_lowercase().matches("http").count()).sum();
        let (each, most) = PER_LINK;
        u8::try_from(links.saturating_mul(each).min(most)).unwrap_or(CERTAIN)
    }
}

/// The texts of a form by name; texts with the same name are joined.
fn joined(pairs: impl IntoIterator<Item = (String, String)>) -> Map<String, Value> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in pairs.into_iter().filter(|(_, text)| !text.is_empty()) {
        let known = texts.entry(name).or_default();
        if !known.is_empty() {
            known.push_str(", ");
        }
        known.push_str(&text);
    }
    texts.into_iter().map(|(name, text)| (name, Value::String(text))).collect()
}

fn violation(pointer: &str, code: &'static str, detail: impl Into<String>) -> FieldError {
    FieldError::new(pointer, code, detail.into())
}

fn is_blank(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_str().is_some_and(str::is_empty)
}

fn plain(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

impl Resource for FormSubmission {
    type View = FormSubmissionView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

impl FormSubmission {
    /// A new submission from this network. Certain spam gets the status `spam`.
    pub fn submit(
        store: &StoreId,
        form: Handle,
        filled: Filled,
        source_ip_prefix: String,
        now: Timestamp,
    ) -> Self {
        let spam_score = filled.spam_score();
        Self {
            id: FormSubmissionId::mint(now),
            store_id: store.clone(),
            form,
            fields: filled.fields,
            status: if spam_score == CERTAIN { FormStatus::Spam } else { FormStatus::New },
            spam_score,
            source_ip_prefix,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The submission at its next version, with this status; none if it has it already.
    pub fn moved_to(&self, status: FormStatus, now: Timestamp) -> Option<Self> {
        let version = self.version.saturating_add(1);
        (status != self.status).then(|| Self { status, updated_at: now, version, ..self.clone() })
    }
}

core_types::view! {
    /// A submission of a form.
    FormSubmissionView of submission: FormSubmission {
        /// The id.
        id: FormSubmissionId,
        /// The form's name.
        form: Handle,
        /// The fields, by name.
        fields: BTreeMap<String, String>,
        /// The status.
        status: FormStatus,
        /// The spam score, from 0 to 100 (certain).
        spam_score: u8,
        /// The network prefix of the sender's IP address.
        source_ip_prefix: String,
        /// When it was submitted.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

impl Example for FormSubmissionView {
    fn example() -> Self {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Self {
            id: sample_id!(FormSubmissionId),
            form: sample::<Handle>("contact"),
            fields: [field("email", "cleo@example.com"), field("message", "Hello!")].into(),
            status: FormStatus::New,
            spam_score: 0,
            source_ip_prefix: "203.0.113.0/24".into(),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn validate(fields: Value) -> Result<Filled, Problem> {
        let Value::Object(fields) = fields else { panic!("{fields}") };
        Filled::validate(fields, "/fields")
    }

    #[test]
    fn fields_are_stored_as_text() {
        let filled =
            validate(json!({"name": " Ann ", "age": 7, "ok": true, "_gotcha": ""})).unwrap();
        let texts: Vec<_> = filled.fields.values().map(String::as_str).collect();
        assert_eq!((texts, filled.spam_score()), (vec!["7", "Ann", "true"], 0));
    }

    #[test]
    fn a_filled_honeypot_is_spam_and_links_are_suspicious() {
        assert_eq!(validate(json!({"_gotcha": "x"})).unwrap().spam_score(), CERTAIN);
        let links = |count: usize| validate(json!({"text": "HTTPS://a ".repeat(count)})).unwrap();
        assert_eq!([1, 3, 9].map(|count| links(count).spam_score()), [20, 60, 80]);
    }

    #[test]
    fn every_invalid_field_is_reported() {
        let rejected = validate(json!({"a/b": {}, "": "x"})).unwrap_err();
        let mut found: Vec<_> = rejected
            .errors()
            .iter()
            .map(|error| (error.pointer.as_str(), error.violation.code))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [("/fields/", "invalid_length"), ("/fields/a~1b", "invalid_type")]);
        let many: Map<_, _> = (0..51).map(|n| (n.to_string(), json!("x"))).collect();
        assert!(validate(Value::Object(many)).is_err() && validate(json!({})).is_err());
    }
}

//! Payload filters: conditions that a subscription sets on the payload of events.
//!
//! A filter is an object of `JSONPath` (RFC 9535) and condition, evaluated before a delivery is created:
//!
//! ```json
//! {"$.data.total.amount": {"gte": 100000}, "$.data.status": ["open", "closed"]}
//! ```
//!
//! Every path must hold; a path holds when one of the values it selects meets its condition. The
//! operators are those of Amazon `EventBridge` and Amazon SNS, under plain names.
//!
//! A filter is evaluated for every event of a store, so its cost is bounded when it is created: a path
//! selects in one pass over the payload (our choice). It descends once (`..`), has one expression (`?`),
//! which inspects the values below it, and no list of selectors.

use std::cell::OnceCell;
use std::cmp::Ordering;

use core_types::event::Event;
use deserr::{Deserr, IntoValue, ValuePointerRef};
use primitives::fields::{FieldErrors, Violation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_json_path::JsonPath;

use super::Subscription;

/// The most paths of one filter.
pub const MAX_PATHS: usize = 10;
/// The longest path, in characters.
pub const MAX_PATH: usize = 200;
/// The most pairs of parentheses in a path.
const MAX_PARENTHESES: usize = 5;
/// The most values in the list of one operator.
pub const MAX_VALUES: usize = 50;
/// The longest text in a condition, in characters.
pub const MAX_TEXT: usize = 256;

/// Conditions on an event's payload, as given. They are stored as text, so that every number stays as it
/// was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PayloadFilter(Map<String, Value>);

primitives::inline_schema!([] PayloadFilter, "Filter", |_generator| schemars::json_schema!({"type": "object"}));

/// An event's payload, parsed when a filter first needs it.
#[derive(Debug)]
pub struct Payload<'a> {
    body: &'a str,
    read: OnceCell<Value>,
}

/// A path and the conditions that one of its selected values must meet.
#[derive(Debug)]
struct FilterRule {
    path: JsonPath,
    tests: Vec<FilterTest>,
}

/// One operator with its operand.
#[derive(Debug, PartialEq)]
enum FilterTest {
    Exists(bool),
    In(Vec<Value>),
    NotIn(Vec<Value>),
    Compared(&'static [Ordering], Value),
    Prefix(String),
    Suffix(String),
}

const OPERATORS: &str = "eq, ne, in, not_in, gt, gte, lt, lte, prefix, suffix, exists";

impl<'a> From<&'a Event> for Payload<'a> {
    fn from(event: &'a Event) -> Self {
        Self { body: &event.body, read: OnceCell::new() }
    }
}

impl Payload<'_> {
    fn value(&self) -> &Value {
        self.read.get_or_init(|| serde_json::from_str(self.body).unwrap_or_default())
    }
}

impl Subscription {
    /// Whether the subscription's filter passes this payload. A payload whose data was too large to send
    /// always passes: the receiver fetches the data, and sending too much is better than losing an event.
    pub fn wants(&self, payload: &Payload<'_>) -> bool {
        let Some(filter) = &self.filter else { return true };
        let value = payload.value();
        value.pointer("/data/truncated") == Some(&Value::Bool(true)) || filter.passes(value)
    }
}

impl PayloadFilter {
    /// The filter as given.
    pub fn to_json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    fn passes(&self, payload: &Value) -> bool {
        let mut errors = FieldErrors::default();
        let rules = rules(&self.0, ValuePointerRef::Origin, &mut errors);
        // It was valid when it was created. Should the rules ever change, it passes every event: none is
        // lost.
        !errors.is_empty() || rules.iter().all(|rule| rule.matches(payload))
    }
}

impl FilterRule {
    fn matches(&self, payload: &Value) -> bool {
        let nodes = self.path.query(payload);
        if self.tests.contains(&FilterTest::Exists(false)) {
            return nodes.is_empty();
        }
        nodes.iter().any(|value| self.tests.iter().all(|test| test.matches(value)))
    }
}

impl FilterTest {
    fn matches(&self, value: &Value) -> bool {
        let among = |list: &[Value]| list.iter().any(|wanted| equal(value, wanted));
        match self {
            Self::Exists(exists) => *exists,
            Self::In(list) => among(list),
            Self::NotIn(list) => !among(list),
            Self::Compared(orders, bound) => {
                compare(value, bound).is_some_and(|order| orders.contains(&order))
            }
            Self::Prefix(text) => value.as_str().is_some_and(|found| found.starts_with(text)),
            Self::Suffix(text) => value.as_str().is_some_and(|found| found.ends_with(text)),
        }
    }
}

/// Equality: of numbers by value, of everything else as in JSON.
fn equal(value: &Value, wanted: &Value) -> bool {
    value == wanted || compare(value, wanted) == Some(Ordering::Equal)
}

/// The order of two numbers by value, or of two texts by code point, which also orders times of one
/// format; none for other pairs.
fn compare(value: &Value, bound: &Value) -> Option<Ordering> {
    match (value, bound) {
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (Value::Number(one), Value::Number(other)) => match (one.as_i128(), other.as_i128()) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
        },
        _ => None,
    }
}

/// Parses the rules of a filter. All its errors are added to `errors`.
fn rules(
    given: &Map<String, Value>,
    location: ValuePointerRef<'_>,
    errors: &mut FieldErrors,
) -> Vec<FilterRule> {
    let mut found = Vec::new();
    for (text, condition) in given {
        let pointer = location.push_key(text);
        let path = path(text).map_err(|violation| errors.add_at(pointer, || violation));
        let tests = tests(condition, pointer, errors);
        found.extend(path.ok().map(|path| FilterRule { path, tests }));
    }
    found
}

/// Parses a path, and rejects one whose cost is not bounded.
fn path(text: &str) -> Result<JsonPath, Violation> {
    if text.chars().count() > MAX_PATH {
        return Err(Violation::new(
            "too_long",
            format!("A path must have at most {MAX_PATH} characters."),
        ));
    }
    // Outside of quotes these characters have no other meaning in a valid path. This is checked before
    // parsing, because each level of nested parentheses doubles the time of parsing.
    let bare = unquoted(text);
    let count = |what: &str| bare.matches(what).count();
    let is_costly = count("..") > 1 || count("?") > 1 || count("$") > 1 || bare.contains(',');
    if is_costly || count("(") > MAX_PARENTHESES {
        let detail = "Too costly: use at most one `..`, one `?` and 5 pairs of parentheses, `$` only as the \
                      first character, and no `,`.";
        return Err(Violation::new("json_path_too_costly", detail));
    }
    JsonPath::parse(text).map_err(|error| {
        let detail = format!("Must be a JSONPath (RFC 9535) like `$.data.status`: {error}.");
        Violation::new("invalid_json_path", detail)
    })
}

/// The text without its quoted parts (RFC 9535 §2.3.1.1).
fn unquoted(text: &str) -> String {
    let (mut bare, mut quote, mut escaped) = (String::new(), None, false);
    for c in text.chars() {
        match quote {
            None if c == '\'' || c == '"' => quote = Some(c),
            None => bare.push(c),
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
        }
    }
    bare
}

/// Parses a condition: a value to equal, a list of such values, or an object of operators, all of which
/// must hold.
fn tests(
    condition: &Value,
    pointer: ValuePointerRef<'_>,
    errors: &mut FieldErrors,
) -> Vec<FilterTest> {
    let validated = match condition {
        Value::Object(operators) => {
            if operators.is_empty() {
                let violation = || Violation::new("too_few", "Must have at least one operator.");
                errors.add_at(pointer, violation);
            }
            let mut found = Vec::new();
            for (name, operand) in operators {
                match test(name, operand) {
                    Ok(test) => found.push(test),
                    Err(violation) => errors.add_at(pointer.push_key(name), || violation),
                }
            }
            if found.len() > 1 && found.contains(&FilterTest::Exists(false)) {
                let detail = "`exists: false` cannot be combined with other operators.";
                errors.add_at(pointer, || Violation::new("contradictory", detail));
            }
            return found;
        }
        Value::Array(_) => list(condition).map(FilterTest::In),
        value => scalar(value).map(|value| FilterTest::In(vec![value])),
    };
    match validated {
        Ok(test) => vec![test],
        Err(violation) => {
            errors.add_at(pointer, || violation);
            Vec::new()
        }
    }
}

fn test(name: &str, operand: &Value) -> Result<FilterTest, Violation> {
    Ok(match name {
        "eq" => FilterTest::In(vec![scalar(operand)?]),
        "ne" => FilterTest::NotIn(vec![scalar(operand)?]),
        "in" => FilterTest::In(list(operand)?),
        "not_in" => FilterTest::NotIn(list(operand)?),
        "gt" => FilterTest::Compared(&[Ordering::Greater], bound(operand)?),
        "gte" => FilterTest::Compared(&[Ordering::Greater, Ordering::Equal], bound(operand)?),
        "lt" => FilterTest::Compared(&[Ordering::Less], bound(operand)?),
        "lte" => FilterTest::Compared(&[Ordering::Less, Ordering::Equal], bound(operand)?),
        "prefix" => FilterTest::Prefix(text(operand)?),
        "suffix" => FilterTest::Suffix(text(operand)?),
        "exists" => FilterTest::Exists(
            operand
                .as_bool()
                .ok_or_else(|| Violation::new("invalid_type", "Must be a boolean."))?,
        ),
        _ => {
            let detail = format!("Unknown operator; the operators are {OPERATORS}.");
            return Err(Violation::new("unknown_operator", detail));
        }
    })
}

fn scalar(value: &Value) -> Result<Value, Violation> {
    match value {
        Value::Array(_) | Value::Object(_) => {
            Err(Violation::new("invalid_type", "Must be a string, a number, a boolean or null."))
        }
        Value::String(given) => text_of(given).map(Value::String),
        plain => Ok(plain.clone()),
    }
}

fn bound(value: &Value) -> Result<Value, Violation> {
    match value {
        Value::Number(_) | Value::String(_) => scalar(value),
        _ => Err(Violation::new("invalid_type", "Must be a number or a string.")),
    }
}

fn list(value: &Value) -> Result<Vec<Value>, Violation> {
    let Value::Array(values) = value else {
        return Err(Violation::new("invalid_type", "Must be an array."));
    };
    match values.len() {
        0 => Err(Violation::new("too_few", "Must list at least one value.")),
        1..=MAX_VALUES => values.iter().map(scalar).collect(),
        _ => Err(Violation::new("too_many", format!("Must list at most {MAX_VALUES} values."))),
    }
}

fn text(value: &Value) -> Result<String, Violation> {
    let text = value.as_str().filter(|text| !text.is_empty());
    text.ok_or_else(|| Violation::new("invalid_type", "Must be a string.")).and_then(text_of)
}

fn text_of(text: &str) -> Result<String, Violation> {
    if text.chars().count() <= MAX_TEXT {
        return Ok(text.to_owned());
    }
    Err(Violation::new("too_long", format!("Must have at most {MAX_TEXT} characters.")))
}

impl Deserr<FieldErrors> for PayloadFilter {
    fn deserialize_from_value<V: IntoValue>(
        value: deserr::Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let violation = match Value::from(value) {
            Value::Object(given) if (1..=MAX_PATHS).contains(&given.len()) => {
                let mut errors = FieldErrors::default();
                rules(&given, location, &mut errors);
                return if errors.is_empty() { Ok(Self(given)) } else { Err(errors) };
            }
            Value::Object(given) if given.is_empty() => Violation::new(
                "too_few",
                "Must have at least one path; leave it out for no filter.",
            ),
            Value::Object(_) => {
                Violation::new("too_many", format!("Must have at most {MAX_PATHS} paths."))
            }
            _ => Violation::new("invalid_type", "Must be an object of JSONPath and condition."),
        };
        Err(FieldErrors::at(location, violation))
    }
}

impl From<PayloadFilter> for String {
    fn from(filter: PayloadFilter) -> Self {
        filter.to_json().to_string()
    }
}

impl TryFrom<String> for PayloadFilter {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        serde_json::from_str(&text).map(Self)
    }
}

#[cfg(test)]
mod tests;

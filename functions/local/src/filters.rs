//! The filters of the table's stream in `template.yaml`: they select the records that its listener is invoked
//! with.
//!
//! They implement the rules of Lambda's event filtering that the template uses. A list has the allowed
//! values, exact or by prefix. A record must match all members of a pattern, and one of several patterns.

use std::collections::BTreeSet;

use emulators::AnyError;
use serde_json::Value;

/// The pointers to the kind of an item in a pattern.
const KINDS: [&str; 2] = ["/dynamodb/NewImage/entity/S", "/dynamodb/OldImage/entity/S"];

/// The patterns of an event source; without a pattern every record matches.
#[derive(Debug, Clone)]
pub struct Filters(Vec<Value>);

impl Filters {
    /// Parses patterns, each a JSON text as in the template.
    ///
    /// # Errors
    /// Invalid JSON, or a rule that is not implemented here.
    pub(crate) fn parse(patterns: &[String]) -> Result<Self, AnyError> {
        let parse = |pattern: &String| match serde_json::from_str(pattern) {
            Ok(parsed) if is_understood(&parsed) => Ok(parsed),
            _ => Err(format!("template.yaml: values and prefixes, please: {pattern}").into()),
        };
        patterns.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a record of the stream matches.
    pub fn takes(&self, record: &Value) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| matches(pattern, record))
    }

    /// The changes of items of a kind that may match, as in `("INSERT", "event")`; none when the patterns do not
    /// name them all.
    pub fn changes(&self) -> Option<BTreeSet<(String, String)>> {
        let mut changes = BTreeSet::new();
        for pattern in &self.0 {
            let kinds = KINDS.iter().find_map(|pointer| texts(pattern.pointer(pointer)?))?;
            for change in texts(pattern.get("eventName")?)? {
                changes.extend(kinds.iter().map(|kind| (change.clone(), kind.clone())));
            }
        }
        (!changes.is_empty()).then_some(changes)
    }

    /// Whether a record of this change (`INSERT`) of an item of this kind may match. If not, the record need
    /// not be built.
    pub fn may_take(&self, change: &str, kind: &str) -> bool {
        let is_among = |pattern: &Value, pointer: &str, value: &str| {
            pattern.pointer(pointer).is_some_and(|allowed| matches(allowed, &Value::from(value)))
        };
        let may = |pattern: &Value| {
            is_among(pattern, "/eventName", change)
                && KINDS.iter().any(|pointer| is_among(pattern, pointer, kind))
        };
        self.0.is_empty() || self.0.iter().any(may)
    }
}

fn is_understood(pattern: &Value) -> bool {
    match pattern {
        Value::Object(members) => !members.is_empty() && members.values().all(is_understood),
        Value::Array(allowed) => {
            allowed.iter().all(|rule| rule.is_string() || prefix(rule).is_some())
        }
        _ => false,
    }
}

fn matches(pattern: &Value, value: &Value) -> bool {
    match pattern {
        Value::Object(members) => members
            .iter()
            .all(|(name, inner)| value.get(name).is_some_and(|value| matches(inner, value))),
        Value::Array(allowed) => allowed.iter().any(|rule| match (prefix(rule), value.as_str()) {
            (Some(prefix), Some(text)) => text.starts_with(prefix),
            _ => rule == value,
        }),
        _ => false,
    }
}

/// The values of a list that allows these alone; none where it has other rules.
fn texts(allowed: &Value) -> Option<Vec<String>> {
    allowed.as_array()?.iter().map(|rule| rule.as_str().map(str::to_owned)).collect()
}

/// The prefix of a rule like `{"prefix": "-"}`.
fn prefix(rule: &Value) -> Option<&str> {
    let rule = rule.as_object().filter(|rule| rule.len() == 1)?;
    rule.get("prefix")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template;

    /// The filters of the template.
    fn of_the_stream() -> Filters {
        let functions = template::functions().unwrap();
        functions.into_iter().find(|it| it.name == "Dispatcher").unwrap().stream.unwrap()
    }

    fn level(change: &str, before: &str, now: &str) -> Value {
        let image = |available| json!({"entity": {"S": "level"}, "available": {"N": available}});
        let images = json!({"OldImage": image(before), "NewImage": image(now)});
        json!({"eventName": change, "dynamodb": images})
    }

    #[test]
    fn only_stock_that_runs_out_or_comes_back_matches() {
        let filters = of_the_stream();
        for (before, now, is_news) in [
            ("3", "0", true),
            ("0", "3", true),
            ("2", "-1", true),
            ("-1", "4", true),
            ("10", "2", false),
        ] {
            assert_eq!(filters.takes(&level("MODIFY", before, now)), is_news, "{before} {now}");
        }
        assert!(filters.takes(&level("INSERT", "1", "1")));
        assert!(!filters.takes(&level("REMOVE", "1", "0")));
    }

    #[test]
    fn new_events_and_mails_match_and_their_changes_do_not() {
        let filters = of_the_stream();
        for (kind, change, is_news) in [
            ("event", "INSERT", true),
            ("mail", "INSERT", true),
            ("event", "MODIFY", false),
            ("order", "INSERT", false),
        ] {
            let record =
                json!({"eventName": change, "dynamodb": {"NewImage": {"entity": {"S": kind}}}});
            assert_eq!(
                (filters.takes(&record), filters.may_take(change, kind)),
                (is_news, is_news)
            );
        }
        assert!(filters.may_take("MODIFY", "level") && !filters.may_take("REMOVE", "level"));
        let changes = filters.changes().unwrap();
        let named: Vec<_> =
            changes.iter().map(|(change, kind)| (change.as_str(), kind.as_str())).collect();
        let inserted =
            ["card", "event", "facet_walk", "level", "mail"].map(|kind| ("INSERT", kind));
        let modified = ["card", "facet_walk", "level"].map(|kind| ("MODIFY", kind));
        assert_eq!(named, [&inserted[..], &modified, &[("REMOVE", "card")]].concat());
    }

    #[test]
    fn without_a_filter_every_record_matches() {
        let filters = Filters::parse(&[]).unwrap();
        assert!(filters.takes(&level("REMOVE", "10", "2")) && filters.may_take("REMOVE", "order"));
        assert_eq!(filters.changes(), None);
        let by_prefix =
            r#"{"eventName":["INSERT"],"dynamodb":{"NewImage":{"entity":{"S":[{"prefix":"e"}]}}}}"#;
        assert_eq!(Filters::parse(&[by_prefix.to_owned()]).unwrap().changes(), None);
    }

    #[test]
    fn an_unknown_rule_is_an_error() {
        for pattern in [
            "{",
            "{}",
            "[]x",
            r#"{"eventName":"INSERT"}"#,
            r#"{"eventName":[{"exists":true}]}"#,
            r#"{"a":[{"prefix":"-","suffix":"x"}]}"#,
        ] {
            assert!(Filters::parse(&[pattern.to_owned()]).is_err(), "{pattern}");
        }
    }
}

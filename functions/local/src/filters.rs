//! Which records of the table's stream its listener is woken for: the filters of the event source, as
//! `template.yaml` has them.
//!
//! The rules are those of Lambda's event filtering that the template uses: a list holds what a value may be, as
//! it is or by its prefix; a pattern wants all of its members, and of several patterns one is enough.

use emulators::AnyError;
use serde_json::Value;

/// Where a pattern names the kind of an item.
const KINDS: [&str; 2] = ["/dynamodb/NewImage/entity/S", "/dynamodb/OldImage/entity/S"];

/// The patterns of an event source; one that has none takes everything.
#[derive(Debug, Clone)]
pub struct Filters(Vec<Value>);

impl Filters {
    /// Of these patterns, each as the template has it: JSON as text.
    ///
    /// # Errors
    /// No JSON, or a rule that is not understood here.
    pub(crate) fn parse(patterns: &[String]) -> Result<Self, AnyError> {
        let parse = |pattern: &String| match serde_json::from_str(pattern) {
            Ok(parsed) if is_understood(&parsed) => Ok(parsed),
            _ => Err(format!("template.yaml: values and prefixes, please: {pattern}").into()),
        };
        patterns.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a record of the stream comes through.
    pub fn takes(&self, record: &Value) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| matches(pattern, record))
    }

    /// Whether a record of this change (`INSERT`) of an item of this kind may come through: what may not
    /// need not be made into a record.
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

/// What `{"prefix": "-"}` asks for.
fn prefix(rule: &Value) -> Option<&str> {
    let rule = rule.as_object().filter(|rule| rule.len() == 1)?;
    rule.get("prefix")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template;

    /// Those of the template.
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
    fn stock_that_runs_out_or_comes_back_is_news_and_other_changes_are_not() {
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
    fn new_events_and_mails_are_news_and_what_becomes_of_them_is_not() {
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
    }

    #[test]
    fn without_a_filter_everything_is_news() {
        let filters = Filters::parse(&[]).unwrap();
        assert!(filters.takes(&level("REMOVE", "10", "2")) && filters.may_take("REMOVE", "order"));
    }

    #[test]
    fn a_rule_that_is_not_understood_is_no_filter() {
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

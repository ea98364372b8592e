//! Accepted and rejected field values.

use deserr::Deserr;

use super::*;
use crate::problem::Problem;

/// Reads `T` from a value, and names every invalid field.
fn read<T: Deserr<FieldErrors>>(value: serde_json::Value) -> Result<T, Problem> {
    deserr::deserialize::<T, _, FieldErrors>(value).map_err(Problem::invalid)
}

#[derive(Debug, Deserr, schemars::JsonSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[expect(dead_code, reason = "only the errors matter here")]
struct Line {
    quantity: Int<1, 999>,
    #[deserr(default)]
    note: Option<Text<1, 5>>,
}

#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[expect(dead_code, reason = "only the errors matter here")]
struct Order {
    email: Text<3, 9>,
    lines: AtMost<Line, 2>,
    #[deserr(default)]
    title: Patch<Text<1, 3>>,
}

#[test]
fn every_field_at_fault_is_named_at_once() {
    let body = serde_json::json!({
        "lines": [{"quantity": 0}, {"quantity": "x", "note": "too long", "a/b": 1}],
        "title": 7,
        "extra": true,
    });
    let problem = read::<Order>(body).unwrap_err();
    let mut found: Vec<_> =
        problem.errors().iter().map(|e| (e.pointer.as_str(), e.violation.code)).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("/email", "required"),
            ("/extra", "unknown_field"),
            ("/lines/0/quantity", "out_of_range"),
            ("/lines/1/a~1b", "unknown_field"),
            ("/lines/1/note", "too_long"),
            ("/lines/1/quantity", "invalid_type"),
            ("/title", "invalid_type"),
        ]
    );
}

#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[expect(dead_code, reason = "only the errors matter here")]
struct Sample {
    min: Written<Int<1, 9>>,
    hard: Written<Flag>,
}

#[test]
fn json_is_typed_and_a_query_is_text() {
    for (body, fault) in [
        (serde_json::json!({"quantity": "2"}), "invalid_type"),
        (serde_json::json!({"quantity": 2.0}), "invalid_type"),
        (serde_json::json!({"quantity": true}), "invalid_type"),
        (serde_json::json!({"quantity": 1000}), "out_of_range"),
    ] {
        let problem = read::<Line>(body).unwrap_err();
        assert_eq!(problem.errors()[0].violation.code, fault);
    }
    assert!(read::<Line>(serde_json::json!({"quantity": 2})).is_ok());
    assert!(read::<Flag>(serde_json::json!("true")).is_err());
    assert!(read::<Flag>(serde_json::json!(true)).is_ok());
    assert!(read::<Sample>(serde_json::json!({"min": "2", "hard": "false"})).is_ok());
    for text in [("0", "true"), ("x", "true"), ("2.0", "true"), ("2", "1"), ("2", "")] {
        let value = serde_json::json!({"min": text.0, "hard": text.1});
        assert!(read::<Sample>(value).is_err(), "{text:?}");
    }
}

#[test]
fn optional_fields_may_be_left_out() {
    let order = read::<Order>(serde_json::json!({"email": "a@b.c", "lines": [{"quantity": 1}]}));
    assert!(order.is_ok(), "{order:?}");
}

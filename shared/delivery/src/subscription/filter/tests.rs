use serde_json::json;

use super::*;

fn field_errors(value: Value) -> Vec<(String, &'static str)> {
    let problem = primitives::input::read::<PayloadFilter>(value).err();
    let errors = problem.iter().flat_map(|problem| problem.errors().iter());
    errors.map(|error| (error.pointer.clone(), error.violation.code)).collect()
}

fn passes(filter: Value) -> bool {
    let payload = json!({
        "type": "order.created",
        "data": {
            "status": "open", "note": null, "number": "A-1007", "test": false,
            "total": {"amount": 1000, "currency": "INR"}, "weight": 1.5,
            "created_at": "2026-01-01T00:00:00.000Z",
            "items": [{"sku": "A", "quantity": 1}, {"sku": "B", "quantity": 3}],
            "a.b": {"it's": 1}
        }
    });
    primitives::input::read::<PayloadFilter>(filter).unwrap().passes(&payload)
}

#[test]
fn a_condition_is_a_value_a_list_or_operators() {
    for (condition, expected) in [
        (json!({"$.data.status": "open"}), true),
        (json!({"$.data.status": "closed"}), false),
        (json!({"$.data.status": ["closed", "open"]}), true),
        (json!({"$.data.status": {"in": ["closed"]}}), false),
        (json!({"$.data.status": {"ne": "closed"}}), true),
        (json!({"$.data.status": {"not_in": ["open"]}}), false),
        (json!({"$.data.note": null}), true),
        (json!({"$.data.test": false}), true),
        (json!({"$.data.weight": 1.5}), true),
        (json!({"$.data.total.amount": 1000.0}), true),
        (json!({"$.data.total.amount": {"gte": 1000}}), true),
        (json!({"$.data.total.amount": {"gt": 1000}}), false),
        (json!({"$.data.total.amount": {"gt": 999.5, "lt": 1000.5}}), true),
        (json!({"$.data.total.amount": {"lte": 1000}}), true),
        (json!({"$.data.total.amount": {"lt": 1000}}), false),
        (json!({"$.data.total.amount": "1000"}), false),
        (json!({"$.data.total.amount": {"gte": "1"}}), false),
        (json!({"$.data.created_at": {"gte": "2026-01-01"}}), true),
        (json!({"$.data.number": {"prefix": "A-", "suffix": "7"}}), true),
        (json!({"$.data.number": {"prefix": "B-"}}), false),
        (json!({"$.data.note": {"exists": true}}), true),
        (json!({"$.data.note": {"exists": false}}), false),
        (json!({"$.data.absent": {"exists": false}}), true),
        (json!({"$.data.absent": {"ne": 1}}), false),
        (json!({"$['data']['a.b'][\"it's\"]": 1}), true),
        (json!({"$.type": "order.created", "$.data.status": "closed"}), false),
    ] {
        assert_eq!(passes(condition.clone()), expected, "{condition}");
    }
}

#[test]
fn a_path_holds_when_one_of_the_values_it_selects_does() {
    for (condition, expected) in [
        (json!({"$.data.items[*].sku": "B"}), true),
        (json!({"$.data.items[0].sku": "B"}), false),
        (json!({"$.data.items[-1:].sku": "B"}), true),
        (json!({"$..quantity": {"gt": 2}}), true),
        // Operators of one path hold for one and the same value.
        (json!({"$..quantity": {"gt": 1, "lt": 3}}), false),
        (json!({"$.data.items[?@.sku == 'A' && @.quantity > 2]": {"exists": true}}), false),
        (json!({"$.data.items[?@.sku == 'B' && @.quantity > 2]": {"exists": true}}), true),
    ] {
        assert_eq!(passes(condition.clone()), expected, "{condition}");
    }
}

#[test]
fn every_error_has_its_pointer() {
    let filter = json!({
        "data.status": "open",
        "$.data[": 1,
        "$.a/b": 1,
        "$.data.a": {"like": "x", "gte": null, "exists": 1},
        "$.data.b": {},
        "$.data.c": [],
        "$.data.d": {"eq": {"x": 1}},
        "$.data.e": {"exists": false, "eq": 1},
    });
    let mut found = field_errors(filter);
    found.sort();
    let expected = [
        ("/$.a~1b", "invalid_json_path"),
        ("/$.data.a/exists", "invalid_type"),
        ("/$.data.a/gte", "invalid_type"),
        ("/$.data.a/like", "unknown_operator"),
        ("/$.data.b", "too_few"),
        ("/$.data.c", "too_few"),
        ("/$.data.d/eq", "invalid_type"),
        ("/$.data.e", "contradictory"),
        ("/$.data[", "invalid_json_path"),
        ("/data.status", "invalid_json_path"),
    ];
    assert_eq!(found, expected.map(|(at, code)| (at.to_owned(), code)));
    for wrong in [json!([]), json!("$"), json!(1)] {
        assert_eq!(field_errors(wrong), [(String::new(), "invalid_type")]);
    }
}

#[test]
fn the_cost_of_a_path_is_bounded() {
    let costly = ["$..a..b", "$..[?@..a]", "$[?$.a]", "$[*,*][*,*]", "$[?@.a[?@.b]]"];
    for path in costly {
        let found = field_errors(json!({path: 1}));
        assert_eq!(found, [(format!("/{path}"), "json_path_too_costly")]);
    }
    // In quotes these characters are names.
    let names = ["$['a,b']['$']['..']['?']['..']", "$[\"?\"][\"?\"]", "$['it\\'s, $..']..x"];
    for path in names {
        assert!(field_errors(json!({path: 1})).is_empty(), "{path}");
    }
    let nested = |n: usize| format!("$[?{}@.a{}]", "(".repeat(n), ")".repeat(n));
    assert!(field_errors(json!({nested(MAX_PARENTHESES): 1})).is_empty());
    for n in [MAX_PARENTHESES + 1, 90] {
        let found = field_errors(json!({nested(n): 1}));
        assert_eq!(found, [(format!("/{}", nested(n)), "json_path_too_costly")]);
    }
}

#[test]
fn sizes_hold_at_their_boundaries() {
    let paths = |n: usize| -> Value {
        (0..n).map(|n| (format!("$.a{n}"), json!(1))).collect::<Map<_, _>>().into()
    };
    assert!(field_errors(paths(MAX_PATHS)).is_empty());
    assert_eq!(field_errors(paths(MAX_PATHS + 1)), [(String::new(), "too_many")]);
    assert_eq!(field_errors(json!({})), [(String::new(), "too_few")]);
    let path = |n: usize| format!("$.{}", "a".repeat(n - 2));
    assert!(field_errors(json!({path(MAX_PATH): 1})).is_empty());
    let long = path(MAX_PATH + 1);
    assert_eq!(field_errors(json!({&long: 1})), [(format!("/{long}"), "too_long")]);
    let values = |n: usize| json!({"$.a": vec![1; n]});
    assert!(field_errors(values(MAX_VALUES)).is_empty());
    assert_eq!(field_errors(values(MAX_VALUES + 1)), [("/$.a".to_owned(), "too_many")]);
    let text = |n: usize| json!({"$.a": "x".repeat(n), "$.b": {"prefix": "x".repeat(n)}});
    assert!(field_errors(text(MAX_TEXT)).is_empty());
    assert_eq!(field_errors(text(MAX_TEXT + 1)).len(), 2);
}

#[test]
fn a_filter_is_stored_to_the_digit() {
    let given = json!({"$.a": {"gte": 9_007_199_254_740_993_i64, "lt": 1.10}});
    let filter = primitives::input::read::<PayloadFilter>(given.clone()).unwrap();
    let text = serde_json::to_value(&filter).unwrap();
    assert!(text.is_string());
    let stored: PayloadFilter = serde_json::from_value(text).unwrap();
    assert_eq!((stored.to_json(), &stored), (given, &filter));
}

#[test]
fn integers_beyond_the_precision_of_floats_are_distinguished() {
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (less, more) = (number("9007199254740992"), number("9007199254740993"));
    assert_eq!(compare(&less, &more), Some(std::cmp::Ordering::Less));
    assert!(!equal(&less, &more) && equal(&more, &more));
}

#[test]
fn only_quoted_parts_are_removed() {
    for (text, bare) in [
        ("$.data.status", "$.data.status"),
        ("$['a(b']x", "$[]x"),
        ("$[\"a'b\"]x", "$[]x"),
        (r"$['a\'b']x", "$[]x"),
        (r"$['a\\']x", "$[]x"),
        ("$['a']['b'].c", "$[][].c"),
        ("$['open", "$["),
    ] {
        assert_eq!(unquoted(text), bare, "{text}");
    }
}

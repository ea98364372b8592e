//! Removes secrets from what is shown of a request: by the name of a header, parameter or member, and by the
//! form of a value wherever it stands.

mod cards;
mod names;

use std::borrow::Cow;

use http::HeaderMap;
use serde_json::Value;

use super::body::Captured;
use cards::{is_card, without_cards};
pub(crate) use names::Fields;
use names::{PLAIN, is_secret};

/// Stands in the place of a secret.
pub(crate) const HIDDEN: &str = "••••••";

/// Prefixes of tokens and keys.
const PREFIXES: [&str; 8] = ["mst_", "cst_", "whsec_", "sk_", "rk_", "Bearer", "Basic", "otk_"];
/// The shortest text after such a prefix that is a secret.
const SHORTEST: usize = 12;
/// What is shown of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// There was none.
    Nothing,
    /// All of it, redacted.
    Text(String),
    /// The reason why it is not shown.
    Withheld(String),
}

/// The headers, in the order of their names.
pub(crate) fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut shown: Vec<_> = headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            let name = name.as_str().to_owned();
            let value = if is_secret(&name) { HIDDEN.to_owned() } else { text(&value) };
            (name, value)
        })
        .collect();
    shown.sort();
    shown
}

/// A query or the body of a form.
pub(crate) fn pairs(query: &str, fields: Fields) -> String {
    let pair = |(name, value): (Cow<'_, str>, Cow<'_, str>)| {
        let is_hidden = fields.hides(&name);
        // A name without a value may be a secret that was sent without its name.
        if is_hidden && value.is_empty() && fields == Fields::Plain {
            return HIDDEN.to_owned();
        }
        let value = if is_hidden { HIDDEN.to_owned() } else { text(&value) };
        format!("{name}={value}")
    };
    form_urlencoded::parse(query.as_bytes()).map(pair).collect::<Vec<_>>().join("&")
}

/// These fields of a body with these headers.
pub(crate) fn body(headers: &HeaderMap, body: &Captured, fields: Fields) -> Shown {
    let bytes = match body {
        Captured::Empty => return Shown::Nothing,
        Captured::Large(size) => {
            return Shown::Withheld(format!("{size} bytes: too large to keep"));
        }
        Captured::Whole(bytes) => bytes,
    };
    let kind = headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let withheld = |why: &str| Shown::Withheld(format!("{} bytes of {why}", bytes.len()));
    if kind == "application/x-www-form-urlencoded" {
        return Shown::Text(pairs(&String::from_utf8_lossy(bytes), fields));
    }
    // A body without a media type is read as JSON by the API, too.
    let is_json = kind.is_empty() || kind == "application/json" || kind.ends_with("+json");
    if !is_json {
        return withheld(kind);
    }
    match serde_json::from_slice::<Value>(bytes) {
        Ok(mut value) => {
            match (kind, fields) {
                ("application/problem+json", _) => value_in_place(&mut value, Fields::OfProblem),
                (_, Fields::Plain) => only_plain(&mut value, false),
                _ => value_in_place(&mut value, fields),
            }
            Shown::Text(format!("{value:#}"))
        }
        Err(_) => withheld("text that is no JSON"),
    }
}

/// Redacts a JSON value.
fn value_in_place(value: &mut Value, fields: Fields) {
    match value {
        Value::String(found) => *found = text(found),
        Value::Number(number) => {
            if is_card(&number.to_string()) {
                *value = HIDDEN.into();
            }
        }
        Value::Array(values) => {
            for value in values {
                value_in_place(value, fields);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                if fields.hides(name) {
                    hide(value);
                } else {
                    value_in_place(value, fields);
                }
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Hides all texts and numbers but those of plain names, which arrays pass on.
fn only_plain(value: &mut Value, is_plain: bool) {
    match value {
        Value::Array(values) => {
            for value in values {
                only_plain(value, is_plain);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                if is_secret(name) && !PLAIN.contains(&name.as_str()) {
                    hide(value);
                } else {
                    only_plain(value, PLAIN.contains(&name.as_str()));
                }
            }
        }
        shown if is_plain => value_in_place(shown, Fields::NotSecret),
        hidden => hide(hidden),
    }
}

/// Hides all texts and numbers of a value.
fn hide(value: &mut Value) {
    match value {
        Value::String(_) | Value::Number(_) => *value = HIDDEN.into(),
        Value::Array(values) => values.iter_mut().for_each(hide),
        Value::Object(members) => members.values_mut().for_each(hide),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A text without the tokens, the card numbers and the secret parameters of URLs in it.
pub(crate) fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let is_end = |letter: char| !is_word(letter);
        let end = rest.find(is_end).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        shown.push_str(&redacted(word, &shown));
        let start = after.find(is_word).unwrap_or(after.len());
        let (between, next) = after.split_at(start);
        shown.push_str(between);
        rest = next;
    }
    without_cards(&shown)
}

/// Whether a token may have this character.
fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '~' | '+' | '/')
}

/// A word after this text, hidden if it is a token, or the value of a secret parameter.
fn redacted<'a>(word: &'a str, before: &str) -> Cow<'a, str> {
    // A token is a word of its own, or begins a segment of a path.
    let starts = word.match_indices('/').map(|(at, _)| at.saturating_add(1));
    let mut tails = std::iter::once(0).chain(starts).filter_map(|at| word.get(at..));
    let is_token = tails.any(|tail| {
        let has_prefix = PREFIXES
            .iter()
            .any(|prefix| tail.strip_prefix(prefix).is_some_and(|rest| rest.len() >= SHORTEST));
        has_prefix || tail.starts_with("eyJ") && tail.matches('.').count() >= 2
    });
    let is_value = before.strip_suffix('=').is_some_and(|before| {
        let start = before.rfind(['?', '&', '#', ' ', '"']).map_or(0, |at| at.saturating_add(1));
        is_secret(before.get(start..).unwrap_or_default())
    });
    if is_token || is_value { Cow::Borrowed(HIDDEN) } else { Cow::Borrowed(word) }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn json(value: &str, kind: &'static str) -> String {
        json_of(value, kind, Fields::NotSecret)
    }

    fn json_of(value: &str, kind: &'static str, fields: Fields) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
        match body(&headers, &Captured::Whole(value.to_owned().into()), fields) {
            Shown::Text(text) => text,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn secrets_are_hidden_by_the_names_of_members() {
        let input = r#"{"email":"a@example.com","password":"hunter-22","totp":123456,"codes":["A1","B2"],
            "credentials":{"key_id":"k","key_secret":"s3cr3t"},"token_type":"Bearer","postal_code":"560001",
            "code":"042137","has_password":true}"#;
        let shown = json(input, "application/json");
        for hidden in ["hunter-22", "123456", "A1", "B2", "s3cr3t", "042137"] {
            assert!(!shown.contains(hidden), "{hidden} in {shown}");
        }
        for kept in ["a@example.com", "Bearer", "560001", "true"] {
            assert!(shown.contains(kept), "{kept} in {shown}");
        }
    }

    #[test]
    fn where_credentials_are_sent_only_known_fields_are_shown() {
        let fields = Fields::of("/v1/auth/signin");
        assert_eq!(fields, Fields::Plain);
        for path in ["/v1/app-store/oauth/token", "/v1/storefront/customer/login", "/v1/Auth/x"] {
            assert_eq!(Fields::of(path), Fields::Plain, "{path}");
        }
        assert_eq!(Fields::of("/v1/orders/ord_1/cancel"), Fields::NotSecret);
        for input in [
            r#"{"email":"a@example.com","passwrod":"hunter-22"}"#,
            r#"[{"email":"a@example.com","passwd":"hunter-22"}, "hunter-22"]"#,
            r#"{"email":"a@example.com","account":{"pass":["hunter-22"]}}"#,
            r#"{"email":"a@example.com","password":{"name":"hunter-22"}}"#,
        ] {
            let shown = json_of(input, "application/json", fields);
            assert!(shown.contains("a@example.com") && !shown.contains("hunter-22"), "{shown}");
        }
        let form = pairs("passwd=hunter-22&scope=read&hunter-23", fields);
        assert_eq!(form, format!("passwd={HIDDEN}&scope=read&{HIDDEN}"));
    }

    #[test]
    fn the_code_of_a_problem_is_shown() {
        let problem = r#"{"code":"handle_taken","errors":[{"pointer":"/x","code":"required"}]}"#;
        let shown = json(problem, "application/problem+json");
        assert!(shown.contains("handle_taken") && shown.contains("required"));
    }

    #[test]
    fn secrets_are_hidden_by_their_form_in_any_text() {
        let at = "https://app.example/back?code=9f2b7c&state=kept";
        for (given, shown) in [
            ("mst_0123456789abcdef_zzzz".to_owned(), HIDDEN.to_owned()),
            ("see eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln!".to_owned(), format!("see {HIDDEN}!")),
            ("paid by 4242 4242 4242 4242.".to_owned(), format!("paid by {HIDDEN}.")),
            ("4242-4242-4242-4242 today".to_owned(), format!("{HIDDEN} today")),
            ("12 4242424242424242 and 7".to_owned(), format!("12 {HIDDEN} and 7")),
            ("+91 80 5550 1234, 1-2".to_owned(), "+91 80 5550 1234, 1-2".to_owned()),
            (at.to_owned(), format!("https://app.example/back?code={HIDDEN}&state=kept")),
            ("ord_4242424242424242".to_owned(), "ord_4242424242424242".to_owned()),
            ("4242 4242 4242 4241".to_owned(), "4242 4242 4242 4241".to_owned()),
            ("whsec_…Hx8=".to_owned(), "whsec_…Hx8=".to_owned()),
        ] {
            assert_eq!(text(&given), shown, "{given}");
        }
        assert!(!json(r#"{"number":4242424242424242}"#, "application/json").contains("4242"));
    }

    #[test]
    fn parameters_and_headers_are_hidden_by_name() {
        assert_eq!(
            pairs(
                "grant_type=authorization_code&code=abc&client_secret=s&scope=read",
                Fields::NotSecret
            ),
            format!(
                "grant_type=authorization_code&code={HIDDEN}&client_secret={HIDDEN}&scope=read"
            )
        );
        let mut given = HeaderMap::new();
        for (name, value) in
            [("authorization", "Bearer x"), ("idempotency-key", "one"), ("accept", "text/html")]
        {
            given.insert(name, HeaderValue::from_static(value));
        }
        let shown = headers(&given);
        let value = |name: &str| shown.iter().find(|(it, _)| it == name).map(|(_, it)| it.as_str());
        assert_eq!(value("authorization"), Some(HIDDEN));
        assert_eq!(value("idempotency-key"), Some(HIDDEN));
        assert_eq!(value("accept"), Some("text/html"));
    }

    #[test]
    fn what_is_neither_json_nor_a_form_is_withheld() {
        assert_eq!(json("a,b", "text/csv"), "Withheld(\"3 bytes of text/csv\")");
        assert!(json("{\"password\":", "application/json").starts_with("Withheld"));
    }
}

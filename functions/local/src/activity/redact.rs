//! Removes secrets from what is shown of a request: by the name of a header, parameter or member, and by the
//! form of a value wherever it stands.

use std::borrow::Cow;

use http::HeaderMap;
use serde_json::Value;

use super::body::Captured;

/// Stands in the place of a secret.
pub(crate) const HIDDEN: &str = "••••••";

/// Parts of names whose values are secrets.
const SECRET: [&str; 14] = [
    "password",
    "secret",
    "token",
    "authorization",
    "cookie",
    "signature",
    "hmac",
    "credential",
    "verifier",
    "assertion",
    "totp",
    "cvc",
    "cvv",
    "card_number",
];
/// Names whose values are secrets, and whose parts are not.
const SECRET_NAMES: [&str; 7] = ["code", "codes", "otp", "pin", "pan", "api_key", "key"];
/// Names that look like those of secrets, and are none.
const HARMLESS: [&str; 10] = [
    "token_type",
    "issued_token_type",
    "requested_token_type",
    "subject_token_type",
    "token_type_hint",
    "token_endpoint",
    "token_exchanges",
    "secret_hint",
    "token_endpoint_auth_methods_supported",
    "x-service-cost-requested",
];
/// Names of codes that are no secrets.
const PLAIN_CODES: [&str; 9] = [
    "country_code",
    "currency_code",
    "postal_code",
    "postal_codes",
    "region_code",
    "hs_code",
    "status_code",
    "last_status_code",
    "failure_code",
];
/// Segments of the paths that take or give credentials. There a misspelt name must not show a password.
const CREDENTIAL_SEGMENTS: &[&str] = &[
    "auth",
    "challenge",
    "credentials",
    "invitations",
    "login",
    "logout",
    "me",
    "mfa",
    "oauth",
    "otp",
    "password",
    "preview-session",
    "promote",
    "refresh",
    "register",
    "reset",
    "revoke",
    "rotate",
    "secret",
    "session",
    "sessions",
    "signin",
    "signout",
    "signup",
    "token",
    "tokens",
    "totp",
    "verify",
];
/// Names of what those paths take and return that is no secret.
const PLAIN: &[&str] = &[
    "accepts_marketing",
    "active",
    "agree_terms",
    "all",
    "allowed_actions",
    "app_id",
    "aud",
    "channel",
    "city",
    "client_id",
    "code_challenge_method",
    "company",
    "config_version",
    "contact_email",
    "country",
    "created_at",
    "created_via",
    "currency",
    "currency_exponent",
    "current",
    "default_address_id",
    "delete_at",
    "draft_version",
    "email",
    "email_verified",
    "event_types",
    "exp",
    "expires_at",
    "expires_in",
    "first_name",
    "grant_type",
    "granted_scopes",
    "has_more",
    "has_password",
    "iat",
    "id",
    "idle_expires_at",
    "installation_id",
    "inventory_policy",
    "ip_prefix",
    "iss",
    "issued_token_type",
    "issuer",
    "last_name",
    "last_used_at",
    "limit",
    "locale",
    "merchant_id",
    "mfa_enabled",
    "name",
    "network",
    "operator",
    "order_id",
    "order_prefix",
    "orders_count",
    "owner_id",
    "payment_id",
    "phone",
    "phone_e164",
    "plan",
    "primary_domain",
    "provider",
    "recovery_codes_left",
    "redirect_uri",
    "refresh_token_expires_in",
    "region",
    "requested_token_type",
    "resend_after",
    "response_type",
    "revoke_other_sessions",
    "role",
    "scope",
    "scopes",
    "sessions_revoked",
    "since",
    "slug",
    "status",
    "status_reason",
    "store_id",
    "store_name",
    "stores",
    "sub",
    "subdomain",
    "subject_token_type",
    "timezone",
    "token_type",
    "token_type_hint",
    "updated_at",
    "url",
    "verified",
    "version",
];
/// Prefixes of tokens and keys.
const PREFIXES: [&str; 8] = ["mst_", "cst_", "whsec_", "sk_", "rk_", "Bearer", "Basic", "otk_"];
/// The shortest text after such a prefix that is a secret.
const SHORTEST: usize = 12;
/// Digits of a card number (ISO/IEC 7812), without the rare ones of 13, which barcodes have as well.
const CARD: std::ops::RangeInclusive<usize> = 14..=19;

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

/// Which members and parameters are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fields {
    /// All but those whose names are of secrets.
    NotSecret,
    /// Only those whose names are known to be of none.
    Plain,
    /// As [`Fields::NotSecret`], and the `code` of a problem.
    OfProblem,
}

impl Fields {
    /// Those of a request to this path, and of an answer to a write.
    pub(crate) fn of(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let is_of_credentials =
            path.split('/').any(|segment| CREDENTIAL_SEGMENTS.contains(&segment));
        if is_of_credentials { Self::Plain } else { Self::NotSecret }
    }

    fn hides(self, name: &str) -> bool {
        match self {
            Self::NotSecret => is_secret(name),
            Self::Plain => !PLAIN.contains(&name),
            Self::OfProblem => is_secret(name) && name != "code",
        }
    }
}

/// Whether the value of this name is a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix("[]").unwrap_or(&name);
    if HARMLESS.contains(&name) || PLAIN_CODES.contains(&name) {
        return false;
    }
    SECRET.iter().any(|part| name.contains(part))
        || SECRET_NAMES.contains(&name)
        || name.ends_with("_code")
        || name.ends_with("_codes")
        || name.ends_with("_key")
        || name.ends_with("-key")
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

/// A text without card numbers, whose groups spaces or hyphens may separate.
fn without_cards(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, run) = rest.split_at(start);
        shown.push_str(before);
        let is_part = |letter: &char| letter.is_alphanumeric() || *letter == '_';
        let goes_on = |letter: char| letter.is_ascii_digit() || matches!(letter, ' ' | '-');
        let end = run.find(|letter| !goes_on(letter)).unwrap_or(run.len());
        let (run, after) = run.split_at(end);
        let is_word = shown.chars().next_back().as_ref().is_some_and(is_part)
            || after.chars().next().as_ref().is_some_and(is_part) && !run.ends_with([' ', '-']);
        if is_word {
            shown.push_str(run);
        } else {
            hide_cards(run, &mut shown);
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Adds groups of digits, without those that are a card number together.
fn hide_cards(run: &str, shown: &mut String) {
    let mut rest = run;
    while !rest.is_empty() {
        let ends = rest.match_indices([' ', '-']).map(|(at, _)| at).chain([rest.len()]);
        let mut numbers = ends.filter_map(|end| rest.get(..end));
        if let Some(number) = numbers.rfind(|number| is_card(number)) {
            shown.push_str(HIDDEN);
            rest = rest.get(number.len()..).unwrap_or_default();
        }
        let next = rest.find([' ', '-']).map_or(rest.len(), |at| at.saturating_add(1));
        let (group, after) = rest.split_at(next);
        shown.push_str(group);
        rest = after;
    }
}

/// Whether this is a number with the check digit of a card (ISO/IEC 7812-1, annex B).
fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let is_whole = text.ends_with(|letter: char| letter.is_ascii_digit());
    let separators = text.chars().filter(|letter| matches!(letter, ' ' | '-')).count();
    if !is_whole
        || !CARD.contains(&digits.len())
        || digits.len().saturating_add(separators) != text.len()
    {
        return false;
    }
    let sum = digits.iter().rev().enumerate().fold(0_u32, |sum, (place, digit)| {
        let doubled = if place % 2 == 1 { digit.saturating_mul(2) } else { *digit };
        sum.saturating_add(if doubled > 9 { doubled.saturating_sub(9) } else { doubled })
    });
    sum % 10 == 0
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

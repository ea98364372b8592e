//! Tokens with our own signature that [`crypto::token::sign`] never writes.
//!
//! A signature proves the author of a token, but not that it is an access token: the key may sign other
//! documents, too, and the signing function may have a bug. So each check after the signature has a token
//! here that fails it.

use p256::ecdsa::SigningKey as EcdsaKey;
use serde_json::{Value, json};

use super::{Named, moved, other_s, signed, swap_case, unb64, with};
use crypto::token::KeySet;

/// Changes to the header: JSON objects whose members replace those of the valid header.
const HEADERS: [(&str, &str); 22] = [
    ("with crit", r#"{"crit": ["exp"]}"#),
    ("with empty crit", r#"{"crit": []}"#),
    ("with crit and b64", r#"{"crit": ["b64"], "b64": true}"#),
    ("with jku", r#"{"jku": "https://attacker.invalid/keys"}"#),
    ("with x5u", r#"{"x5u": "https://attacker.invalid/keys"}"#),
    ("with x5c", r#"{"x5c": []}"#),
    ("with jwk", r#"{"jwk": {"kty": "EC", "crv": "P-256", "x": "", "y": ""}}"#),
    ("with zip", r#"{"zip": "DEF"}"#),
    ("with enc", r#"{"enc": "A128GCM"}"#),
    ("with cty", r#"{"cty": "JWT"}"#),
    ("with something unknown", r#"{"x": 1}"#),
    ("typ JWT", r#"{"typ": "JWT"}"#),
    ("typ with another prefix", r#"{"typ": "text/at+jwt"}"#),
    ("typ of another kind", r#"{"typ": "secevent+jwt"}"#),
    ("typ empty", r#"{"typ": ""}"#),
    ("kid a number", r#"{"kid": 7}"#),
    ("kid unknown", r#"{"kid": "unknown"}"#),
    ("alg none", r#"{"alg": "none"}"#),
    ("alg HS256", r#"{"alg": "HS256"}"#),
    ("alg ES384", r#"{"alg": "ES384"}"#),
    ("alg in lower case", r#"{"alg": "es256"}"#),
    ("alg an array", r#"{"alg": ["ES256"]}"#),
];

/// Changes to the claims that do not depend on the valid ones.
const CLAIMS: [(&str, &str); 20] = [
    ("exp negative", r#"{"exp": -1}"#),
    ("exp zero", r#"{"exp": 0}"#),
    ("exp a float", r#"{"exp": 1e10}"#),
    ("exp the largest number", r#"{"exp": 9223372036854775807}"#),
    ("exp beyond 64 bits", r#"{"exp": 18446744073709551615}"#),
    ("exp true", r#"{"exp": true}"#),
    ("nbf the largest number", r#"{"nbf": 9223372036854775807}"#),
    ("the widest lifetime", r#"{"iat": -9223372036854775808, "exp": 9223372036854775807}"#),
    ("another audience", r#"{"aud": "https://other.invalid"}"#),
    ("audience empty", r#"{"aud": ""}"#),
    ("another issuer", r#"{"iss": "https://other.invalid"}"#),
    ("subject empty", r#"{"sub": ""}"#),
    ("store empty", r#"{"store_id": ""}"#),
    ("something unknown", r#"{"admin": true}"#),
    ("sid explicitly null", r#"{"sid": null}"#),
    ("act explicitly null", r#"{"act": null}"#),
    ("sid with act null", r#"{"sid": "ses_1", "act": null}"#),
    ("act without sub", r#"{"sid": "ses_1", "act": {}}"#),
    ("act a text", r#"{"sid": "ses_1", "act": "mer_1"}"#),
    ("act within act", r#"{"sid": "ses_1", "act": {"sub": "mer_1", "act": {"sub": "mer_2"}}}"#),
];

/// The signing key of the document in the secret store.
pub(super) fn signing_key(keys: &KeySet) -> EcdsaKey {
    let document: Value = serde_json::from_str(&keys.reveal()).unwrap_or_default();
    let secret = document.pointer("/current/d").and_then(Value::as_str).map(unb64);
    let secret = secret.and_then(|secret| EcdsaKey::from_slice(&secret).ok());
    secret.expect("a key set has a signing key")
}

/// Creates tokens that our own key could sign but never does: wrong headers, then wrong claims.
///
/// `claims` must be those of a token that is valid now; `keys` sign.
pub fn misfits(claims: &Value, keys: &KeySet) -> Named {
    let key = signing_key(keys);
    let text = claims.to_string();
    let good = json!({"alg": "ES256", "typ": "at+jwt", "kid": keys.current_kid()});
    let headers = odd_headers(&good).into_iter().map(|(name, header)| {
        let token = signed(&key, header, &text);
        (format!("ours, header {name}"), token)
    });
    let payloads = [odd_members(claims), odd_values(claims), odd_texts(claims)].concat();
    let payloads = payloads.into_iter().map(|(name, payload)| {
        let token = signed(&key, good.to_string(), payload);
        (format!("ours, payload {name}"), token)
    });
    let mut all: Named = headers.chain(payloads).collect();
    let bytes = [b"\xff\xfe", text.as_bytes()].concat();
    all.push(("ours, payload not UTF-8".to_owned(), signed(&key, good.to_string(), bytes)));
    let valid = signed(&key, good.to_string(), text);
    let other = valid.rsplit_once('.').map(|(message, signature)| other_s(message, signature));
    all.push(("ours, the other signature".to_owned(), other.unwrap_or_default()));
    all
}

fn odd_headers(good: &Value) -> Named {
    let mut all: Named = HEADERS.map(|(name, change)| patched(good, name, change)).into();
    for member in ["alg", "typ", "kid"] {
        all.push((format!("without {member}"), without(good, member)));
        all.push((format!("{member} null"), with(good, &json!({member: null})).to_string()));
        all.push((format!("{member} twice"), doubled(good, member)));
    }
    let values = good.as_object().map(|object| object.values().collect::<Vec<_>>());
    all.push(("a tuple".to_owned(), json!(values).to_string()));
    all.push(("in an array".to_owned(), json!([good]).to_string()));
    all.push(("with text behind".to_owned(), format!("{good} x")));
    all.push(("empty".to_owned(), String::new()));
    all
}

/// Payloads with each claim missing, doubled, or of a wrong type.
fn odd_members(claims: &Value) -> Named {
    let mut all = Named::new();
    for (name, value) in claims.as_object().into_iter().flatten() {
        let changed = |value: Value| with(claims, &json!({name: value})).to_string();
        let other = if value.is_number() { json!(value.to_string()) } else { json!(1) };
        all.push((format!("without {name}"), without(claims, name)));
        all.push((format!("{name} twice"), doubled(claims, name)));
        all.push((format!("{name} null"), changed(Value::Null)));
        all.push((format!("{name} in an array"), changed(json!([value]))));
        all.push((format!("{name} in an object"), changed(json!({"value": value}))));
        all.push((format!("{name} of another type"), changed(other)));
    }
    all
}

/// Well-formed claims that are false, too long-lived, or contradictory.
fn odd_values(claims: &Value) -> Named {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default();
    let after = |seconds| moved(claims, "iat", seconds);
    let (aud, iss) = (text("aud"), text("iss"));
    let hour = json!({"sid": "ses_1", "act": {"sub": "mer_1"}, "exp": after(3_600)});
    let longer = moved(claims, "exp", 0).saturating_mul(1_000);
    let past = json!({"iat": after(-400), "nbf": after(-400), "exp": after(-101)});
    let changes = [
        ("expired", past),
        ("exp before iat", json!({"exp": after(-1)})),
        ("exp at iat", json!({"exp": after(0)})),
        ("exp in milliseconds", json!({"exp": longer})),
        ("exp one second too late", json!({"exp": after(3_601)})),
        ("an embedded hour", hour),
        ("nbf in the future", json!({"nbf": after(120)})),
        ("iat in the future", json!({"iat": after(120)})),
        ("two audiences", json!({"aud": [aud, "https://other.invalid"]})),
        ("audience with a slash more", json!({"aud": format!("{aud}/")})),
        ("issuer with a slash more", json!({"iss": format!("{iss}/")})),
        ("issuer in another case", json!({"iss": swap_case(iss)})),
    ];
    let mut all: Named = CLAIMS.map(|(name, change)| patched(claims, name, change)).into();
    for (name, change) in changes {
        all.push((name.to_owned(), with(claims, &change).to_string()));
    }
    all
}

/// Payloads that are not one JSON object.
fn odd_texts(claims: &Value) -> Named {
    let nested = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let huge = claims.to_string().replacen('{', r#"{"exp":1e999,"#, 1);
    let texts = [
        ("empty", String::new()),
        ("the word null", "null".to_owned()),
        ("an empty object", "{}".to_owned()),
        ("an array", format!("[{claims}]")),
        ("with text behind", format!("{claims}{claims}")),
        ("no JSON", "sub=ins_1".to_owned()),
        ("deeply nested", nested),
        ("with a huge number", huge),
    ];
    texts.map(|(name, text)| (name.to_owned(), text)).into()
}

/// `base` with the members of `change`, a JSON object.
fn patched(base: &Value, name: &str, change: &str) -> (String, String) {
    let change = serde_json::from_str(change).unwrap_or_default();
    (name.to_owned(), with(base, &change).to_string())
}

fn without(base: &Value, member: &str) -> String {
    let mut rest = base.clone();
    rest.as_object_mut().and_then(|object| object.remove(member));
    rest.to_string()
}

/// `base` with `member` in it twice, both times with its true value.
fn doubled(base: &Value, member: &str) -> String {
    let twin = format!("{{{}:{},", json!(member), base.get(member).unwrap_or(&Value::Null));
    base.to_string().replacen('{', &twin, 1)
}

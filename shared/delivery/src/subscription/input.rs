//! Fields of requests about subscriptions, validated when the request is read.

use std::collections::BTreeMap;

use crypto::signature::SigningSecret;
use deserr::{Deserr, IntoValue, Map, Value, ValuePointerRef};
use primitives::fields::{FieldErrors, FromText, Violation};
use schemars::JsonSchema;

/// The most custom headers of one subscription.
const MAX_HEADERS: usize = 10;
/// The longest value of a custom header.
const MAX_HEADER_VALUE: usize = 1_024;

/// Up to 10 headers that are sent with every event, by lower-case name. A value is 1 to 1,024 visible ASCII
/// characters. Names that the service sets itself are rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
pub struct CustomHeaders(pub BTreeMap<String, String>);

/// Whether a name is one of the service's own, of the connection, or could contradict the signed bytes.
fn is_reserved(name: &str) -> bool {
    let prefixes = ["x-service-", "webhook-", "host", "content-", "proxy-", "sec-"];
    let names = [
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
        "user-agent",
        "traceparent",
        "tracestate",
        "accept-encoding",
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || names.contains(&name)
}

fn validate_header(name: &str, value: &str) -> Result<(), Violation> {
    if http::HeaderName::try_from(name).is_err() || name.len() > 100 {
        return Err(Violation::new("invalid_header_name", "Must be an HTTP header name."));
    }
    if is_reserved(&name.to_ascii_lowercase()) {
        return Err(Violation::new("reserved_header", "This header is set by the service."));
    }
    let visible = value.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if !visible || value.len() > MAX_HEADER_VALUE || value.trim() != value || value.is_empty() {
        let detail = "Must be 1 to 1024 visible ASCII characters.";
        return Err(Violation::new("invalid_header_value", detail));
    }
    Ok(())
}

impl Deserr<FieldErrors> for CustomHeaders {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let Value::Map(map) = value else {
            let violation = Violation::new("invalid_type", "Must be an object of strings.");
            return Err(FieldErrors::at(location, violation));
        };
        if map.len() > MAX_HEADERS {
            let detail = format!("Must have at most {MAX_HEADERS} headers.");
            return Err(FieldErrors::at(location, Violation::new("too_many", detail)));
        }
        let mut headers = BTreeMap::new();
        let mut errors = FieldErrors::default();
        for (name, value) in map.into_iter() {
            let pointer = location.push_key(&name);
            let violation = match value.into_value() {
                Value::String(text) => validate_header(&name, &text).and_then(|()| {
                    match headers.insert(name.to_ascii_lowercase(), text) {
                        None => Ok(()),
                        Some(_) => {
                            Err(Violation::new("duplicate_header", "This header is repeated."))
                        }
                    }
                }),
                _ => Err(Violation::new("invalid_type", "Must be a string.")),
            };
            if let Err(violation) = violation {
                errors.add_at(pointer, || violation);
            }
        }
        if errors.is_empty() { Ok(Self(headers)) } else { Err(errors) }
    }
}

/// A secret that the owner supplies, in place of a generated one.
#[derive(Debug, Clone)]
pub struct OwnSecret(pub SigningSecret);

impl FromText for OwnSecret {
    const EXPECTS: &'static str = "a signing secret";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let detail = "Must be `whsec_` and the base64 of 24 to 64 bytes.";
        text.parse().map(Self).map_err(|_| Violation::new("invalid_secret", detail))
    }
}

primitives::text_field!(OwnSecret);
// Base64 of 24 to 64 bytes (RFC 4648 §4): whole groups, and a last one with the encodings of one or two
// bytes.
primitives::string_schema!(OwnSecret: {"pattern": "^whsec_(([A-Za-z0-9+/]{4}){8,21}|([A-Za-z0-9+/]{4}){8,21}[A-Za-z0-9+/][AQgw]==|([A-Za-z0-9+/]{4}){8,20}[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)$"});

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn field_errors<T: Deserr<FieldErrors>>(value: Value) -> Vec<(String, &'static str)> {
        let problem = primitives::input::read::<T>(value).err();
        let errors = problem.iter().flat_map(|problem| problem.errors().iter());
        errors.map(|error| (error.pointer.clone(), error.violation.code)).collect()
    }

    #[test]
    fn custom_headers_cannot_pose_as_ours() {
        let good = json!({"Authorization": "Bearer x", "X-Team": "a b"});
        assert!(field_errors::<CustomHeaders>(good).is_empty());
        for name in ["X-Service-Hmac-SHA256", "webhook-id", "Host", "Content-Type", "Connection"] {
            let found = field_errors::<CustomHeaders>(json!({name: "x"}));
            assert_eq!(found, [(format!("/{name}"), "reserved_header")]);
        }
        for (name, value) in [("a b", "x"), ("x-a", "line\r\nfeed"), ("x-a", ""), ("x-a", "\u{e9}")]
        {
            assert_eq!(
                field_errors::<CustomHeaders>(json!({name: value})).len(),
                1,
                "{name}: {value:?}"
            );
        }
        assert_eq!(field_errors::<CustomHeaders>(json!({"X-A": "1", "x-a": "2"})).len(), 1);
    }
}

//! A delivery as a message of the receiver's queue: the event as its body, the headers as attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;
use services::queue::foreign;

/// The headers with an attribute of their own: those for verification, and those that consumers filter
/// by. A message has at most ten attributes, and an attempt some twenty headers; the tenth attribute has
/// all of them.
const SINGLED_OUT: [&str; foreign::MAX_ATTRIBUTES - 1] = [
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "X-Service-Hmac-SHA256",
    "X-Service-Event-Type",
    "X-Service-Store-Id",
    "X-Service-Delivery-Id",
    "X-Service-Attempt",
    "traceparent",
];
/// The attribute that holds all headers, as a JSON object.
const ALL: &str = "headers";

/// The attributes of a message with these headers. A header with an empty value gets no attribute of its
/// own: SQS has none.
pub fn message_attributes(headers: Vec<(String, String)>) -> Vec<(String, String)> {
    let all: BTreeMap<String, String> = headers.into_iter().collect();
    let singled = SINGLED_OUT.iter().filter_map(|name| {
        let value = all.get(*name).filter(|value| !value.is_empty())?;
        Some(((*name).to_owned(), value.clone()))
    });
    let mut attributes: Vec<_> = singled.collect();
    attributes.push((ALL.to_owned(), json!(all).to_string()));
    attributes
}

/// The body in a form that SQS accepts. Two characters that are valid in JSON but rejected by SQS are
/// escaped, which leaves the JSON value the same. The signature covers this form.
pub fn message_body(body: &str) -> Cow<'_, str> {
    if foreign::is_sendable(body) {
        return Cow::Borrowed(body);
    }
    Cow::Owned(body.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn ten_attributes_carry_every_header() {
        let names = SINGLED_OUT.iter().map(|name| (*name).to_owned());
        let more = (0..20).map(|n| format!("x-custom-{n}"));
        let headers: Vec<_> = names.chain(more).map(|name| (name, "v".to_owned())).collect();
        let attributes = message_attributes(headers);
        assert_eq!(attributes.len(), foreign::MAX_ATTRIBUTES);
        let all: BTreeMap<String, String> = serde_json::from_str(&attributes[9].1).unwrap();
        assert_eq!((all.len(), all["x-custom-19"].as_str()), (29, "v"));
        let none = message_attributes(vec![("traceparent".to_owned(), String::new())]);
        assert_eq!(none.len(), 1, "an empty attribute would be rejected");
    }

    #[test]
    fn a_body_means_the_same_in_a_queue() {
        let plain = "{\"title\":\"Tee \u{1f455}\"}";
        assert!(matches!(message_body(plain), Cow::Borrowed(same) if same == plain));
        let odd = "{\"title\":\"a\u{fffe}b\u{ffff}\"}";
        let sent = message_body(odd);
        assert!(foreign::is_sendable(&sent));
        let (sent, odd): (Value, Value) =
            (serde_json::from_str(&sent).unwrap(), serde_json::from_str(odd).unwrap());
        assert_eq!(sent, odd);
    }
}

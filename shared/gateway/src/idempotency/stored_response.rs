//! Stored responses: deflated, sealed, and never too large for the record.
//!
//! The record is completed in the effect's own transaction, and an item of the table has at most 400 KB: a
//! record that does not fit would have the effect rejected for ever. The largest objects are bounded below
//! that, so that they are stored whole. A larger response, passed on from another server, is stored
//! without its body: a repeated request learns that it was done, and which object to read again.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crypto::seal::SealKey;
use primitives::deflate::{deflate, inflate};
use primitives::problem::Problem;

/// The most bytes of a sealed response. An item has at most 409,600 bytes with the names of its
/// attributes; the others of the record take less than a thousand.
const MAX_SEALED: usize = 400_000;
/// The most bytes of an inflated response: more than any response has.
const MAX_INFLATED: usize = 16 << 20;
/// The members that are stored of a body that is too large: those that identify the object.
const NAMES: [&str; 2] = ["id", "version"];

/// An answer without its body, which follows it.
#[derive(Serialize, Deserialize)]
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

/// Bytes as a binary attribute: base64 would make a third more of them.
pub(super) struct Sealed(Vec<u8>);

impl Serialize for Sealed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

/// The stored form of a response.
pub(super) fn seal(key: &SealKey, answer: &Answer, context: &[u8]) -> Result<Sealed, Problem> {
    let whole = sealed(key, answer, answer.body(), context)?;
    if whole.len() <= MAX_SEALED {
        return Ok(Sealed(whole));
    }
    let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    let names =
        NAMES.iter().filter_map(|name| Some(((*name).to_owned(), body.get(*name)?.clone())));
    let names = Value::Object(names.collect::<Map<_, _>>()).to_string();
    sealed(key, answer, names.as_bytes(), context).map(Sealed)
}

fn sealed(key: &SealKey, answer: &Answer, body: &[u8], context: &[u8]) -> Result<Vec<u8>, Problem> {
    let status = answer.status().as_u16();
    let head = Head { status, headers: answer.header_pairs() };
    let mut plain = serde_json::to_vec(&head).map_err(Problem::internal)?;
    plain.extend_from_slice(body);
    Ok(key.seal_bytes(&deflate(&plain)?, context))
}

/// The response of a stored form.
pub(super) fn open(key: &SealKey, sealed: &[u8], context: &[u8]) -> Result<Answer, Problem> {
    let deflated = key.open_bytes(sealed, context).map_err(Problem::internal)?;
    let plain = inflate(&deflated, MAX_INFLATED)?;
    let mut values = serde_json::Deserializer::from_slice(&plain).into_iter::<Head>();
    let head = values.next().and_then(Result::ok);
    let head = head.ok_or_else(|| Problem::internal("a stored response has no head"))?;
    let body = plain.get(values.byte_offset()..).unwrap_or_default();
    Ok(Answer::restored(head.status, &head.headers, body.to_vec()))
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, StatusCode};

    use super::*;
    use crypto::seal::random_bytes;

    fn sealed_and_opened(body: &Value) -> (Answer, usize, Answer) {
        let key = SealKey::generate();
        let id = HeaderName::from_static("x-request-id");
        let answer = Answer::json(StatusCode::CREATED, body).version(7).header(id, "req_1");
        let Sealed(bytes) = seal(&key, &answer, b"IDM#1").unwrap();
        assert!(!bytes.windows(5).any(|part| part == b"req_1") && bytes.len() <= MAX_SEALED);
        assert!(open(&key, &bytes, b"IDM#2").is_err());
        let again = open(&key, &bytes, b"IDM#1").unwrap();
        assert_eq!(
            (again.status(), again.header_pairs()),
            (answer.status(), answer.header_pairs())
        );
        (answer, bytes.len(), again)
    }

    #[test]
    fn a_response_is_stored_whole_and_compressed() {
        for text in ["", "a token: {}[]\"\u{0}", &"{\"title\":\"Blue mug\"},".repeat(20_000)] {
            let (answer, size, again) =
                sealed_and_opened(&serde_json::json!({"id": "x", "text": text}));
            assert_eq!(again.body(), answer.body());
            assert!(size < 400 + answer.body().len() / 4, "{size}");
        }
    }

    #[test]
    fn a_response_too_large_to_store_is_reduced_to_id_and_version() {
        let noise: String = (0..20_000).map(|_| crypto::seal::hex(&random_bytes::<32>())).collect();
        let body = serde_json::json!({"id": "x", "version": 3, "text": noise});
        let (_, _, again) = sealed_and_opened(&body);
        assert_eq!(again.body(), br#"{"id":"x","version":3}"#);
    }
}

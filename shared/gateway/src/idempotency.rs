//! Idempotency keys, with the record completed in the effect's own transaction
//! (docs/conventions.md §4, docs/data-model.md §12).
//!
//! A request with a key first *claims* its record under a 30-second lease. The handler's transaction
//! completes the record with the answer **if it still holds the lease**. So a slow original whose lease was
//! taken over fails instead of repeating the effect, and no crash can come between effect and record, because
//! they are one write. Answers are sealed at rest, because they may contain a token that is returned only
//! once. [`stored_response`] has their format.
//!
//! If the whole effect is one transaction ([`Claiming::WithEffect`]), nothing is claimed: the transaction
//! creates the record **if there is none**. A repeated request runs, is rejected by that condition or by the
//! changed state, and is answered from the record that it then finds.
//!
//! Guests are one principal, and a guest may change networks between two attempts. So their keys are too long to
//! be guessed ([`GUEST_KEY`]), and only a request with the same body gets the answer.

mod commit;
mod finish;
mod part;
mod record;
mod scopes;
mod stored_response;

pub use commit::{Answering, Commit, answering};

use axum::extract::FromRequestParts;
use http::Method;
use http::request::Parts;
use sha2::{Digest, Sha256};

use crate::answer::Answer;
use crate::caller::Identity;
use crate::request::Inbound;
use crate::row::{Access, Claiming};
use crypto::seal;
use crypto::seal::SealKey;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use table::Change;
use table::item::Key;

pub use part::part;
use record::{FREE, KIND, put, validate};

/// The least characters of a guest's key: 128 bits in base64, so that no guest hits another's key.
pub const GUEST_KEY: usize = 22;

/// The schema of a key.
#[cfg(feature = "openapi")]
pub fn key_schema() -> schemars::Schema {
    schemars::json_schema!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"})
}

/// The right to complete a record: claimed before, or created with the effect.
#[derive(Debug, Clone)]
pub struct Claim {
    key: Key,
    lease: String,
    fingerprint: String,
    /// The scopes of the request's credential ([`Identity::scopes`]).
    scopes: Option<String>,
    seal: SealKey,
    /// Whether it was claimed before the effect.
    is_ahead: bool,
}

/// An argument that requires an `Idempotency-Key` (docs/conventions.md §4). Put it before the body, so that
/// its absence is reported first. The key itself was validated before the handler, and its record claimed if
/// so declared ([`Claiming`]).
#[derive(Debug, Clone, Copy)]
pub struct Required;

impl<S: Sync> FromRequestParts<S> for Required {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        if parts.headers.contains_key("idempotency-key") {
            Ok(Self)
        } else {
            Err(Code::IdempotencyKeyRequired.into())
        }
    }
}

/// The result of claiming.
pub(crate) enum Claimed {
    /// No key was sent, or the method has no effect to protect.
    NoKey,
    /// The record is ours.
    Mine(Claim),
    /// The request was answered before.
    Replay(Answer),
}

impl Claim {
    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// The change that completes the record with `answer`. Its condition: the lease is still this claim's,
    /// or, where nothing was claimed, no record exists.
    pub(crate) fn completion(&self, answer: &Answer, now: Timestamp) -> Result<Change, Problem> {
        let sealed = stored_response::seal(&self.seal, answer, self.key.pk.as_bytes())?;
        let completed = "SET #state = :completed, answer = :answer, completed_at = :now";
        let change = if self.is_ahead {
            Change::new(completed).only_if("lease = :lease AND #state = :running")
        } else {
            let whole = format!(
                "{completed}, #entity = :entity, fingerprint = :fingerprint, scopes = :scopes, \
                 lease = :lease, expires_at = :expires_at, #ttl = :ttl REMOVE lease_until"
            );
            Change::new(whole)
                .only_if(FREE)
                .name("#entity", "entity")
                .name("#ttl", "ttl")
                .value(":entity", KIND)
                .value(":fingerprint", &self.fingerprint)
                .value(":scopes", self.scopes.as_deref().unwrap_or_default())
                .value(":at", now.millis())
                .value(":expires_at", now.plus(DAY).millis())
                .value(":ttl", now.plus(DAY).plus(DAY).seconds())
        };
        Ok(change
            .name("#state", "state")
            .value(":completed", "completed")
            .value(":running", "running")
            .value(":answer", sealed)
            .value(":now", now)
            .value(":lease", &self.lease))
    }
}

/// Claims the record of the request's key.
///
/// # Errors
/// `idempotency_key_invalid`, `idempotency_key_too_short`, `idempotency_key_reused`, `request_in_progress`.
pub(crate) async fn claim(
    services: &Services,
    identity: &Identity,
    inbound: &Inbound,
) -> Result<Claimed, Problem> {
    let effect = [Method::POST, Method::PATCH, Method::PUT, Method::DELETE];
    let Some(header) = inbound.headers.get("idempotency-key") else {
        return Ok(Claimed::NoKey);
    };
    // The endpoint itself authenticates an OAuth client, after this. Codes and refresh tokens are single-use:
    // a repetition is a sign of theft.
    if !effect.contains(&inbound.method) || inbound.row.access == Access::Client {
        return Ok(Claimed::NoKey);
    }
    let key = header.to_str().unwrap_or_default();
    if !(1..=255).contains(&key.len()) || !key.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Code::IdempotencyKeyInvalid.into());
    }
    if identity.guest.is_some() && key.len() < GUEST_KEY {
        return Err(Code::IdempotencyKeyTooShort.with("minimum", GUEST_KEY));
    }
    let fingerprint = fingerprint(inbound);
    let key = record_key(identity, inbound, key);
    let secrets = services.secrets.keys().await?;
    let (lease, seal) = (seal::random_secret(), secrets.request_key.clone());
    let is_ahead = inbound.row.claiming == Claiming::Ahead;
    let scopes = identity.scopes.clone();
    let claim = Claim { key, lease, fingerprint, scopes, seal, is_ahead };
    if !is_ahead {
        return Ok(Claimed::Mine(claim));
    }
    match put(services, &claim).await? {
        None => Ok(Claimed::Mine(claim)),
        Some(old) => validate(&claim, &old),
    }
}

/// The record's key: a hash of principal, store, method, route, path parameters, and the key that was sent.
///
/// All guests are one principal, and an answer may contain a secret that is returned only once, so only a
/// request with the same body gets it. Where the body has a password or a one-time code, that is not enough:
/// whoever has seen it could sign in by repeating the request elsewhere. There a key is valid for its network
/// alone, and a retry from another network signs in anew.
fn record_key(identity: &Identity, inbound: &Inbound, key: &str) -> Key {
    let store = identity.store.as_deref().unwrap_or_default();
    let mut parts =
        vec![identity.principal.as_str(), store, inbound.method.as_str(), inbound.row.path];
    parts.extend(inbound.params.iter().map(|(_, value)| value.as_str()));
    parts.extend(identity.guest.as_deref().filter(|_| inbound.row.fails_closed));
    parts.push(key);
    Key::new(format!("IDM#{}", hash(&parts)), "A")
}

/// SHA-256 of method, path, sorted query and raw body.
fn fingerprint(inbound: &Inbound) -> String {
    let mut pairs: Vec<&str> = inbound.query.split('&').collect();
    pairs.sort_unstable();
    let query = pairs.join("&");
    let mut hasher = Sha256::new();
    hasher.update(hash(&[inbound.method.as_str(), &inbound.path, &query]));
    hasher.update(&inbound.body);
    base16(&hasher.finalize())
}

fn hash(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_be_bytes());
        hasher.update(part.as_bytes());
    }
    base16(&hasher.finalize())
}

fn base16(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether an answer is stored for repetitions. 2xx and deterministic 4xx are; 401, 429 and 5xx are not
/// (docs/conventions.md §4), nor is a rejection that an immediate retry may not meet.
pub(crate) fn is_stored(status: u16, code: Option<&Code>) -> bool {
    let transient = [
        Code::VersionConflict,
        // Of the version in `If-Match`, which the fingerprint has not.
        Code::PreconditionFailed,
        Code::DeliveryInFlight,
        Code::RequestInProgress,
        Code::IdempotencyKeyReused,
    ];
    matches!(status, 200..=299 | 400 | 402..=428 | 430..=499)
        && !code.is_some_and(|code| transient.contains(code))
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;
    use table::item::Attributes;

    #[test]
    fn only_a_response_that_a_retry_would_get_again_is_stored() {
        for stored in [200, 201, 204, 400, 403, 404, 409, 412, 422] {
            assert!(is_stored(stored, None), "{stored}");
        }
        for transient in [401, 429, 500, 502, 503, 504] {
            assert!(!is_stored(transient, None), "{transient}");
        }
        assert!(is_stored(409, Some(&Code::EmailTaken)));
        for lost_race in [Code::VersionConflict, Code::DeliveryInFlight, Code::RequestInProgress] {
            assert!(!is_stored(lost_race.status(), Some(&lost_race)), "{}", lost_race.as_str());
        }
    }

    /// A claim of the request `sent`.
    fn example(is_ahead: bool) -> Claim {
        Claim {
            key: Key::new("IDM#1", "A"),
            lease: "mine".into(),
            fingerprint: "asked".into(),
            scopes: None,
            seal: crypto::seal::SealKey::generate(),
            is_ahead,
        }
    }

    fn request(
        method: &str,
        uri: &str,
        body: &'static str,
        id: Option<&str>,
    ) -> std::sync::Arc<Inbound> {
        let request = http::Request::builder().method(method).uri(uri).body(()).unwrap();
        let (parts, ()) = request.into_parts();
        let path = "/v1/things/{id}";
        let row = crate::row::Row::example(parts.method.clone(), path, Access::Public);
        let row = crate::row::Row { cost: crate::budget::Cost::WRITE, ..row };
        let params = id.map(|id| ("id".to_owned(), id.to_owned())).into_iter().collect();
        Inbound::new(&parts, bytes::Bytes::from_static(body.as_bytes()), params, row)
    }

    #[test]
    fn a_fingerprint_covers_the_whole_request_except_the_order_of_its_query() {
        let of = |method, uri, body| fingerprint(&request(method, uri, body, None));
        let first = of("POST", "/v1/things/1?a=1&b=2", "{}");
        assert_eq!(first.len(), 64);
        assert!(first.bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_eq!(of("POST", "/v1/things/1?b=2&a=1", "{}"), first);
        for other in [
            of("PUT", "/v1/things/1?a=1&b=2", "{}"),
            of("POST", "/v1/things/2?a=1&b=2", "{}"),
            of("POST", "/v1/things/1?a=1&b=3", "{}"),
            of("POST", "/v1/things/1?a=1&b=2", "{ }"),
        ] {
            assert_ne!(other, first);
        }
        // What is hashed keeps its parts apart.
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_eq!(base16(&[0, 10, 255]), "000aff");
    }

    #[test]
    fn a_key_is_one_callers_on_one_store_for_one_route() {
        let identity = |principal: &str, store: Option<&str>| Identity {
            principal: principal.into(),
            store: store.map(Into::into),
            guest: None,
            ..Identity::of_network("net")
        };
        let of = |identity: &Identity, method: &str, id: &str, key: &str| {
            record_key(identity, &request(method, "/v1/things/1", "", Some(id)), key)
        };
        let ann = identity("merchant:ann", Some("s"));
        let first = of(&ann, "POST", "1", "k");
        assert_eq!(of(&ann, "POST", "1", "k"), first);
        for other in [
            of(&identity("merchant:bob", Some("s")), "POST", "1", "k"),
            of(&identity("merchant:ann", Some("t")), "POST", "1", "k"),
            of(&ann, "PUT", "1", "k"),
            of(&ann, "POST", "2", "k"),
            of(&ann, "POST", "1", "l"),
        ] {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn a_guests_key_is_the_same_from_every_network_except_where_one_signs_in() {
        let of = |network: &str, fails_closed: bool| {
            let sent = request("POST", "/v1/things/1", "", None);
            let row = crate::row::Row { fails_closed, ..sent.row.clone() };
            let (parts, ()) = http::Request::post("/v1/things/1").body(()).unwrap().into_parts();
            let sent = Inbound::new(&parts, bytes::Bytes::new(), Vec::new(), row);
            record_key(&Identity::of_network(network), &sent, "k")
        };
        assert_eq!(of("here", false), of("there", false));
        assert_eq!(of("here", true), of("here", true));
        assert_ne!(of("here", true), of("there", true));
    }

    #[test]
    fn a_used_key_answers_by_owner_fingerprint_and_state() {
        let claim = example(true);
        let answer = Answer::json(http::StatusCode::CREATED, &serde_json::json!({"id": "x"}));
        let sealed = stored_response::seal(&claim.seal, &answer, b"IDM#1").unwrap();
        let sealed: AttributeValue = serde_dynamo::to_attribute_value(sealed).unwrap();
        let text = |value: &str| AttributeValue::S(value.to_owned());
        let record = |lease: &str, fingerprint: &str, state: &str| {
            let record = [
                ("lease".to_owned(), text(lease)),
                ("fingerprint".to_owned(), text(fingerprint)),
                ("state".to_owned(), text(state)),
                ("answer".to_owned(), sealed.clone()),
            ];
            validate(&claim, &record.into())
        };
        assert!(matches!(record("mine", "asked", "running"), Ok(Claimed::Mine(_))));
        let code =
            |validated: Result<Claimed, Problem>| validated.err().map(|problem| problem.code);
        let other = record("another", "other", "completed");
        assert_eq!(code(other), Some(Code::IdempotencyKeyReused));
        let running = record("another", "asked", "running");
        assert_eq!(code(running), Some(Code::RequestInProgress));
        let Ok(Claimed::Replay(again)) = record("another", "asked", "completed") else {
            panic!("it is done");
        };
        assert_eq!((again.status(), again.body()), (answer.status(), answer.body()));
        let replayed = ("idempotent-replayed".to_owned(), "true".to_owned());
        assert!(again.header_pairs().contains(&replayed));
        let missing = validate(&claim, &Attributes::new());
        assert_eq!(code(missing), Some(Code::IdempotencyKeyReused));
    }

    #[test]
    fn a_record_is_completed_once_under_its_lease() {
        let answer = Answer::json(http::StatusCode::CREATED, &serde_json::json!({"id": "x"}));
        for (is_ahead, condition) in
            [(true, "\"lease = :lease AND #state = :running\""), (false, FREE)]
        {
            let change = example(is_ahead).completion(&answer, Timestamp::from_millis(0)).unwrap();
            let written = format!("{change:?}");
            for said in [condition, "SET #state = :completed", "mine"] {
                assert!(written.contains(said), "{said}: {written}");
            }
            assert_eq!(written.contains("asked"), !is_ahead, "who claims has said what it asks");
        }
    }
}

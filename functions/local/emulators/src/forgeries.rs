//! Tokens that must be rejected, each with the name of the attack.
//!
//! An outsider who has seen one valid token and the published keys can make the [`forgeries`]. The
//! [`misfits`] are signed with our own key, but [`crypto::token::sign`] never writes them: they reach the
//! checks after the signature. This module's unit tests use both, and so do black-box tests, which send them
//! to every guarded route. Sources: RFC 8725 §2, RFC 7515 §10, and public reports.
//!
//! A token whose name ends in `(not sendable)` has bytes that no HTTP header can carry.

use std::ops::Neg;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use p256::SecretKey;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey as EcdsaKey};
use p256::pkcs8::{Document, EncodePublicKey, LineEnding};
use serde_json::{Map, Value, json};

use crypto::seal;

mod misfits;
#[cfg(test)]
mod tests;

pub use misfits::misfits;

/// The order of the P-256 group (FIPS 186-4 D.1.2.3), which is congruent to zero.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
    0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// A key URL of an attacker.
pub(super) const ATTACKERS_URL: &str = "https://attacker.invalid/keys";

/// Arrangements of segments: H, P and S stand for header, payload and signature, L for a huge segment.
const SHAPES: [(&str, &str); 23] = [
    ("empty", ""),
    ("one dot", "."),
    ("two dots", ".."),
    ("three dots", "..."),
    ("header alone", "H"),
    ("two segments", "H.P"),
    ("four segments", "H.P.S.S"),
    ("a dot behind", "H.P.S."),
    ("a dot before", ".H.P.S"),
    ("an encrypted token's five parts", "H.P.S.P.S"),
    ("no payload", "H..S"),
    ("no header", ".P.S"),
    ("twice", "H.P.SH.P.S"),
    ("two in a list", "H.P.S,H.P.S"),
    ("a space before", " H.P.S"),
    ("in quotes", "\"H.P.S\""),
    ("a huge header", "L.P.S"),
    ("a huge payload", "H.L.S"),
    ("a huge signature", "H.P.SL"),
    ("a padded header", "H=.P.S"),
    ("a padded payload", "H.P=.S"),
    ("header and payload swapped", "P.H.S"),
    ("the payload twice", "H.PP.S"),
];

/// A list of attacks by name.
pub type Named = Vec<(String, String)>;

/// Creates the tokens that an outsider can make from one valid token, its claims and the published JWKS.
pub fn forgeries(valid_token: &str, claims: &Value, jwks: &Value) -> Named {
    let mut segments = valid_token.split('.');
    let mut segment = || segments.next().unwrap_or_default();
    let (header, payload, signature) = (segment(), segment(), segment());
    let mut all = algorithm_swaps(header, payload, signature, jwks);
    all.extend(attackers_keys(header, claims, jwks));
    all.extend(altered_payloads(header, claims, signature));
    all.extend(altered_signatures(&format!("{header}.{payload}"), signature));
    all.extend(respelt_signatures(&format!("{header}.{payload}"), signature));
    all.extend(altered_shapes(header, payload, signature));
    all.retain(|(_, token)| token != valid_token);
    all
}

fn algorithm_swaps(header: &str, payload: &str, signature: &str, jwks: &Value) -> Named {
    let kid = first_kid(jwks);
    let mut all = Vec::new();
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        let header = b64(json!({"alg": alg, "typ": "at+jwt", "kid": kid}).to_string());
        all.push((format!("alg {alg:?} without signature"), format!("{header}.{payload}.")));
        all.push((format!("alg {alg:?}"), format!("{header}.{payload}.{signature}")));
    }
    for alg in ["RS256", "PS256", "ES384", "ES512", "ES256K", "EdDSA", "HS256", "es256", "ES256 "] {
        let header = b64(json!({"alg": alg, "typ": "at+jwt", "kid": kid}).to_string());
        all.push((
            format!("alg {alg:?} over our signature"),
            format!("{header}.{payload}.{signature}"),
        ));
    }
    let secrets = public_texts(jwks);
    for (name, secret) in secrets {
        let header = b64(json!({"alg": "HS256", "typ": "at+jwt", "kid": kid}).to_string());
        let message = format!("{header}.{payload}");
        let tag = b64(seal::hmac_sha256(&secret, &[message.as_bytes()]));
        all.push((format!("HS256 keyed with {name}"), format!("{message}.{tag}")));
    }
    all.push(("no signature".to_owned(), format!("{header}.{payload}.")));
    all
}

/// Public texts that a faulty verifier may use as an HMAC secret.
fn public_texts(jwks: &Value) -> Vec<(&'static str, Vec<u8>)> {
    let jwk = first_key(jwks);
    let text = |name| jwk.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (x, y) = (unb64(&text("x")), unb64(&text("y")));
    let sec1 = [&[4][..], &x, &y].concat();
    let pem = p256::PublicKey::from_sec1_bytes(&sec1)
        .ok()
        .and_then(|key| key.to_public_key_pem(LineEnding::LF).ok())
        .unwrap_or_default();
    vec![
        ("nothing", Vec::new()),
        ("the public PEM", pem.clone().into_bytes()),
        ("the public PEM without its last newline", pem.trim_end().as_bytes().to_vec()),
        ("the public point", sec1),
        ("the x coordinate", x),
        ("the x coordinate's text", text("x").into_bytes()),
        ("the public JWK", jwk.to_string().into_bytes()),
        ("the key id", text("kid").into_bytes()),
    ]
}

/// Tokens signed with the attacker's key, with headers that refer the verifier to it.
fn attackers_keys(header: &str, claims: &Value, jwks: &Value) -> Named {
    let key = stranger();
    let point = key.verifying_key().to_encoded_point(false);
    let (x, y) = (point.x().map(b64), point.y().map(b64));
    let jwk = json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "alg": "ES256", "use": "sig"});
    let spki = key.verifying_key().to_public_key_der().ok();
    let x5c = STANDARD.encode(spki.as_ref().map(Document::as_bytes).unwrap_or_default());
    let kid = first_kid(jwks);
    let headers = [
        ("our kid", json!({"kid": kid})),
        ("a foreign kid", json!({"kid": "attacker"})),
        ("no kid", json!({})),
        ("kid null", json!({"kid": null})),
        ("kid a number", json!({"kid": 0})),
        ("kid an array", json!({"kid": [kid]})),
        ("kid empty", json!({"kid": ""})),
        ("kid a path", json!({"kid": "../../../../dev/null"})),
        ("kid an injection", json!({"kid": "x' OR ''='"})),
        ("kid in another case", json!({"kid": swap_case(&kid)})),
        ("an embedded jwk", json!({"kid": kid, "jwk": jwk})),
        ("an embedded jwk alone", json!({"jwk": jwk})),
        ("a jku", json!({"kid": kid, "jku": ATTACKERS_URL})),
        ("an x5u", json!({"kid": kid, "x5u": ATTACKERS_URL})),
        ("an x5c", json!({"kid": kid, "x5c": [x5c]})),
    ];
    let base = json!({"alg": "ES256", "typ": "at+jwt"});
    let headers = headers.map(|(name, extra)| (name, with(&base, &extra).to_string().into_bytes()));
    let token = |(name, header)| {
        let token = signed(&key, header, claims.to_string());
        (format!("attacker's key, {name}"), token)
    };
    headers.into_iter().chain([("our header", unb64(header))]).map(token).collect()
}

/// Other claims with the original signature.
fn altered_payloads(header: &str, claims: &Value, signature: &str) -> Named {
    let changes = [
        ("subject", json!({"sub": "ins_0"})),
        ("store", json!({"store_id": "sto_0"})),
        ("installation", json!({"installation_id": "ins_0"})),
        ("scope", json!({"scope": "write_orders write_payments"})),
        ("token id", json!({"jti": "other"})),
        ("expiry", json!({"exp": moved(claims, "exp", 60)})),
    ];
    let other = changes.into_iter().map(|(name, change)| {
        let payload = b64(with(claims, &change).to_string());
        (format!("another {name}"), format!("{header}.{payload}.{signature}"))
    });
    let spaced = b64(format!("{claims} "));
    other
        .chain([(
            "a space behind the payload".to_owned(),
            format!("{header}.{spaced}.{signature}"),
        )])
        .collect()
}

/// Other bytes in place of the 64 of the signature.
fn altered_signatures(message: &str, signature: &str) -> Named {
    let bytes = unb64(signature);
    let (r, s) = bytes.split_at_checked(32).unwrap_or_default();
    let mut flipped = bytes.clone();
    flipped.iter_mut().skip(40).take(1).for_each(|byte| *byte ^= 1);
    let der = Signature::from_slice(&bytes).map(|signature| signature.to_der());
    let other: [(&str, Vec<u8>); 12] = [
        ("all zero", vec![0; 64]),
        ("r zero", [&[0; 32], s].concat()),
        ("s zero", [r, &[0; 32]].concat()),
        ("r and s the group's order", [ORDER, ORDER].concat()),
        ("all ones", vec![0xff; 64]),
        ("DER", der.map(|der| der.as_bytes().to_vec()).unwrap_or_default()),
        ("one byte short", bytes.iter().take(63).copied().collect()),
        ("one byte long", [&bytes[..], &[0]].concat()),
        ("r alone", r.to_vec()),
        ("ES384-sized", vec![0; 96]),
        ("halves swapped", [s, r].concat()),
        ("one bit flipped", flipped),
    ];
    let token = |(name, bytes)| (format!("signature {name}"), format!("{message}.{}", b64(bytes)));
    let mut all: Named = other.map(token).into();
    all.push(("the other signature".to_owned(), other_s(message, signature)));
    all
}

/// Other encodings of the same 64 bytes.
fn respelt_signatures(message: &str, signature: &str) -> Named {
    // 64 bytes leave four bits of the last character unused: it is A, Q, g or w, and a lenient decoder
    // accepts the next character as well.
    let mut twin = signature.to_owned();
    let next = twin.pop().and_then(|last| char::from_u32(u32::from(last).saturating_add(1)));
    twin.extend(next);
    let texts = [
        ("in its second base64 spelling", twin),
        ("padded", format!("{signature}==")),
        ("padded once", format!("{signature}=")),
        ("with a space behind", format!("{signature} ")),
        ("with a space before", format!(" {signature}")),
        ("with a newline (not sendable)", format!("{signature}\n")),
        ("with a NUL (not sendable)", format!("{signature}\0")),
        ("with a percent sign", format!("{signature}%3D")),
        ("not ASCII", format!("{signature}é")),
        ("in standard base64", STANDARD.encode(unb64(signature))),
    ];
    let token = |(name, text)| (format!("signature {name}"), format!("{message}.{text}"));
    texts.map(token).into()
}

/// Other arrangements of the segments.
fn altered_shapes(header: &str, payload: &str, signature: &str) -> Named {
    let huge = "A".repeat(5_000);
    let fill = |(name, shape): (&str, &str)| {
        let chunk = |part: char| match part {
            'H' => header.to_owned(),
            'P' => payload.to_owned(),
            'S' => signature.to_owned(),
            'L' => huge.clone(),
            other => other.to_string(),
        };
        (format!("shape: {name}"), shape.chars().map(chunk).collect())
    };
    let mut all: Named = SHAPES.map(fill).into();
    let bom = [b"\xef\xbb\xbf", &unb64(header)[..]].concat();
    let doubled = br#"{"alg":"none","alg":"ES256","typ":"at+jwt"}"#.to_vec();
    let headers =
        [("a byte-order mark", bom), ("alg twice", doubled), ("no JSON", b"ES256".into())];
    all.extend(headers.map(|(name, bytes)| {
        (format!("shape: a header with {name}"), format!("{}.{payload}.{signature}", b64(bytes)))
    }));
    let token = format!("{header}.{payload}.{signature}");
    all.push(("shape: upper case".to_owned(), token.to_uppercase()));
    let shorter = token.chars().take(token.len().saturating_sub(1)).collect();
    all.push(("shape: truncated".to_owned(), shorter));
    let members = json!({"protected": header, "payload": payload, "signature": signature});
    all.push(("shape: JSON serialization".to_owned(), members.to_string()));
    all
}

/// Signs `header.payload.signature`, with the low `s` of the signature.
pub(super) fn signed(
    key: &EcdsaKey,
    header: impl AsRef<[u8]>,
    payload: impl AsRef<[u8]>,
) -> String {
    let message = format!("{}.{}", b64(header), b64(payload));
    let signature: Signature = key.sign(message.as_bytes());
    let low = signature.normalize_s().unwrap_or(signature);
    format!("{message}.{}", b64(low.to_bytes()))
}

/// The token with the signature (r, n − s), which is as valid as (r, s).
fn other_s(message: &str, signature: &str) -> String {
    let other = Signature::from_slice(&unb64(signature))
        .and_then(|signature| Signature::from_scalars(signature.r(), signature.s().neg()));
    format!("{message}.{}", other.map(|other| b64(other.to_bytes())).unwrap_or_default())
}

fn stranger() -> EcdsaKey {
    loop {
        if let Ok(secret) = SecretKey::from_slice(&seal::random_bytes::<32>()) {
            return EcdsaKey::from(secret);
        }
    }
}

/// `base` with the members of `change` in place of its own.
fn with(base: &Value, change: &Value) -> Value {
    let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
    members(base).into_iter().chain(members(change)).collect::<Map<_, _>>().into()
}

fn moved(claims: &Value, name: &str, seconds: i64) -> i64 {
    claims.get(name).and_then(Value::as_i64).unwrap_or_default().saturating_add(seconds)
}

fn first_key(jwks: &Value) -> Value {
    jwks.pointer("/keys/0").cloned().unwrap_or_default()
}

fn first_kid(jwks: &Value) -> String {
    first_key(jwks).get("kid").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn swap_case(text: &str) -> String {
    let swap = |c: char| {
        if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
    };
    text.chars().map(swap).collect()
}

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn unb64(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap_or_default()
}

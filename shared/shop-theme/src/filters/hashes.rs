//! Digests of texts, in hexadecimal digits.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use liquid::{Args, Context, Result, Value};
use md5::Digest as _;

use super::call::Named;

pub(super) const FILTERS: &[Named] = &[
    ("blake3", |input, _, _| Ok(blake3::hash(input.to_text().as_bytes()).to_hex().as_str().into())),
    ("md5", |input, _, _| Ok(hex(&md5::Md5::digest(input.to_text().as_bytes())))),
    ("sha1", |input, _, _| Ok(hex(&sha1::Sha1::digest(input.to_text().as_bytes())))),
    ("sha256", |input, _, _| Ok(hex(&sha2::Sha256::digest(input.to_text().as_bytes())))),
    ("hmac_sha1", hmac_sha1),
    ("hmac_sha256", hmac_sha256),
];

fn hex(bytes: &[u8]) -> Value {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}

fn hmac_sha1(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let key = args.text(0);
    let Ok(mut mac) = Hmac::<sha1::Sha1>::new_from_slice(key.as_bytes()) else {
        return Ok(Value::Nil);
    };
    mac.update(input.to_text().as_bytes());
    Ok(hex(&mac.finalize().into_bytes()))
}

fn hmac_sha256(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let key = args.text(0);
    let Ok(mut mac) = Hmac::<sha2::Sha256>::new_from_slice(key.as_bytes()) else {
        return Ok(Value::Nil);
    };
    mac.update(input.to_text().as_bytes());
    Ok(hex(&mac.finalize().into_bytes()))
}

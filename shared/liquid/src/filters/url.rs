//! Filters of URLs and Base64.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::standard::Filters;
use crate::args::Args;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("base64_decode", 0, 0, base64_decode),
    ("base64_encode", 0, 0, base64_encode),
    ("base64_url_safe_decode", 0, 0, base64_url_safe_decode),
    ("base64_url_safe_encode", 0, 0, base64_url_safe_encode),
    ("url_decode", 0, 0, url_decode),
    ("url_encode", 0, 0, url_encode),
];

const URL_SAFE_ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn base64_encode(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(STANDARD.encode(&*input.to_text()).into())
}

fn base64_url_safe_encode(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(URL_SAFE.encode(&*input.to_text()).into())
}

fn base64_decode(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    decoded(&STANDARD, input, "base64_decode")
}

fn base64_url_safe_decode(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    decoded(&URL_SAFE_ANY_PADDING, input, "base64_url_safe_decode")
}

fn decoded(engine: &GeneralPurpose, input: &Value, filter: &str) -> Result<Value> {
    let Ok(bytes) = engine.decode(&*input.to_text()) else {
        return Err(Error::argument(format!("invalid base64 provided to {filter}")));
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned().into())
}

fn url_encode(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    if input.is_nil() {
        return Ok(Value::Nil);
    }
    let text = input.to_text();
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            _ => {
                encoded.push('%');
                encoded.extend([byte >> 4, byte & 15].map(hex_digit));
            }
        }
    }
    Ok(encoded.into())
}

fn hex_digit(digit: u8) -> char {
    char::from_digit(digit.into(), 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

fn url_decode(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    if input.is_nil() {
        return Ok(Value::Nil);
    }
    let text = input.to_text();
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => match after
                .split_first_chunk::<2>()
                .and_then(|(hex, after)| Some((u8::from_str_radix(digits(hex)?, 16).ok()?, after)))
            {
                Some((byte, after)) => {
                    rest = after;
                    byte
                }
                None => b'%',
            },
            byte => *byte,
        });
    }
    match String::from_utf8(decoded) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(Error::argument("invalid byte sequence in UTF-8")),
    }
}

fn digits(hex: &[u8; 2]) -> Option<&str> {
    let all = hex.iter().all(u8::is_ascii_hexdigit);
    std::str::from_utf8(hex).ok().filter(|_| all)
}

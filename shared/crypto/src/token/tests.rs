//! Signing, rejection, and the exact second of expiry.

use super::*;
use serde_json::{Value, json};
use std::collections::HashSet;

pub(super) const ISSUER: &str = "https://api.service.invalid";
pub(super) const AUDIENCE: &str = "https://api.service.invalid/v1";
pub(super) const NOW: i64 = 1_767_225_600;

pub(super) fn claims() -> Claims {
    Claims {
        iss: ISSUER.into(),
        sub: "ins_1".into(),
        aud: AUDIENCE.into(),
        client_id: "app_1".into(),
        app_id: "app_1".into(),
        installation_id: "ins_1".into(),
        store_id: "sto_1".into(),
        scope: "read_products write_orders".into(),
        iat: NOW,
        nbf: NOW,
        exp: NOW + APP_TOKEN_SECONDS,
        jti: "tok_1".into(),
        gty: "authorization_code".into(),
        sid: None,
        act: None,
    }
}

fn embedded() -> Claims {
    let act = Some(Actor { sub: "mer_1".into() });
    Claims { exp: NOW + EMBEDDED_TOKEN_SECONDS, sid: Some("ses_1".into()), act, ..claims() }
}

pub(super) fn check(keys: &KeySet, token: &str, now: i64) -> Result<Claims, TokenError> {
    verify(&keys.public_keys(), token, ISSUER, AUDIENCE, now)
}

fn unbase64(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}

#[test]
fn a_signed_token_has_the_documented_header_and_verifies() {
    let keys = KeySet::generate();
    for claims in [claims(), embedded(), Claims { scope: String::new(), ..claims() }] {
        let token = sign(&keys, &claims).unwrap();
        assert_eq!(check(&keys, &token, NOW), Ok(claims));
        let header: Value =
            serde_json::from_slice(&unbase64(token.split('.').next().unwrap())).unwrap();
        assert_eq!(header, json!({"typ": "at+jwt", "alg": "ES256", "kid": keys.current_kid()}));
    }
    assert!(embedded().is_embedded() && !claims().is_embedded());
}

#[test]
fn an_app_token_holds_exactly_the_documented_claims() {
    let names = |claims| json!(claims).as_object().unwrap().keys().cloned().collect::<HashSet<_>>();
    let common = "iss sub aud client_id app_id installation_id store_id scope iat nbf exp jti gty";
    let common: HashSet<String> = common.split(' ').map(str::to_owned).collect();
    assert_eq!(names(claims()), common);
    let more: HashSet<String> = names(embedded()).difference(&common).cloned().collect();
    assert_eq!(more, HashSet::from(["sid".to_owned(), "act".to_owned()]));
}

#[test]
fn a_token_ends_ten_seconds_after_exp_and_not_a_second_later() {
    let keys = KeySet::generate();
    let token = sign(&keys, &claims()).unwrap();
    let exp = claims().exp;
    for (now, expected) in [
        (exp - 1, None),
        (exp, None),
        (exp + 9, None),
        (exp + 10, Some(TokenError::Expired)),
        (exp + 11, Some(TokenError::Expired)),
        (i64::MAX, Some(TokenError::Expired)),
    ] {
        assert_eq!(check(&keys, &token, now).err(), expected, "{}", now - exp);
    }
}

#[test]
fn a_token_begins_ten_seconds_before_nbf_and_iat() {
    let keys = KeySet::generate();
    for (nbf, iat) in [(NOW, NOW - 60), (NOW - 60, NOW)] {
        let claims = Claims { nbf, iat, exp: NOW + 600, ..claims() };
        let token = sign(&keys, &claims).unwrap();
        for (now, expected) in [
            (i64::MIN, Some(TokenError::NotYetValid)),
            (NOW - 11, Some(TokenError::NotYetValid)),
            (NOW - 10, None),
            (NOW, None),
        ] {
            assert_eq!(check(&keys, &token, now).err(), expected, "{}", now - NOW);
        }
    }
}

#[test]
fn claims_that_would_not_verify_are_not_signed() {
    let keys = KeySet::generate();
    let rejection = |claims, change: fn(&mut Claims)| {
        let mut claims: Claims = claims;
        change(&mut claims);
        sign(&keys, &claims).unwrap_err()
    };
    let (app, embedded) = (claims, embedded);
    assert_eq!(rejection(app(), |it| it.exp = NOW + 3_601), TokenError::Lifetime);
    assert_eq!(rejection(app(), |it| it.exp = NOW), TokenError::Lifetime);
    assert_eq!(rejection(embedded(), |it| it.exp = NOW + 301), TokenError::Lifetime);
    assert_eq!(rejection(embedded(), |it| it.act = None), TokenError::Claims);
    assert_eq!(rejection(embedded(), |it| it.sid = None), TokenError::Claims);
    assert_eq!(rejection(embedded(), |it| it.sid = Some(String::new())), TokenError::Claims);
    assert_eq!(rejection(app(), |it| it.store_id.clear()), TokenError::Claims);
    assert_eq!(rejection(app(), |it| it.scope = "x".repeat(4_096)), TokenError::TooLong);
}

#[test]
fn the_type_may_be_spelt_as_rfc_9068_allows() {
    let keys = KeySet::generate();
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt", "Application/AT+JWT"] {
        let mut header = Header::new(Algorithm::ES256);
        header.typ = Some(typ.to_owned());
        header.kid = Some(keys.current_kid().to_owned());
        let token = encode(&header, &claims(), keys.current().encoding_key()).unwrap();
        assert!(check(&keys, &with_low_s(&token).unwrap(), NOW).is_ok(), "{typ}");
    }
}

#[test]
fn each_token_has_one_spelling() {
    let keys = KeySet::generate();
    for number in 0..64 {
        let token = sign(&keys, &Claims { jti: format!("tok_{number}"), ..claims() }).unwrap();
        let (message, signature) = token.rsplit_once('.').unwrap();
        let head = signature.get(..85).unwrap();
        let alphabet = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_']);
        let accepted: Vec<String> = alphabet
            .map(|last| format!("{message}.{head}{last}"))
            .filter(|spelling| check(&keys, spelling, NOW).is_ok())
            .collect();
        assert_eq!(accepted, [token]);
    }
}

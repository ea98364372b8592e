//! Tests that each forged token is rejected, with the right error.

use super::{misfits::signing_key, *};
use crypto::token::{
    APP_TOKEN_SECONDS, Actor, Claims, EMBEDDED_TOKEN_SECONDS, KeySet, TokenError, sign, verify,
};
use serde_json::json;
use std::collections::HashSet;

const ISSUER: &str = "https://api.service.invalid";
const AUDIENCE: &str = "https://api.service.invalid/v1";
const NOW: i64 = 1_767_225_600;

fn claims() -> Claims {
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

fn check(keys: &KeySet, token: &str, now: i64) -> Result<Claims, TokenError> {
    verify(&keys.public_keys(), token, ISSUER, AUDIENCE, now)
}

#[test]
fn every_forgery_is_rejected() {
    let keys = KeySet::generate().rotate();
    for claims in [claims(), embedded()] {
        let token = sign(&keys, &claims).unwrap();
        let forged = forgeries(&token, &json!(claims), &keys.jwks());
        assert!(forged.len() >= 90, "{}", forged.len());
        for (name, forgery) in forged {
            assert!(check(&keys, &forgery, NOW).is_err(), "{name}: {forgery}");
        }
    }
}

#[test]
fn misfits_are_rejected_for_their_content() {
    let keys = KeySet::generate();
    for claims in [claims(), embedded()] {
        let misfits = misfits(&json!(claims), &keys);
        assert!(misfits.len() >= 120, "{}", misfits.len());
        for (name, misfit) in misfits {
            let error = check(&keys, &misfit, NOW).expect_err(&name);
            let other_signature = name == "ours, the other signature";
            assert_eq!(error == TokenError::Signature, other_signature, "{name}: {error}");
        }
    }
}

#[test]
fn the_signing_helper_makes_a_valid_token_without_changes() {
    let keys = KeySet::generate();
    let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": keys.current_kid()});
    let key = signing_key(&keys);
    let token = signed(&key, header.to_string(), json!(claims()).to_string());
    assert_eq!(check(&keys, &token, NOW), Ok(claims()));
}

#[test]
fn the_lists_name_each_attack_once() {
    let keys = KeySet::generate();
    let token = sign(&keys, &claims()).unwrap();
    let mut names = HashSet::new();
    let forged = forgeries(&token, &json!(claims()), &keys.jwks());
    for (name, token) in forged.into_iter().chain(misfits(&json!(claims()), &keys)) {
        assert!(names.insert(name.clone()), "{name}");
        let sendable = token.bytes().all(|byte| byte >= 0x20 && byte != 0x7f);
        assert_eq!(sendable, !name.ends_with("(not sendable)"), "{name}");
    }
}

/// One attack for each check.
const REASONS: [(&str, TokenError); 28] = [
    ("alg \"none\" without signature", TokenError::Header),
    ("HS256 keyed with the public PEM", TokenError::Header),
    ("attacker's key, our kid", TokenError::Signature),
    ("attacker's key, a foreign kid", TokenError::UnknownKey),
    ("attacker's key, an embedded jwk", TokenError::Header),
    ("another store", TokenError::Signature),
    ("signature all zero", TokenError::Signature),
    ("signature DER", TokenError::Signature),
    ("signature in its second base64 spelling", TokenError::Malformed),
    ("the other signature", TokenError::Signature),
    ("shape: an encrypted token's five parts", TokenError::Malformed),
    ("shape: a huge payload", TokenError::TooLong),
    ("ours, header with crit", TokenError::Header),
    ("ours, header typ JWT", TokenError::Header),
    ("ours, header alg twice", TokenError::Header),
    ("ours, payload without aud", TokenError::Claims),
    ("ours, payload aud in an array", TokenError::Claims),
    ("ours, payload another audience", TokenError::Audience),
    ("ours, payload another issuer", TokenError::Issuer),
    ("ours, payload without exp", TokenError::Claims),
    ("ours, payload exp twice", TokenError::Claims),
    ("ours, payload expired", TokenError::Expired),
    ("ours, payload nbf in the future", TokenError::NotYetValid),
    ("ours, payload iat in the future", TokenError::NotYetValid),
    ("ours, payload exp one second too late", TokenError::Lifetime),
    ("ours, payload an embedded hour", TokenError::Lifetime),
    ("ours, payload something unknown", TokenError::Claims),
    ("ours, payload not UTF-8", TokenError::Claims),
];

#[test]
fn each_rejection_has_its_own_reason() {
    let keys = KeySet::generate();
    let forged = forgeries(&sign(&keys, &claims()).unwrap(), &json!(claims()), &keys.jwks());
    let misfits = misfits(&json!(claims()), &keys);
    let all: Vec<_> = forged.into_iter().chain(misfits).collect();
    for (name, reason) in REASONS {
        let token = &all.iter().find(|one| one.0 == name).unwrap_or_else(|| panic!("{name}")).1;
        assert_eq!(check(&keys, token, NOW), Err(reason), "{name}");
    }
}

//! Which key counts after a rotation, and what is rejected as a key.

use super::*;
use crate::token::tests::{AUDIENCE, ISSUER, NOW, check, claims};
use crate::token::{TokenError, sign, verify};

#[test]
fn the_previous_key_verifies_and_the_one_before_it_does_not() {
    let first = KeySet::generate();
    let token = sign(&first, &claims()).unwrap();
    let published_before = first.jwks();
    let second = first.rotate();
    assert!(check(&second, &token, NOW).is_ok());
    let new = sign(&second, &claims()).unwrap();
    let cached = PublicKeys::from_jwks(&published_before).unwrap();
    assert!(verify(&cached, &new, ISSUER, AUDIENCE, NOW).is_ok(), "next was published in time");
    let third = second.rotate();
    assert_eq!(check(&third, &token, NOW), Err(TokenError::UnknownKey));
    assert!(check(&third, &new, NOW).is_ok());
}

#[test]
fn a_key_set_survives_the_secret_store() {
    for keys in [KeySet::generate(), KeySet::generate().rotate()] {
        let again = KeySet::from_secret(&keys.reveal()).unwrap();
        assert_eq!(again.jwks(), keys.jwks());
        assert_eq!(again.reveal(), keys.reveal());
        assert!(check(&again, &sign(&keys, &claims()).unwrap(), NOW).is_ok());
        assert!(serde_json::from_str::<KeySet>(&keys.reveal()).is_ok());
    }
}

#[test]
fn a_damaged_secret_is_rejected_when_it_is_loaded() {
    let secret: Value = serde_json::from_str(&KeySet::generate().rotate().reveal()).unwrap();
    let zero = URL_SAFE_NO_PAD.encode([0; 32]);
    let short = URL_SAFE_NO_PAD.encode([1; 31]);
    let x = secret.pointer("/next/x").unwrap();
    for (pointer, value, error) in [
        ("/current/kty", json!("RSA"), KeyError::NotP256),
        ("/current/crv", json!("P-384"), KeyError::NotP256),
        ("/current/d", json!(zero), KeyError::NotP256),
        ("/current/d", json!(short), KeyError::NotP256),
        ("/current/d", json!("!"), KeyError::Format),
        ("/current/x", x.clone(), KeyError::Mismatch),
        ("/previous/d", secret.pointer("/next/d").unwrap().clone(), KeyError::Mismatch),
        ("/next", secret.pointer("/current").unwrap().clone(), KeyError::Set),
        ("/next", Value::Null, KeyError::Format),
    ] {
        let mut damaged = secret.clone();
        *damaged.pointer_mut(pointer).unwrap() = value;
        assert_eq!(KeySet::from_secret(&damaged.to_string()).unwrap_err(), error, "{pointer}");
    }
    assert_eq!(KeySet::from_secret("").unwrap_err(), KeyError::Format);
}

#[test]
fn the_published_keys_have_no_private_part_and_the_documented_members() {
    let keys = KeySet::generate().rotate();
    let published = keys.jwks();
    let list = published.get("keys").unwrap().as_array().unwrap();
    assert_eq!(list.len(), 3);
    for key in list {
        let mut names: Vec<_> = key.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["alg", "crv", "kid", "kty", "use", "x", "y"]);
        let library: jsonwebtoken::jwk::Jwk = serde_json::from_value(key.clone()).unwrap();
        let thumbprint = library.thumbprint(jsonwebtoken::jwk::ThumbprintHash::SHA256).unwrap();
        assert_eq!(key.get("kid").unwrap(), &json!(thumbprint));
    }
}

#[test]
fn public_keys_reject_private_foreign_and_mislabelled_keys() {
    let keys = KeySet::generate();
    let secret: Value = serde_json::from_str(&keys.reveal()).unwrap();
    let good = keys.jwks();
    let y = good.pointer("/keys/1/y").unwrap().clone();
    let kid = good.pointer("/keys/1/kid").unwrap().clone();
    let list = |key: Value| json!({"keys": [key]});
    let with = |name: &str, value: Value| {
        let mut key = good.pointer("/keys/0").unwrap().clone();
        key.as_object_mut().unwrap().insert(name.to_owned(), value);
        list(key)
    };
    for (jwks, error) in [
        (secret.clone(), KeyError::Format),
        (list(secret.pointer("/current").unwrap().clone()), KeyError::Format),
        (with("d", json!("AA")), KeyError::Format),
        (with("kty", json!("oct")), KeyError::NotP256),
        (with("alg", json!("HS256")), KeyError::NotP256),
        (with("use", json!("enc")), KeyError::NotP256),
        (with("crv", json!("P-384")), KeyError::NotP256),
        (with("y", y), KeyError::NotP256),
        (with("x", json!("AA")), KeyError::NotP256),
        (with("kid", kid), KeyError::Mismatch),
        (json!({"keys": [good.pointer("/keys/0"), good.pointer("/keys/0")]}), KeyError::Set),
        (json!({"keys": []}), KeyError::Set),
        (json!({}), KeyError::Format),
    ] {
        assert_eq!(PublicKeys::from_jwks(&jwks).unwrap_err(), error, "{jwks}");
    }
}

#[test]
fn private_keys_do_not_show_in_debug_output() {
    let keys = KeySet::generate();
    let secret: Value = serde_json::from_str(&keys.reveal()).unwrap();
    let text = format!("{keys:?} {:?}", keys.public_keys());
    for pointer in ["/current/d", "/next/d"] {
        assert!(!text.contains(secret.pointer(pointer).unwrap().as_str().unwrap()));
    }
    assert!(text.contains("[redacted]"));
}

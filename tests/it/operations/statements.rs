//! Signed statements, verified as somebody would who knows the service by its address only.

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use support::{Client, Value};

/// What a statement of this type says, by the published keys.
pub(super) async fn verified(
    typ: &str,
    stranger: &Client,
    jws: &str,
    issuer: &str,
) -> Result<Value, String> {
    let jwks = stranger.get("/v1/app-store/oauth/jwks").await.expect(200).text;
    let jwks: JwkSet = serde_json::from_str(&jwks).unwrap();
    let header = decode_header(jws).map_err(|error| error.to_string())?;
    assert_eq!((header.alg, header.typ.as_deref()), (Algorithm::ES256, Some(typ)));
    let key = jwks.find(&header.kid.unwrap()).expect("the key is published");
    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_required_spec_claims(&["iss", "sub"]);
    validation.set_issuer(&[issuer]);
    validation.validate_exp = false;
    let key = DecodingKey::from_jwk(key).unwrap();
    let read = decode::<Value>(jws, &key, &validation).map_err(|error| error.to_string())?;
    Ok(read.claims)
}

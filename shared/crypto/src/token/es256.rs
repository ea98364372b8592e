//! ES256 (RFC 7518 §3.4) for `jsonwebtoken`, and no other algorithm. What the library brings along knows
//! twelve, and with them RSA, P-384 and Ed25519 would be in every function.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::jwk::ThumbprintHash;
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::pkcs8::DecodePrivateKey;
use sha2::{Digest, Sha256};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils { compute_digest: digest, ..KeyUtils::new_unimplemented() },
};

/// Makes it what the library signs and verifies with. Any number of times, before the first use.
pub(super) fn install() {
    // It is rejected where it is installed already.
    let _ = PROVIDER.install_default();
}

struct Es256Signer(SigningKey);

struct Es256Verifier(VerifyingKey);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the library calls it")]
fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    only_es256(*algorithm, key.family())?;
    let key = SigningKey::from_pkcs8_der(key.as_bytes()).map_err(|_| ErrorKind::InvalidEcdsaKey)?;
    Ok(Box::new(Es256Signer(key)))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the library calls it")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    only_es256(*algorithm, key.family())?;
    let point = VerifyingKey::from_sec1_bytes(key.try_get_as_bytes()?);
    Ok(Box::new(Es256Verifier(point.map_err(|_| ErrorKind::InvalidEcdsaKey)?)))
}

fn only_es256(algorithm: Algorithm, family: AlgorithmFamily) -> Result<(), Error> {
    match (algorithm, family) {
        (Algorithm::ES256, AlgorithmFamily::Ec) => Ok(()),
        _ => Err(ErrorKind::UnsupportedAlgorithm.into()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as the library calls it")]
fn digest(data: &[u8], hash: ThumbprintHash) -> Result<Vec<u8>, Error> {
    match hash {
        ThumbprintHash::SHA256 => Ok(Sha256::digest(data).to_vec()),
        _ => Err(ErrorKind::UnsupportedAlgorithm.into()),
    }
}

impl Signer<Vec<u8>> for Es256Signer {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let signature: Signature = self.0.try_sign(message)?;
        Ok(signature.to_bytes().to_vec())
    }
}

impl JwtSigner for Es256Signer {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}

impl Verifier<Vec<u8>> for Es256Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.0.verify(message, &Signature::from_slice(signature)?)
    }
}

impl JwtVerifier for Es256Verifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}

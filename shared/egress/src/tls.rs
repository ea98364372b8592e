//! TLS for clients, with ring, without algorithms that only servers or rare peers need: each algorithm is
//! code in every function.

use std::sync::Arc;

use rustls::crypto::ring::cipher_suite::{
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384,
};
use rustls::crypto::ring::kx_group::{SECP256R1, SECP384R1, X25519};
use rustls::crypto::{
    CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, WebPkiSupportedAlgorithms,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme, SupportedCipherSuite};
use webpki::ring as algorithms;

/// AES-GCM alone. Every peer has it (RFC 8446 §9.1), and every processor that functions run on has instructions
/// for it, so that `ChaCha20` would never be chosen.
const CIPHER_SUITES: [SupportedCipherSuite; 6] = [
    TLS13_AES_256_GCM_SHA384,
    TLS13_AES_128_GCM_SHA256,
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
];

/// The signatures of public certificates: RSA, and ECDSA on P-256 and P-384 (CA/Browser Forum, Baseline
/// Requirements §7.1.3.2).
const SIGNATURES: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[
        algorithms::ECDSA_P256_SHA256,
        algorithms::ECDSA_P256_SHA384,
        algorithms::ECDSA_P384_SHA256,
        algorithms::ECDSA_P384_SHA384,
        algorithms::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
        algorithms::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
        algorithms::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
        algorithms::RSA_PKCS1_2048_8192_SHA256,
        algorithms::RSA_PKCS1_2048_8192_SHA384,
        algorithms::RSA_PKCS1_2048_8192_SHA512,
        algorithms::RSA_PKCS1_2048_8192_SHA256_ABSENT_PARAMS,
        algorithms::RSA_PKCS1_2048_8192_SHA384_ABSENT_PARAMS,
        algorithms::RSA_PKCS1_2048_8192_SHA512_ABSENT_PARAMS,
    ],
    mapping: &[
        (
            SignatureScheme::ECDSA_NISTP384_SHA384,
            &[algorithms::ECDSA_P384_SHA384, algorithms::ECDSA_P256_SHA384],
        ),
        (
            SignatureScheme::ECDSA_NISTP256_SHA256,
            &[algorithms::ECDSA_P256_SHA256, algorithms::ECDSA_P384_SHA256],
        ),
        (SignatureScheme::RSA_PSS_SHA512, &[algorithms::RSA_PSS_2048_8192_SHA512_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA384, &[algorithms::RSA_PSS_2048_8192_SHA384_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA256, &[algorithms::RSA_PSS_2048_8192_SHA256_LEGACY_KEY]),
        (SignatureScheme::RSA_PKCS1_SHA512, &[algorithms::RSA_PKCS1_2048_8192_SHA512]),
        (SignatureScheme::RSA_PKCS1_SHA384, &[algorithms::RSA_PKCS1_2048_8192_SHA384]),
        (SignatureScheme::RSA_PKCS1_SHA256, &[algorithms::RSA_PKCS1_2048_8192_SHA256]),
    ],
};

/// The random generator of the operating system.
#[derive(Debug)]
struct System;

impl SecureRandom for System {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        getrandom::fill(bytes).map_err(|_| GetRandomFailed)
    }
}

/// No private keys: a client without certificates of its own has none.
#[derive(Debug)]
struct NoKeys;

impl KeyProvider for NoKeys {
    fn load_private_key(&self, _key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Err(Error::General("there are no client certificates".to_owned()))
    }
}

/// The algorithms of a client, named here so that no process-wide provider has to be installed first.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: CIPHER_SUITES.to_vec(),
        kx_groups: vec![X25519, SECP256R1, SECP384R1],
        signature_verification_algorithms: SIGNATURES,
        secure_random: &System,
        key_provider: &NoKeys,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything else that ring offers is left out on purpose: this fails when an update adds to it.
    #[test]
    fn all_but_chacha20_and_ed25519_is_supported() {
        let (own, all) = (provider(), rustls::crypto::ring::default_provider());
        let missing = all.cipher_suites.iter().map(|suite| format!("{:?}", suite.suite()));
        let has = |name: &String| {
            own.cipher_suites.iter().any(|suite| format!("{:?}", suite.suite()) == *name)
        };
        assert!(missing.filter(|name| !has(name)).all(|name| name.contains("CHACHA20")));
        let schemes = |provider: &CryptoProvider| {
            provider.signature_verification_algorithms.supported_schemes()
        };
        let missing = schemes(&all).into_iter().filter(|one| !schemes(&own).contains(one));
        assert_eq!(missing.collect::<Vec<_>>(), [SignatureScheme::ED25519]);
        assert_eq!(own.kx_groups.len(), all.kx_groups.len());
    }
}

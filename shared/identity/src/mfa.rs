//! The second factor of a merchant's sign-in: a time-based one-time password (TOTP, RFC 6238), and
//! recovery codes for a lost device.
//!
//! The parameters are those of most authenticator apps: SHA-1, six digits, steps of 30 seconds. A
//! code is valid in its own step and in the one before and after it (RFC 6238 §5.2). A step is used
//! once, and no earlier step afterwards. The secret is sealed at rest. Recovery codes are stored as
//! digests, which suffices: each has 80 random bits.

use core_types::fields::Email;
use core_types::id::MerchantId;
use core_types::key;
use crypto::seal;
use crypto::seal::SealKey;
use primitives::clock::{HOUR, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Item;
use totp_rs::{Builder, Secret, Totp};

/// The number of recovery codes per secret.
const RECOVERY_CODES: usize = 10;
/// The issuer that an authenticator app displays.
const ISSUER: &str = "Commerce Gateway";
/// The alphabet of recovery codes, without letters and digits that are easily confused.
const ALPHABET: [u8; 32] = *b"23456789abcdefghjkmnpqrstuvwxyz0";
/// The time for which an enrolment waits for its first code (our choice).
const PENDING: std::time::Duration = HOUR;

primitives::string_enum! {
    /// The state of a second factor.
    MfaState {
        /// Waits for the first code.
        Pending = "pending",
        /// Required at sign-in.
        Active = "active",
    }
}

/// A merchant's second factor.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "mfa", key = key::mfa(&self.merchant_id))]
pub struct Mfa {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The shared secret, sealed.
    sealed_secret: String,
    /// The state.
    pub state: MfaState,
    /// The newest step that a code was used of; 0 for none.
    last_step: u64,
    /// SHA-256 of the recovery codes that are left, each with its merchant.
    recovery: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used or changed.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

/// A new secret and recovery codes, returned to the owner once; never in a log.
#[derive(Serialize, JsonSchema)]
pub struct Enrolment {
    /// The `otpauth://totp/…` URI for an authenticator app, mostly as a QR code.
    pub secret_uri: String,
    /// Codes that each replace the second factor once.
    pub recovery_codes: Vec<String>,
}

impl Mfa {
    /// Creates a second factor, which is active once its first code is confirmed.
    ///
    /// # Errors
    /// 500 when the address cannot be part of the URI.
    pub fn enrol(
        merchant: &MerchantId,
        email: &Email,
        key: &SealKey,
        now: Timestamp,
    ) -> Result<(Self, Enrolment), Problem> {
        let secret: [u8; 20] = seal::random_bytes();
        let recovery_codes: Vec<String> = (0..RECOVERY_CODES).map(|_| recovery_code()).collect();
        let named = Builder::new()
            .with_secret(Secret::new_stack(secret))
            .with_issuer(Some(ISSUER))
            .with_account_name(email.as_str())
            .build();
        let secret_uri = named.and_then(|totp| totp.to_url()).map_err(Problem::internal)?;
        let mfa = Self {
            merchant_id: merchant.clone(),
            sealed_secret: key.seal(&secret, context(merchant).as_bytes()),
            state: MfaState::Pending,
            last_step: 0,
            recovery: recovery_codes.iter().map(|code| digest(merchant, code)).collect(),
            created_at: now,
            updated_at: now,
            version: 1,
        };
        Ok((mfa, Enrolment { secret_uri, recovery_codes }))
    }

    /// Uses `code` up: a one-time password of an unused step, or a recovery code. None for any
    /// other code.
    ///
    /// # Errors
    /// 500 when the secret cannot be unsealed.
    pub fn spent(
        &self,
        key: &SealKey,
        code: &str,
        now: Timestamp,
    ) -> Result<Option<Self>, Problem> {
        let code = code.trim();
        let next =
            Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() };
        if let Some(step) = self.step_of(key, code, now)? {
            return Ok(Some(Self { last_step: step, ..next }));
        }
        let digest = digest(&self.merchant_id, code);
        let left: Vec<String> =
            self.recovery.iter().filter(|known| **known != digest).cloned().collect();
        let found = self.state == MfaState::Active && left.len() < self.recovery.len();
        Ok(found.then_some(Self { recovery: left, ..next }))
    }

    /// The step of a one-time password, if it is still unused.
    fn step_of(&self, key: &SealKey, code: &str, now: Timestamp) -> Result<Option<u64>, Problem> {
        if code.len() != 6 || !code.bytes().all(|digit| digit.is_ascii_digit()) {
            return Ok(None);
        }
        let opened = key.open(&self.sealed_secret, context(&self.merchant_id).as_bytes());
        let secret = opened.map_err(|error| Problem::internal(format!("MFA secret: {error}")))?;
        let seconds = u64::try_from(now.seconds()).unwrap_or(0);
        let step = totp(secret)?.check(code, seconds);
        Ok(step.filter(|step| *step > self.last_step))
    }

    /// Whether it can still be confirmed by a first code.
    pub fn is_pending(&self, now: Timestamp) -> bool {
        self.state == MfaState::Pending && now < self.created_at.plus(PENDING)
    }

    /// The second factor, required from now on.
    #[must_use]
    pub fn activated(self) -> Self {
        Self { state: MfaState::Active, ..self }
    }

    /// The number of unused recovery codes.
    pub fn recovery_codes_left(&self) -> usize {
        self.recovery.len()
    }
}

/// The code generator of a secret.
fn totp(secret: Vec<u8>) -> Result<Totp, Problem> {
    Builder::new().with_secret(secret).build().map_err(Problem::internal)
}

/// The context that binds a sealed secret to its merchant.
fn context(merchant: &MerchantId) -> String {
    format!("mfa\n{merchant}")
}

/// A recovery code: four groups of four characters, 80 random bits.
fn recovery_code() -> String {
    let letter = |byte: u8| ALPHABET.get(usize::from(byte & 31)).copied().unwrap_or_default();
    let letters: String =
        seal::random_bytes::<16>().into_iter().map(|byte| char::from(letter(byte))).collect();
    let groups = [letters.get(..4), letters.get(4..8), letters.get(8..12), letters.get(12..)];
    groups.into_iter().flatten().collect::<Vec<_>>().join("-")
}

/// The digest of a recovery code, regardless of case and separators.
fn digest(merchant: &MerchantId, code: &str) -> String {
    let plain: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    seal::digest(&format!("{merchant}\n{}", plain.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    /// The secret of RFC 6238, appendix B.
    const SECRET: &[u8] = b"12345678901234567890";

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds.saturating_mul(1_000))
    }

    fn enrolled(key: &SealKey) -> (Mfa, Enrolment) {
        let merchant = MerchantId::mint(at(0));
        let email = Email::from_text("ann@example.com").unwrap();
        let (mfa, enrolment) = Mfa::enrol(&merchant, &email, key, at(0)).unwrap();
        (mfa.activated(), enrolment)
    }

    fn of_the_rfc(key: &SealKey) -> Mfa {
        let (mfa, _) = enrolled(key);
        let sealed_secret = key.seal(SECRET, context(&mfa.merchant_id).as_bytes());
        Mfa { sealed_secret, ..mfa }
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let key = SealKey::generate();
        // Appendix B has eight digits; six are the last of them (RFC 4226 §5.3).
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let used = of_the_rfc(&key).spent(&key, code, at(seconds)).unwrap().unwrap();
            assert_eq!(used.last_step, u64::try_from(seconds).unwrap() / 30);
        }
    }

    #[test]
    fn a_code_is_valid_in_its_step_and_the_adjacent_ones() {
        let key = SealKey::generate();
        let mfa = of_the_rfc(&key);
        // 081804 is of the step from 1,111,111,080 to 1,111,111,109.
        let works = |seconds| mfa.spent(&key, "081804", at(seconds)).unwrap().is_some();
        let edges = [1_111_111_049, 1_111_111_050, 1_111_111_139, 1_111_111_140];
        assert_eq!(edges.map(works), [false, true, true, false]);
        for odd in ["", "81804", "0818040", "08180a", "\u{0660}81804", "081804\0"] {
            assert!(mfa.spent(&key, odd, at(1_111_111_100)).unwrap().is_none(), "{odd:?}");
        }
        assert!(mfa.spent(&key, " 081804 ", at(1_111_111_100)).unwrap().is_some());
    }

    #[test]
    fn a_step_is_used_once_and_no_earlier_one_afterwards() {
        let key = SealKey::generate();
        let used = of_the_rfc(&key).spent(&key, "050471", at(1_111_111_111)).unwrap().unwrap();
        assert_eq!(used.version, 2);
        assert!(used.spent(&key, "050471", at(1_111_111_111)).unwrap().is_none());
        // Without a used step, the step before is still valid.
        assert!(of_the_rfc(&key).spent(&key, "081804", at(1_111_111_111)).unwrap().is_some());
        assert!(used.spent(&key, "081804", at(1_111_111_111)).unwrap().is_none());
    }

    #[test]
    fn a_recovery_code_is_used_once_in_any_notation() {
        let key = SealKey::generate();
        let (mfa, enrolment) = enrolled(&key);
        assert_eq!((enrolment.recovery_codes.len(), mfa.recovery_codes_left()), (10, 10));
        let code = enrolment.recovery_codes.first().unwrap();
        assert_eq!(code.len(), 19);
        let typed = code.to_uppercase().replace('-', " ");
        let used = mfa.spent(&key, &typed, at(1)).unwrap().unwrap();
        assert_eq!(used.recovery_codes_left(), 9);
        assert!(used.spent(&key, code, at(1)).unwrap().is_none());
        // A recovery code neither confirms an enrolment, nor is it valid for another merchant.
        let waiting = Mfa { state: MfaState::Pending, ..mfa.clone() };
        assert!(waiting.spent(&key, code, at(1)).unwrap().is_none());
        let (other, _) = enrolled(&key);
        assert!(other.spent(&key, code, at(1)).unwrap().is_none());
        assert!(mfa.spent(&key, "", at(1)).unwrap().is_none());
    }

    #[test]
    fn the_stored_item_reveals_neither_secret_nor_codes() {
        let key = SealKey::generate();
        let (mfa, enrolment) = enrolled(&key);
        assert!(
            enrolment
                .secret_uri
                .starts_with("otpauth://totp/Commerce%20Gateway:ann%40example.com?")
        );
        let (_, rest) = enrolment.secret_uri.split_once("secret=").unwrap();
        let secret = rest.split('&').next().unwrap();
        assert_eq!(secret.len(), 32, "160 bits (RFC 4226 §4)");
        let stored = serde_json::to_string(&mfa).unwrap();
        assert!(!stored.contains(secret));
        assert!(enrolment.recovery_codes.iter().all(|code| !stored.contains(code)));
        assert!(mfa.spent(&SealKey::generate(), "000000", at(1)).is_err());
    }

    #[test]
    fn an_enrolment_expires_after_an_hour() {
        let key = SealKey::generate();
        let mfa = Mfa { state: MfaState::Pending, ..enrolled(&key).0 };
        assert!(mfa.is_pending(at(3_599)) && !mfa.is_pending(at(3_600)));
        assert!(!mfa.activated().is_pending(at(1)));
    }

    #[test]
    fn a_totp_code_is_used_once_and_longer_texts_are_rejected() {
        let key = SealKey::generate();
        let mfa = of_the_rfc(&key);
        let used = mfa.spent(&key, "050471", at(1_111_111_111)).unwrap().unwrap();
        assert_eq!((used.updated_at, used.version()), (at(1_111_111_111), 2));
        // Neither is validated, so the secret is not even opened.
        let locked = Mfa { sealed_secret: String::new(), ..mfa };
        for odd in ["0504711", "05047a", "050 71"] {
            assert!(locked.spent(&key, odd, at(1_111_111_111)).unwrap().is_none(), "{odd}");
        }
    }

    #[test]
    fn a_secret_is_bound_to_its_merchant() {
        let key = SealKey::generate();
        let (mfa, _) = enrolled(&key);
        let moved = Mfa { merchant_id: MerchantId::derive(&["other"]), ..mfa };
        assert!(moved.spent(&key, "000000", at(1)).is_err());
    }
}

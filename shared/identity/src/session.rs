//! Merchant sessions (docs/conventions.md §6): a bearer token of 256 random bits, stored as its digest.
//!
//! The token also names its merchant and session. So one `BatchGetItem` reads both, together with the other
//! items that authorization needs: authentication is one round trip. The ids prove nothing; only the secret
//! does.

use std::time::Duration;

use core_types::id::{MerchantId, SessionId};
use core_types::key;
use primitives::clock::{DAY, HOUR, MINUTE, Timestamp};
use serde::{Deserialize, Serialize};
use table::item::Item;

/// The idle timeout of a session.
pub const IDLE: Duration = HOUR.saturating_mul(12);
/// The maximum lifetime of a session.
pub const ABSOLUTE: Duration = DAY.saturating_mul(30);
/// The minimum interval between records of a session's use, so that authentication is mostly a read.
const TOUCH: Duration = MINUTE.saturating_mul(5);
/// The prefix of every session token.
pub(crate) const PREFIX: &str = "mst_";

primitives::string_enum! {
        /// The way a session was created.
        CreatedVia {
        /// By sign-up.
        Signup = "signup",
        /// By password.
        Password = "password",
        /// By one-time code.
        Otp = "otp",
        /// By password or one-time code, and a second factor.
        Mfa = "mfa",
        /// By exchange of an earlier token.
        Refresh = "refresh",
    }
}

/// A merchant's session.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "session", key = key::session(&self.merchant_id, &self.id))]
#[item(forget_at = Some(self.expires_at.plus(DAY)))]
pub struct Session {
    /// `ses_…`; later ones sort after it.
    pub id: SessionId,
    /// The merchant.
    pub merchant_id: MerchantId,
    /// SHA-256 of the secret part of the token.
    pub secret_digest: String,
    /// The account's credential generation when it was created.
    pub credential_generation: u64,
    /// The way it was created.
    pub created_via: CreatedVia,
    /// The network from which it was created, cut to a prefix.
    pub ip_prefix: String,
    /// The `User-Agent` with which it was created, at most 200 characters.
    pub user_agent: Option<String>,
    /// When it was last used, with a precision of five minutes.
    pub last_used_at: Timestamp,
    /// When it expires if it is not used.
    pub idle_expires_at: Timestamp,
    /// When it expires, even if used.
    pub expires_at: Timestamp,
    /// When it was created.
    pub created_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

/// A parsed session token; it proves nothing before [`Session::admits`].
#[derive(Clone)]
pub struct UnverifiedToken {
    /// The merchant that it names.
    pub merchant_id: MerchantId,
    /// The session that it names.
    pub session_id: SessionId,
    pub(crate) secret: String,
}

impl UnverifiedToken {
    /// Parses a token: `mst_<merchant>_<session>_<secret>`.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let (merchant, rest) = rest.split_at_checked(32)?;
        let (session, secret) = rest.strip_prefix('_')?.split_at_checked(32)?;
        let secret = secret.strip_prefix('_')?;
        (secret.len() == 43).then_some(())?;
        Some(Self {
            merchant_id: MerchantId::parse(&format!("{}{merchant}", MerchantId::PREFIX))?,
            session_id: SessionId::parse(&format!("{}{session}", SessionId::PREFIX))?,
            secret: secret.to_owned(),
        })
    }
}

impl Session {
    /// The session with this use recorded, if the last record is old enough.
    pub fn touched(&self, now: Timestamp) -> Option<Self> {
        (now >= self.last_used_at.plus(TOUCH)).then(|| Self {
            last_used_at: now,
            idle_expires_at: now.plus(IDLE),
            version: self.version.saturating_add(1),
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;
    use crate::merchant::tests::ann;
    use crate::merchant::{Merchant, MerchantStatus};

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const MILLI: Duration = Duration::from_millis(1);

    fn begun(merchant: &Merchant) -> (Session, UnverifiedToken) {
        let (session, text) =
            Session::begin(merchant, CreatedVia::Password, "net".into(), None, NOW);
        (session, UnverifiedToken::parse(&text).unwrap())
    }

    #[test]
    fn a_token_is_valid_for_its_own_session_alone() {
        let merchant = ann(NOW);
        let (session, token) = begun(&merchant);
        assert_eq!((&token.merchant_id, &token.session_id), (&merchant.id, &session.id));
        assert!(session.admits(&token, &merchant, NOW));
        let (other, other_token) = begun(&merchant);
        assert!(!session.admits(&other_token, &merchant, NOW));
        assert!(!other.admits(&token, &merchant, NOW));
        assert!(!session.admits(&token, &merchant, session.expires_at));
    }

    #[test]
    fn a_session_is_valid_until_its_exact_expiry_while_its_merchant_is_active() {
        let merchant = ann(NOW);
        let (session, _) = begun(&merchant);
        assert!(session.is_alive(&merchant, NOW));
        let idle = NOW.plus(IDLE);
        assert!(
            session.is_alive(&merchant, idle.minus(MILLI)) && !session.is_alive(&merchant, idle)
        );
        let used = Session { idle_expires_at: session.expires_at.plus(MILLI), ..session.clone() };
        let end = NOW.plus(ABSOLUTE);
        assert!(used.is_alive(&merchant, end.minus(MILLI)) && !used.is_alive(&merchant, end));
        let stranger = Merchant { id: MerchantId::derive(&["other"]), ..merchant.clone() };
        let closed = Merchant { status: MerchantStatus::Disabled, ..merchant.clone() };
        for other in [stranger, closed, merchant.with_sessions_ended(NOW)] {
            assert!(!session.is_alive(&other, NOW), "{other:?}");
        }
    }

    #[test]
    fn use_is_recorded_at_intervals_and_extends_the_idle_expiry_alone() {
        let (session, _) = begun(&ann(NOW));
        let due = NOW.plus(TOUCH);
        assert!(session.touched(due.minus(MILLI)).is_none());
        let touched = session.touched(due).unwrap();
        assert_eq!((touched.last_used_at, touched.idle_expires_at), (due, due.plus(IDLE)));
        assert_eq!((touched.expires_at, touched.version), (session.expires_at, 2));
    }

    #[test]
    fn a_refreshed_session_keeps_the_expiry() {
        let merchant = ann(NOW);
        let (session, _) = begun(&merchant);
        let (next, _) = session.renewed(&merchant, NOW.plus(TOUCH));
        assert_eq!(next.expires_at, session.expires_at);
        assert_eq!(next.forget_at(), Some(session.expires_at.plus(DAY)));
        assert_eq!(Session { version: 7, ..next }.version(), 7);
    }

    #[test]
    fn malformed_session_tokens_are_rejected() {
        let (zeroes, secret) = ("0".repeat(32), "0".repeat(43));
        for text in [
            String::new(),
            format!("cst_{zeroes}_{zeroes}_{secret}"),
            format!("{PREFIX}{zeroes}_{zeroes}_{}", "0".repeat(42)),
            format!("{PREFIX}{zeroes}_{zeroes}_{}", "0".repeat(44)),
            format!("{PREFIX}{zeroes}-{zeroes}_{secret}"),
        ] {
            assert!(UnverifiedToken::parse(&text).is_none(), "{text}");
        }
    }
}

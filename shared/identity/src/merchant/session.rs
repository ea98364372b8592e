//! A merchant's sessions: their creation, renewal and validation.

use core_types::id::SessionId;
use crypto::seal;
use crypto::signature::constant_time_eq;
use primitives::clock::Timestamp;

use super::{Merchant, MerchantStatus};
use crate::session::{ABSOLUTE, CreatedVia, IDLE, PREFIX, Session, UnverifiedToken};

impl Session {
    /// Creates a session and its token, which is returned once.
    pub fn begin(
        merchant: &Merchant,
        via: CreatedVia,
        ip_prefix: String,
        user_agent: Option<&str>,
        now: Timestamp,
    ) -> (Self, String) {
        let secret = seal::random_secret();
        let session = Self {
            id: SessionId::mint(now),
            merchant_id: merchant.id.clone(),
            secret_digest: seal::digest(&secret),
            credential_generation: merchant.credential_generation,
            created_via: via,
            ip_prefix,
            user_agent: user_agent.map(|text| text.chars().take(200).collect()),
            last_used_at: now,
            idle_expires_at: now.plus(IDLE),
            expires_at: now.plus(ABSOLUTE),
            created_at: now,
            version: 1,
        };
        let token = format!("{PREFIX}{}_{}_{secret}", merchant.id.digits(), session.id.digits());
        (session, token)
    }

    /// Creates the session that replaces this one, and its token. It expires when this one would have:
    /// a refresh does not extend the authentication (our choice).
    pub fn renewed(&self, merchant: &Merchant, now: Timestamp) -> (Self, String) {
        let user_agent = self.user_agent.as_deref();
        let (session, token) =
            Self::begin(merchant, CreatedVia::Refresh, self.ip_prefix.clone(), user_agent, now);
        (Self { expires_at: self.expires_at, ..session }, token)
    }

    /// Whether the token is valid for this session of this merchant now.
    pub fn admits(&self, token: &UnverifiedToken, merchant: &Merchant, now: Timestamp) -> bool {
        let digest = seal::digest(&token.secret);
        constant_time_eq(digest.as_bytes(), self.secret_digest.as_bytes())
            && self.is_alive(merchant, now)
    }

    /// Whether the session is valid. Embedded app tokens bound to it need the same.
    pub fn is_alive(&self, merchant: &Merchant, now: Timestamp) -> bool {
        self.merchant_id == merchant.id
            && merchant.status == MerchantStatus::Active
            && self.credential_generation == merchant.credential_generation
            && now < self.expires_at
            && now < self.idle_expires_at
    }
}

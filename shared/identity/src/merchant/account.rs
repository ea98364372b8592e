//! A merchant as an account.

use core_types::event::Event;
use core_types::fields::Email;
use core_types::id::MerchantId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::config::Config;
use table::item::Key;
use table::{Condition, Write};

use super::{MERCHANT_PASSWORD_UPDATED, Merchant, MerchantStatus, UniqueEmail};
use crate::account::{Account, Generations};
use crate::challenge_subject::ChallengeSubject;
use crate::session::Session;
use crate::throttle::{AttemptSubject, Kind};

/// The tenant of merchants' addresses.
#[derive(Debug)]
pub struct Platform;

impl Account for Merchant {
    type Tenant = Platform;
    type Claim = UniqueEmail;
    type Session = Session;

    fn attempt_subject_at(
        kind: Kind,
        _: &Platform,
        email: &Email,
        network: &str,
    ) -> AttemptSubject {
        AttemptSubject::new(kind, email, network)
    }
    fn claim_key(_: &Platform, email: &str) -> Key {
        key::unique_email(email)
    }
    fn key_by(_: &Platform, claim: Option<&UniqueEmail>, email: &str) -> Key {
        let nobody = || MerchantId::derive(&["nobody", email]);
        key::merchant(&claim.map_or_else(nobody, |claim| claim.merchant_id.clone()))
    }
    fn key_of(challenge_subject: &ChallengeSubject) -> Option<Key> {
        let ChallengeSubject::Merchant { merchant_id } = challenge_subject else { return None };
        Some(key::merchant(merchant_id))
    }

    fn challenge_subject(&self) -> ChallengeSubject {
        ChallengeSubject::Merchant { merchant_id: self.id.clone() }
    }
    fn tenant(&self) -> Platform {
        Platform
    }
    fn email(&self) -> Option<&Email> {
        Some(&self.email)
    }
    fn password_hash(&self) -> Option<&str> {
        self.password_hash.as_deref()
    }
    fn generations(&self) -> Generations {
        Generations { credential: self.credential_generation, password: self.password_generation }
    }
    fn is_proven(&self) -> bool {
        self.email_verified
    }
    fn unusable_reason(&self) -> Option<Problem> {
        match self.status {
            MerchantStatus::Active => None,
            MerchantStatus::Disabled => Some(Code::AccountDisabled.into()),
            MerchantStatus::Deleted => {
                Some(Code::AccountDisabled.detail("The account is deleted."))
            }
        }
    }
    fn is_session_valid(&self, session: &Session, now: Timestamp) -> bool {
        session.is_alive(self, now)
    }

    fn at(&self, to: Generations, password_hash: Option<String>, now: Timestamp) -> Self {
        Self {
            credential_generation: to.credential,
            password_generation: to.password,
            password_hash: password_hash.or_else(|| self.password_hash.clone()),
            ..self.changed(now)
        }
    }
    fn proven(self) -> Self {
        // The first proof ends earlier credentials, including the second factor.
        Self { mfa_enabled: self.mfa_enabled && self.email_verified, email_verified: true, ..self }
    }
    fn save(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        write.replace_except(self, Self::COUNTED, Condition::default(), rejected)
    }
    fn password_updated(&self, config: &Config, now: Timestamp) -> Option<Event> {
        Some(self.event(&MERCHANT_PASSWORD_UPDATED, config, now))
    }
}

//! A customer as an account.

use core_types::fields::Email;
use core_types::id::{CustomerId, StoreId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::item::Key;
use table::{Condition, Write};

use super::{COUNTED, Customer, CustomerSession, CustomerStatus, UniqueCustomerEmail};
use crate::account::{Account, Generations};
use crate::challenge_subject::ChallengeSubject;
use crate::throttle::{AttemptSubject, Kind};

impl Account for Customer {
    type Tenant = StoreId;
    type Claim = UniqueCustomerEmail;
    type Session = CustomerSession;

    fn attempt_subject_at(
        kind: Kind,
        store: &StoreId,
        email: &Email,
        network: &str,
    ) -> AttemptSubject {
        AttemptSubject::on_store(kind, store, email, network)
    }
    fn claim_key(store: &StoreId, email: &str) -> Key {
        key::unique_customer_email(store, email)
    }
    fn key_by(store: &StoreId, claim: Option<&UniqueCustomerEmail>, email: &str) -> Key {
        let nobody = || CustomerId::derive(&["nobody", email]);
        key::customer(store, &claim.map_or_else(nobody, |claim| claim.customer_id.clone()))
    }
    fn key_of(challenge_subject: &ChallengeSubject) -> Option<Key> {
        match challenge_subject {
            ChallengeSubject::Customer { store_id, customer_id }
            | ChallengeSubject::EmailChange { store_id, customer_id, .. } => {
                Some(key::customer(store_id, customer_id))
            }
            ChallengeSubject::Merchant { .. } | ChallengeSubject::Applicant { .. } => None,
        }
    }

    fn challenge_subject(&self) -> ChallengeSubject {
        ChallengeSubject::Customer { store_id: self.store_id.clone(), customer_id: self.id.clone() }
    }
    fn tenant(&self) -> StoreId {
        self.store_id.clone()
    }
    fn email(&self) -> Option<&Email> {
        self.email.as_ref()
    }
    fn password_hash(&self) -> Option<&str> {
        self.password_hash.as_deref()
    }
    fn generations(&self) -> Generations {
        Generations { credential: self.credential_generation, password: self.password_generation }
    }
    /// An account with a password is proven, because only its owner can set one.
    fn is_proven(&self) -> bool {
        self.is_email_proven || self.password_hash.is_some()
    }
    fn unusable_reason(&self) -> Option<Problem> {
        match self.status {
            CustomerStatus::Active => None,
            CustomerStatus::Disabled => Some(Code::AccountDisabled.into()),
        }
    }
    fn is_session_valid(&self, session: &CustomerSession, now: Timestamp) -> bool {
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
        Self { is_email_proven: true, ..self }
    }
    fn save(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        write.replace_except(self, COUNTED, Condition::default(), rejected)
    }
}

//! Customer sessions (docs/conventions.md §6): a bearer token of 256 random bits, stored as its digest,
//! bound to one store, valid for 24 hours.
//!
//! The token names its store, customer and session, so that one `BatchGetItem` reads all three. The ids
//! prove nothing; only the secret does.

use std::time::Duration;

use core_types::id::{CustomerId, CustomerSessionId, StoreId};
use core_types::key;
use crypto::seal;
use crypto::signature::constant_time_eq;
use primitives::clock::{DAY, Timestamp};
use serde::{Deserialize, Serialize};
use table::item::Item;

use super::{Customer, CustomerStatus};
use crate::session::CreatedVia;

/// The lifetime of a session.
pub const LIFETIME: Duration = DAY;
/// The prefix of every customer token.
const PREFIX: &str = "cst_";

/// A customer's session.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "customer_session")]
#[item(key = key::customer_session(&self.store_id, &self.customer_id, &self.id))]
#[item(forget_at = Some(self.expires_at.plus(DAY)))]
pub struct CustomerSession {
    /// `cse_…`; later ones sort after it.
    pub id: CustomerSessionId,
    /// The one store at which its token is valid.
    pub store_id: StoreId,
    /// The customer.
    pub customer_id: CustomerId,
    /// SHA-256 of the secret part of the token.
    pub secret_digest: String,
    /// The account's credential generation when it was created.
    pub credential_generation: u64,
    /// The way it was created.
    pub created_via: CreatedVia,
    /// The network from which it was created, cut to a prefix.
    pub ip_prefix: String,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was created.
    pub created_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

/// A parsed customer token; it proves nothing before [`CustomerSession::admits`].
#[derive(Clone)]
pub struct UnverifiedCustomerToken {
    /// The store that it names.
    pub store_id: StoreId,
    /// The customer that it names.
    pub customer_id: CustomerId,
    /// The session that it names.
    pub session_id: CustomerSessionId,
    secret: String,
}

impl UnverifiedCustomerToken {
    /// Parses a token: `cst_<store>_<customer>_<session>_<secret>`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(PREFIX)?.splitn(4, '_');
        let mut next = |prefix: &str| Some(format!("{prefix}{}", parts.next()?));
        let (store, customer) = (next(StoreId::PREFIX)?, next(CustomerId::PREFIX)?);
        let (session, secret) = (next(CustomerSessionId::PREFIX)?, next("")?);
        (secret.len() == 43).then_some(())?;
        Some(Self {
            store_id: StoreId::parse(&store)?,
            customer_id: CustomerId::parse(&customer)?,
            session_id: CustomerSessionId::parse(&session)?,
            secret,
        })
    }
}

impl CustomerSession {
    /// Creates a session and its token, which is returned once.
    pub fn begin(
        customer: &Customer,
        via: CreatedVia,
        ip_prefix: String,
        now: Timestamp,
    ) -> (Self, String) {
        let secret = seal::random_secret();
        let session = Self {
            id: CustomerSessionId::mint(now),
            store_id: customer.store_id.clone(),
            customer_id: customer.id.clone(),
            secret_digest: seal::digest(&secret),
            credential_generation: customer.credential_generation,
            created_via: via,
            ip_prefix,
            expires_at: now.plus(LIFETIME),
            created_at: now,
            version: 1,
        };
        let ids = [session.store_id.digits(), customer.id.digits(), session.id.digits()];
        let token = format!("{PREFIX}{}_{secret}", ids.join("_"));
        (session, token)
    }

    /// Whether the token is valid for this session of this customer now.
    pub fn admits(
        &self,
        token: &UnverifiedCustomerToken,
        customer: &Customer,
        now: Timestamp,
    ) -> bool {
        let digest = seal::digest(&token.secret);
        constant_time_eq(digest.as_bytes(), self.secret_digest.as_bytes())
            && self.is_alive(customer, now)
    }

    /// Whether the session is valid.
    pub fn is_alive(&self, customer: &Customer, now: Timestamp) -> bool {
        self.customer_id == customer.id
            && self.store_id == customer.store_id
            && customer.status == CustomerStatus::Active
            && self.credential_generation == customer.credential_generation
            && now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::cleo;
    use super::*;
    use crate::account::Account;

    #[test]
    fn a_token_is_valid_until_it_expires_or_the_generation_changes() {
        let now = Timestamp::from_millis(0);
        let customer = cleo(now);
        let (session, text) =
            CustomerSession::begin(&customer, CreatedVia::Password, "net".into(), now);
        let token = UnverifiedCustomerToken::parse(&text).unwrap();
        assert_eq!((&token.store_id, &token.customer_id), (&customer.store_id, &customer.id));
        assert!(session.admits(&token, &customer, now));
        assert!(!session.admits(&token, &customer, now.plus(LIFETIME)));
        assert!(!session.admits(&token, &customer.with_sessions_ended(now), now));
        let (_, other) = CustomerSession::begin(&customer, CreatedVia::Password, "net".into(), now);
        let other = UnverifiedCustomerToken::parse(&other).unwrap();
        assert!(!session.admits(&other, &customer, now));
    }

    #[test]
    fn malformed_customer_tokens_are_rejected() {
        let zeroes = "0".repeat(32);
        for text in [
            String::new(),
            format!("mst_{zeroes}_{zeroes}_{}", "0".repeat(43)),
            format!("cst_{zeroes}_{zeroes}_{}", "0".repeat(43)),
            format!("cst_{zeroes}_{zeroes}_{zeroes}_{}", "0".repeat(42)),
        ] {
            assert!(UnverifiedCustomerToken::parse(&text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_session_is_valid_for_its_active_customer_at_its_store_alone() {
        let now = Timestamp::from_millis(0);
        let customer = cleo(now);
        let (session, _) =
            CustomerSession::begin(&customer, CreatedVia::Password, "net".into(), now);
        assert!(session.is_alive(&customer, now));
        let elsewhere = Customer { store_id: StoreId::derive(&["other"]), ..customer.clone() };
        let stranger = Customer { id: CustomerId::derive(&["other"]), ..customer.clone() };
        let closed = Customer { status: CustomerStatus::Disabled, ..customer.clone() };
        for other in [elsewhere, stranger, closed] {
            assert!(!session.is_alive(&other, now), "{other:?}");
        }
    }

    #[test]
    fn a_session_is_deleted_only_after_it_has_expired() {
        let now = Timestamp::from_millis(0);
        let customer = cleo(now);
        let (session, _) =
            CustomerSession::begin(&customer, CreatedVia::Password, "net".into(), now);
        assert_eq!(session.expires_at, now.plus(LIFETIME));
        assert!(session.forget_at().is_some_and(|at| at > session.expires_at));
    }
}

//! Whose a proof is: of a merchant, of a customer, or of somebody who wants to be one.

use core_types::fields::{Email, Phone};
use core_types::id::{CustomerId, MerchantId, StoreId};
use serde::{Deserialize, Serialize};

/// Whose proof it is. A merchant's opens nothing of a customer's, and one store's customer nothing
/// of another's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChallengeSubject {
    /// A merchant's.
    Merchant {
        /// The account.
        merchant_id: MerchantId,
    },
    /// A customer's.
    Customer {
        /// The store.
        store_id: StoreId,
        /// The account.
        customer_id: CustomerId,
    },
    /// Somebody's who wants an account at a store, and perhaps has one.
    Applicant {
        /// The store.
        store_id: StoreId,
        /// What they asked for.
        application: Box<Application>,
    },
    /// A customer's who wants to move their account to the address it is sent to.
    #[serde(rename = "mover")]
    EmailChange {
        /// The store.
        store_id: StoreId,
        /// The account.
        customer_id: CustomerId,
        /// The address.
        email: Email,
        /// The account's password generation then: a move that was asked for before a password
        /// change does not come after it.
        password_generation: u64,
    },
}

impl ChallengeSubject {
    /// The store whose customer it is; none for a merchant.
    pub fn store_id(&self) -> Option<&StoreId> {
        match self {
            Self::Merchant { .. } => None,
            Self::Customer { store_id, .. }
            | Self::Applicant { store_id, .. }
            | Self::EmailChange { store_id, .. } => Some(store_id),
        }
    }
}

/// What somebody says about an account to make, kept until they prove their address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    /// The address that the code is mailed to.
    pub email: Email,
    /// Argon2id of the password, PHC form; none when it is not known to be the owner's.
    pub password_hash: Option<String>,
    /// The person's name.
    pub name: Option<String>,
    /// The person's telephone number.
    pub phone: Option<Phone>,
    /// Whether the store may send advertisements.
    pub accepts_marketing: bool,
}

impl Application {
    /// What of it becomes an account's, once the address is proven. A code that was named `by_address`
    /// says that its sender receives the mail, and not that they applied: the password may be
    /// somebody else's, and goes.
    #[must_use]
    pub fn as_proven(&self, by_address: bool) -> Self {
        let password_hash = self.password_hash.clone().filter(|_| !by_address);
        Self { password_hash, ..self.clone() }
    }
}

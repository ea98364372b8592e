//! Subjects of challenges: a merchant, a customer, or an applicant for a customer's account.

use core_types::fields::{E164, Email, Phone};
use core_types::id::{CustomerId, MerchantId, StoreId};
use serde::{Deserialize, Serialize};

/// The subject of a code or a link. One of a merchant is not valid for a customer, and one of a store's
/// customer not for another store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChallengeSubject {
    /// A merchant.
    Merchant {
        /// The account.
        merchant_id: MerchantId,
    },
    /// A customer.
    Customer {
        /// The store.
        store_id: StoreId,
        /// The account.
        customer_id: CustomerId,
    },
    /// Somebody who applied for an account at a store; they may have one already.
    Applicant {
        /// The store.
        store_id: StoreId,
        /// The application.
        application: Box<Application>,
    },
    /// A customer who changes their account's address to the one that the code is mailed to.
    #[serde(rename = "mover")]
    EmailChange {
        /// The store.
        store_id: StoreId,
        /// The account.
        customer_id: CustomerId,
        /// The new address.
        email: Email,
        /// The account's password generation at the request: a change of the password cancels the change of
        /// the address.
        password_generation: u64,
    },
}

impl ChallengeSubject {
    /// The store of the customer; none for a merchant.
    pub fn store_id(&self) -> Option<&StoreId> {
        match self {
            Self::Merchant { .. } => None,
            Self::Customer { store_id, .. }
            | Self::Applicant { store_id, .. }
            | Self::EmailChange { store_id, .. } => Some(store_id),
        }
    }
}

/// An application for a customer's account, stored until the address is proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    /// The address that the code is mailed to.
    pub email: Email,
    /// The Argon2id hash of the password, in PHC form; none if the password may not be the owner's.
    pub password_hash: Option<String>,
    /// The person's name.
    pub name: Option<String>,
    /// The person's telephone number.
    pub phone: Option<Phone>,
    /// The telephone number in E.164.
    #[serde(default)]
    pub phone_e164: Option<E164>,
    /// Whether the store may send marketing.
    pub accepts_marketing: bool,
}

impl Application {
    /// The application after the proof of its address. A code named `by_address` proves that its sender
    /// receives the mail, but not that they applied: the password may be somebody else's and is dropped.
    #[must_use]
    pub fn as_proven(&self, by_address: bool) -> Self {
        let password_hash = self.password_hash.clone().filter(|_| !by_address);
        Self { password_hash, ..self.clone() }
    }
}

//! The identifiers of a customer at their store, and the claims that make them unique.
//!
//! A customer is identified by their e-mail address. One whom the store has created without an address is
//! identified by their telephone number, and claims it until they have an address. So the number of a customer
//! with an address is nobody's claim: several people of a household have one.

use core_types::fields::{E164, Email};
use core_types::id::{CustomerId, StoreId};
use core_types::key;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Batch, Condition, Write};

use super::Customer;

/// A customer's claim to an e-mail address at a store.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "unique_customer_email")]
#[item(key = key::unique_customer_email(&self.store_id, &self.email))]
pub struct UniqueCustomerEmail {
    /// The store.
    pub store_id: StoreId,
    /// The normalized address.
    pub email: String,
    /// The customer.
    pub customer_id: CustomerId,
    /// Always 1: a claim is never replaced by version.
    pub version: u64,
}

/// The claim of a customer without an e-mail address to a telephone number at a store.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "unique_customer_phone")]
#[item(key = key::unique_customer_phone(&self.store_id, self.phone.as_str()))]
pub struct UniqueCustomerPhone {
    /// The store.
    pub store_id: StoreId,
    /// The number.
    pub phone: E164,
    /// The customer.
    pub customer_id: CustomerId,
    /// Always 1: a claim is never replaced by version.
    pub version: u64,
}

/// The identifier of a customer at their store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identifier {
    /// The e-mail address, normalized.
    Email(String),
    /// The telephone number of a customer without an address.
    Phone(E164),
}

impl Identifier {
    /// The address, or without one the number; none if there is neither.
    pub fn of(email: Option<&Email>, phone: Option<&E164>) -> Option<Self> {
        let email = email.map(|email| Self::Email(email.normalized()));
        email.or_else(|| phone.cloned().map(Self::Phone))
    }

    /// The key of the claim to it.
    pub fn key(&self, store: &StoreId) -> Key {
        match self {
            Self::Email(email) => key::unique_customer_email(store, email),
            Self::Phone(phone) => key::unique_customer_phone(store, phone.as_str()),
        }
    }

    /// The field of a customer that has it.
    pub const fn pointer(&self) -> &'static str {
        match self {
            Self::Email(_) => "/email",
            Self::Phone(_) => "/phone",
        }
    }

    /// The problem if another customer has it.
    pub const fn taken(&self) -> Code {
        match self {
            Self::Email(_) => Code::EmailTaken,
            Self::Phone(_) => Code::PhoneTaken,
        }
    }

    /// A text that no other identifier has.
    pub fn text(&self) -> String {
        match self {
            Self::Email(email) => format!("email {email}"),
            Self::Phone(phone) => format!("phone {phone}"),
        }
    }

    /// The customer who has it, by the claim in a batch.
    ///
    /// # Errors
    /// The claim cannot be read.
    pub fn take_customer_id(
        &self,
        store: &StoreId,
        batch: &mut Batch,
    ) -> Result<Option<CustomerId>, Problem> {
        let key = self.key(store);
        Ok(match self {
            Self::Email(_) => {
                batch.take::<UniqueCustomerEmail>(&key)?.map(|claim| claim.customer_id)
            }
            Self::Phone(_) => {
                batch.take::<UniqueCustomerPhone>(&key)?.map(|claim| claim.customer_id)
            }
        })
    }

    /// Finds the customer who has it.
    ///
    /// # Errors
    /// 503.
    pub async fn customer_id(
        &self,
        services: &Services,
        store: &StoreId,
    ) -> Result<Option<CustomerId>, Problem> {
        let mut batch = services.table.get_many(&[&self.key(store)]).await?;
        self.take_customer_id(store, &mut batch)
    }
}

impl Customer {
    /// The customer's identifier.
    pub fn identifier(&self) -> Option<Identifier> {
        Identifier::of(self.email.as_ref(), self.phone_e164.as_ref())
    }

    /// Adds their claim. Rejected with `email_taken` or `phone_taken` if another customer has it.
    pub fn claim(&self, write: Write) -> Write {
        let taken = self.identifier().map_or(Code::Internal, |identifier| identifier.taken());
        self.claim_or(write, taken)
    }

    /// As [`Customer::claim`], with what it is rejected with.
    pub fn claim_or(&self, write: Write, taken: Code) -> Write {
        let (store_id, customer_id) = (self.store_id.clone(), self.id.clone());
        match self.identifier() {
            Some(Identifier::Email(email)) => {
                let claim = UniqueCustomerEmail { store_id, email, customer_id, version: 1 };
                write.create(&claim, taken)
            }
            Some(Identifier::Phone(phone)) => {
                let claim = UniqueCustomerPhone { store_id, phone, customer_id, version: 1 };
                write.create(&claim, taken)
            }
            None => write.fail(Problem::internal("a customer has neither an address nor a number")),
        }
    }

    /// Adds the release of their claim. Rejected with `version_conflict` if they do not hold it any more.
    pub fn release(&self, write: Write) -> Write {
        let is_held = Condition::is("customer_id", &self.id);
        write.when_some(self.identifier(), |write, claimed| {
            write.delete_if(&claimed.key(&self.store_id), is_held, Code::VersionConflict)
        })
    }

    /// Adds what a change of what identifies them needs: the new claim, and the release of the former one.
    pub fn claim_anew(&self, write: Write, before: &Self) -> Write {
        if self.identifier() == before.identifier() {
            return write;
        }
        before.release(self.claim(write))
    }
}

#[cfg(test)]
mod tests {
    use primitives::clock::Timestamp;
    use primitives::fields::FromText;

    use super::super::tests::cleo;
    use super::*;

    #[test]
    fn an_address_identifies_a_customer_and_without_one_the_number() {
        let now = Timestamp::from_millis(0);
        let number = E164::from_text("+49301234567").unwrap();
        let with_both = Customer { phone_e164: Some(number.clone()), ..cleo(now) };
        let address = Some(Identifier::Email("cleo@example.com".into()));
        assert_eq!(with_both.identifier(), address);
        let called = Customer { email: None, ..with_both };
        assert_eq!(called.identifier(), Some(Identifier::Phone(number)));
        assert_eq!(Customer { phone_e164: None, ..called }.identifier(), None);
    }
}

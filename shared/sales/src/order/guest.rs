//! Guests' orders, which are assigned to the account that proves the guest's address.
//!
//! The proof is a transaction of the account. It cannot know the orders, as they are found by an index,
//! which is late. So it writes [`GuestOrders`], which the sweep passes to the runner
//! ([`join_orders`](crate::workflows::join_orders)).

use std::time::Duration;

use core_types::id::{CustomerId, StoreId};
use core_types::key;
use identity::customer::Customer;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;
use table::Query;
use table::item::Item;
use table::outbox::DueKind;

use super::Order;

/// The wait until the index lists orders placed right before the proof (our choice).
const SETTLING: Duration = Duration::from_secs(10);

/// The work of assigning the orders of a guest's address to a customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "guest_orders")]
#[item(key = key::guest_orders(&self.store_id, &self.customer_id, &self.guest))]
#[item(indexes = vec![DueKind::Run.mark(self.customer_id.as_str(), self.due_at)])]
pub struct GuestOrders {
    /// The store.
    pub store_id: StoreId,
    /// The customer who has proven the address.
    pub customer_id: CustomerId,
    /// The keyed hash of the address ([`Store::guest_key`]).
    pub guest: String,
    /// When it is processed.
    pub due_at: Timestamp,
    /// Always 1: it is written once, and deleted at its end.
    pub version: u64,
}

impl GuestOrders {
    /// The work for an account that has proven its address.
    pub fn of(store: &Store, account: &Customer, now: Timestamp) -> Option<Self> {
        let email = account.email.as_ref()?;
        Some(Self {
            store_id: store.id.clone(),
            customer_id: account.id.clone(),
            guest: store.guest_key(email),
            due_at: now.plus(SETTLING),
            version: 1,
        })
    }

    /// The query for the orders.
    pub fn orders(&self) -> Query {
        Query::list(key::list::orders_of_guest(&self.guest))
    }

    /// Returns the work if there are such orders.
    ///
    /// # Errors
    /// 503.
    pub async fn if_any(self, services: &Services) -> Result<Option<Self>, Problem> {
        let found = services.table.keys(&self.orders(), 1).await?;
        Ok((!found.is_empty()).then_some(self))
    }
}

impl Order {
    /// Assigns the order, and its uses of discounts, to a customer who has proven the address behind `guest`.
    /// None if it has a customer, or another address.
    pub fn joined(&self, customer: &CustomerId, guest: &str, now: Timestamp) -> Option<Self> {
        let is_theirs = self.customer_id.is_none() && self.guest.as_deref() == Some(guest);
        let customer_id = Some(customer.clone());
        is_theirs.then(|| {
            let mut next = self.changed(now);
            for discount in &mut next.discounts {
                discount.used = discount.used.joined(customer).unwrap_or(discount.used.clone());
            }
            Self { customer_id, guest: None, is_email_proven: true, ..next }
        })
    }

    /// Moves the order and its uses of discounts to another account of the same person. None if it is not
    /// the first account's.
    pub fn handed_over(&self, from: &CustomerId, to: &CustomerId, now: Timestamp) -> Option<Self> {
        if self.customer_id.as_ref() != Some(from) {
            return None;
        }
        let mut next = Self { customer_id: Some(to.clone()), ..self.changed(now) };
        for discount in &mut next.discounts {
            if discount.used.by.as_deref() == Some(from.as_str()) {
                discount.used.by = Some(to.to_string());
            }
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{NOW, order};

    #[test]
    fn a_guests_order_is_assigned_once_to_its_proven_address() {
        let (ann, bob) = (CustomerId::derive(&["ann"]), CustomerId::derive(&["bob"]));
        let guests = Order { guest: Some("a".into()), customer_id: None, ..order() };
        assert_eq!(guests.joined(&ann, "b", NOW), None);
        let joined = guests.joined(&ann, "a", NOW).unwrap();
        assert_eq!((&joined.customer_id, &joined.guest), (&Some(ann), &None));
        assert_eq!(joined.version, guests.version + 1);
        assert_eq!(joined.joined(&bob, "a", NOW), None);
        let own = Order { customer_id: Some(bob.clone()), ..guests };
        assert_eq!(own.joined(&bob, "a", NOW), None, "of an account");
    }
}

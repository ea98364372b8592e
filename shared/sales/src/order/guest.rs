//! Orders of guests, and who comes to have them: whoever proves their address with an account.
//!
//! The proof is a transaction of an account; how many orders there are it cannot know, for they are
//! found by an index, which is late. So it leaves [`GuestOrders`] to be done: a minute's sweep hands it
//! to the runner ([`join_orders`](crate::workflows::join_orders)).

use std::time::Duration;

use core_types::id::{CustomerId, OrderId, StoreId};
use core_types::key::{self, IndexKey};
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::{Item, Key};
use table::outbox::Due;
use primitives::problem::Problem;
use table::Query;
use identity::customer::Customer;
use identity::store::Store;
use serde::{Deserialize, Serialize};

use super::Order;

/// How long the index has to show what was ordered right before the proof (our choice).
const SETTLING: Duration = Duration::from_secs(10);

/// That the orders of guests with an address are to be a customer's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestOrders {
    /// The store.
    pub store_id: StoreId,
    /// Who has proven the address.
    pub customer_id: CustomerId,
    /// What the address is known by ([`Store::guest_key`]).
    pub guest: String,
    /// When it is done.
    pub due_at: Timestamp,
    /// Always 1: it is put whole, and deleted when it is done.
    pub version: u64,
}

impl Item for GuestOrders {
    const KIND: &'static str = "guest_orders";
    fn key(&self) -> Key {
        key::guest_orders(&self.store_id, &self.customer_id, &self.guest)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        vec![Due::Run.mark(self.customer_id.as_str(), self.due_at)]
    }
}

impl GuestOrders {
    /// Those with the address of this account, which has proven it at its store.
    pub fn of(store: &Store, account: &Customer, now: Timestamp) -> Self {
        Self {
            store_id: store.id.clone(),
            customer_id: account.id.clone(),
            guest: store.guest_key(&account.email),
            due_at: now.plus(SETTLING),
            version: 1,
        }
    }

    /// Where they are listed.
    pub fn listed(&self) -> Query {
        let any = OrderId::mint(self.due_at);
        Query::partition_of(key::orders_of_guest(&self.guest, &any))
    }

    /// The same, when there are any.
    ///
    /// # Errors
    /// 503.
    pub async fn if_any(self, app: &App) -> Result<Option<Self>, Problem> {
        let found = app.table.keys(&self.listed(), 1).await?;
        Ok((!found.is_empty()).then_some(self))
    }
}

impl Order {
    /// The order as this customer's, who has proven the address that is known by `guest`; none when it
    /// is no guest's, or another address's.
    pub fn joined(&self, customer: &CustomerId, guest: &str, now: Timestamp) -> Option<Self> {
        let is_theirs = self.customer_id.is_none() && self.guest.as_deref() == Some(guest);
        let customer_id = Some(customer.clone());
        is_theirs.then(|| {
            Self { customer_id, guest: None, is_email_proven: true, ..self.clone() }.changed(now)
        })
    }

    /// The order as another account's, of the same person, with what it uses of discounts; none when it is
    /// not that account's.
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
    fn an_order_is_joined_once_and_only_as_a_guests_of_that_address() {
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

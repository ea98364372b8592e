//! The cart of a customer, which their session finds, and what becomes of a guest's cart when they sign in.
//!
//! The lookup item of a customer names the newest cart that was theirs. It stays when that cart is deleted, has
//! expired or has become an order: such a cart is none.

use core_types::id::{CartId, CustomerId, StoreId};
use core_types::key;
use identity::customer::Customer;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Query, Write};

use super::{Cart, CartBuyer, change};
use crate::discount::MAX_CODES;
use crate::order::MAX_GIFT_CARDS;

/// The most carts of a guest that a redaction deletes at once.
const AT_ONCE: usize = 100;

/// The lookup item of a customer's cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "customer_cart", key = key::customer_cart(&self.store_id, &self.customer_id))]
pub struct CustomerCart {
    /// The store.
    pub store_id: StoreId,
    /// The customer.
    pub customer_id: CustomerId,
    /// Their newest cart.
    pub cart_id: CartId,
    /// The optimistic lock: grows by 1 with each write.
    pub version: u64,
}

/// A customer's cart, if they have one, and their lookup item.
#[derive(Debug, Clone, Default)]
pub struct OwnCart {
    /// The open cart.
    pub cart: Option<Cart>,
    /// The lookup item, whatever it names.
    pub lookup: Option<CustomerCart>,
}

impl OwnCart {
    /// Loads the cart of a customer, in two round trips.
    ///
    /// # Errors
    /// 503.
    pub async fn load(
        services: &Services,
        store: &StoreId,
        customer: &CustomerId,
    ) -> Result<Self, Problem> {
        let key = key::customer_cart(store, customer);
        let Some(lookup) = services.table.get::<CustomerCart>(&key).await? else {
            return Ok(Self::default());
        };
        let cart: Option<Cart> = services.table.get(&key::cart(store, &lookup.cart_id)).await?;
        let now = services.clock.now();
        let is_open = |cart: &Cart| {
            cart.customer_id.as_ref() == Some(customer)
                && cart.is_retained(now)
                && cart.ensure_open().is_ok()
        };
        Ok(Self { cart: cart.filter(is_open), lookup: Some(lookup) })
    }

    /// Adds the write that makes this the customer's cart. Rejected with `version_conflict` if another was
    /// faster.
    pub fn point_to(&self, write: Write, cart: &Cart, customer: &CustomerId) -> Write {
        let version = self.lookup.as_ref().map_or(0, |lookup| lookup.version);
        let lookup = CustomerCart {
            store_id: cart.store_id.clone(),
            customer_id: customer.clone(),
            cart_id: cart.id.clone(),
            version: version.saturating_add(1),
        };
        write.create_or_replace(&lookup, Code::VersionConflict)
    }
}

impl Cart {
    /// A guest's cart as that of a customer, whose session opens it from now on; its token ends.
    #[must_use]
    pub fn adopted(&self, customer: &Customer, now: Timestamp) -> Self {
        Self { customer_id: Some(customer.id.clone()), token_digest: None, ..self.changed(now) }
    }

    /// The cart with what another has: its lines, quantities added up to the limit, its codes and gift cards up
    /// to theirs, and of the buyer what this cart has not.
    #[must_use]
    pub fn merged(&self, other: &Self, now: Timestamp) -> Self {
        let mut next = self.changed(now).with_lines_of(other);
        let codes = next.discount_codes.iter().chain(&other.discount_codes).cloned().collect();
        next.discount_codes = change::unique(codes);
        next.discount_codes.truncate(MAX_CODES);
        for card in &other.gift_cards {
            if next.gift_cards.len() < MAX_GIFT_CARDS
                && next.gift_cards.iter().all(|known| known.id != card.id)
            {
                next.gift_cards.push(card.clone());
            }
        }
        next.buyer = next.buyer.or(&other.buyer);
        next
    }

    /// The cart, moved to another account of the same person.
    #[must_use]
    fn handed_over(&self, to: &CustomerId) -> Self {
        let version = self.version.saturating_add(1);
        Self { customer_id: Some(to.clone()), version, ..self.clone() }
    }
}

impl CartBuyer {
    /// This buyer, with the other's values where it has none.
    fn or(&self, other: &Self) -> Self {
        let (own, other) = (self.clone(), other.clone());
        Self {
            email: own.email.or(other.email),
            contact: own.contact.or(other.contact),
            accepts_marketing: own.accepts_marketing.or(other.accepts_marketing),
            locale: own.locale.or(other.locale),
            shipping_address: own.shipping_address.or(other.shipping_address),
            billing_address: own.billing_address.or(other.billing_address),
            shipping_rate_id: own.shipping_rate_id.or(other.shipping_rate_id),
            payment: own.payment.or(other.payment),
            tax_number: own.tax_number.or(other.tax_number),
            note: own.note.or(other.note),
            metadata: other.metadata.into_iter().chain(own.metadata).collect(),
        }
    }
}

/// Deletes the newest cart of a customer whose account ends.
///
/// # Errors
/// 503.
pub async fn erase(
    services: &Services,
    store: &StoreId,
    customer: &CustomerId,
) -> Result<(), Problem> {
    let key = key::customer_cart(store, customer);
    match services.table.get::<CustomerCart>(&key).await? {
        Some(lookup) => {
            services.table.write().delete(&key::cart(store, &lookup.cart_id)).commit().await
        }
        None => Ok(()),
    }
}

/// Moves the cart of a customer to another account of the same person, or deletes it if that has one.
///
/// # Errors
/// `version_conflict` if it was changed at the same moment; 503.
pub async fn hand_over(
    services: &Services,
    store: &StoreId,
    (from, to): (&CustomerId, &CustomerId),
) -> Result<(), Problem> {
    let Some(cart) = OwnCart::load(services, store, from).await?.cart else { return Ok(()) };
    let own = OwnCart::load(services, store, to).await?;
    if own.cart.is_some() {
        return delete(services.table.write(), &cart).commit().await;
    }
    let next = cart.handed_over(to);
    let write = services.table.write().replace(&next, Code::VersionConflict);
    own.point_to(write, &next, to).commit().await
}

/// Adds the deletion of a cart, on condition that nobody has changed it.
pub fn delete(write: Write, cart: &Cart) -> Write {
    write.delete_unchanged(cart, Code::VersionConflict)
}

/// Loads carts of a guest; `guest` is the keyed hash of their address.
///
/// # Errors
/// 503.
pub async fn of_guest(services: &Services, guest: &str) -> Result<Vec<Cart>, Problem> {
    let listed = Query::list(key::list::carts_of_guest(guest));
    let keys = services.table.keys(&listed, AT_ONCE).await?;
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let found: Result<Vec<Option<Cart>>, Problem> =
        keys.iter().map(|key| batch.take(key)).collect();
    let is_theirs = |cart: &Cart| cart.guest.as_deref() == Some(guest);
    Ok(found?.into_iter().flatten().filter(is_theirs).collect())
}

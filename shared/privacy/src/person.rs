//! What a store keeps of a person, part by part.

use catalogue::form::FormSubmission;
use catalogue::review::Review;
use core_types::fields::Email;
use core_types::id::{CustomerId, GiftCardId, OrderId, StoreId};
use core_types::key;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::FromText;
use primitives::problem::Problem;
use sales::gift_card::GiftCard;
use sales::order::Order;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Index;
use table::{Query, WalkPlace};

/// What is looked at together.
const PAGE: usize = 100;
/// Addresses of one person: their own, and those of accounts that were merged into theirs.
const MOST_ADDRESSES: usize = 40;

primitives::string_enum! {
    /// A part of what is kept of a person.
    Part {
        /// The account: addresses, wishes and sessions with it.
        Account = "account",
        /// The orders, with what belongs to them.
        Orders = "orders",
        /// Orders that were placed with an address that they have proven, without an account.
        GuestOrders = "guest_orders",
        /// Gift cards that are theirs, or were sent to them.
        GiftCards = "gift_cards",
        /// Reviews that they wrote.
        Reviews = "reviews",
        /// Forms in which a field is their address.
        Forms = "forms",
        /// Files in which the store has taken out, or brought in, data of people.
        Files = "files",
    }
}

impl Part {
    /// The one after it.
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Account => Some(Self::Orders),
            Self::Orders => Some(Self::GuestOrders),
            Self::GuestOrders => Some(Self::GiftCards),
            Self::GiftCards => Some(Self::Reviews),
            Self::Reviews => Some(Self::Forms),
            Self::Forms => Some(Self::Files),
            Self::Files => None,
        }
    }
}

/// A person: an account and the addresses that its owner has proven, or a guest, who has an address alone.
///
/// An address that somebody only gave says nothing about who they are: anybody can order with anybody's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Person {
    /// The store that knows them.
    pub store_id: StoreId,
    /// Their account, which may be gone; none of a guest.
    pub customer_id: Option<CustomerId>,
    /// E-mail addresses that they have proven, normalized; that of a guest.
    pub emails: Vec<String>,
}

/// A page of one part, and where it goes on; none at its end.
pub type PartPage<T> = Result<(Vec<T>, Option<WalkPlace>), Problem>;

impl Person {
    /// Their orders, the oldest first.
    pub async fn orders(&self, services: &Services, place: Option<&WalkPlace>) -> PartPage<Order> {
        match self.orders_query() {
            Some(query) => services.table.walk(&[query], PAGE, place, |_| true).await,
            None => Ok((Vec::new(), None)),
        }
    }

    /// Orders that were placed with an address of theirs, without an account.
    pub async fn guest_orders(
        &self,
        services: &Services,
        place: Option<&WalkPlace>,
    ) -> PartPage<Order> {
        let found: Option<Store> = services.table.get(&key::store(&self.store_id)).await?;
        let Some(store) = found else { return Ok((Vec::new(), None)) };
        let any = OrderId::derive(&[]);
        let listed = |email: Email| {
            let guest = store.guest_key(&email);
            Query::partition_of(key::orders_of_guest(&guest, &any))
        };
        let emails = self.emails.iter().filter_map(|email| Email::from_text(email).ok());
        let queries: Vec<Query> = emails.map(listed).collect();
        if queries.is_empty() {
            return Ok((Vec::new(), None));
        }
        // The index may still list what is an account's by now.
        let is_here =
            |order: &Order| order.store_id == self.store_id && order.customer_id.is_none();
        services.table.walk(&queries, PAGE, place, is_here).await
    }

    /// Whether they have ordered anything that is still known under their account.
    ///
    /// # Errors
    /// 503.
    pub async fn has_ordered(&self, services: &Services) -> Result<bool, Problem> {
        match self.orders_query() {
            Some(query) => Ok(!services.table.keys(&query, 1).await?.is_empty()),
            None => Ok(false),
        }
    }

    /// Whether an order of theirs is not closed, with their account or as a guest: the store owes them goods,
    /// or they owe it money. The person learns the addresses that their orders say were proven.
    ///
    /// # Errors
    /// 503.
    pub async fn has_unfinished_order(&mut self, services: &Services) -> Result<bool, Problem> {
        let mut place = None;
        loop {
            let (found, next) = self.orders(services, place.as_ref()).await?;
            if found.iter().any(Order::is_unfinished) {
                return Ok(true);
            }
            self.learn_from(&found);
            place = next;
            if place.is_none() {
                break;
            }
        }
        loop {
            let (found, next) = self.guest_orders(services, place.as_ref()).await?;
            if found.iter().any(Order::is_unfinished) {
                return Ok(true);
            }
            place = next;
            if place.is_none() {
                return Ok(false);
            }
        }
    }

    fn orders_query(&self) -> Option<Query> {
        let (any, beginning) = (OrderId::derive(&[]), Timestamp::from_millis(0));
        let customer = self.customer_id.as_ref()?;
        let (index, listed) = key::orders_of_customer(&self.store_id, customer, beginning, &any);
        Some(Query::index(index, listed.pk))
    }

    /// Gift cards that are theirs, or were sent to them.
    pub async fn gift_cards(
        &self,
        services: &Services,
        place: Option<&WalkPlace>,
    ) -> PartPage<GiftCard> {
        let (any, beginning) = (GiftCardId::derive(&[]), Timestamp::from_millis(0));
        let listed = key::gift_cards_of_store(&self.store_id, beginning, &any);
        let is_theirs = |card: &GiftCard| {
            (self.customer_id.is_some() && card.customer_id == self.customer_id)
                || card.recipient.as_ref().is_some_and(|to| self.has(&to.email))
        };
        services.table.walk(&[Query::partition_of(listed)], PAGE, place, is_theirs).await
    }

    /// Reviews that they wrote.
    pub async fn reviews(
        &self,
        services: &Services,
        place: Option<&WalkPlace>,
    ) -> PartPage<Review> {
        let Some(customer) = &self.customer_id else { return Ok((Vec::new(), None)) };
        let all = Query::index(Index::Gsi2, key::reviews_on(&self.store_id));
        let is_theirs = |review: &Review| review.customer_id == *customer;
        services.table.walk(&[all], PAGE, place, is_theirs).await
    }

    /// Forms in which a field is their address, and not only holds it: one address may be part of another, and a
    /// message may be about somebody else.
    pub async fn forms(
        &self,
        services: &Services,
        place: Option<&WalkPlace>,
    ) -> PartPage<FormSubmission> {
        let all =
            Query::partition(key::store(&self.store_id).pk).begins_with(key::FORM_SUBMISSIONS);
        let names_them = |form: &FormSubmission| {
            let addresses = form.fields.values().filter_map(|value| Email::from_text(value).ok());
            addresses.into_iter().any(|address| self.has(&address))
        };
        services.table.walk(&[all], PAGE, place, names_them).await
    }

    /// Whether an address is one of theirs.
    pub fn has(&self, email: &Email) -> bool {
        self.emails.contains(&email.normalized())
    }

    /// The addresses of these orders of theirs that they had proven when they ordered: an account that is gone
    /// says none.
    pub fn learn_from(&mut self, orders: &[Order]) {
        let proven = orders.iter().filter(|order| order.is_email_proven);
        for email in proven.filter_map(|order| order.email.as_ref()) {
            if !self.has(email) && self.emails.len() < MOST_ADDRESSES {
                self.emails.push(email.normalized());
            }
        }
    }
}

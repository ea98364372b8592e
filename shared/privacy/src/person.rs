//! A person, and the parts of their data that a store has.

use catalogue::form::FormSubmission;
use catalogue::review::Review;
use core_types::fields::Email;
use core_types::id::{CustomerId, StoreId};
use core_types::key;
use identity::store::Store;
use primitives::fields::FromText;
use primitives::problem::Problem;
use sales::cart::{Cart, owned};
use sales::gift_card::GiftCard;
use sales::guest::Guest;
use sales::order::Order;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Index;
use table::{Query, WalkPosition};

/// Items of one page.
const PAGE: usize = 100;
/// The most addresses of one person: their own, and those of accounts that were merged into theirs.
const MOST_ADDRESSES: usize = 40;

primitives::string_enum! {
    /// A part of a person's data.
    Part {
        /// The account with its addresses, wishes and sessions.
        Account = "account",
        /// The orders with their fulfilments and refunds.
        Orders = "orders",
        /// The orders that were placed with a proven address of theirs, without an account.
        GuestOrders = "guest_orders",
        /// The carts with a proven address of theirs, without an account.
        Carts = "carts",
        /// The gift cards that they own, or that were sent to them.
        GiftCards = "gift_cards",
        /// The reviews that they wrote.
        Reviews = "reviews",
        /// The forms in which a field is their address.
        Forms = "forms",
        /// The store's export and import files with data of people.
        Files = "files",
    }
}

impl Part {
    /// The next part; none after the last.
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Account => Some(Self::Orders),
            Self::Orders => Some(Self::GuestOrders),
            Self::GuestOrders => Some(Self::Carts),
            Self::Carts => Some(Self::GiftCards),
            Self::GiftCards => Some(Self::Reviews),
            Self::Reviews => Some(Self::Forms),
            Self::Forms => Some(Self::Files),
            Self::Files => None,
        }
    }
}

/// A person: a customer with their proven addresses, or a guest, who only has an address.
///
/// An address that was only entered does not identify a person, because anybody can order with anybody's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Person {
    /// The store.
    pub store_id: StoreId,
    /// The customer, whose account may be deleted; none for a guest.
    pub customer_id: Option<CustomerId>,
    /// The proven e-mail addresses of the customer, or the address of the guest, normalized.
    pub emails: Vec<String>,
}

/// A page of one part, with the position of the next page; none at its end.
pub type PartPage<T> = Result<(Vec<T>, Option<WalkPosition>), Problem>;

impl Person {
    /// Loads their orders, oldest first.
    pub async fn orders(
        &self,
        services: &Services,
        place: Option<&WalkPosition>,
    ) -> PartPage<Order> {
        match self.orders_query() {
            Some(query) => services.table.walk(&[query], PAGE, place, |_| true).await,
            None => Ok((Vec::new(), None)),
        }
    }

    /// Loads the orders that were placed with an address of theirs, without an account.
    pub async fn guest_orders(
        &self,
        services: &Services,
        place: Option<&WalkPosition>,
    ) -> PartPage<Order> {
        let listed = |guest: &String| Query::list(key::list::orders_of_guest(guest));
        let queries: Vec<Query> = self.guest_keys(services).await?.iter().map(listed).collect();
        if queries.is_empty() {
            return Ok((Vec::new(), None));
        }
        // The index may still list orders that were assigned to an account.
        let is_here =
            |order: &Order| order.store_id == self.store_id && order.customer_id.is_none();
        services.table.walk(&queries, PAGE, place, is_here).await
    }

    /// Loads the carts with an address of theirs, without an account: at most a hundred for each address.
    ///
    /// # Errors
    /// 503.
    pub async fn guest_carts(&self, services: &Services) -> Result<Vec<Cart>, Problem> {
        let mut found = Vec::new();
        for guest in self.guest_keys(services).await? {
            found.extend(owned::of_guest(services, &guest).await?);
        }
        Ok(found)
    }

    /// Loads the guest records of the person's e-mail addresses.
    ///
    /// # Errors
    /// 503.
    pub async fn guests(&self, services: &Services) -> Result<Vec<Guest>, Problem> {
        let guests = self.guest_keys(services).await?;
        let keys: Vec<_> = guests.iter().map(|guest| key::guest(&self.store_id, guest)).collect();
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let found: Result<Vec<Option<Guest>>, Problem> =
            keys.iter().map(|key| batch.take(key)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// Derives the keys of the guest records of their e-mail addresses.
    async fn guest_keys(&self, services: &Services) -> Result<Vec<String>, Problem> {
        let found: Option<Store> = services.table.get(&key::store(&self.store_id)).await?;
        let emails = self.emails.iter().filter_map(|email| Email::from_text(email).ok());
        Ok(found
            .map(|store| emails.map(|email| store.guest_key(&email)).collect())
            .unwrap_or_default())
    }

    /// Whether an order of their account is stored.
    ///
    /// # Errors
    /// 503.
    pub async fn has_ordered(&self, services: &Services) -> Result<bool, Problem> {
        match self.orders_query() {
            Some(query) => Ok(!services.table.keys(&query, 1).await?.is_empty()),
            None => Ok(false),
        }
    }

    /// Whether an order of their account, or of theirs as a guest, is unfinished: goods or a payment are
    /// owed. Adds the proven addresses of their orders to the person.
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
        let customer = self.customer_id.as_ref()?;
        Some(Query::list(key::list::orders_of_customer(&self.store_id, customer)))
    }

    /// Loads the gift cards that they own, or that were sent to them.
    pub async fn gift_cards(
        &self,
        services: &Services,
        place: Option<&WalkPosition>,
    ) -> PartPage<GiftCard> {
        let all = Query::list(key::list::gift_cards_of_store(&self.store_id));
        let is_theirs = |card: &GiftCard| {
            (self.customer_id.is_some() && card.customer_id == self.customer_id)
                || card.recipient.as_ref().is_some_and(|to| self.has(&to.email))
        };
        services.table.walk(&[all], PAGE, place, is_theirs).await
    }

    /// Loads the reviews that they wrote.
    pub async fn reviews(
        &self,
        services: &Services,
        place: Option<&WalkPosition>,
    ) -> PartPage<Review> {
        let Some(customer) = &self.customer_id else { return Ok((Vec::new(), None)) };
        let all = Query::index(Index::Gsi2, key::reviews_on(&self.store_id));
        let is_theirs = |review: &Review| review.customer_id == *customer;
        services.table.walk(&[all], PAGE, place, is_theirs).await
    }

    /// Loads the forms in which a field is their address. Fields that only contain it do not count, because
    /// one address may be part of another, and a message may be about somebody else.
    pub async fn forms(
        &self,
        services: &Services,
        place: Option<&WalkPosition>,
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

    /// Adds the addresses of these orders that were proven at placement, because a deleted account has none.
    pub fn learn_from(&mut self, orders: &[Order]) {
        let proven = orders.iter().filter(|order| order.is_email_proven);
        for email in proven.filter_map(|order| order.email.as_ref()) {
            if !self.has(email) && self.emails.len() < MOST_ADDRESSES {
                self.emails.push(email.normalized());
            }
        }
    }
}

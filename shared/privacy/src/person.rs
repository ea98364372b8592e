//! What a store keeps of a person, part by part.

use catalogue::form::FormSubmission;
use catalogue::review::Review;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Index;
use gateway::problem::Problem;
use gateway::request::FromText;
use gateway::table::{Query, WalkPlace};
use ground::fields::Email;
use ground::id::{CustomerId, GiftCardId, OrderId, StoreId};
use ground::key;
use identity::store::Store;
use sales::gift_card::GiftCard;
use sales::order::Order;
use serde::{Deserialize, Serialize};

/// What is looked at together.
const PAGE: usize = 100;
/// Addresses of one person.
const MOST_ADDRESSES: usize = 20;

gateway::words! {
    /// A part of what is kept of a person.
    Part {
        /// The account: addresses, wishes and sessions with it.
        Account = "account",
        /// The orders, with what belongs to them.
        Orders = "orders",
        /// Orders that were placed with an address of theirs, without the account.
        GuestOrders = "guest_orders",
        /// Gift cards that are theirs, or were sent to them.
        GiftCards = "gift_cards",
        /// Reviews that they wrote.
        Reviews = "reviews",
        /// Forms that name their address.
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

/// A person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Person {
    /// The store that knows them.
    pub store_id: StoreId,
    /// Their account, which may be gone.
    pub customer_id: CustomerId,
    /// E-mail addresses that they have used, normalized.
    pub emails: Vec<String>,
}

/// A page of one part, and where it goes on; none at its end.
pub type PartPage<T> = Result<(Vec<T>, Option<WalkPlace>), Problem>;

impl Person {
    /// Their orders, the oldest first.
    pub async fn orders(&self, app: &App, place: Option<&WalkPlace>) -> PartPage<Order> {
        app.table.walk(&[self.orders_query()], PAGE, place, |_| true).await
    }

    /// Orders that were placed with an address of theirs, without the account.
    pub async fn guest_orders(&self, app: &App, place: Option<&WalkPlace>) -> PartPage<Order> {
        let found: Option<Store> = app.table.get(&key::store(&self.store_id)).await?;
        let Some(store) = found else { return Ok((Vec::new(), None)) };
        let any = OrderId::derive(&[]);
        let listed = |email: Email| {
            let guest = store.guest_key(&email);
            Query::partition_of(key::orders_of_guest(&guest, &any))
        };
        let emails = self.emails.iter().filter_map(|email| Email::from_text(email).ok());
        let queries: Vec<Query> = emails.map(listed).collect();
        let is_here = |order: &Order| order.store_id == self.store_id;
        app.table.walk(&queries, PAGE, place, is_here).await
    }

    /// Whether they have ordered anything that is still known under their account.
    ///
    /// # Errors
    /// 503.
    pub async fn has_ordered(&self, app: &App) -> Result<bool, Problem> {
        Ok(!app.table.keys(&self.orders_query(), 1).await?.is_empty())
    }

    /// Whether an order of theirs is not done with: the store owes them goods, or they owe it money.
    ///
    /// # Errors
    /// 503.
    pub async fn has_unfinished_order(&self, app: &App) -> Result<bool, Problem> {
        let mut place = None;
        loop {
            let (found, next): (Vec<Order>, _) = app
                .table
                .walk(&[self.orders_query()], PAGE, place.as_ref(), Order::is_unfinished)
                .await?;
            if !found.is_empty() {
                return Ok(true);
            }
            if next.is_none() {
                return Ok(false);
            }
            place = next;
        }
    }

    fn orders_query(&self) -> Query {
        let (any, beginning) = (OrderId::derive(&[]), Timestamp::from_millis(0));
        let (index, listed) =
            key::orders_of_customer(&self.store_id, &self.customer_id, beginning, &any);
        Query::index(index, listed.pk)
    }

    /// Gift cards that are theirs, or were sent to them.
    pub async fn gift_cards(&self, app: &App, place: Option<&WalkPlace>) -> PartPage<GiftCard> {
        let (any, beginning) = (GiftCardId::derive(&[]), Timestamp::from_millis(0));
        let listed = key::gift_cards_of_store(&self.store_id, beginning, &any);
        let is_theirs = |card: &GiftCard| {
            card.customer_id.as_ref() == Some(&self.customer_id)
                || card.recipient.as_ref().is_some_and(|to| self.has_used(&to.email))
        };
        app.table.walk(&[Query::partition_of(listed)], PAGE, place, is_theirs).await
    }

    /// Reviews that they wrote.
    pub async fn reviews(&self, app: &App, place: Option<&WalkPlace>) -> PartPage<Review> {
        let all = Query::index(Index::Gsi2, key::reviews_on(&self.store_id));
        let is_theirs = |review: &Review| review.customer_id == self.customer_id;
        app.table.walk(&[all], PAGE, place, is_theirs).await
    }

    /// Forms that name their address.
    pub async fn forms(&self, app: &App, place: Option<&WalkPlace>) -> PartPage<FormSubmission> {
        let all =
            Query::partition(key::store(&self.store_id).pk).begins_with(key::FORM_SUBMISSIONS);
        let names_them = |form: &FormSubmission| {
            let mut values = form.fields.values().map(|value| value.to_lowercase());
            values.any(|value| self.emails.iter().any(|email| value.contains(email.as_str())))
        };
        app.table.walk(&[all], PAGE, place, names_them).await
    }

    /// Whether an address is one of theirs.
    pub fn has_used(&self, email: &Email) -> bool {
        self.emails.contains(&email.normalized())
    }

    /// An address more that they have used, unless it is known.
    pub fn learn(&mut self, email: &Email) {
        if !self.has_used(email) && self.emails.len() < MOST_ADDRESSES {
            self.emails.push(email.normalized());
        }
    }
}

//! The list of a store's orders and its filters.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::words::{index_words, terms};
use core_types::fields::{Email, MetadataFilter};
use core_types::id::CustomerId;
use core_types::key;
use core_types::scope::ReadOrders;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::Page;
use gateway::request::Query;
use identity::customer::UniqueCustomerEmail;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::Problem;
use sales::order::{FinancialStatus, FulfillmentStatus, Order, OrderStatus, OrderView, load};
use services::Services;
use table::Query as Search;

/// With a selective filter: the orders that one round trip reads, and the most round trips for a page. After
/// these the page ends early, with a cursor.
const AHEAD: (usize, u32) = (200, 10);
/// The most orders of one address that are listed: those of its account, and those of guests.
const MAX_OF_ADDRESS: usize = 250;

/// The filters of orders. An order is listed if it matches all of them.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only orders with this status.
    status: Option<OrderStatus>,
    /// Only orders with this payment status.
    financial_status: Option<FinancialStatus>,
    /// Only orders with this fulfilment status.
    fulfillment_status: Option<FulfillmentStatus>,
    /// Only orders of this customer.
    customer_id: Option<CustomerId>,
    /// Only orders of the customer with this e-mail address, and orders that guests placed with it: at most 250
    /// of each.
    email: Option<Email>,
    /// Only the order with this number, with or without the store's prefix.
    number: Option<Text<1, 40>>,
    /// Only orders whose buyer or recipient has all words of this name. A word matches those that begin with it,
    /// regardless of case and accents.
    name: Option<Text<1, 100>>,
    /// Only orders with this tag, regardless of case.
    tag: Option<Text<1, 100>>,
    /// Only orders that have all of these words: in their number, address, names, tags, or the titles and SKUs
    /// of their lines. A word matches those that begin with it, regardless of case and accents; `wi-fi` and `wifi`
    /// match each other.
    q: Option<Text<1, 200>>,
    /// Only orders whose metadata, or that of a line, has this key with this value: `name:text`.
    metadata: Option<MetadataFilter>,
    /// Only orders that were placed at this time or later.
    created_since: Option<Timestamp>,
    /// Only orders that were placed before this time.
    created_before: Option<Timestamp>,
    /// Only orders that were changed since then.
    updated_since: Option<Timestamp>,
}

/// Whether these texts have every term, as a product is searched.
fn has_terms<'t>(wanted: &str, texts: impl IntoIterator<Item = &'t str>) -> bool {
    let found: Vec<String> = texts.into_iter().flat_map(index_words).collect();
    let begins = |word: &str| found.iter().any(|other| other.starts_with(word));
    terms(wanted).iter().all(|term| term.is_met(begins))
}

/// The names of an order's buyer and recipients.
fn names(order: &Order) -> impl Iterator<Item = &str> {
    let contact =
        order.contact.iter().flat_map(|contact| [&contact.first_name, &contact.last_name]);
    let addresses = [&order.shipping_address, &order.billing_address].into_iter().flatten();
    let recipients =
        addresses.flat_map(|address| [&address.first_name, &address.last_name, &address.company]);
    contact.chain(recipients).filter_map(|name| name.as_deref())
}

/// The texts of an order that a search finds.
fn texts(order: &Order) -> impl Iterator<Item = &str> {
    let email = order.email.as_ref().map(Email::as_str);
    let lines = order.items.iter().flat_map(|line| {
        [Some(line.title.as_str()), line.variant_title.as_deref(), line.sku.as_deref()]
    });
    let tags = order.tags.iter().map(String::as_str);
    let own = std::iter::once(order.number.as_str()).chain(email);
    own.chain(names(order)).chain(tags).chain(lines.flatten())
}

impl ListQuery {
    fn matches(&self, order: &Order) -> bool {
        self.status.is_none_or(|status| order.status == status)
            && self.financial_status.is_none_or(|status| order.financial_status == status)
            && self.fulfillment_status.is_none_or(|status| order.fulfillment_status == status)
            && self.customer_id.as_ref().is_none_or(|id| order.customer_id.as_ref() == Some(id))
            && self.created_since.is_none_or(|since| order.created_at >= since)
            && self.created_before.is_none_or(|before| order.created_at < before)
            && self.updated_since.is_none_or(|since| order.updated_at >= since)
            && self.metadata.as_ref().is_none_or(|filter| {
                filter.takes(&order.metadata)
                    || order.items.iter().any(|line| filter.takes(&line.metadata))
            })
            && self.tag.as_ref().is_none_or(|tag| {
                let tag = tag.as_str().to_lowercase();
                order.tags.iter().any(|other| other.to_lowercase() == tag)
            })
            && self.name.as_ref().is_none_or(|name| has_terms(name.as_str(), names(order)))
            && self.q.as_ref().is_none_or(|wanted| has_terms(wanted.as_str(), texts(order)))
    }

    /// Whether it may match few of the orders that are read.
    fn is_narrow(&self) -> bool {
        self.status.is_some()
            || self.financial_status.is_some()
            || self.fulfillment_status.is_some()
            || self.metadata.is_some()
            || self.updated_since.is_some()
            || self.name.is_some()
            || self.tag.is_some()
            || self.q.is_some()
    }

    /// The orders that the filters find by themselves, without a walk through all: those of a number or an
    /// address. None if neither is named.
    async fn found(
        &self,
        services: &Services,
        store: &Store,
    ) -> Result<Option<Vec<Order>>, Problem> {
        let mut found = match (&self.number, &self.email) {
            (Some(number), email) => {
                let mut found = load::by_number(services, store, number.as_str()).await?;
                found.retain(|order| email.as_ref().is_none_or(|email| is_of(order, email)));
                found
            }
            (None, Some(email)) => of_address(services, store, email).await?,
            (None, None) => return Ok(None),
        };
        found.retain(|order| self.matches(order));
        Ok(Some(found))
    }
}

/// Whether the order was placed with this address.
fn is_of(order: &Order, email: &Email) -> bool {
    order.email.as_ref().is_some_and(|own| own.normalized() == email.normalized())
}

/// Loads the orders of the customer with this address, and those that guests placed with it, newest first.
async fn of_address(
    services: &Services,
    store: &Store,
    email: &Email,
) -> Result<Vec<Order>, Problem> {
    let of_guests = Search::list(key::list::orders_of_guest(&store.guest_key(email)));
    let claim = key::unique_customer_email(&store.id, &email.normalized());
    let (claim, mut found) = tokio::try_join!(
        services.table.get::<UniqueCustomerEmail>(&claim),
        services.table.all::<Order>(&of_guests, MAX_OF_ADDRESS),
    )?;
    if let Some(claim) = claim {
        let of_customer = key::list::orders_of_customer(&store.id, &claim.customer_id);
        let of_customer = Search::list(of_customer).newest_first();
        let own = services.table.page(&of_customer, MAX_OF_ADDRESS, None, |_: &Order| true).await?;
        found.extend(own.items);
    }
    found.sort_by_key(|order| std::cmp::Reverse(order.created_at));
    Ok(found)
}

/// `GET /v1/orders` (`listOrders`): List orders of a store.
///
/// Orders come newest first. With a number, the one order is listed, however old it is. A page of a selective
/// filter ends after 2,000 inspected orders: it may have few orders or none, and a cursor to continue with.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadOrders>,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<OrderView>, Problem> {
    let store = &caller.store;
    if let Some(found) = query.found(&app, store).await? {
        let views = found.iter().map(OrderView::from).collect();
        return paging.slice(&app, views, |view: &OrderView| view.id.to_string()).await;
    }
    let all = match &query.customer_id {
        Some(customer) => key::list::orders_of_customer(&store.id, customer),
        None => key::list::orders_of_store(&store.id),
    };
    let mut search = Search::list(all).newest_first();
    if query.created_since.is_some() || query.created_before.is_some() {
        // Positions are times with an id after them, and `#` sorts before all of a time but its end.
        let since = query.created_since.map_or_else(String::new, |since| since.to_string());
        let before =
            query.created_before.map_or_else(|| "~".to_owned(), |before| before.to_string());
        search = search.between(since, before);
    }
    if query.is_narrow() {
        search = search.with_scan_limit(AHEAD.0, AHEAD.1);
    }
    paging.query(&app, &search, |order| query.matches(order), |order| OrderView::from(&order)).await
}

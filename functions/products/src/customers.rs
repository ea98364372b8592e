//! Customers, as the store sees them.

use axum::extract::State;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::page::Paging;
use gateway::problem::Problem;
use gateway::reply::Page;
use gateway::request::{Query, Text, request};
use gateway::table;
use ground::fields::Email;
use ground::id::CustomerId;
use ground::key;
use ground::scope::ReadCustomers;
use identity::customer::{Customer, CustomerView, UniqueCustomerEmail};
use platform::caller::StoreAccess;

/// Customers that one round trip looks at when they are filtered, and how many it takes for a page
/// at most; then the page ends early, with a cursor.
const AHEAD: (usize, u32) = (200, 10);

/// `GET /v1/customers`
#[request]
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Part of a name, an address or a telephone number.
    q: Option<Text<1, 100>>,
    /// The one customer of this address.
    email: Option<Email>,
    /// One of the store's labels.
    tag: Option<Text<1, 100>>,
    /// Changed at this time or later.
    updated_since: Option<Timestamp>,
}

impl ListQuery {
    fn takes(&self, customer: &Customer) -> bool {
        let contains = |text: &str, part: &str| text.to_lowercase().contains(part);
        let found = self.q.as_ref().is_none_or(|q| {
            let part = q.as_str().to_lowercase();
            let name = customer.name.as_deref().unwrap_or_default();
            let phone = customer.phone.as_ref().map_or("", |phone| phone.as_str());
            [customer.email.as_str(), name, phone].iter().any(|text| contains(text, &part))
        });
        let tagged =
            self.tag.as_ref().is_none_or(|tag| customer.tags.iter().any(|own| own == tag.as_str()));
        found && tagged && self.updated_since.is_none_or(|since| customer.updated_at >= since)
    }

    fn is_filtered(&self) -> bool {
        self.q.is_some() || self.tag.is_some() || self.updated_since.is_some()
    }
}

/// `GET /v1/customers` — the store's customers, newest first.
pub(crate) async fn list(
    access: StoreAccess<ReadCustomers>,
    State(app): State<App>,
    Query(asked): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<CustomerView>, Problem> {
    let store = &access.store;
    if let Some(email) = &asked.email {
        let email_key = key::unique_customer_email(&store.id, &email.normalized());
        let claim: Option<UniqueCustomerEmail> = app.table.get(&email_key).await?;
        let found: Option<Customer> = match claim {
            Some(claim) => app.table.get(&key::customer(&store.id, &claim.customer_id)).await?,
            None => None,
        };
        let views = found.iter().filter(|customer| asked.takes(customer)).map(CustomerView::from);
        return paging.whole(&app, views.collect(), |view| view.id.to_string()).await;
    }
    let any = CustomerId::derive(&["any"]);
    let mut query =
        table::Query::partition_of(key::customers_of_store(&store.id, store.created_at, &any))
            .newest_first();
    if asked.is_filtered() {
        query = query.looking_ahead(AHEAD.0, AHEAD.1);
    }
    let view = |customer: Customer| CustomerView::from(&customer);
    paging.answer(&app, &query, |customer| asked.takes(customer), view).await
}

//! The callers of the storefront: a customer with their token, or anybody.

use std::sync::Arc;

use core_types::key;
use gateway::budget::Tier;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use http::{Method, header};
use identity::customer::{Customer as CustomerAccount, CustomerSession, UnverifiedCustomerToken};
use identity::store::{Store, StoreStatus};
use identity::storefront::{OpenStore, open_store};
use primitives::problem::{Code, Problem};
use services::Services;
use services::shared_reads::SharedReads;

use super::bearer;
use super::public_storefront::anonymous_at;

/// A customer with a live session, and the store it is bound to. Where the path names a store, it
/// is that one.
#[derive(Debug, Clone)]
pub struct Customer {
    /// The account of the session, active when it was read.
    pub account: CustomerAccount,
    /// The session of the token, valid when it was read.
    pub session: CustomerSession,
    /// The store that the session is bound to.
    pub store: Store,
}

/// Anybody at the storefront that the path names, or a customer, if they present a customer token. A
/// token that is not valid there is rejected, not ignored: its sender believes to be signed in.
#[derive(Debug, Clone)]
pub struct Shopper {
    /// The store of the subdomain, cached for five seconds at most.
    pub open: Arc<OpenStore>,
    /// The customer, if there is one.
    pub customer: Option<Box<Customer>>,
    identity: Identity,
}

gateway::caller_argument!(Customer);
gateway::caller_argument!(Shopper);

/// Reads and validates a customer token. The reads of one page do so once; what changes something does so itself.
async fn open(services: &Services, inbound: &Inbound) -> Result<Customer, Problem> {
    if inbound.row.method == Method::GET {
        let name = bearer(inbound)?.to_owned();
        return SharedReads::get_or_read(&name, open_alone(services, inbound)).await;
    }
    open_alone(services, inbound).await
}

/// As [`open`]: customer, session and store, in one round trip.
async fn open_alone(services: &Services, inbound: &Inbound) -> Result<Customer, Problem> {
    let rejected = || Problem::from(Code::Unauthenticated);
    let token = UnverifiedCustomerToken::parse(bearer(inbound)?).ok_or_else(rejected)?;
    let customer_key = key::customer(&token.store_id, &token.customer_id);
    let session_key = key::customer_session(&token.store_id, &token.customer_id, &token.session_id);
    let store_key = key::store(&token.store_id);
    let mut batch = services.table.get_many(&[&customer_key, &session_key, &store_key]).await?;
    let account: CustomerAccount = batch.take_recent(&customer_key)?.ok_or_else(rejected)?;
    let session: CustomerSession = batch.take_recent(&session_key)?.ok_or_else(rejected)?;
    let store: Store = batch.take_recent(&store_key)?.ok_or_else(rejected)?;
    if !session.admits(&token, &account, services.clock.now())
        || store.status == StoreStatus::Deleted
    {
        return Err(rejected());
    }
    Ok(Customer { account, session, store })
}

impl Caller for Customer {
    fn access() -> Access {
        Access::Customer
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let customer = open(services, inbound).await?;
        if let Some(subdomain) = inbound.param("subdomain") {
            at(&customer, &*open_store(services, subdomain).await?)?;
        }
        Ok(customer)
    }

    fn identity(&self) -> Identity {
        Identity {
            principal: format!("customer:{}", self.account.id),
            store: Some(self.store.id.to_string()),
            subject: format!("{}#{}", self.store.id, self.account.id),
            tier: Tier::Public,
            guest: None,
            scopes: None,
        }
    }
}

impl Caller for Shopper {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let shop = open_store(services, inbound.param("subdomain").unwrap_or_default()).await?;
        if !inbound.headers.contains_key(header::AUTHORIZATION) {
            let identity = anonymous_at(&shop.store.id, inbound);
            return Ok(Self { open: shop, customer: None, identity });
        }
        let customer = open(services, inbound).await?;
        at(&customer, &shop)?;
        let identity = customer.identity();
        Ok(Self { open: shop, customer: Some(Box::new(customer)), identity })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// Ensures that the customer's session is of this store.
///
/// # Errors
/// `unauthenticated`: the token is another store's.
fn at(customer: &Customer, shop: &OpenStore) -> Result<(), Problem> {
    if customer.store.id == shop.store.id { Ok(()) } else { Err(Code::Unauthenticated.into()) }
}

impl Shopper {
    /// The store, cached for five seconds at most.
    pub fn store(&self) -> &Store {
        &self.open.store
    }
}

//! Loads payments and a store's accounts with payment providers.

use core_types::id::{OrderId, PaymentId, StoreId};
use core_types::key;
use core_types::provider::ProviderName;
use core_types::resource;
use identity::store::Store;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Query;
use table::item::Key;

use super::Payment;
use super::account::ProviderAccount;
use super::lookup::PaymentLookup;
use super::manual::Manual;
use super::provider_client::ProviderClient;

/// The most payments of one order that are read. Each is created by a shopper who wants to pay.
const MAX_PAYMENTS: usize = 50;

/// Loads a payment of a store.
///
/// # Errors
/// `not_found`.
pub async fn payment(
    services: &Services,
    store: &Store,
    id: &PaymentId,
) -> Result<Payment, Problem> {
    let PaymentLookup { store_id, order_id, payment_id } = PaymentLookup::of(store, id);
    resource::load(services, &key::payment(&store_id, &order_id, &payment_id)).await
}

/// Loads a payment of a store, if it exists.
///
/// # Errors
/// 503.
pub async fn found(
    services: &Services,
    store: &Store,
    id: &PaymentId,
) -> Result<Option<Payment>, Problem> {
    let PaymentLookup { store_id, order_id, payment_id } = PaymentLookup::of(store, id);
    services.table.get(&key::payment(&store_id, &order_id, &payment_id)).await
}

/// Loads the payments of an order, which share its partition.
///
/// # Errors
/// 503.
pub async fn payments_of(
    services: &Services,
    store: &StoreId,
    order: &OrderId,
) -> Result<Vec<Payment>, Problem> {
    services.table.all(&of_order(store, order), MAX_PAYMENTS).await
}

/// The query of an order's payments.
pub fn of_order(store: &StoreId, order: &OrderId) -> Query {
    Query::partition(key::order(store, order).pk).begins_with(key::PAYMENTS)
}

async fn stored(
    services: &Services,
    store: &Store,
    provider: ProviderName,
) -> Result<Option<ProviderAccount>, Problem> {
    let found = services.table.get(&key::payment_provider(&store.id, provider.as_str())).await?;
    let manual = (provider == ProviderName::Manual).then(|| ProviderAccount::manual(store));
    Ok(found.or(manual))
}

/// Loads a store's account with a provider; none if it has none, or has disconnected it.
///
/// # Errors
/// 503.
pub async fn account(
    services: &Services,
    store: &Store,
    provider: ProviderName,
) -> Result<Option<ProviderAccount>, Problem> {
    let found = stored(services, store, provider).await?;
    Ok(found.filter(|account| account.disconnected_at.is_none()))
}

/// Loads a store's account with a provider for a change. It is blank if the store has none or has
/// disconnected it; the versions of a disconnected one go on.
///
/// # Errors
/// 503.
pub async fn account_to_change(
    services: &Services,
    store: &Store,
    provider: ProviderName,
) -> Result<ProviderAccount, Problem> {
    let blank = ProviderAccount::blank(store, provider);
    Ok(match stored(services, store, provider).await? {
        Some(disconnected) if disconnected.disconnected_at.is_some() => {
            ProviderAccount { version: disconnected.version, ..blank }
        }
        found => found.unwrap_or(blank),
    })
}

/// Loads a store's accounts, in the order of the providers. The default `manual` account is added if none is
/// stored.
pub async fn accounts(services: &Services, store: &Store) -> Result<Vec<ProviderAccount>, Problem> {
    let query = Query::partition(key::store(&store.id).pk).begins_with(key::PAYMENT_PROVIDERS);
    let mut accounts: Vec<ProviderAccount> =
        services.table.all(&query, ProviderName::ALL.len()).await?;
    accounts.retain(|account| account.disconnected_at.is_none());
    if accounts.iter().all(|account| account.provider != ProviderName::Manual) {
        accounts.push(ProviderAccount::manual(store));
    }
    accounts.sort_by_key(|account| account.provider);
    Ok(accounts)
}

/// Connects the provider of a payment, ready for calls, even if its account is disabled or disconnected.
///
/// # Errors
/// `provider_not_connected`.
pub async fn connect(
    services: &Services,
    store: &StoreId,
    provider: ProviderName,
) -> Result<ProviderClient, Problem> {
    let found: Option<ProviderAccount> =
        services.table.get(&key::payment_provider(store, provider.as_str())).await?;
    match found {
        Some(account) => account.connect(&*services.secrets.payment_key().await?),
        None if provider == ProviderName::Manual => Ok(ProviderClient::Manual(Manual::default())),
        None => Err(Code::ProviderNotConnected.into()),
    }
}

/// Loads the ids of at most `most` payments that still need a store's account with a provider, oldest first.
pub async fn open_payments(
    services: &Services,
    store: &StoreId,
    provider: ProviderName,
    most: usize,
) -> Result<Vec<PaymentId>, Problem> {
    let open = Query::list(key::list::payments_open_with(store, provider.as_str()));
    let keys = services.table.keys(&open, most).await?;
    let id = |open: &Key| PaymentId::parse(open.sk.strip_prefix(key::PAYMENTS)?);
    Ok(keys.iter().filter_map(id).take(most).collect())
}

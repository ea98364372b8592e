//! Loads payments and a store's accounts with payment providers.

use core_types::id::{OrderId, PaymentId, StoreId};
use core_types::key;
use core_types::provider::ProviderName;
use core_types::resource;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Key;
use gateway::problem::{Code, Problem};
use gateway::table::Query;
use identity::store::Store;

use super::Payment;
use super::account::ProviderAccount;
use super::connected::Connected;
use super::lookup::PaymentLookup;
use super::manual::Manual;

/// The most payments of one order that are read. Each is created by a shopper who wants to pay.
const MAX_PAYMENTS: usize = 50;

/// Loads a payment of a store.
///
/// # Errors
/// `not_found`.
pub async fn payment(app: &App, store: &Store, id: &PaymentId) -> Result<Payment, Problem> {
    let PaymentLookup { store_id, order_id, payment_id } = PaymentLookup::of(store, id);
    resource::load(app, &key::payment(&store_id, &order_id, &payment_id)).await
}

/// Loads a payment of a store, if it exists.
///
/// # Errors
/// 503.
pub async fn found(app: &App, store: &Store, id: &PaymentId) -> Result<Option<Payment>, Problem> {
    let PaymentLookup { store_id, order_id, payment_id } = PaymentLookup::of(store, id);
    app.table.get(&key::payment(&store_id, &order_id, &payment_id)).await
}

/// Loads the payments of an order, which share its partition.
///
/// # Errors
/// 503.
pub async fn payments_of(
    app: &App,
    store: &StoreId,
    order: &OrderId,
) -> Result<Vec<Payment>, Problem> {
    app.table.all(&of_order(store, order), MAX_PAYMENTS).await
}

/// The query of an order's payments.
pub fn of_order(store: &StoreId, order: &OrderId) -> Query {
    Query::partition(key::order(store, order).pk).begins_with(key::PAYMENTS)
}

async fn stored(
    app: &App,
    store: &Store,
    provider: ProviderName,
) -> Result<Option<ProviderAccount>, Problem> {
    let found = app.table.get(&key::payment_provider(&store.id, provider.as_str())).await?;
    let manual = (provider == ProviderName::Manual).then(|| ProviderAccount::manual(store));
    Ok(found.or(manual))
}

/// Loads a store's account with a provider; none if it has none, or has disconnected it.
///
/// # Errors
/// 503.
pub async fn account(
    app: &App,
    store: &Store,
    provider: ProviderName,
) -> Result<Option<ProviderAccount>, Problem> {
    let found = stored(app, store, provider).await?;
    Ok(found.filter(|account| account.disconnected_at.is_none()))
}

/// Loads a store's account with a provider for a change. It is blank if the store has none or has
/// disconnected it; the versions of a disconnected one go on.
///
/// # Errors
/// 503.
pub async fn account_to_change(
    app: &App,
    store: &Store,
    provider: ProviderName,
) -> Result<ProviderAccount, Problem> {
    let blank = ProviderAccount::blank(store, provider);
    Ok(match stored(app, store, provider).await? {
        Some(disconnected) if disconnected.disconnected_at.is_some() => {
            ProviderAccount { version: disconnected.version, ..blank }
        }
        found => found.unwrap_or(blank),
    })
}

/// Loads a store's accounts, in the order of the providers. The default `manual` account is added if none is
/// stored.
pub async fn accounts(app: &App, store: &Store) -> Result<Vec<ProviderAccount>, Problem> {
    let query = Query::partition(key::store(&store.id).pk).begins_with(key::PAYMENT_PROVIDERS);
    let mut accounts: Vec<ProviderAccount> = app.table.all(&query, ProviderName::ALL.len()).await?;
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
    app: &App,
    store: &StoreId,
    provider: ProviderName,
) -> Result<Connected, Problem> {
    let found: Option<ProviderAccount> =
        app.table.get(&key::payment_provider(store, provider.as_str())).await?;
    match found {
        Some(account) => account.connect(&*app.secrets.payment_key().await?),
        None if provider == ProviderName::Manual => Ok(Connected::Manual(Manual::default())),
        None => Err(Code::ProviderNotConnected.into()),
    }
}

/// Loads the ids of at most `most` payments that still need a store's account with a provider, oldest first.
pub async fn open_payments(
    app: &App,
    store: &StoreId,
    provider: ProviderName,
    most: usize,
) -> Result<Vec<PaymentId>, Problem> {
    let anywhen = Timestamp::from_millis(0);
    let nobody = PaymentId::mint(anywhen);
    let (index, position) = key::payments_open_with(store, provider.as_str(), anywhen, &nobody);
    let keys = app.table.keys(&Query::index(index, position.pk), most).await?;
    let id = |open: &Key| PaymentId::parse(open.sk.strip_prefix(key::PAYMENTS)?);
    Ok(keys.iter().filter_map(id).take(most).collect())
}

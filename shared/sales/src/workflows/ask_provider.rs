//! Asks a provider about the payments of an order that its shopper looks at: a browser that never came back from the
//! provider's page tells nobody that it has paid.

use std::sync::Arc;
use std::time::Duration;

use core_types::id::{OrderId, StoreId};
use core_types::provider::ProviderName;
use primitives::problem::Problem;
use services::Services;

use super::{close_payments, record_payment};
use crate::payment::load::{connect, payments_of};

/// How long an answer suffices for those who look again.
const SUFFICES: Duration = Duration::from_secs(5);

/// An order whose provider was asked a moment ago.
struct Asked;

/// Asks the provider about the payments of an order by which money can still arrive, and records what it says. An
/// order is asked about every five seconds at most, in each process. Returns whether it was.
///
/// # Errors
/// `provider_not_connected`, `provider_error`, `provider_timeout`, `version_conflict`, 503.
pub async fn ask(services: &Services, store: &StoreId, order: &OrderId) -> Result<bool, Problem> {
    let now = services.clock.now();
    if services.cache.get::<Asked>(order.as_str(), now).is_some() {
        return Ok(false);
    }
    services.cache.insert(order.as_str(), Arc::new(Asked), now, SUFFICES);
    let all = payments_of(services, store, order).await?;
    let open = all.iter().filter(|payment| payment.may_yet_be_captured());
    for payment in open.filter(|payment| payment.provider != ProviderName::Manual) {
        let provider = connect(services, store, payment.provider).await?;
        let observed = record_payment::fetch_and_capture(services, &provider, payment).await?;
        close_payments::record(services, &provider, payment, &observed).await?;
    }
    Ok(true)
}

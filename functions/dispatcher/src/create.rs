//! Creation of deliveries, which leaves existing ones unchanged.

use std::collections::HashMap;

use core_types::id::DeliveryId;
use delivery::delivery::Delivery;
use futures_util::stream::{self, StreamExt};
use primitives::problem::Problem;
use services::Services;
use table::item::{Item, Key};

/// The number of concurrent writes of one delivery each.
const WRITES: usize = 16;
/// The number of deliveries that one batch looks for.
const AT_ONCE: usize = 100;

/// The deliveries that could not be created.
#[derive(Debug, Default)]
pub(crate) struct Failures(HashMap<DeliveryId, Problem>);

impl Failures {
    /// Whether all of these deliveries exist.
    ///
    /// # Errors
    /// The error of one that could not be created.
    pub(crate) fn check(&self, deliveries: &[Delivery]) -> Result<(), Problem> {
        let failure = deliveries.iter().find_map(|delivery| self.0.get(&delivery.id));
        failure.cloned().map_or(Ok(()), Err)
    }
}

/// Creates deliveries, each by one conditional write.
pub(crate) async fn each(services: &Services, deliveries: &[&Delivery]) -> Failures {
    let writes: Vec<_> = deliveries
        .iter()
        .map(|delivery| async move {
            let made = delivery.create(services).await;
            made.err().map(|problem| (delivery.id.clone(), problem))
        })
        .collect();
    let failures = stream::iter(writes).buffer_unordered(WRITES).collect::<Vec<_>>().await;
    Failures(failures.into_iter().flatten().collect())
}

/// Creates deliveries that nobody else creates meanwhile, many in one call. Such a call has no conditions, so those
/// that exist are found first: a repetition must not replace what has been sent.
pub(crate) async fn together(services: &Services, deliveries: &[&Delivery]) -> Failures {
    if deliveries.len() < 2 {
        return each(services, deliveries).await;
    }
    let mut failures = Failures::default();
    for chunk in deliveries.chunks(AT_ONCE) {
        let written = match missing(services, chunk).await {
            Ok(missing) => services.table.put_all(&missing).await,
            Err(problem) => Err(problem),
        };
        if written.is_err() {
            // One by one, so that a delivery that can never be written fails alone.
            failures.0.extend(each(services, chunk).await.0);
        }
    }
    failures
}

/// The deliveries that do not exist.
async fn missing<'a>(
    services: &Services,
    deliveries: &[&'a Delivery],
) -> Result<Vec<&'a Delivery>, Problem> {
    let keys: Vec<Key> = deliveries.iter().map(|delivery| delivery.key()).collect();
    let found = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let with_keys = deliveries.iter().zip(&keys);
    Ok(with_keys.filter(|(_, key)| !found.has(key)).map(|(delivery, _)| *delivery).collect())
}

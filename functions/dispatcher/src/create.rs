//! Creation of deliveries, which leaves existing ones unchanged, with the batch that names them.
//!
//! A delivery is created without a due mark. So an event is published only after a batch names all of its
//! deliveries, those that an earlier try created included.

use std::collections::HashMap;

use core_types::id::DeliveryId;
use delivery::delivery::{Delivery, DeliveryBatch};
use futures_util::stream::{self, StreamExt};
use primitives::problem::Problem;
use services::Services;
use table::Puts;
use table::item::{Item, Key};

/// The number of concurrent writes of one delivery each.
const WRITES: usize = 16;
/// The number of deliveries that one batch looks for, and names.
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

/// Creates deliveries, each by one conditional write, and the batches that name them.
pub(crate) async fn each(services: &Services, deliveries: &[&Delivery]) -> Failures {
    let mut failures = Failures::default();
    for chunk in deliveries.chunks(AT_ONCE) {
        let batch = batch_of(services, chunk);
        let (named, failed) = tokio::join!(batch.create(services), one_by_one(services, chunk));
        let named = named.and_then(|()| batch.ensure_in_time(services.clock.now()));
        if let Err(problem) = named {
            let all = chunk.iter().map(|delivery| (delivery.id.clone(), problem.clone()));
            failures.0.extend(all);
        }
        failures.0.extend(failed);
    }
    failures
}

async fn one_by_one(services: &Services, chunk: &[&Delivery]) -> Vec<(DeliveryId, Problem)> {
    let writes: Vec<_> = chunk
        .iter()
        .map(|delivery| async move {
            let made = delivery.create(services).await;
            made.err().map(|problem| (delivery.id.clone(), problem))
        })
        .collect();
    let failures = stream::iter(writes).buffer_unordered(WRITES).collect::<Vec<_>>().await;
    failures.into_iter().flatten().collect()
}

fn batch_of(services: &Services, chunk: &[&Delivery]) -> DeliveryBatch {
    let ids = chunk.iter().map(|delivery| delivery.id.clone());
    DeliveryBatch::of(ids, services.clock.now())
}

/// Creates deliveries that nobody else creates meanwhile, many in one call. Such a call has no conditions, so those
/// that exist are found first: a repetition must not replace what has been sent.
pub(crate) async fn together(services: &Services, deliveries: &[&Delivery]) -> Failures {
    if deliveries.len() < 2 {
        return each(services, deliveries).await;
    }
    let mut failures = Failures::default();
    for chunk in deliveries.chunks(AT_ONCE) {
        let batch = batch_of(services, chunk);
        let written = match missing(services, chunk).await {
            Ok(missing) => services.table.put_all(with_batch(&missing, &batch)).await,
            Err(problem) => Err(problem),
        };
        if written.and_then(|()| batch.ensure_in_time(services.clock.now())).is_err() {
            // One by one, so that a delivery that can never be written fails alone.
            failures.0.extend(each(services, chunk).await.0);
        }
    }
    failures
}

fn with_batch(deliveries: &[&Delivery], batch: &DeliveryBatch) -> Puts {
    deliveries.iter().fold(Puts::default(), |puts, delivery| puts.and(*delivery)).and(batch)
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

//! What is counted of attempts, for the platform and for each store: in memory, and written down once a
//! batch that had a failure, or once a minute.

use core_types::id::StoreId;
use delivery::delivery::{AttemptVerdict, Delivery};
use reliability::metrics::{DELIVERIES, deliveries_of};
use services::Services;
use services::metrics::{Outcome, Subject};

use crate::send::{SentAttempt, UNSEALABLE};

/// Counts an attempt. Samples say nothing, nor does what could not be signed: that is not the receiver's
/// fault. What fails of the canary's fails on purpose, and is nobody's incident.
pub(crate) fn note(services: &Services, delivery: &Delivery, sent: &SentAttempt) {
    let is_canarys = delivery.store_id.as_ref().is_some_and(StoreId::is_canary);
    if delivery.test || is_canarys || delivery.last_error.as_deref() == Some(UNSEALABLE) {
        return;
    }
    let is_error = sent.outcome.verdict != AttemptVerdict::Success;
    let outcome = Outcome { took: sent.took, is_error, ..Outcome::default() };
    let now = services.clock.now();
    services.metrics.note(Subject::of(DELIVERIES), now, outcome);
    if let Some(store) = &delivery.store_id {
        services.metrics.note(deliveries_of(store), now, outcome);
    }
}

/// Writes down what is needed now: a failure, for there may be no other batch for long, and a rule waits for
/// it; otherwise the minutes that are over. After the batch, which does not pay for it.
pub(crate) async fn write_down(services: &Services) {
    let now = services.clock.now();
    if services.metrics.has_errors() {
        services.metrics.flush_all(&services.table).await;
    } else {
        services.metrics.flush(&services.table, now).await;
    }
}

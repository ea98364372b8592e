//! Metrics of attempts, for the platform and for each store: gathered in memory, and written after a
//! batch that had a failure, otherwise once a minute.

use core_types::id::StoreId;
use delivery::delivery::{AttemptVerdict, Delivery};
use reliability::metrics::{DELIVERIES, delivery_subject};
use services::Services;
use services::metrics::{MetricSubject, RequestOutcome};

use crate::send::{SentAttempt, UNSEALABLE};

/// Counts an attempt. Test events are not counted, nor are attempts that could not be signed, which is no
/// fault of the receiver. Failures of the canary store are caused on purpose, and are no incident.
pub(crate) fn note(services: &Services, delivery: &Delivery, sent: &SentAttempt) {
    let is_canarys = delivery.store_id.as_ref().is_some_and(StoreId::is_canary);
    if delivery.test || is_canarys || delivery.last_error.as_deref() == Some(UNSEALABLE) {
        return;
    }
    let is_error = sent.outcome.verdict != AttemptVerdict::Success;
    let outcome = RequestOutcome { took: sent.took, is_error, ..RequestOutcome::default() };
    let now = services.clock.now();
    services.metrics.note(MetricSubject::of(DELIVERIES), now, outcome);
    if let Some(store) = &delivery.store_id {
        services.metrics.note(delivery_subject(store), now, outcome);
    }
}

/// Writes the metrics that are needed now: all after a failure, because a rule waits for it and the next
/// batch may be long in coming; otherwise those of past minutes. It runs after the batch, which does not
/// pay for it.
pub(crate) async fn write_down(services: &Services) {
    let now = services.clock.now();
    if services.metrics.has_errors() {
        services.metrics.flush_all(&services.table).await;
    } else {
        services.metrics.flush(&services.table, now).await;
    }
}

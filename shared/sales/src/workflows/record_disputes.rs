//! Records an update about disputes of a payment on the disputes, the payment and its order, once.
//!
//! An event and a fetch may report the same at the same moment, and events come in any order. Each reads,
//! decides and writes on condition of the versions that it has read; one of them writes, and the others read
//! again. The result depends on everything that was reported, not on its order ([`Dispute::after`]). An
//! event is recorded in the transaction that it causes: after a crash before that, the provider sends it
//! again.
//!
//! A dispute may be reported before the capture that it is about. Then the payment is fetched first.

use core_types::key;
use core_types::provider::ProviderName;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Attempt, CommitOnly, retry_attempts};

use super::record_payment::{self, PaymentUpdate};
use crate::dispute::{Dispute, DisputeChange, ObservedDispute};
use crate::order::{Order, OrderChange};
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::Provider;
use crate::payment::provider_client::ProviderClient;
use crate::payment::provider_event::ProviderEvent;
use crate::payment::{Payment, PaymentSource};

/// The most disputes of one payment that are recorded at once, as they are read with it in one batch.
const MAX_DISPUTES: usize = 90;

/// Records an event about a dispute. If the dispute is about another payment of the same provider order,
/// only the event is recorded.
///
/// # Errors
/// `provider_error`, `provider_timeout`: the event is to be sent again.
pub async fn receive(
    services: &Services,
    provider_client: &ProviderClient,
    lookup: &PaymentLookup,
    observed: &ObservedDispute,
    event: &ProviderEvent,
) -> Result<(), Problem> {
    let report = DisputeReport {
        provider: provider_client.name(),
        observed: std::slice::from_ref(observed),
    };
    let Some(known) = record(services, lookup, report, Some(event), RecordIf::Captured).await?
    else {
        return Ok(());
    };
    let observed = &provider_client.fetch(services, &known).await?;
    let update = PaymentUpdate { lookup, observed, source: PaymentSource::Sync, event: None };
    // A mismatched amount is marked for the merchant; the dispute is recorded all the same.
    match record_payment::record(services, provider_client, update, &CommitOnly).await {
        Err(problem) if problem.code != Code::AmountMismatch => return Err(problem),
        _ => {}
    }
    record(services, lookup, report, Some(event), RecordIf::Always).await.map(drop)
}

/// Fetches the disputes of a payment from its provider and records them. Returns whether there are any.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn fetch_and_record(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) -> Result<bool, Problem> {
    let observed = provider_client.disputes(services, payment).await?;
    if observed.is_empty() {
        return Ok(false);
    }
    let report = DisputeReport { provider: provider_client.name(), observed: &observed };
    record(services, &PaymentLookup::from(payment), report, None, RecordIf::Always)
        .await
        .map(|_| true)
}

/// A provider's report about disputes.
#[derive(Debug, Clone, Copy)]
struct DisputeReport<'a> {
    provider: ProviderName,
    observed: &'a [ObservedDispute],
}

/// When a report is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordIf {
    /// Only if the payment is known to be captured.
    Captured,
    /// In any case.
    Always,
}

/// Records a report. Returns the payment if it is not captured and the report was therefore not recorded.
async fn record(
    services: &Services,
    lookup: &PaymentLookup,
    report: DisputeReport<'_>,
    event: Option<&ProviderEvent>,
    condition: RecordIf,
) -> Result<Option<Payment>, Problem> {
    let once = |attempt| Box::pin(once(services, lookup, report, event, condition, attempt));
    retry_attempts(once).await
}

async fn once(
    services: &Services,
    lookup: &PaymentLookup,
    report: DisputeReport<'_>,
    event: Option<&ProviderEvent>,
    condition: RecordIf,
    attempt: Attempt,
) -> Result<Option<Payment>, Problem> {
    let now = services.clock.now();
    let DisputeContext { payment, order, disputes, is_handled } =
        read(services, lookup, report, event).await?;
    if is_handled {
        return Ok(None);
    }
    if condition == RecordIf::Captured && payment.captured.is_zero() {
        return Ok(Some(payment));
    }
    let pairs = report.observed.iter().zip(&disputes);
    let ours = pairs.filter(|(one, _)| payment.is_carried_by(one.provider_payment.as_deref()));
    let changes: Vec<DisputeChange> = ours
        .filter_map(|(one, known)| Dispute::after(known.as_ref(), one, &payment, now))
        .collect();
    if event.is_none() && changes.is_empty() {
        return Ok(None);
    }
    let write = services.table.write();
    let write = write.when_some(event, |write, event| write.create(event, Code::VersionConflict));
    let write = changes.iter().fold(write, |write, change| change.write(write, now));
    let write = match payment.with_disputes(changes.iter().map(|one| &one.dispute), now) {
        None => write,
        Some(changed) => {
            let next = changed.payment.clone();
            let change = OrderChange::none(&order).with_payment(changed).and_disputed(&next, now);
            change.save(services, write, attempt, now).await?
        }
    };
    write.commit().await?;
    Ok(None)
}

/// The stored items that a report is about.
struct DisputeContext {
    payment: Payment,
    order: Order,
    /// The known disputes, in the order of the report.
    disputes: Vec<Option<Dispute>>,
    /// Whether the event was handled before.
    is_handled: bool,
}

/// Reads all of them in one round trip.
async fn read(
    services: &Services,
    lookup: &PaymentLookup,
    report: DisputeReport<'_>,
    event: Option<&ProviderEvent>,
) -> Result<DisputeContext, Problem> {
    let PaymentLookup { store_id, order_id, payment_id } = lookup;
    let payment = key::payment(store_id, order_id, payment_id);
    let order = key::order(store_id, order_id);
    let id = |one: &ObservedDispute| Dispute::id_of(store_id, report.provider, &one.reference);
    let disputes: Vec<Key> = report
        .observed
        .iter()
        .take(MAX_DISPUTES)
        .map(|one| key::dispute(store_id, &id(one)))
        .collect();
    let event = event.map(Item::key);
    let keys: Vec<&Key> = [&payment, &order].into_iter().chain(&disputes).chain(&event).collect();
    let mut found = services.table.get_many(&keys).await?;
    let handled: Option<ProviderEvent> = match &event {
        None => None,
        Some(key) => found.take(key)?,
    };
    let known: Result<Vec<Option<Dispute>>, Problem> =
        disputes.iter().map(|key| found.take(key)).collect();
    Ok(DisputeContext {
        payment: found.take(&payment)?.ok_or(Code::NotFound)?,
        order: found.take(&order)?.ok_or(Code::NotFound)?,
        disputes: known?,
        is_handled: handled.is_some(),
    })
}

//! Recording what was learnt about disputes of a payment: on the disputes, on the payment and on its
//! order, once.
//!
//! An event and a question may tell the same at the same moment, and events come in any order. Each
//! reads, decides and writes under the versions of what it has read; one of them writes, and the
//! others read again. What comes of it follows from all that was told, not from its order
//! ([`Dispute::after`]). An event is recorded in the transaction that it causes, so that a crash
//! before it leaves an event that the provider sends again.
//!
//! Money that nobody has told of yet may be disputed already: then the provider is asked about the
//! payment first.

use core_types::key;
use core_types::provider::ProviderName;
use gateway::app::App;
use table::item::{Item, Key};
use primitives::problem::{Code, Problem};
use gateway::reply::NoContent;
use table::retry;

use super::record_payment::{self, PaymentUpdate};
use super::save_change::Spending;
use crate::dispute::{Dispute, DisputeChange, ObservedDispute};
use crate::order::{Order, OrderChange};
use crate::payment::connected::Connected;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::Provider;
use crate::payment::provider_event::ProviderEvent;
use crate::payment::{Payment, Source};

/// Disputes of one payment that are recorded at once: they are read with it in one batch.
const MOST: usize = 90;

/// Records what an event tells of a dispute. One of another payment for the same provider's order is
/// none of ours: then the event alone is recorded.
///
/// # Errors
/// `provider_error`, `provider_timeout`: the event is to be sent again.
pub async fn receive(
    app: &App,
    connected: &Connected,
    lookup: &PaymentLookup,
    observed: &ObservedDispute,
    event: &ProviderEvent,
) -> Result<(), Problem> {
    let told = Told { provider: connected.name(), observed: std::slice::from_ref(observed) };
    let Some(known) = record(app, lookup, told, Some(event), Unless::NothingWasTaken).await? else {
        return Ok(());
    };
    let observed = &connected.fetch(app, &known).await?;
    let (source, is_answer) = (Source::Sync, false);
    let update = PaymentUpdate { lookup, observed, source, event: None, is_answer };
    // What it is rejected for is for the merchant to see; the dispute is recorded all the same.
    match record_payment::record(app, connected, update, |_| NoContent::default()).await {
        Err(problem) if problem.code != Code::AmountMismatch => return Err(problem),
        _ => {}
    }
    record(app, lookup, told, Some(event), Unless::Never).await.map(drop)
}

/// Asks the provider about the disputes of a payment, and records what it says; whether there are any.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn look(app: &App, connected: &Connected, payment: &Payment) -> Result<bool, Problem> {
    let observed = connected.disputes(app, payment).await?;
    if observed.is_empty() {
        return Ok(false);
    }
    let told = Told { provider: connected.name(), observed: &observed };
    record(app, &PaymentLookup::from(payment), told, None, Unless::Never).await.map(|_| true)
}

/// What a provider says about disputes.
#[derive(Debug, Clone, Copy)]
struct Told<'a> {
    provider: ProviderName,
    observed: &'a [ObservedDispute],
}

/// When nothing is recorded yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unless {
    /// Nobody has told that the payment's money was taken.
    NothingWasTaken,
    /// It is recorded.
    Never,
}

/// Records what was learnt; the payment, where nothing was recorded.
async fn record(
    app: &App,
    lookup: &PaymentLookup,
    told: Told<'_>,
    event: Option<&ProviderEvent>,
    unless: Unless,
) -> Result<Option<Payment>, Problem> {
    let spending = Spending::default();
    retry(|| Box::pin(once(app, lookup, told, event, unless, &spending))).await
}

async fn once(
    app: &App,
    lookup: &PaymentLookup,
    told: Told<'_>,
    event: Option<&ProviderEvent>,
    unless: Unless,
    spending: &Spending,
) -> Result<Option<Payment>, Problem> {
    let now = app.clock.now();
    let Known { payment, order, disputes, is_handled } = read(app, lookup, told, event).await?;
    if is_handled {
        return Ok(None);
    }
    if unless == Unless::NothingWasTaken && payment.captured.is_zero() {
        return Ok(Some(payment));
    }
    let pairs = told.observed.iter().zip(&disputes);
    let ours = pairs.filter(|(one, _)| payment.is_carried_by(one.provider_payment.as_deref()));
    let changes: Vec<DisputeChange> = ours
        .filter_map(|(one, known)| Dispute::after(known.as_ref(), one, &payment, now))
        .collect();
    if event.is_none() && changes.is_empty() {
        return Ok(None);
    }
    let write = app.table.write();
    let write = write.also(event, |write, event| write.create(event, Code::VersionConflict));
    let write = changes.iter().fold(write, |write, change| change.write(write, now));
    let write = match payment.with_disputes(changes.iter().map(|one| &one.dispute), now) {
        None => write,
        Some(changed) => {
            let next = changed.payment.clone();
            let change = OrderChange::none(&order).with_payment(changed).and_disputed(&next, now);
            change.save(app, write, spending, now).await?
        }
    };
    write.commit().await?;
    Ok(None)
}

/// What is known, read at one moment.
struct Known {
    payment: Payment,
    order: Order,
    /// In the order of what was told.
    disputes: Vec<Option<Dispute>>,
    /// Whether the event was handled before.
    is_handled: bool,
}

/// One round trip.
async fn read(
    app: &App,
    lookup: &PaymentLookup,
    told: Told<'_>,
    event: Option<&ProviderEvent>,
) -> Result<Known, Problem> {
    let PaymentLookup { store_id, order_id, payment_id } = lookup;
    let payment = key::payment(store_id, order_id, payment_id);
    let order = key::order(store_id, order_id);
    let id = |one: &ObservedDispute| Dispute::id_of(store_id, told.provider, &one.reference);
    let disputes: Vec<Key> =
        told.observed.iter().take(MOST).map(|one| key::dispute(store_id, &id(one))).collect();
    let event = event.map(Item::key);
    let keys: Vec<&Key> = [&payment, &order].into_iter().chain(&disputes).chain(&event).collect();
    let mut found = app.table.get_many(&keys).await?;
    let handled: Option<ProviderEvent> = match &event {
        None => None,
        Some(key) => found.take(key)?,
    };
    let known: Result<Vec<Option<Dispute>>, Problem> =
        disputes.iter().map(|key| found.take(key)).collect();
    Ok(Known {
        payment: found.take(&payment)?.ok_or(Code::NotFound)?,
        order: found.take(&order)?.ok_or(Code::NotFound)?,
        disputes: known?,
        is_handled: handled.is_some(),
    })
}

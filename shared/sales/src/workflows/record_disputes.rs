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

use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::reply::NoContent;
use gateway::table::retry;
use ground::key;

use super::record_payment::{self, PaymentUpdate};
use super::save_change::Spending;
use crate::dispute::{Dispute, DisputeChange, ObservedDispute};
use crate::order::aggregate::PaymentWithOrder;
use crate::order::{OrderChange, load};
use crate::payment::connected::Connected;
use crate::payment::locator::PaymentLocator;
use crate::payment::provider::Provider;
use crate::payment::provider_event::ProviderEvent;
use crate::payment::{Payment, Source};

/// Records what an event tells of a dispute. One of another payment for the same provider's order is
/// none of ours: then the event alone is recorded.
///
/// # Errors
/// `provider_error`, `provider_timeout`: the event is to be sent again.
pub async fn receive(
    app: &App,
    connected: &Connected,
    locator: &PaymentLocator,
    observed: &ObservedDispute,
    event: &ProviderEvent,
) -> Result<(), Problem> {
    let known = load::payment(app, locator).await?.payment;
    if known.captured.is_zero() {
        let observed = &connected.fetch(app, &known).await?;
        let (source, event) = (Source::Sync, None);
        let update = PaymentUpdate { locator, observed, source, event, is_answer: false };
        // What it is refused for is for the merchant to see; the dispute is recorded all the same.
        let recorded =
            record_payment::record(app, connected, update, |_| NoContent::default()).await;
        match recorded {
            Err(problem) if problem.code != Code::AmountMismatch => return Err(problem),
            _ => {}
        }
    }
    record(app, locator, std::slice::from_ref(observed), Some(event)).await.map(drop)
}

/// Asks the provider about the disputes of a payment, and records what it says.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn look(
    app: &App,
    connected: &Connected,
    payment: &Payment,
) -> Result<PaymentWithOrder, Problem> {
    let observed = connected.disputes(app, payment).await?;
    record(app, &PaymentLocator::from(payment), &observed, None).await
}

/// Records what was learnt; the payment and its order as they are then.
async fn record(
    app: &App,
    locator: &PaymentLocator,
    observed: &[ObservedDispute],
    event: Option<&ProviderEvent>,
) -> Result<PaymentWithOrder, Problem> {
    let spending = Spending::default();
    retry(|| Box::pin(once(app, locator, observed, event, &spending))).await
}

async fn once(
    app: &App,
    locator: &PaymentLocator,
    observed: &[ObservedDispute],
    event: Option<&ProviderEvent>,
    spending: &Spending,
) -> Result<PaymentWithOrder, Problem> {
    let now = app.clock.now();
    let (known, is_handled) = load::payment_and_event(app, locator, event).await?;
    if is_handled {
        return Ok(known);
    }
    let payment = &known.payment;
    let ours: Vec<&ObservedDispute> = observed
        .iter()
        .filter(|observed| payment.is_carried_by(observed.provider_payment.as_deref()))
        .collect();
    let changes = decide(app, payment, &ours).await?;
    let write = app.table.write();
    let write = write.also(event, |write, event| write.create(event, Code::VersionConflict));
    let unchanged = OrderChange::none(&known.order);
    let Some(changed) = payment.with_disputes(changes.iter().map(|one| &one.dispute), now) else {
        let write = changes.iter().fold(write, |write, change| change.write(write, now));
        if event.is_some() || !changes.is_empty() {
            write.commit().await?;
        }
        return Ok(known);
    };
    let next = changed.payment.clone();
    let change = unchanged.with_payment(changed).and_disputed(&next, now);
    let write = change.save(app, write, spending, now).await?;
    let write = changes.iter().fold(write, |write, change| change.write(write, now));
    write.commit().await?;
    Ok(PaymentWithOrder { payment: next, order: change.order })
}

/// What is new about these disputes.
async fn decide(
    app: &App,
    payment: &Payment,
    observed: &[&ObservedDispute],
) -> Result<Vec<DisputeChange>, Problem> {
    let now = app.clock.now();
    let id = |one: &&ObservedDispute| {
        Dispute::id_of(&payment.store_id, payment.provider, &one.reference)
    };
    let keys: Vec<Key> =
        observed.iter().map(|one| key::dispute(&payment.store_id, &id(one))).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut changes = Vec::new();
    for (one, key) in observed.iter().zip(&keys) {
        let known: Option<Dispute> = found.take(key)?;
        let known = known.as_ref().filter(|known| known.key() == *key);
        changes.extend(Dispute::after(known, one, payment, now));
    }
    Ok(changes)
}

//! Recording what was learnt about a payment, on it and on its order, once.
//!
//! A customer's return, a webhook and a look-up may tell the same at the same moment. Each
//! reads, decides and writes under the versions of what it has read; one of them writes, and the
//! others read again and find no update. A webhook's event is recorded in the transaction that it
//! causes, so that a crash before it leaves an event that the provider sends again.
//!
//! Money for an order that has expired, was cancelled or is paid already does not touch the
//! order: the payment records it, is marked for attention, and the money goes back. Another amount
//! than was asked for does not touch it either, until the merchant accepts it ([`accept()`]) or
//! gives it back; when the order ends before that, it goes back by itself.
//!
//! What was taken and has gone back since is learnt at once, and applied in one step.

mod accept;
mod capture;

use core_types::key;
use core_types::provider::ProviderName;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::Key;
use primitives::problem::{Code, Problem};
use gateway::reply::Reply;
use table::{Write, retry};

pub use accept::accept;
pub use capture::{capture, look};

use super::return_unapplied;
use super::save_change::Spending;
use crate::order::aggregate::PaymentWithOrder;
use crate::order::{IncomingPayment, ORDER_PAID, ORDER_UPDATED, Order, OrderChange, load};
use crate::payment::connected::Connected;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::Provider;
use crate::payment::provider_event::ProviderEvent;
use crate::payment::{
    Attention, Observed, Payment, PaymentChange, PaymentRefund, PaymentStatus, Source, Transition,
};

/// Something that was learnt about a payment.
#[derive(Debug, Clone, Copy)]
pub struct PaymentUpdate<'a> {
    /// Which payment.
    pub lookup: &'a PaymentLookup,
    /// What its provider says.
    pub observed: &'a Observed,
    /// How that was learnt.
    pub source: Source,
    /// The event that told it.
    pub event: Option<&'a ProviderEvent>,
    /// Whether the answer is the request's, so that its idempotency record is completed with it.
    pub is_answer: bool,
}

/// What an attempt has come to.
struct Recorded<R> {
    known: PaymentWithOrder,
    answer: R,
    /// Whether something was learnt that was not known.
    is_new: bool,
    /// Authorizations that the order was paid without.
    superseded: Vec<Payment>,
}

impl<R> Recorded<R> {
    /// Nothing was changed.
    fn unchanged(known: PaymentWithOrder, answer: R) -> Self {
        Self { known, answer, is_new: false, superseded: Vec::new() }
    }
}

/// Records an update, and answers with the payment and the order as they are then. Money that the
/// order does not take is sent back.
///
/// # Errors
/// `amount_mismatch`, unless a webhook told it: the payment is marked, and awaits the merchant's
/// decision.
pub async fn record<R: Reply>(
    app: &App,
    connected: &Connected,
    update: PaymentUpdate<'_>,
    answer: impl Fn(&PaymentWithOrder) -> R,
) -> Result<R, Problem> {
    let Recorded { known, answer, .. } = apply(app, connected, update, answer).await?;
    let was_asked = matches!(update.source, Source::Verify | Source::Sync);
    if was_asked && known.payment.awaits_decision() {
        return Err(unexpected(&known.payment));
    }
    Ok(answer)
}

/// What is said of an amount that nobody asked for.
fn unexpected(payment: &Payment) -> Problem {
    let observed = if payment.captured.is_zero() { &payment.authorized } else { &payment.captured };
    let shown = |money| serde_json::to_value(money).unwrap_or_default();
    Code::AmountMismatch.with("expected", shown(&payment.amount)).with("received", shown(observed))
}

/// Applies an update, and sends back what the order does not take.
async fn apply<R: Reply>(
    app: &App,
    connected: &Connected,
    update: PaymentUpdate<'_>,
    answer: impl Fn(&PaymentWithOrder) -> R,
) -> Result<Recorded<R>, Problem> {
    let spending = Spending::default();
    // Boxed: it is held by every handler that records something.
    let recorded = retry(|| Box::pin(once(app, update, &spending, &answer))).await?;
    Box::pin(async {
        if recorded.known.payment.is_to_go_back() {
            return_unapplied::return_or_warn(app, connected, &recorded.known.payment).await;
        }
        return_unapplied::return_all(app, &recorded.superseded).await;
    })
    .await;
    Ok(recorded)
}

/// What an event says, or, where it tells of one payment of several, what all of them have come to.
/// Money that has all gone back may be a second payment's for an order of Razorpay's that the first
/// has paid: only Razorpay knows that.
///
/// # Errors
/// `provider_error`, `provider_timeout`: the event is to be sent again.
pub async fn in_full(
    app: &App,
    connected: &Connected,
    lookup: &PaymentLookup,
    observed: &Observed,
) -> Result<Observed, Problem> {
    if connected.name() != ProviderName::Razorpay || !observed.has_all_gone_back() {
        return Ok(observed.clone());
    }
    let payment = load::payment(app, lookup).await?.payment;
    if !payment.captured.is_zero() {
        return Ok(observed.clone());
    }
    Ok(connected.fetch(app, &payment).await?)
}

/// One attempt: read, decide, write.
async fn once<R: Reply>(
    app: &App,
    update: PaymentUpdate<'_>,
    spending: &Spending,
    answer: &impl Fn(&PaymentWithOrder) -> R,
) -> Result<Recorded<R>, Problem> {
    let now = app.clock.now();
    let (known, is_handled) = load::payment_and_event(app, update.lookup, update.event).await?;
    if is_handled {
        let answer = answer(&known);
        return Ok(Recorded::unchanged(known, answer));
    }
    let write = app.table.write();
    let write = write.also(update.event, |write, event| write.create(event, Code::VersionConflict));
    match known.payment.observe(update.observed, update.source, now) {
        Err(mismatch) => uncounted(write, update, known, mismatch, answer, now).await,
        Ok(None) => {
            let answered = answer(&known);
            if update.event.is_some() {
                write.commit().await?;
            }
            Ok(Recorded::unchanged(known, answered))
        }
        Ok(Some(change)) => {
            let others = match change.transition {
                Transition::Captured => other_authorizations(app, &known).await?,
                _ => Vec::new(),
            };
            let DecidedUpdate { change, payment, superseded } =
                decide(&known, change, &others, now)?;
            let write = change.save(app, write, spending, now).await?;
            let next = PaymentWithOrder { payment, order: change.order };
            let answered = answer(&next);
            // What is rejected in the end is not answered with this.
            let is_rejected = next.payment.awaits_decision()
                || (update.source == Source::Admin && next.payment.is_to_go_back());
            let answered = if update.is_answer && !is_rejected {
                write.answer(answered, now).await?
            } else {
                write.commit().await?;
                answered
            };
            Ok(Recorded { known: next, answer: answered, is_new: true, superseded })
        }
    }
}

/// What is authorized for the order besides a payment whose money has come in: a read more, but
/// only for an order that was to be paid in two ways.
async fn other_authorizations(
    app: &App,
    known: &PaymentWithOrder,
) -> Result<Vec<Payment>, Problem> {
    let open = known.order.payments.iter().filter(|promise| {
        promise.is_open_authorization() && promise.payment_id != known.payment.id
    });
    let (store, order) = (&known.order.store_id, &known.order.id);
    let keys: Vec<Key> =
        open.map(|promise| key::payment(store, order, &promise.payment_id)).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let promises: Result<Vec<Option<Payment>>, Problem> =
        keys.iter().map(|key| found.take(key)).collect();
    Ok(promises?.into_iter().flatten().collect())
}

/// The provider took what cannot be recorded, being of another currency: nobody but the merchant
/// can say why.
async fn uncounted<R>(
    write: Write,
    update: PaymentUpdate<'_>,
    known: PaymentWithOrder,
    mismatch: Problem,
    answer: &impl Fn(&PaymentWithOrder) -> R,
    now: Timestamp,
) -> Result<Recorded<R>, Problem> {
    let flagged = known.payment.flagged(Attention::AmountMismatch, now);
    let payment = flagged.clone().unwrap_or_else(|| known.payment.clone());
    let write =
        write.also(flagged, |write, payment| write.replace(&payment, Code::VersionConflict));
    write.commit().await?;
    if update.source != Source::Webhook {
        return Err(mismatch);
    }
    let known = PaymentWithOrder { payment, ..known };
    let answer = answer(&known);
    Ok(Recorded::unchanged(known, answer))
}

/// What is written of an update.
struct DecidedUpdate {
    change: OrderChange,
    /// The payment as it is then.
    payment: Payment,
    /// Authorizations that the order was paid without.
    superseded: Vec<Payment>,
}

impl DecidedUpdate {
    /// The payment is written with this change of its order.
    fn of(change: OrderChange, payment: PaymentChange) -> Self {
        let known = payment.payment.clone();
        // Who learns of a capture late may have learnt of its dispute before.
        let change = change.with_payment(payment).and_disputed(&known, known.updated_at);
        Self { change, payment: known, superseded: Vec::new() }
    }
}

/// What a change of a payment means for its order, and the authorizations that are superseded.
fn decide(
    known: &PaymentWithOrder,
    change: PaymentChange,
    others: &[Payment],
    now: Timestamp,
) -> Result<DecidedUpdate, Problem> {
    let order = &known.order;
    let (payment_id, provider) = (change.payment.id.clone(), change.payment.provider.as_str());
    let receipt = |amount| IncomingPayment { payment_id: &payment_id, provider, amount };
    let next = match change.transition {
        Transition::Authorized | Transition::Captured
            if order.rejection(&change.payment).is_some() =>
        {
            return Ok(rejected(order, change));
        }
        Transition::Mismatched if order.is_over() || order.outstanding().is_zero() => {
            return Ok(rejected(order, change));
        }
        Transition::Authorized => order.authorize(receipt(&change.payment.authorized), now),
        Transition::Captured => order.apply_payment(receipt(&change.payment.captured), now)?,
        Transition::Voided => order.void_payment(&payment_id, now),
        Transition::Failed => return Ok(failed(order, change, now)),
        Transition::Refunded => return Ok(externally_refunded(known, change, now)),
        _ => None,
    };
    let Some(next) = next else { return Ok(DecidedUpdate::of(OrderChange::none(order), change)) };
    let mut change = change;
    change.payment.is_applied |= change.transition != Transition::Voided;
    let (next, superseded) = supersede(next, others, now);
    let gone = change.has_gone_back.then(|| external_refund(&known.payment, &change.payment));
    let next = match gone.flatten() {
        Some(gone) => next.and_externally_refunded(&payment_id, &gone.id, &gone.amount, now),
        None => next,
    };
    Ok(DecidedUpdate { superseded, ..DecidedUpdate::of(next, change) })
}

/// An order that is paid in full needs no other authorization.
fn supersede(
    change: OrderChange,
    others: &[Payment],
    now: Timestamp,
) -> (OrderChange, Vec<Payment>) {
    if !change.announces(&ORDER_PAID) {
        return (change, Vec::new());
    }
    let superseded: Vec<PaymentChange> =
        others.iter().map(|payment| payment.superseded(now)).collect();
    let payments = superseded.iter().map(|change| change.payment.clone()).collect();
    let change =
        superseded.into_iter().fold(change.without_authorizations(), OrderChange::with_payment);
    (change, payments)
}

/// The refund that a payment has just learnt of: it was made at its provider, without us.
fn external_refund<'a>(before: &Payment, after: &'a Payment) -> Option<&'a PaymentRefund> {
    after.refunds.iter().find(|refund| before.refund(&refund.id).is_none())
}

/// Money that the order does not take: the payment alone knows of it.
fn rejected(order: &Order, mut change: PaymentChange) -> DecidedUpdate {
    let is_gone = change.payment.status == PaymentStatus::Refunded;
    change.payment.attention = order.rejection(&change.payment).filter(|_| !is_gone);
    change.payment.is_applied = false;
    DecidedUpdate::of(OrderChange::none(order), change)
}

/// An attempt to pay failed: the order says so once.
fn failed(order: &Order, change: PaymentChange, now: Timestamp) -> DecidedUpdate {
    let next = order.payment_failed(now).map(|next| OrderChange::new(order, next));
    let next = next.map(|next| next.announced(&ORDER_UPDATED));
    DecidedUpdate::of(next.unwrap_or_else(|| OrderChange::none(order)), change)
}

/// Money went back. When we did not ask for that, the order learns of it here.
fn externally_refunded(
    known: &PaymentWithOrder,
    change: PaymentChange,
    now: Timestamp,
) -> DecidedUpdate {
    let gone = external_refund(&known.payment, &change.payment);
    let unchanged = OrderChange::none(&known.order);
    let next = match gone.filter(|_| change.payment.is_applied) {
        Some(gone) => {
            unchanged.and_externally_refunded(&change.payment.id, &gone.id, &gone.amount, now)
        }
        None => unchanged,
    };
    DecidedUpdate::of(next, change)
}

#[cfg(test)]
mod tests;

//! Applying what was learnt about a payment to it and to its order, once.
//!
//! A customer's return, a webhook and a look-up may tell the same news at the same moment. Each
//! reads, decides and writes under the versions of what it has read; one of them writes, and the
//! others read again and find no news. A webhook's event is recorded in the transaction that it
//! causes, so that a crash before it leaves an event that the provider sends again.
//!
//! Money for an order that has expired, was called off or is paid already does not touch the
//! order: the payment records it, is marked for attention, and the money goes back. Another amount
//! than was asked for does not touch it either, until the merchant accepts it ([`accept()`]) or
//! gives it back; when the order ends before that, it goes back by itself.
//!
//! What was taken and has gone back since is learnt at once, and applied in one step.

mod accept;
mod taking;

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Key;
use gateway::problem::{Code, Problem};
use gateway::reply::Reply;
use gateway::table::{Write, retry};
use ground::event::Event;
use ground::key;
use ground::provider::ProviderName;

use super::connected::Connected;
use super::known::{Known, ProviderEvent, load, read};
use super::provider::Provider;
use super::{
    Attention, Happened, Observed, Payment, PaymentRefund, PaymentStatus, ProviderReference,
    Source, Step, surplus,
};
use crate::order::spent::Spending;
use crate::order::{self, ORDER_UPDATED, Order, OrderView, Outcome, Receipt, Settled, desk_refund};

pub use accept::accept;
pub use taking::{capturable, capture, look};

/// Something that was learnt about a payment.
#[derive(Debug, Clone, Copy)]
pub struct News<'a> {
    /// Which payment.
    pub place: &'a ProviderReference,
    /// What its provider says.
    pub seen: &'a Observed,
    /// How that was learnt.
    pub source: Source,
    /// The event that told it.
    pub event: Option<&'a ProviderEvent>,
    /// Whether the answer is the request's, so that its idempotency record is completed with it.
    pub is_answer: bool,
}

/// What an attempt has come to.
struct Applied<R> {
    known: Known,
    answer: R,
    /// Whether something was learnt that was not known.
    is_news: bool,
    /// Promises of the order that it was paid without.
    spared: Vec<Payment>,
}

impl<R> Applied<R> {
    /// Nothing was changed.
    fn unchanged(known: Known, answer: R) -> Self {
        Self { known, answer, is_news: false, spared: Vec::new() }
    }
}

/// Applies the news, and answers with the payment and the order as they are then. Money that the
/// order does not take is sent back.
///
/// # Errors
/// `amount_mismatch`, unless a webhook told it: the payment is marked, and awaits the merchant's
/// decision.
pub async fn apply<R: Reply>(
    app: &App,
    connected: &Connected,
    news: News<'_>,
    answer: impl Fn(&Known) -> R,
) -> Result<R, Problem> {
    let Applied { known, answer, .. } = settle(app, connected, news, answer).await?;
    let was_asked = matches!(news.source, Source::Verify | Source::Sync);
    if was_asked && known.payment.awaits_decision() {
        return Err(unexpected(&known.payment));
    }
    Ok(answer)
}

/// What is said of an amount that nobody asked for.
fn unexpected(payment: &Payment) -> Problem {
    let seen = if payment.captured.is_zero() { &payment.authorized } else { &payment.captured };
    let shown = |money| serde_json::to_value(money).unwrap_or_default();
    Code::AmountMismatch.with("expected", shown(&payment.amount)).with("received", shown(seen))
}

/// Applies the news, and sends back what the order does not take.
async fn settle<R: Reply>(
    app: &App,
    connected: &Connected,
    news: News<'_>,
    answer: impl Fn(&Known) -> R,
) -> Result<Applied<R>, Problem> {
    let spending = Spending::default();
    // Boxed: it is held by every handler that settles something.
    let applied = retry(|| Box::pin(once(app, news, &spending, &answer))).await?;
    Box::pin(async {
        if applied.known.payment.is_to_go_back() {
            surplus::give_back_or_warn(app, connected, &applied.known.payment).await;
        }
        surplus::give_back_all(app, &applied.spared).await;
    })
    .await;
    Ok(applied)
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
    place: &ProviderReference,
    seen: &Observed,
) -> Result<Observed, Problem> {
    if place.provider != ProviderName::Razorpay || !seen.has_all_gone_back() {
        return Ok(seen.clone());
    }
    let payment = load(app, place).await?.payment;
    if !payment.captured.is_zero() {
        return Ok(seen.clone());
    }
    Ok(connected.fetch(app, &payment).await?)
}

/// One attempt: read, decide, write.
async fn once<R: Reply>(
    app: &App,
    news: News<'_>,
    spending: &Spending,
    answer: &impl Fn(&Known) -> R,
) -> Result<Applied<R>, Problem> {
    let now = app.clock.now();
    let (known, is_handled) = read(app, news.place, news.event).await?;
    if is_handled {
        let answer = answer(&known);
        return Ok(Applied::unchanged(known, answer));
    }
    let write = app.table.write();
    let write = write.also(news.event, |write, event| write.create(event, Code::VersionConflict));
    match known.payment.observe(news.seen, news.source, now) {
        Err(mismatch) => uncounted(write, news, known, mismatch, answer, now).await,
        Ok(None) => {
            let answered = answer(&known);
            if news.event.is_some() {
                write.commit().await?;
            }
            Ok(Applied::unchanged(known, answered))
        }
        Ok(Some(step)) => {
            let others = other_promises(app, &known, &step).await?;
            let (write, next, spared) = decide(write, &known, step, &others, now)?;
            let write = spending.count(app, write, &known.order, &next.order).await?;
            let answered = answer(&next);
            // What is refused in the end is not answered with this.
            let is_refused = next.payment.awaits_decision()
                || (news.source == Source::Admin && next.payment.is_to_go_back());
            let answered = if news.is_answer && !is_refused {
                write.answer(answered, now).await?
            } else {
                write.commit().await?;
                answered
            };
            Ok(Applied { known: next, answer: answered, is_news: true, spared })
        }
    }
}

/// What is promised for the order besides a payment whose money has come in: a read more, but only
/// for an order that was to be paid in two ways.
async fn other_promises(app: &App, known: &Known, step: &Step) -> Result<Vec<Payment>, Problem> {
    let open = known.order.payments.iter().filter(|promise| {
        step.happened == Happened::Captured
            && promise.is_open_authorization()
            && promise.payment_id != step.payment.id
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
    news: News<'_>,
    known: Known,
    mismatch: Problem,
    answer: &impl Fn(&Known) -> R,
    now: Timestamp,
) -> Result<Applied<R>, Problem> {
    let flagged = known.payment.flagged(Attention::AmountMismatch, now);
    let payment = flagged.clone().unwrap_or_else(|| known.payment.clone());
    let write =
        write.also(flagged, |write, payment| write.replace(&payment, Code::VersionConflict));
    write.commit().await?;
    if news.source != Source::Webhook {
        return Err(mismatch);
    }
    let known = Known { payment, ..known };
    let answer = answer(&known);
    Ok(Applied::unchanged(known, answer))
}

/// What a step of a payment means for its order, and the promises that are let go of with it.
fn decide(
    write: Write,
    known: &Known,
    step: Step,
    others: &[Payment],
    now: Timestamp,
) -> Result<(Write, Known, Vec<Payment>), Problem> {
    let order = &known.order;
    let (payment_id, provider) = (step.payment.id.clone(), step.payment.provider.as_str());
    let receipt = |amount| Receipt { payment_id: &payment_id, provider, amount };
    let settled = match step.happened {
        Happened::Authorized | Happened::Captured
            if surplus::refusal(order, &step.payment).is_some() =>
        {
            return Ok(refused(write, order, step, now));
        }
        Happened::Mismatched if order.is_over() || order.outstanding().is_zero() => {
            return Ok(refused(write, order, step, now));
        }
        Happened::Authorized => order.authorize(receipt(&step.payment.authorized), now),
        Happened::Captured => order.settle_payment(receipt(&step.payment.captured), now)?,
        Happened::Voided => order.void_payment(&payment_id, now),
        Happened::Failed => {
            return Ok(with_order(write, order, order.payment_failed(now), step, now));
        }
        Happened::Refunded => return Ok(refunded(write, known, step, now)),
        Happened::Mismatched | Happened::RefundFailed | Happened::RefundAwaited => None,
    };
    let Some(settled) = settled else { return Ok(with_order(write, order, None, step, now)) };
    let mut step = step;
    step.payment.is_applied |= settled.outcome != Outcome::Lapsed;
    let (settled, spared) = let_others_go(settled, others, now);
    let gone = step.has_gone_back.then(|| at_desk(&known.payment, &step.payment)).flatten();
    let (settled, gone) = match gone {
        Some(gone) => settled.and_refunded(&payment_id, &gone.id, &gone.amount, now),
        None => (settled, None),
    };
    let write = order::settle(step.write(write, now), &settled, now);
    let write = write.also(gone, |write, gone| desk_refund::announce(write, &gone, now));
    let write = write_spared(write, &spared);
    Ok((write, Known { payment: step.payment, order: settled.order }, spared))
}

/// An order that is paid in full needs no other promise.
fn let_others_go(settled: Settled, others: &[Payment], now: Timestamp) -> (Settled, Vec<Payment>) {
    if settled.outcome != Outcome::Paid {
        return (settled, Vec::new());
    }
    let spared = others.iter().map(|payment| payment.spared(now)).collect();
    (settled.without_promises(), spared)
}

fn write_spared(write: Write, spared: &[Payment]) -> Write {
    spared.iter().fold(write, |write, spared| write.replace(spared, Code::VersionConflict))
}

/// The refund of which a payment has just learnt that it was made at its provider's desk.
fn at_desk<'a>(before: &Payment, after: &'a Payment) -> Option<&'a PaymentRefund> {
    let is_new = |refund: &&PaymentRefund| before.refunds.iter().all(|old| old.id != refund.id);
    after.refunds.iter().find(is_new)
}

/// Money that the order does not take: the payment alone knows of it.
fn refused(
    write: Write,
    order: &Order,
    step: Step,
    now: Timestamp,
) -> (Write, Known, Vec<Payment>) {
    let mut step = step;
    let is_gone = step.payment.status == PaymentStatus::Refunded;
    step.payment.attention = surplus::refusal(order, &step.payment).filter(|_| !is_gone);
    step.payment.is_applied = false;
    with_order(write, order, None, step, now)
}

/// Money went back. When we did not ask for that, the order learns of it here.
fn refunded(
    write: Write,
    known: &Known,
    step: Step,
    now: Timestamp,
) -> (Write, Known, Vec<Payment>) {
    let at_desk = at_desk(&known.payment, &step.payment).filter(|_| step.payment.is_applied);
    let done = at_desk.and_then(|refund| {
        known.order.refunded_at_desk(&step.payment.id, &refund.id, &refund.amount, now)
    });
    let Some(done) = done else { return with_order(write, &known.order, None, step, now) };
    let write = desk_refund::record(step.write(write, now), &done, now);
    (write, Known { payment: step.payment, order: done.order }, Vec::new())
}

fn with_order(
    write: Write,
    order: &Order,
    changed: Option<Order>,
    step: Step,
    now: Timestamp,
) -> (Write, Known, Vec<Payment>) {
    let write = step.write(write, now).also(changed.as_ref(), |write, order| {
        let event = Event::new(&ORDER_UPDATED, order.about(), &OrderView::from(order), now);
        write.replace(order, Code::VersionConflict).emit(event)
    });
    let order = changed.unwrap_or_else(|| order.clone());
    (write, Known { payment: step.payment, order }, Vec::new())
}

#[cfg(test)]
mod tests;

//! The first step of a refund: the amount is reserved, so that nobody else can give it back.

use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::problem::{Code, Problem};
use gateway::reply::Reply;
use gateway::table::retry;
use ground::id::{OrderId, RefundId, StoreId};
use ground::money::Money;
use ground::provider::ProviderName;

use super::RefundOrder;
use crate::order::Order;
use crate::order::aggregate::{self, OrderAggregate};
use crate::order::refund::{Plan, Refund, RefundStatus};
use crate::payment::account::connect;
use crate::payment::known;
use crate::payment::{Payment, PaymentChange, ProviderReference, RefundState, Transition};
use crate::workflows::spending::Spending;

/// Refunds that one idempotency key can stand for: a refused one is not resumed.
const ATTEMPTS: u32 = 20;

/// What the first step has come to.
pub(super) enum Reserved<R> {
    /// No provider has to be asked.
    Done(R),
    /// The refund waits for the providers of its payments.
    Pending(Box<OrderAggregate>, Box<Refund>),
}

/// Reserves what an order is to give back, unless the same request has done so before.
pub(super) async fn reserve<R: Reply>(
    app: &App,
    (store, id): (&StoreId, &OrderId),
    ask: &RefundOrder,
    spending: &Spending,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<Reserved<R>, Problem> {
    let aggregate = aggregate::load(app, store, id).await?;
    let now = app.clock.now();
    let refund_id = match earlier(&aggregate, &ask.seed, now) {
        Earlier::Pending(refund) => return Ok(Reserved::Pending(Box::new(aggregate), refund)),
        Earlier::Done(refund) => {
            return Ok(Reserved::Done(answer(&aggregate.order, Some(&refund))?));
        }
        Earlier::None(id) => id,
    };
    ask.if_match.check(aggregate.order.version)?;
    let cancelled = match &ask.cancellation {
        Some(how) => Some(aggregate.order.cancel(how.reason.clone(), how.restock, now)?),
        None => None,
    };
    let order = cancelled.as_ref().map_or(&aggregate.order, |cancelled| &cancelled.order);
    let has_some = || cancelled.is_none() || !order.refundable().is_zero();
    let Some(wanted) = ask.wanted.as_ref().filter(|_| has_some()) else {
        let change = cancelled.ok_or(Code::NothingToRefund)?;
        let answered = answer(&change.order, None)?;
        let write = change.save(app, app.table.write(), spending, now).await?;
        return write.answer(answered, now).await.map(Reserved::Done);
    };
    let plan = order.plan_refund(wanted)?;
    reach(app, order, &plan).await?;
    let targets = plan.targets().look(app, store).await?;
    let refund = Refund::of(order, refund_id, &plan, (ask.reason, ask.note.clone()), now);
    let change = aggregate.begin_refund(cancelled, &plan, refund, now)?;
    let write = targets.demand(change.save(app, app.table.write(), spending, now).await?);
    let refund = change.refund.as_ref().map(|begun| &begun.refund);
    match refund.filter(|refund| refund.status == RefundStatus::Pending) {
        None => write.answer(answer(&change.order, refund)?, now).await.map(Reserved::Done),
        Some(pending) => {
            write.commit().await?;
            let aggregate = aggregate::load(app, store, id).await?;
            Ok(Reserved::Pending(Box::new(aggregate), Box::new(pending.clone())))
        }
    }
}

/// Nothing is reserved for a provider that cannot be asked.
///
/// # Errors
/// `provider_not_connected`.
async fn reach(app: &App, order: &Order, plan: &Plan) -> Result<(), Problem> {
    let through = |provider: &&ProviderName| {
        let mut payments = plan.to_payments.iter().filter_map(|(id, _)| order.payment(id));
        payments.any(|payment| payment.provider == provider.as_str())
    };
    for provider in ProviderName::ALL.iter().filter(through) {
        connect(app, &order.store_id, *provider).await?;
    }
    Ok(())
}

/// Reserves `amount`, or all that is left, on a payment that no order counts.
pub(super) async fn reserve_unapplied(
    app: &App,
    locator: &ProviderReference,
    id: &RefundId,
    amount: Option<&Money>,
) -> Result<Payment, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let known = known::load(app, locator).await?.payment;
        if known.refund(id).is_some() {
            return Ok(known);
        }
        let amount = amount.cloned().unwrap_or_else(|| known.refundable());
        let next = known.begin_refund(id, &amount, now)?;
        let change = PaymentChange::of(next, Transition::RefundBegun);
        change.write(app.table.write(), now).commit().await?;
        Ok(change.payment)
    })
    .await
}

/// The id of a request's refund, as it was attempted so often before.
fn id_of(order: &OrderId, seed: &str, attempt: u32) -> RefundId {
    RefundId::derive(&[order.as_str(), seed, &attempt.to_string()])
}

/// Whether this request has begun a refund of the payment that nobody has refused.
pub fn has_begun(payment: &Payment, seed: &str) -> bool {
    let begun =
        |id: RefundId| payment.refund(&id).is_some_and(|known| known.status != RefundState::Failed);
    (0..ATTEMPTS).any(|attempt| begun(id_of(&payment.order_id, seed, attempt)))
}

/// What the same request has done before.
enum Earlier {
    /// Its refund is pending.
    Pending(Box<Refund>),
    /// Its refund is done.
    Done(Box<Refund>),
    /// Nothing that still stands: a refund of its has this id.
    None(RefundId),
}

/// The refund that this request has begun, if it was left pending, or if somebody else has brought
/// it to its end; otherwise an id for it.
fn earlier(aggregate: &OrderAggregate, seed: &str, now: Timestamp) -> Earlier {
    for attempt in 0..ATTEMPTS {
        let id = id_of(&aggregate.order.id, seed, attempt);
        match aggregate.refund(&id) {
            Err(_) => return Earlier::None(id),
            Ok(refund) if refund.status == RefundStatus::Pending => {
                return Earlier::Pending(Box::new(refund.clone()));
            }
            // As long as the key stands for the request.
            Ok(refund)
                if refund.status == RefundStatus::Succeeded
                    && now < refund.created_at.plus(DAY) =>
            {
                return Earlier::Done(Box::new(refund.clone()));
            }
            Ok(_) => {}
        }
    }
    Earlier::None(RefundId::mint(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::refund::{RefundReason, Wanted};
    use crate::order::tests::{NOW, order, paid};
    use ground::money;

    /// A paid order whose request `seed` has come to these refunds, one after the other.
    fn page(seed: &str, statuses: &[RefundStatus]) -> OrderAggregate {
        let order = paid(&order());
        let plan = order.plan_refund(&Wanted::default()).unwrap();
        let refund = |(status, attempt): (&RefundStatus, u32)| {
            let id = id_of(&order.id, seed, attempt);
            let refund = Refund::of(&order, id, &plan, (RefundReason::Other, None), NOW);
            Refund { status: *status, ..refund }
        };
        let refunds = statuses.iter().zip(0..).map(refund).collect();
        OrderAggregate {
            order: order.clone(),
            fulfillments: Vec::new(),
            refunds,
            payments: Vec::new(),
        }
    }

    fn told(aggregate: &OrderAggregate, now: Timestamp) -> (&'static str, usize) {
        let nth = |id: &RefundId| {
            (0..ATTEMPTS)
                .position(|attempt| id_of(&aggregate.order.id, "k", attempt) == *id)
                .unwrap()
        };
        match earlier(aggregate, "k", now) {
            Earlier::Pending(refund) => ("pending", nth(&refund.id)),
            Earlier::Done(refund) => ("done", nth(&refund.id)),
            Earlier::None(id) => ("new", nth(&id)),
        }
    }

    #[test]
    fn a_request_that_is_sent_again_takes_up_what_it_began_and_begins_anew_what_was_refused() {
        use RefundStatus::{Failed, Pending, Succeeded};
        let of = |statuses: &[RefundStatus]| told(&page("k", statuses), NOW);
        assert_eq!(of(&[]), ("new", 0));
        assert_eq!(of(&[Pending]), ("pending", 0));
        assert_eq!(of(&[Succeeded]), ("done", 0));
        assert_eq!(of(&[Failed]), ("new", 1));
        assert_eq!(of(&[Failed, Pending]), ("pending", 1));
        assert_eq!(told(&page("other", &[Pending]), NOW), ("new", 0));
    }

    #[test]
    fn what_was_done_stands_for_the_request_as_long_as_its_key_does() {
        let done = page("k", &[RefundStatus::Succeeded]);
        let last = Timestamp::from_millis(NOW.plus(DAY).millis() - 1);
        assert_eq!(told(&done, last), ("done", 0));
        assert_eq!(told(&done, NOW.plus(DAY)), ("new", 1));
    }

    #[test]
    fn a_payment_knows_the_refund_that_a_request_has_begun_unless_it_was_refused() {
        let payment = crate::payment::tests::captured(129_900);
        let id = id_of(&payment.order_id, "k", 0);
        assert!(!has_begun(&payment, "k"));
        let begun = payment.begin_refund(&id, &money::sample(1), NOW).unwrap();
        assert!(has_begun(&begun, "k") && !has_begun(&begun, "other"));
        let done = begun.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
        let refused = begun.finish_refund(&id, &Err("no".into()), NOW).unwrap().payment;
        assert!(has_begun(&done, "k") && !has_begun(&refused, "k"));
    }
}

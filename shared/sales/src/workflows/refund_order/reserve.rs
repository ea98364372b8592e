//! The first step of a refund: the amount is reserved, so that nobody else can refund it.

use core_types::id::{OrderId, RefundId, StoreId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;
use services::Services;
use table::{Attempt, Completion, ReadConsistency, retry_attempts};

use super::{RefundOrder, Refunded};
use crate::order::aggregate::{OrderAggregate, PaymentWithOrder};
use crate::order::refund::{Refund, RefundPlan, RefundReason, RefundStatus, WantedRefund};
use crate::order::{Order, OrderChange, load};
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider_client::ProviderClient;
use crate::payment::{Capabilities, Payment, PaymentChange, RefundState, Transition};

/// The refunds that one idempotency key can lead to, as a rejected one is not resumed.
const ATTEMPTS: u32 = 20;

/// The result of the first step.
pub(in crate::workflows) enum RefundReservation<O> {
    /// It was the last step, with this output: no provider needs to be called.
    Done(O),
    /// The order with a refund that its payments' providers still have to perform, and the connected
    /// providers, as far as they are known.
    Pending(Box<OrderAggregate>, Box<Refund>, Vec<ProviderClient>),
}

impl<O> RefundReservation<O> {
    /// The result for a refund that the same request began before.
    pub(in crate::workflows) fn of<T: From<Refunded>>(
        aggregate: OrderAggregate,
        refund: Box<Refund>,
        completion: &impl Completion<T, Output = O>,
    ) -> Self {
        if refund.status == RefundStatus::Pending {
            return Self::Pending(Box::new(aggregate), refund, Vec::new());
        }
        let outcome = Refunded { order: aggregate.order, refund: *refund };
        Self::Done(completion.unchanged(&outcome.into()))
    }
}

/// A refund to begin.
pub(in crate::workflows) struct NewRefund<'a> {
    pub(in crate::workflows) id: RefundId,
    pub(in crate::workflows) wanted: &'a WantedRefund,
    /// The reason and the merchant's note.
    pub(in crate::workflows) why: (RefundReason, Option<String>),
}

/// Reserves a refund of an order, unless the same request has done so before.
pub(super) async fn reserve<C: Completion<Refunded>>(
    services: &Services,
    (store, id, consistency): (&StoreId, &OrderId, ReadConsistency),
    input: &RefundOrder,
    completion: &C,
) -> Result<RefundReservation<C::Output>, Problem> {
    let aggregate = load::aggregate_with_consistency(services, store, id, consistency).await?;
    let now = services.clock.now();
    let id = match EarlierRefund::of(&aggregate, &input.seed, now) {
        EarlierRefund::Begun(refund) => {
            consistency.ensure_strong()?;
            return Ok(RefundReservation::of(aggregate, refund, completion));
        }
        EarlierRefund::New(id) => id,
    };
    input.expected_version.check(aggregate.order.version)?;
    let refund = NewRefund { id, wanted: &input.wanted, why: (input.reason, input.note.clone()) };
    let unchanged = OrderChange::none(&aggregate.order);
    begin(services, &aggregate, unchanged, refund, consistency.into(), completion, now).await
}

/// Adds a refund to a change of its order (an empty one, or a cancellation), and writes both.
pub(in crate::workflows) async fn begin<T: From<Refunded>, C: Completion<T>>(
    services: &Services,
    aggregate: &OrderAggregate,
    change: OrderChange,
    refund: NewRefund<'_>,
    attempt: Attempt,
    completion: &C,
    now: Timestamp,
) -> Result<RefundReservation<C::Output>, Problem> {
    let unusable = load::unusable_gift_cards(services, &change.order, refund.wanted, now).await?;
    let plan = change.order.plan_refund_without(refund.wanted, &unusable)?;
    let provider_client = connect_providers(services, &change.order, &plan).await?;
    let store = &change.order.store_id;
    let locations = plan.restock_locations().with_requested(refund.wanted.locations());
    let unchanged = load::ensure_restock_locations(services, store, &locations).await?;
    let refund = Refund::of(&change.order, refund.id, &plan, refund.why, now);
    let change = aggregate.begin_refund(change, &plan, refund, now)?;
    let write =
        unchanged.require(change.save(services, services.table.write(), attempt, now).await?);
    let refund = change.refund.as_ref().map(|begun| begun.refund.clone());
    let refund = refund.ok_or_else(|| Problem::internal("the planned refund is missing"))?;
    if refund.status == RefundStatus::Pending {
        write.commit().await?;
        let aggregate = Box::new(aggregate.after(&change));
        return Ok(RefundReservation::Pending(aggregate, Box::new(refund), provider_client));
    }
    let outcome = Refunded { order: change.order, refund };
    completion.commit(write, &outcome.into(), now).await.map(RefundReservation::Done)
}

/// Connects to the providers of a plan, so that nothing is reserved for one that is not connected. Manual
/// payments are refunded manually and need none.
///
/// # Errors
/// `provider_not_connected`.
async fn connect_providers(
    services: &Services,
    order: &Order,
    plan: &RefundPlan,
) -> Result<Vec<ProviderClient>, Problem> {
    let through = |provider: &&ProviderName| {
        let mut payments = plan.to_payments.iter().filter_map(|(id, _)| order.payment(id));
        payments.any(|payment| payment.provider == provider.as_str())
    };
    let mut provider_client = Vec::new();
    for provider in ProviderName::ALL.iter().filter(through) {
        if Capabilities::of(*provider).is_online {
            provider_client.push(connect(services, &order.store_id, *provider).await?);
        }
    }
    Ok(provider_client)
}

/// Reserves `amount`, or all that is left, of a payment's unapplied money.
pub(super) async fn reserve_unapplied(
    services: &Services,
    lookup: &PaymentLookup,
    id: &RefundId,
    amount: Option<&Money>,
) -> Result<Payment, Problem> {
    retry_attempts(|attempt| async move {
        let now = services.clock.now();
        let PaymentWithOrder { payment: known, order } = load::payment(services, lookup).await?;
        if known.refund(id).is_some() {
            return Ok(known);
        }
        let amount = amount.cloned().unwrap_or_else(|| known.refundable());
        let next = known.begin_refund(id, &amount, now)?;
        let begun = PaymentChange::of(next.clone(), Transition::RefundBegun);
        let change = OrderChange::none(&order).and_unapplied(&next, now).with_payment(begun);
        let write = change.save(services, services.table.write(), attempt, now).await?;
        write.commit().await?;
        Ok(next)
    })
    .await
}

/// The id of a request's refund after so many failed attempts.
fn id_of(order: &OrderId, seed: &str, attempt: u32) -> RefundId {
    RefundId::derive(&[order.as_str(), seed, &attempt.to_string()])
}

/// Whether this request has begun a refund of the payment that has not failed.
pub fn has_begun(payment: &Payment, seed: &str) -> bool {
    let begun =
        |id: RefundId| payment.refund(&id).is_some_and(|known| known.status != RefundState::Failed);
    (0..ATTEMPTS).any(|attempt| begun(id_of(&payment.order_id, seed, attempt)))
}

/// The result of the same request before.
pub(in crate::workflows) enum EarlierRefund {
    /// It has begun a refund that is pending or has succeeded.
    Begun(Box<Refund>),
    /// No such refund; a new one has this id.
    New(RefundId),
}

impl EarlierRefund {
    /// Finds the refund of the request with this seed.
    pub(in crate::workflows) fn of(aggregate: &OrderAggregate, seed: &str, now: Timestamp) -> Self {
        for attempt in 0..ATTEMPTS {
            let id = id_of(&aggregate.order.id, seed, attempt);
            let Ok(refund) = aggregate.refund(&id) else { return Self::New(id) };
            let stands = match refund.status {
                RefundStatus::Pending => true,
                // As long as the idempotency key is remembered.
                RefundStatus::Succeeded => now < refund.created_at.plus(DAY),
                RefundStatus::Failed => false,
            };
            if stands {
                return Self::Begun(Box::new(refund.clone()));
            }
        }
        Self::New(RefundId::mint(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{NOW, order, paid};
    use core_types::money;

    /// A paid order whose request `seed` has led to these refunds, one after the other.
    fn aggregate_with(seed: &str, statuses: &[RefundStatus]) -> OrderAggregate {
        let order = paid(&order());
        let plan = order.plan_refund(&WantedRefund::default()).unwrap();
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

    fn earlier(aggregate: &OrderAggregate, now: Timestamp) -> (&'static str, usize) {
        let nth = |id: &RefundId| {
            (0..ATTEMPTS)
                .position(|attempt| id_of(&aggregate.order.id, "k", attempt) == *id)
                .unwrap()
        };
        match EarlierRefund::of(aggregate, "k", now) {
            EarlierRefund::Begun(refund) => (refund.status.as_str(), nth(&refund.id)),
            EarlierRefund::New(id) => ("new", nth(&id)),
        }
    }

    #[test]
    fn a_repeated_request_resumes_its_refund_and_restarts_a_failed_one() {
        use RefundStatus::{Failed, Pending, Succeeded};
        let of = |statuses: &[RefundStatus]| earlier(&aggregate_with("k", statuses), NOW);
        assert_eq!(of(&[]), ("new", 0));
        assert_eq!(of(&[Pending]), ("pending", 0));
        assert_eq!(of(&[Succeeded]), ("succeeded", 0));
        assert_eq!(of(&[Failed]), ("new", 1));
        assert_eq!(of(&[Failed, Pending]), ("pending", 1));
        assert_eq!(earlier(&aggregate_with("other", &[Pending]), NOW), ("new", 0));
    }

    #[test]
    fn a_succeeded_refund_answers_its_request_for_a_day() {
        let done = aggregate_with("k", &[RefundStatus::Succeeded]);
        let last = Timestamp::from_millis(NOW.plus(DAY).millis() - 1);
        assert_eq!(earlier(&done, last), ("succeeded", 0));
        assert_eq!(earlier(&done, NOW.plus(DAY)), ("new", 1));
    }

    #[test]
    fn a_payment_has_its_requests_refund_unless_that_failed() {
        let payment = crate::payment::tests::captured(129_900);
        let id = id_of(&payment.order_id, "k", 0);
        assert!(!has_begun(&payment, "k"));
        let begun = payment.begin_refund(&id, &money::sample(1), NOW).unwrap();
        assert!(has_begun(&begun, "k") && !has_begun(&begun, "other"));
        let done = begun.finish_refund(&id, &Ok("rfnd_1".into()), NOW).unwrap().payment;
        let rejected = begun.finish_refund(&id, &Err("no".into()), NOW).unwrap().payment;
        assert!(has_begun(&done, "k") && !has_begun(&rejected, "k"));
    }
}

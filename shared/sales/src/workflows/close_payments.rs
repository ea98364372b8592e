//! Closes the open payments of an order: records the paid ones and voids the others, so that nobody pays for
//! an ended order.
//!
//! A provider that does not answer delays neither the end of the order nor requests to other providers. The
//! order stays due until every payment is closed.

use std::time::Duration;

use core_types::id::{OrderId, StoreId};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;
use table::outbox::DueKind;
use table::{Change, CommitOnly};

use super::record_payment::{self, PaymentUpdate};
use super::return_unapplied;
use crate::order::aggregate::OrderAggregate;
use crate::order::{Order, load};
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::Provider;
use crate::payment::provider_client::ProviderClient;
use crate::payment::{Observed, ObservedState, Payment, PaymentSource, ProviderDeadline};

/// The wait before providers that were skipped, or did not answer, are called again.
pub(super) const ASKED_AGAIN: Duration = MINUTE.saturating_mul(2);

/// Closes the payments of an ended order. A failure is logged, and the sweep tries again.
pub(super) async fn close_payments_or_warn(services: &Services, store: &StoreId, id: &OrderId) {
    let deadline = ProviderDeadline::of_sweep(services.clock.now());
    if let Err(problem) = Box::pin(close_payments(services, store, id, &deadline)).await {
        tracing::warn!(
            cause = %problem, order = id.as_str(),
            "open payments of an ended order not closed; the sweep tries again"
        );
    }
}

/// Closes the payments of an ended order. Returns whether all of them are closed.
pub(super) async fn close_payments(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let aggregate = load::aggregate(services, store, id).await?;
    if !aggregate.order.is_over() || aggregate.order.attend_at.is_none() {
        return Ok(true);
    }
    let fetched = fetch_all(services, &aggregate, deadline).await;
    let (now, tries) = (services.clock.now(), aggregate.order.attend_tries);
    if let Some(problem) = fetched.failed {
        let tries = tries.saturating_add(1);
        remind(services, &aggregate.order, Some(now.plus(DueKind::wait(tries))), tries).await?;
        return Err(problem);
    }
    if fetched.is_cut_short {
        remind(services, &aggregate.order, Some(now.plus(ASKED_AGAIN)), tries).await?;
        return Ok(false);
    }
    let done = match remind(services, &aggregate.order, None, 0).await {
        // A payment that came too late is recorded on the order.
        Err(problem) if problem.code == Code::VersionConflict => {
            let order = load::order(services, store, id).await?;
            remind(services, &order, None, 0).await
        }
        done => done,
    };
    done.map(|()| true)
}

/// The outcome of calling the providers of an order's open payments.
#[derive(Default)]
pub(super) struct AskedProviders {
    /// The first failure.
    pub(super) failed: Option<Problem>,
    /// Whether a payment was skipped because its provider's deadline has passed.
    is_cut_short: bool,
}

impl AskedProviders {
    pub(super) const fn is_complete(&self) -> bool {
        self.failed.is_none() && !self.is_cut_short
    }
}

/// Closes every open payment. One failure does not stop the others.
pub(super) async fn fetch_all(
    services: &Services,
    aggregate: &OrderAggregate,
    deadline: &ProviderDeadline,
) -> AskedProviders {
    let mut all = AskedProviders::default();
    for payment in open_payments(aggregate) {
        if deadline.has_passed(payment.provider, services.clock.now()) {
            all.is_cut_short = true;
            continue;
        }
        if let Err(problem) = close_payment(services, &aggregate.order, payment).await {
            deadline.note(payment.provider, &problem);
            tracing::warn!(
                cause = %problem, payment = payment.id.as_str(),
                "open payment of an ended order not closed"
            );
            all.failed.get_or_insert(problem);
        }
    }
    all
}

/// Closes one payment: records it if it was paid in time, and voids or returns it otherwise.
async fn close_payment(
    services: &Services,
    order: &Order,
    payment: &Payment,
) -> Result<(), Problem> {
    let provider_client = connect(services, &payment.store_id, payment.provider).await?;
    if order.is_over() {
        let is_taken = payment.awaits_decision() && !payment.captured.is_zero();
        if is_taken {
            return return_unapplied::turn_down(services, &provider_client, payment).await;
        }
        return void(services, &provider_client, payment).await;
    }
    let observed = record_payment::fetch_and_capture(services, &provider_client, payment).await?;
    let may_bring_money = matches!(
        observed.state,
        ObservedState::Authorized | ObservedState::Captured | ObservedState::Processing
    );
    if may_bring_money {
        return record(services, &provider_client, payment, &observed).await;
    }
    void(services, &provider_client, payment).await
}

/// Voids a payment at its provider. If it was captured meanwhile, that is recorded.
async fn void(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) -> Result<(), Problem> {
    let observed = provider_client.void(services, payment).await?;
    record(services, provider_client, payment, &observed).await
}

pub(super) async fn record(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
    observed: &Observed,
) -> Result<(), Problem> {
    let (lookup, source) = (PaymentLookup::from(payment), PaymentSource::Sync);
    let update = PaymentUpdate { lookup: &lookup, observed, source, event: None };
    match record_payment::record(services, provider_client, update, &CommitOnly).await {
        // The payment is recorded; the merchant decides about the amount.
        Err(problem) if problem.code == Code::AmountMismatch => Ok(()),
        outcome => outcome,
    }
}

/// The payments that can still be paid or captured. Those of an ended order include payments of another
/// amount, which nobody can accept any more.
pub(super) fn open_payments(aggregate: &OrderAggregate) -> impl Iterator<Item = &Payment> {
    let is_over = aggregate.order.is_over();
    aggregate.payments.iter().filter(move |payment| {
        payment.may_yet_be_captured() || (is_over && payment.awaits_decision())
    })
}

/// Moves or removes an order's due mark. The order's version stays, as nothing in its responses changes.
pub(super) async fn remind(
    services: &Services,
    order: &Order,
    at: Option<Timestamp>,
    tries: u32,
) -> Result<(), Problem> {
    let change = match at {
        None => Change::new("REMOVE attend_at, attend_tries, GSI3PK, GSI3SK"),
        Some(at) => {
            let (_, mark) = DueKind::Order.mark(order.id.as_str(), at);
            let set = "SET attend_at = :at, attend_tries = :tries, GSI3PK = :pk, GSI3SK = :sk";
            Change::new(set)
                .value(":at", at)
                .value(":tries", tries)
                .value(":pk", mark.pk)
                .value(":sk", mark.sk)
        }
    };
    let change = change
        .only_if("#version = :version")
        .name("#version", "version")
        .value(":version", order.version);
    services.table.write().update(&order.key(), change, Code::VersionConflict).commit().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{NOW, order};
    use crate::payment::ObservedState;
    use crate::payment::tests::{after, observed, open};

    #[test]
    fn open_payments_of_an_ended_order_include_mismatched_amounts() {
        let held = after(&open(), &observed(ObservedState::Authorized, 129_900));
        let other = after(&open(), &observed(ObservedState::Captured, 1));
        let taken = after(&open(), &observed(ObservedState::Captured, 129_900));
        let waiting = order();
        let over = waiting.expire(waiting.expires_at.unwrap_or(NOW)).unwrap().order;
        for (order, payment, is_open) in [
            (&waiting, open(), true),
            (&waiting, held.clone(), true),
            (&waiting, other.clone(), false),
            (&waiting, taken.clone(), false),
            (&over, held, true),
            (&over, other, true),
            (&over, taken, false),
        ] {
            let aggregate = OrderAggregate {
                order: order.clone(),
                fulfillments: Vec::new(),
                refunds: Vec::new(),
                payments: vec![payment],
            };
            let found = open_payments(&aggregate).next().is_some();
            assert_eq!(found, is_open, "{:?} {:?}", order.status, aggregate.payments);
        }
    }
}

//! Money that an order does not take, because it came too late or twice: it goes back.

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::retry;
use ground::id::RefundId;

use super::account::connect;
use super::provider::{Connected, Provider};
use super::{
    Attention, Payment, PaymentStatus, ProviderReference, RefundState, Source, refund, settle,
};
use crate::order::Order;

/// Why the order does not take this payment's money.
pub(super) fn refusal(order: &Order, payment: &Payment) -> Option<Attention> {
    let promised = order.payment(&payment.id).is_some_and(|known| !known.voided);
    if order.is_over() {
        return Some(Attention::LatePayment);
    }
    let is_taken = !payment.captured.is_zero();
    let brings = if is_taken { &payment.captured } else { &payment.authorized };
    let is_too_much = !order.takes(brings);
    let is_promised = !is_taken && !order.authorized().is_zero() && !promised;
    (is_too_much || is_promised).then_some(Attention::DuplicatePayment)
}

impl Payment {
    /// The promise of an order that was paid without it, as it is to be written.
    pub(super) fn spared(&self, now: Timestamp) -> Self {
        let attention = Some(Attention::DuplicatePayment);
        Self { attention, is_applied: false, ..self.changed(now) }
    }

    /// Whether the order did not take this payment's money, and it has not gone back yet. What a
    /// provider refuses to send back is left to the merchant.
    pub(crate) fn is_to_go_back(&self) -> bool {
        let late =
            matches!(self.attention, Some(Attention::LatePayment | Attention::DuplicatePayment));
        let held = self.status == PaymentStatus::Authorized
            || matches!(self.status, PaymentStatus::Captured | PaymentStatus::PartiallyRefunded);
        let refused = self.state_of(&self.surplus_refund()) == Some(RefundState::Failed);
        late && held && !self.is_applied && !refused
    }

    /// The id of the refund of money that the order did not take: one, however often it is tried.
    /// What comes back after it was done (another refund was refused) goes by the next.
    fn surplus_refund(&self) -> RefundId {
        let nth = |n: usize| RefundId::derive(&[self.id.as_str(), "surplus", &n.to_string()]);
        // Of as many ids as there are refunds, and one more, one is not done.
        let ids = (0..self.refunds.len()).map(nth);
        let mut ids = ids.filter(|id| self.state_of(id) != Some(RefundState::Succeeded));
        ids.next().unwrap_or_else(|| nth(self.refunds.len()))
    }

    /// Whether some of the money is on its way back by another refund, which may yet be refused.
    fn is_going_back_otherwise(&self) -> bool {
        let ours = self.surplus_refund();
        let mut others = self.refunds.iter().filter(|refund| refund.id != ours);
        others.any(|refund| refund.status == RefundState::Pending)
    }

    fn state_of(&self, id: &RefundId) -> Option<RefundState> {
        self.refunds.iter().find(|refund| refund.id == *id).map(|refund| refund.status)
    }
}

/// Gives back another amount than was asked for, of an order that is over: nobody can accept it any
/// more.
///
/// # Errors
/// Those of the provider: the payment stays due.
pub(crate) async fn turn_down(
    app: &App,
    connected: &Connected,
    payment: &Payment,
) -> Result<(), Problem> {
    let Some(late) = payment.flagged(Attention::LatePayment, app.clock.now()) else {
        return Ok(());
    };
    app.table.write().replace(&late, Code::VersionConflict).commit().await?;
    give_back(app, connected, &late).await
}

/// Sends back what an order did not take of these payments, each through its own provider.
pub(super) async fn give_back_all(app: &App, payments: &[Payment]) {
    for payment in payments {
        match connect(app, &payment.store_id, payment.provider).await {
            Ok(connected) => give_back_or_warn(app, &connected, payment).await,
            Err(problem) => warn(payment, &problem),
        }
    }
}

/// Sends back what the order did not take. A failure leaves the payment marked; the next sync, or
/// the merchant, tries again.
pub(super) async fn give_back_or_warn(app: &App, connected: &Connected, payment: &Payment) {
    if let Err(problem) = give_back(app, connected, payment).await {
        warn(payment, &problem);
    }
}

fn warn(payment: &Payment, problem: &Problem) {
    tracing::warn!(cause = %problem, payment = payment.id.as_str(), "money not sent back");
}

/// Sends back what the order did not take: a promise is let go of, money is refunded. It waits for
/// refunds that were begun before; the payment stays due.
pub(crate) async fn give_back(
    app: &App,
    connected: &Connected,
    payment: &Payment,
) -> Result<(), Problem> {
    let place = ProviderReference::from(payment);
    let payment = if payment.status == PaymentStatus::Authorized {
        let_go(app, connected, &place, payment).await?
    } else {
        payment.clone()
    };
    // The money may have been taken when the promise was to be let go of.
    let is_taken = payment.status != PaymentStatus::Authorized;
    if is_taken && payment.is_to_go_back() && !payment.is_going_back_otherwise() {
        refund_surplus(app, connected, &place, &payment).await?;
    }
    Ok(())
}

async fn let_go(
    app: &App,
    connected: &Connected,
    place: &ProviderReference,
    payment: &Payment,
) -> Result<Payment, Problem> {
    let seen = connected.void(app, payment).await?;
    retry(|| async {
        let now = app.clock.now();
        let known = settle::load(app, place).await?.payment;
        let Some(step) = known.observe(&seen, Source::Sync, now)? else { return Ok(known) };
        step.write(app.table.write(), now).commit().await?;
        Ok(step.payment)
    })
    .await
}

async fn refund_surplus(
    app: &App,
    connected: &Connected,
    place: &ProviderReference,
    payment: &Payment,
) -> Result<(), Problem> {
    let id = payment.surplus_refund();
    let reserved = refund::reserve(app, place, &id, None).await?;
    refund::carry_out(app, connected, &reserved, &id).await.map(drop)
}

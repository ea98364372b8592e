//! Another amount than was asked for: the merchant takes it as a part of what is due, or gives it
//! back.

use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::request::IfMatch;
use gateway::table::retry;
use ground::money::Money;

use super::{Known, let_others_go, load, other_promises, write_spared};
use crate::order::spent::Spending;
use crate::order::{self, Order, Receipt};
use crate::payment::{
    Attention, Happened, Payment, PaymentStatus, ProviderReference, Step, surplus,
};

impl Payment {
    /// Whether the provider holds or has taken another amount than was asked for, and the merchant
    /// has not said what is to become of it.
    pub fn awaits_decision(&self) -> bool {
        let is_there = matches!(
            self.status,
            PaymentStatus::Authorized | PaymentStatus::Captured | PaymentStatus::PartiallyRefunded
        );
        is_there && !self.is_applied && self.attention == Some(Attention::AmountMismatch)
    }

    /// Whether it can be taken as a part of what is due: not while some of it may be on its way
    /// back.
    pub fn is_acceptable(&self) -> bool {
        self.awaits_decision() && self.pending().is_zero() && !self.refundable().is_zero()
    }

    /// The payment as a part of what is due, and how much that is: what has not gone back.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    fn accepted(&self, now: Timestamp) -> Result<(Self, Money), Problem> {
        if !self.is_acceptable() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        let next = Self { is_applied: true, attention: None, ..self.changed(now) };
        Ok((next, self.refundable()))
    }
}

/// How much the order takes of it.
///
/// # Errors
/// `order_expired`, `order_already_paid`; `amount_exceeds_outstanding`, with what is too much.
fn demand_room(order: &Order, amount: &Money) -> Result<(), Problem> {
    if order.is_over() {
        return Err(Code::OrderExpired.with("order_status", order.status.as_str()));
    }
    let outstanding = order.outstanding();
    if outstanding.is_zero() {
        return Err(Code::OrderAlreadyPaid.into());
    }
    let excess = amount.minus(&outstanding).filter(|excess| !excess.is_zero());
    let shown = |money: &Money| serde_json::to_value(money).unwrap_or_default();
    excess.map_or(Ok(()), |excess| {
        let problem = Code::AmountExceedsOutstanding.with("outstanding", shown(&outstanding));
        Err(problem.with("excess", shown(&excess)))
    })
}

/// Settles another amount than was asked for, as much as there is of it: the order is paid in part,
/// or, where it comes to just what is left, in full.
///
/// # Errors
/// `invalid_state_transition`, `order_expired`, `order_already_paid`,
/// `amount_exceeds_outstanding`, `precondition_failed`.
pub async fn accept(
    app: &App,
    place: &ProviderReference,
    if_match: &IfMatch,
    answer: impl Fn(&Known) -> Answer,
) -> Result<Answer, Problem> {
    let spending = Spending::default();
    let (answered, spared) = retry(|| async {
        let now = app.clock.now();
        let known = load(app, place).await?;
        if_match.check(known.payment.version)?;
        let (payment, amount) = known.payment.accepted(now)?;
        demand_room(&known.order, &amount)?;
        let (payment_id, provider) = (payment.id.clone(), payment.provider.as_str());
        let receipt = Receipt { payment_id: &payment_id, provider, amount: &amount };
        let settled = known.order.settle_payment(receipt, now)?.ok_or(Code::OrderAlreadyPaid)?;
        let step = Step { payment, happened: Happened::Captured, has_gone_back: false };
        let others = other_promises(app, &known, &step).await?;
        let (settled, spared) = let_others_go(settled, &others, now);
        let write = app.table.write().replace(&step.payment, Code::VersionConflict);
        let write = write_spared(order::settle(write, &settled, now), &spared);
        let write = spending.count(app, write, &known.order, &settled.order).await?;
        let next = Known { payment: step.payment, order: settled.order };
        Ok((write.answer(answer(&next), now).await?, spared))
    })
    .await?;
    surplus::give_back_all(app, &spared).await;
    Ok(answered)
}

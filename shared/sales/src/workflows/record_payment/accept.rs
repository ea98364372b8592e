//! Accepts an amount other than the requested one.

use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use services::Services;
use table::{Completion, retry_attempts};

use super::{other_authorizations, return_unapplied, supersede};
use crate::order::IncomingPayment;
use crate::order::aggregate::PaymentWithOrder;
use crate::order::load;
use crate::payment::lookup::PaymentLookup;
use crate::payment::{PaymentChange, Transition};

/// Applies an amount other than the requested one to the order, which is then paid in part, or in full if
/// the amount equals the outstanding one.
///
/// # Errors
/// `invalid_state_transition`, `order_expired`, `order_already_paid`,
/// `amount_exceeds_outstanding`, `precondition_failed`.
pub async fn accept<C: Completion<PaymentWithOrder>>(
    services: &Services,
    lookup: &PaymentLookup,
    expected: ExpectedVersion,
    completion: &C,
) -> Result<C::Output, Problem> {
    let (output, superseded) = retry_attempts(|attempt| async move {
        let now = services.clock.now();
        let current = load::payment(services, lookup).await?;
        expected.check(current.payment.version)?;
        let (payment, amount) = current.payment.accepted(now)?;
        current.order.ensure_room(&amount)?;
        let (payment_id, provider) = (payment.id.clone(), payment.provider.as_str());
        let receipt = IncomingPayment { payment_id: &payment_id, provider, amount: &amount };
        let change = current.order.apply_payment(receipt, now)?.ok_or(Code::OrderAlreadyPaid)?;
        let others = other_authorizations(services, &current).await?;
        let (change, superseded) = supersede(change, &others, now);
        let change = change.with_payment(PaymentChange::of(payment.clone(), Transition::Accepted));
        let write = change.save(services, services.table.write(), attempt, now).await?;
        let next = PaymentWithOrder { payment, order: change.order };
        Ok((completion.commit(write, &next, now).await?, superseded))
    })
    .await?;
    return_unapplied::return_all(services, &superseded).await;
    Ok(output)
}

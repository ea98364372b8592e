//! What a payment has left to do is tried again.
//!
//! Whoever begins such work does it at once. The due mark is for the case that they cannot: the
//! process ended, the provider did not answer, or it said that it would take a while. A refund is
//! asked for under its own id, so that it is one however often it is resumed.

use gateway::app::App;
use gateway::problem::{Code, Problem};

use super::refund_order;
use super::return_unapplied::return_unapplied;
use crate::payment::load::connect;
use crate::payment::{Payment, PaymentRefund, ProviderDeadline, RefundState};

/// Processes a payment whose due mark has passed; whether something was done. The mark is moved on
/// first: of two sweeps, one goes on.
///
/// # Errors
/// Those of the provider: the payment is due again later. `version_conflict` when somebody else
/// has it.
pub async fn process(
    app: &App,
    payment: &Payment,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let now = app.clock.now();
    if payment.due_at().is_none_or(|at| now < at) || deadline.has_passed(payment.provider, now) {
        return Ok(false);
    }
    let taken = payment.retried(now);
    app.table.write().replace(&taken, Code::VersionConflict).commit().await?;
    execute(app, &taken, deadline).await.map(|()| true)
}

/// Does what is left. One refund that fails keeps no other from being asked for; the first failure
/// is the one that is told.
async fn execute(app: &App, payment: &Payment, deadline: &ProviderDeadline) -> Result<(), Problem> {
    let provider = payment.provider;
    let is_pending = |refund: &&PaymentRefund| refund.status == RefundState::Pending;
    let mut pending = payment.refunds.iter().filter(is_pending).peekable();
    if pending.peek().is_none() {
        let connected = connect(app, &payment.store_id, provider).await?;
        let returned = return_unapplied(app, &connected, payment).await;
        return returned.inspect_err(|problem| deadline.note(provider, problem));
    }
    let mut outcome = Ok(());
    for reserved in pending {
        if deadline.has_passed(provider, app.clock.now()) {
            break;
        }
        let asked = refund_order::resume(app, payment, reserved).await;
        outcome = outcome.and(asked.inspect_err(|problem| deadline.note(provider, problem)));
    }
    outcome
}

//! Taking money: what a provider is asked before anything is applied.

use core_types::money::Money;
use core_types::provider::ProviderName;
use gateway::app::App;
use primitives::problem::{Code, Problem};
use gateway::reply::Reply;
use table::retry;

use super::{PaymentUpdate, Recorded, apply, unexpected};
use crate::order::aggregate::PaymentWithOrder;
use crate::order::load;
use crate::payment::connected::Connected;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::{Provider, ProviderFailure};
use crate::payment::{CaptureMethod, Observed, ObservedState, Payment, PaymentStatus, Source};

/// Asks the provider about a payment; takes what was authorized where nobody has to say so, unless
/// the order does not want it any more.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn look(
    app: &App,
    connected: &Connected,
    payment: &Payment,
) -> Result<Observed, Problem> {
    let observed = connected.fetch(app, payment).await?;
    let is_ours_to_take = observed.state == ObservedState::Authorized
        && payment.capture_method == CaptureMethod::Automatic
        && observed.amount.as_ref() == Some(&payment.amount)
        && (payment.is_open() || payment.status == PaymentStatus::Authorized);
    if !is_ours_to_take {
        return Ok(observed);
    }
    let known = load::payment(app, &PaymentLookup::from(payment)).await?;
    let provider_payment = observed.provider_payment.clone();
    let carried = Payment { provider_payment, captured: payment.amount.clone(), ..known.payment };
    if known.order.rejection(&carried).is_some() {
        return Ok(observed);
    }
    match connected.capture(app, &carried, &payment.amount).await {
        Ok(captured) => Ok(captured.observed),
        Err(failure) => {
            // The authorization is recorded all the same, and the next look takes it.
            tracing::warn!(cause = %failure, "authorized, but not captured");
            Ok(observed)
        }
    }
}

/// Takes money that was authorized, and records it. Of callers who take one payment at once, or two
/// payments of one order, one does it; the others are told.
///
/// # Errors
/// `not_capturable`: somebody else has taken it, or its order is over, and the money goes back;
/// `order_already_paid`: the order was paid otherwise meanwhile, and the money goes back;
/// `amount_mismatch`, `provider_error`, `provider_timeout`.
pub async fn capture<R: Reply>(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    amount: &Money,
    answer: impl Fn(&PaymentWithOrder) -> R,
) -> Result<R, Problem> {
    let lookup = PaymentLookup::from(payment);
    let taken = match connected.capture(app, payment, amount).await {
        Ok(taken) => taken,
        Err(failure) => {
            if !failure.is_final() {
                note_unanswered(app, &lookup, amount, &failure).await;
            }
            return Err(failure.into());
        }
    };
    // What was taken before this call is an earlier call's, if one was never answered.
    let is_lost = !taken.is_ours && !payment.has_unanswered_capture();
    let (observed, source) = (&taken.observed, Source::Admin);
    let is_answer = !is_lost;
    let update = PaymentUpdate { lookup: &lookup, observed, source, event: None, is_answer };
    let Recorded { known, answer, is_new, .. } = apply(app, connected, update, answer).await?;
    let PaymentWithOrder { payment, order } = &known;
    // Nobody is asked for cash: whoever says first that it is there has taken it.
    let is_certain = taken.is_ours && payment.provider != ProviderName::Manual;
    if is_lost || (!is_new && !is_certain) {
        return Err(not_capturable(payment));
    }
    if payment.awaits_decision() {
        return Err(unexpected(payment));
    }
    match (payment.is_applied, order.is_over()) {
        (true, _) => Ok(answer),
        (false, true) => Err(not_capturable(payment).with("order_status", order.status.as_str())),
        (false, false) => {
            Err(Code::OrderAlreadyPaid.with("payment_status", payment.status.as_str()))
        }
    }
}

fn not_capturable(payment: &Payment) -> Problem {
    let current = Code::NotCapturable.with("current", payment.status.as_str());
    current.with("allowed_actions", payment.allowed_actions())
}

/// Writes down that a capture was not answered, so that whoever finds the money taken later knows
/// by whom.
async fn note_unanswered(app: &App, lookup: &PaymentLookup, amount: &Money, why: &ProviderFailure) {
    let noted = retry(|| async {
        let payment = load::payment(app, lookup).await?.payment;
        let Some(next) = payment.capture_unanswered(amount, why.code(), app.clock.now()) else {
            return Ok(());
        };
        app.table.write().replace(&next, Code::VersionConflict).commit().await
    });
    if let Err(problem) = noted.await {
        tracing::warn!(cause = %problem, payment = lookup.payment_id.as_str(), "not noted");
    }
}

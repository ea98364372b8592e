//! Taking money: what a provider is asked before anything is applied.

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::reply::Reply;
use gateway::table::retry;
use ground::money::Money;
use ground::provider::ProviderName;

use super::{Applied, News, settle, unexpected};
use crate::order::Order;
use crate::payment::connected::Connected;
use crate::payment::known::{Known, load};
use crate::payment::provider::{Failure, Provider};
use crate::payment::{
    Action, CaptureMethod, Observed, ObservedState, Payment, PaymentStatus, ProviderReference,
    Source, surplus,
};

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
    let seen = connected.fetch(app, payment).await?;
    let is_ours_to_take = seen.state == ObservedState::Authorized
        && payment.capture_method == CaptureMethod::Automatic
        && seen.amount.as_ref() == Some(&payment.amount)
        && (payment.is_open() || payment.status == PaymentStatus::Authorized);
    if !is_ours_to_take {
        return Ok(seen);
    }
    let known = load(app, &ProviderReference::from(payment)).await?;
    let provider_payment = seen.provider_payment.clone();
    let carried = Payment { provider_payment, captured: payment.amount.clone(), ..known.payment };
    if surplus::refusal(&known.order, &carried).is_some() {
        return Ok(seen);
    }
    match connected.capture(app, &carried, &payment.amount).await {
        Ok(captured) => Ok(captured.seen),
        Err(failure) => {
            // The promise is news all the same, and the next look takes it.
            tracing::warn!(cause = %failure, "authorized, but not captured");
            Ok(seen)
        }
    }
}

/// How much of a payment its merchant may take now: not more than its order is short of.
///
/// # Errors
/// `not_capturable`, `amount_exceeds_authorized`, `order_already_paid`; a fault of `/amount`.
pub fn capturable(
    payment: &Payment,
    order: &Order,
    wanted: Option<&Money>,
) -> Result<Money, Problem> {
    if order.is_over() {
        let current = Code::NotCapturable.with("current", payment.status.as_str());
        return Err(current.with("order_status", order.status.as_str()));
    }
    let amount = payment.capturable(wanted)?;
    let outstanding = order.outstanding();
    // Two ways to pay one order may both have been begun.
    if outstanding.is_zero() {
        return Err(Code::OrderAlreadyPaid.into());
    }
    match (outstanding.minus(&amount), wanted) {
        (Some(_), _) => Ok(amount),
        (None, None) => payment.capturable(Some(&outstanding)),
        (None, Some(_)) => {
            let detail = "Must be at most what is left to pay for the order.";
            Err(Problem::field("/amount", "out_of_range", detail))
        }
    }
}

/// Takes money that was authorized, and settles it. Of callers who take one payment at once, or two
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
    answer: impl Fn(&Known) -> R,
) -> Result<R, Problem> {
    let place = ProviderReference::from(payment);
    let taken = match connected.capture(app, payment, amount).await {
        Ok(taken) => taken,
        Err(failure) => {
            if !failure.is_final() {
                note_unanswered(app, &place, amount, &failure).await;
            }
            return Err(failure.into());
        }
    };
    // What was taken before this call is an earlier call's, if one was never answered.
    let is_lost = !taken.is_ours && !payment.has_unanswered_capture();
    let (seen, source) = (&taken.seen, Source::Admin);
    let news = News { place: &place, seen, source, event: None, is_answer: !is_lost };
    let Applied { known, answer, is_news, .. } = settle(app, connected, news, answer).await?;
    let Known { payment, order } = &known;
    // Nobody is asked for cash: whoever says first that it is there has taken it.
    let is_certain = taken.is_ours && payment.provider != ProviderName::Manual;
    if is_lost || (!is_news && !is_certain) {
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
async fn note_unanswered(app: &App, place: &ProviderReference, amount: &Money, why: &Failure) {
    let noted = retry(|| async {
        let payment = load(app, place).await?.payment;
        let Some(next) = payment.capture_unanswered(amount, why.code(), app.clock.now()) else {
            return Ok(());
        };
        app.table.write().replace(&next, Code::VersionConflict).commit().await
    });
    if let Err(problem) = noted.await {
        tracing::warn!(cause = %problem, payment = place.payment_id.as_str(), "not noted");
    }
}

impl Payment {
    /// Whether its provider was asked to take it, and did not say what came of that.
    fn has_unanswered_capture(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.action == Action::Capture && !attempt.succeeded)
    }

    /// The payment with a capture that was not answered; `None` when there is nothing to capture.
    fn capture_unanswered(&self, amount: &Money, code: &str, now: Timestamp) -> Option<Self> {
        (self.status == PaymentStatus::Authorized).then_some(())?;
        let mut next = self.changed(now);
        next.record_failure(Action::Capture, amount, code, now);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment::ObservedState;
    use crate::payment::tests::{NOW, after, open, seen};
    use ground::money;

    #[test]
    fn a_capture_without_an_answer_is_remembered_as_one_that_may_have_worked() {
        let held = after(&open(), &seen(ObservedState::Authorized, 129_900));
        assert!(!held.has_unanswered_capture());
        let noted = held.capture_unanswered(&money::sample(500), "timeout", NOW).unwrap();
        assert!(noted.has_unanswered_capture());
        let attempt = noted.attempts.last().unwrap();
        assert_eq!((attempt.action, attempt.succeeded), (Action::Capture, false));
        assert_eq!(attempt.failure_code.as_deref(), Some("timeout"));
        assert_eq!((noted.status, noted.version), (held.status, held.version + 1));
    }

    #[test]
    fn what_was_taken_or_failed_to_be_promised_is_no_capture_without_an_answer() {
        let taken = after(&open(), &seen(ObservedState::Captured, 129_900));
        let failed = after(&open(), &seen(ObservedState::Failed, 0));
        for payment in [taken, failed, open()] {
            assert!(!payment.has_unanswered_capture(), "{:?}", payment.status);
            assert!(payment.capture_unanswered(&money::sample(1), "timeout", NOW).is_none());
        }
    }
}

//! Parses Razorpay's objects as reports of a payment.

use core_types::fields::Currency;
use core_types::id::RefundId;
use core_types::money::Money;
use primitives::fields::FromText;
use serde_json::Value;

use super::super::call::text;
use super::super::provider::{RefundNotice, RefundResult};
use super::super::units::ProviderUnits;
use super::super::{Observed, ObservedState, Payment};

/// Selects the payment that counts among all payments of an order at Razorpay. Captured ones come first: the
/// known one, else one that was not refunded, else the first. Then authorized ones: the known one, else the
/// last. A payment that Razorpay refunded itself (a duplicate, or captured too late) hides no other.
pub(super) fn best(payment: &Payment, observed: Vec<(i64, Observed)>) -> Option<Observed> {
    let is_ours = |observed: &Observed| {
        payment.provider_payment.is_some() && observed.provider_payment == payment.provider_payment
    };
    let is_captured = !payment.captured.is_zero();
    let rank = |(created, observed): &(i64, Observed)| {
        let (ours, is_refunded) = (is_ours(observed), observed.has_all_gone_back());
        let (state, when) = match observed.state {
            ObservedState::Captured if ours && is_captured => (7, 0),
            ObservedState::Captured if !is_refunded => (6, created.saturating_neg()),
            ObservedState::Captured => (5, created.saturating_neg()),
            ObservedState::Authorized => (4, *created),
            ObservedState::Processing => (3, *created),
            // The known authorization has ended.
            ObservedState::Voided if ours => (3, *created),
            ObservedState::Failed => (2, *created),
            ObservedState::Voided => (1, *created),
            ObservedState::Pending => (0, *created),
        };
        (state, ours, when)
    };
    observed.into_iter().max_by_key(rank).map(|(_, observed)| observed)
}

/// Parses a payment of Razorpay's; none if it belongs to no order. One that was refunded without a capture
/// (it was late, a duplicate, or never captured) counts as voided.
pub(super) fn observation(entity: &Value) -> Option<Observed> {
    let reference = text(entity, "/order_id")?;
    let was_captured = entity.get("captured").and_then(Value::as_bool).unwrap_or(false);
    let state = match entity.get("status")?.as_str()? {
        "authorized" => ObservedState::Authorized,
        "captured" => ObservedState::Captured,
        "refunded" if was_captured => ObservedState::Captured,
        "refunded" => ObservedState::Voided,
        "failed" => ObservedState::Failed,
        "created" => ObservedState::Pending,
        unknown => {
            // It may mean that money is on its way: the order waits for a status that is known.
            tracing::error!(
                status = unknown,
                "Razorpay payment has an unknown status; treated as processing"
            );
            ObservedState::Processing
        }
    };
    let currency = Currency::from_text(entity.get("currency")?.as_str()?).ok()?;
    let units = ProviderUnits::of_razorpay(&currency);
    let money = |name| Money::new(units.read(entity.get(name)?.as_i64()?)?, &currency);
    let failed = state == ObservedState::Failed;
    Some(Observed {
        state,
        provider_payment: text(entity, "/id"),
        amount: money("amount"),
        refunded: money("amount_refunded"),
        method: text(entity, "/method"),
        failure_code: failed.then(|| text(entity, "/error_code")).flatten(),
        ..Observed::pending(&reference)
    })
}

/// Parses the refund of an event; none if it is not one of ours.
pub(super) fn refund(entity: &Value) -> Option<RefundNotice> {
    Some(RefundNotice { id: refund_id(entity)?, result: refund_result(entity)? })
}

/// The id of our refund, from the notes of Razorpay's.
pub(super) fn refund_id(refund: &Value) -> Option<RefundId> {
    RefundId::from_text(refund.pointer("/notes/refund_id")?.as_str()?).ok()
}

/// Parses the state of a refund.
pub(super) fn refund_result(refund: &Value) -> Option<RefundResult> {
    let reference = text(refund, "/id")?;
    Some(match refund.get("status").and_then(Value::as_str) {
        Some("processed") => RefundResult::Done(reference),
        Some("failed") => RefundResult::Rejected("refund_failed".into()),
        _ => RefundResult::Pending(reference),
    })
}

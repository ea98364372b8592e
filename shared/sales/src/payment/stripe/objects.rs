//! Parses Stripe's objects as reports of a payment.

use core_types::fields::Currency;
use core_types::id::RefundId;
use core_types::money::Money;
use primitives::fields::FromText;
use serde_json::Value;

use super::super::call::text;
use super::super::provider::{RefundNotice, RefundResult};
use super::super::units::ProviderUnits;
use super::super::{Observed, ObservedState};

fn number(object: &Value, name: &str) -> Option<i64> {
    object.get(name)?.as_i64()
}

/// Converts a number in Stripe's unit to an amount in the object's currency.
fn counted(object: &Value, units: i64) -> Option<Money> {
    let code = object.get("currency")?.as_str()?.to_ascii_uppercase();
    let currency = Currency::from_text(&code).ok()?;
    let amount = ProviderUnits::of_stripe(&currency).read(units)?;
    Money::new(amount, &currency)
}

/// An amount of an object.
pub(super) fn money(object: &Value, name: &str) -> Option<Money> {
    counted(object, number(object, name)?)
}

/// The refunded amount of a charge, without the part that was authorized and not captured: Stripe counts that
/// part as refunded, too.
fn refunded_amount(charge: &Value) -> Option<Money> {
    let captured = number(charge, "amount_captured")?;
    let released = number(charge, "amount")?.saturating_sub(captured).max(0);
    let refunded = number(charge, "amount_refunded")?.saturating_sub(released).max(0);
    counted(charge, refunded)
}

/// Parses a payment intent.
pub(super) fn intent(object: &Value) -> Option<Observed> {
    let failure = object.get("last_payment_error").filter(|error| error.is_object());
    let code = |name: &str| failure.and_then(|error| error.get(name)?.as_str());
    let (state, amount) = match object.get("status")?.as_str()? {
        "requires_capture" => (ObservedState::Authorized, money(object, "amount_capturable")),
        "succeeded" => (ObservedState::Captured, money(object, "amount_received")),
        "canceled" => (ObservedState::Voided, None),
        "processing" => (ObservedState::Processing, None),
        "requires_payment_method" if failure.is_some() => (ObservedState::Failed, None),
        "requires_payment_method" | "requires_confirmation" | "requires_action" => {
            (ObservedState::Pending, None)
        }
        unknown => {
            // It may mean that money is on its way: the order waits for a status that is known.
            tracing::error!(
                status = unknown,
                "Stripe PaymentIntent has an unknown status; treated as processing"
            );
            (ObservedState::Processing, None)
        }
    };
    let charge = object.get("latest_charge");
    let expanded = charge.filter(|charge| charge.is_object());
    let charge_id = charge.and_then(Value::as_str).map(str::to_owned);
    Some(Observed {
        state,
        provider_payment: expanded.and_then(|charge| text(charge, "/id")).or(charge_id),
        amount,
        refunded: expanded.and_then(refunded_amount),
        method: expanded.and_then(|charge| text(charge, "/payment_method_details/type")),
        failure_code: code("decline_code").or_else(|| code("code")).map(str::to_owned),
        ..Observed::pending(&text(object, "/id")?)
    })
}

/// Parses the charge of an event: its capture and its refunds. An intent may have several charges, of which
/// one succeeds. Failed ones are ignored, and pending ones too (a bank debit is `pending` and `captured` at
/// once).
pub(super) fn charge(object: &Value) -> Option<Observed> {
    let has_succeeded = object.get("status")?.as_str()? == "succeeded";
    let was_captured = object.get("captured")?.as_bool()?;
    (has_succeeded && was_captured).then_some(())?;
    let reference = text(object, "/payment_intent")?;
    Some(Observed {
        state: ObservedState::Captured,
        provider_payment: text(object, "/id"),
        amount: money(object, "amount_captured"),
        refunded: refunded_amount(object),
        method: text(object, "/payment_method_details/type"),
        ..Observed::pending(&reference)
    })
}

/// Parses the refund of an event. An event about its charge reports the state of the payment.
pub(super) fn refund(object: &Value) -> Option<Observed> {
    let reference = text(object, "/payment_intent")?;
    let observed = refund_id(object).zip(refund_result(object));
    let observed = observed.map(|(id, result)| RefundNotice { id, result });
    let provider_payment = text(object, "/charge");
    Some(Observed { refund: observed, provider_payment, ..Observed::pending(&reference) })
}

/// The id of our refund, from the metadata of Stripe's.
pub(super) fn refund_id(refund: &Value) -> Option<RefundId> {
    RefundId::from_text(refund.pointer("/metadata/refund_id")?.as_str()?).ok()
}

/// Parses the state of a refund.
pub(super) fn refund_result(refund: &Value) -> Option<RefundResult> {
    let reference = text(refund, "/id")?;
    Some(match refund.get("status").and_then(Value::as_str) {
        Some("succeeded") => RefundResult::Done(reference),
        Some("failed" | "canceled") => RefundResult::Rejected(
            text(refund, "/failure_reason").unwrap_or("refund_failed".to_owned()),
        ),
        // `pending` and `requires_action`.
        _ => RefundResult::Pending(reference),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_status_of_an_intent_has_a_state_and_an_unknown_one_keeps_the_order_waiting() {
        use ObservedState::{Authorized, Captured, Pending, Processing, Voided};
        for (status, expected) in [
            ("requires_payment_method", Pending),
            ("requires_confirmation", Pending),
            ("requires_action", Pending),
            ("processing", Processing),
            ("requires_capture", Authorized),
            ("succeeded", Captured),
            ("canceled", Voided),
            ("requires_a_new_thing", Processing),
        ] {
            let object = json!({"id": "pi_1", "status": status, "currency": "eur"});
            assert_eq!(intent(&object).map(|observed| observed.state), Some(expected), "{status}");
        }
    }
}

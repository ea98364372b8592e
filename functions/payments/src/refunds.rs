//! Routes of refunds of a payment.

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::{OrderId, PaymentId, RefundId};
use core_types::money::{Money, MoneyInput};
use core_types::scope::{ReadRefunds, WriteRefunds};
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Page};
use gateway::request::{Body, Path, Raw};
use primitives::context::Context;
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use primitives::version::ExpectedVersion;
use sales::order::refund::{Refund, RefundNote, RefundReason, RefundView, WantedRefund};
use sales::order::{self, FinancialStatus, Order};
use sales::payment::{Payment, PaymentRefund, load};
use sales::workflows::explain_rejection::explained;
use sales::workflows::refund_order::{self, RefundOrder, Refunded};
use schemars::JsonSchema;
use serde::Serialize;

/// `GET /v1/payments/{id}/refunds` (`listPaymentRefunds`): List refunds of a payment.
///
/// Refunds come oldest first.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadRefunds>,
    State(app): State<App>,
    Path(id): Path<PaymentId>,
    paging: Paging,
) -> Result<Page<PaymentRefund>, Problem> {
    let payment = load::payment(&app, &caller.store, &id).await?;
    paging.slice(&app, payment.refunds, |refund| refund.id.to_string()).await
}

/// A refund to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The amount; by default all that can be refunded.
    amount: Option<MoneyInput>,
    /// The reason.
    reason: Option<RefundReason>,
    /// The merchant's note.
    note: Option<RefundNote>,
}

impl CreateRequest {
    fn reason(&self) -> (RefundReason, Option<String>) {
        let reason = self.reason.unwrap_or(RefundReason::Other);
        (reason, self.note.clone().map(String::from))
    }

    /// Validates the amount against the payment's currency.
    fn amount(&self, payment: &Payment) -> Result<Option<Money>, Problem> {
        let Some(input) = &self.amount else { return Ok(None) };
        let amount = input.in_currency(&payment.amount.currency);
        amount.map(Some).map_err(|violation| {
            Problem::invalid(vec![FieldError::at("/amount/currency", violation)])
        })
    }
}

/// A refund with the changed data of its order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PaymentRefundAnswer {
    /// The refund.
    refund: RefundView,
    /// The order that the payment is for.
    order: RefundedPaymentOrder,
}

/// The data of an order that a refund changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefundedPaymentOrder {
    /// The id: `ord_` and 32 hexadecimal digits.
    id: OrderId,
    /// The payment status.
    financial_status: FinancialStatus,
    /// The amount refunded so far, pending refunds included.
    refunded_total: Money,
}

fn created(order: &Order, refund: &Refund) -> Created<PaymentRefundAnswer> {
    let order = RefundedPaymentOrder {
        id: order.id.clone(),
        financial_status: order.financial_status,
        refunded_total: order.refunded.clone(),
    };
    Created::new(&PaymentRefundAnswer { refund: RefundView::from(refund), order })
}

/// `POST /v1/payments/{id}/refunds` (`refundPayment`): Refund a payment.
///
/// Some or all of the captured amount is refunded. If the payment is applied to its order, it is a refund of
/// the order. Late and duplicate payments are refunded automatically; this request repeats a refund of them
/// that failed. It also refunds a payment of another amount than requested.
///
/// # Errors
/// `not_found`, `payment_not_captured`, `payment_disputed`, `refund_exceeds_captured`,
/// `nothing_to_refund`, `invalid_state_transition`, `amount_not_supported`, `version_conflict`,
/// `provider_not_connected`, `provider_error`, `provider_timeout`.
pub async fn create(
    caller: StoreAccess<WriteRefunds>,
    State(app): State<App>,
    Raw(inbound): Raw,
    Path(id): Path<PaymentId>,
    _: idempotency::Required,
    Body(input): Body<CreateRequest>,
) -> Result<Created<PaymentRefundAnswer>, Problem> {
    let store = &caller.store.id;
    let payment = load::payment(&app, &caller.store, &id).await?;
    let amount = input.amount(&payment)?;
    let (reason, note) = input.reason();
    let principal = Context::current().map(|context| context.principal()).unwrap_or_default();
    let seed =
        format!("{principal}#{id}#{}", inbound.header("idempotency-key").unwrap_or_default());
    if payment.is_applied || payment.captured.is_zero() {
        if !refund_order::has_begun(&payment, &seed) {
            check(&payment, amount.as_ref())?;
        }
        let wanted = WantedRefund { amount, payment_id: Some(id), ..WantedRefund::default() };
        let expected_version = ExpectedVersion::ANY;
        let input = RefundOrder { wanted, reason, note, seed, expected_version };
        let completion = answering(|done: &Refunded| created(&done.order, &done.refund));
        let refunded = refund_order::refund(&app, store, &payment.order_id, &input, &completion);
        return Box::pin(explained(&app, refunded)).await;
    }
    let amount = amount.unwrap_or_else(|| payment.refundable());
    let refund_id = RefundId::derive(&[payment.id.as_str(), &seed]);
    let refunded = refund_order::refund_unapplied(&app, &payment, &refund_id, &amount);
    let (payment, entry) = Box::pin(explained(&app, refunded)).await?;
    let order = order::load::order(&app, store, &payment.order_id).await?;
    let refund = Refund { reason, note, ..payment.refund_of_unapplied(&entry) };
    Ok(created(&order, &refund))
}

/// Ensures that the payment itself allows the refund, to report the payment's own errors.
fn check(payment: &Payment, amount: Option<&Money>) -> Result<(), Problem> {
    if payment.captured.is_zero() {
        return Err(Code::PaymentNotCaptured.with("current", payment.status.as_str()));
    }
    // The order rejects a zero amount.
    amount
        .filter(|amount| !amount.is_zero())
        .map_or(Ok(()), |amount| payment.ensure_refundable(amount))
}

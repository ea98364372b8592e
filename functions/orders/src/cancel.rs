//! Cancelling an order: its stock and its money go back.

use axum::extract::State;
use core_types::id::OrderId;
use core_types::scope::WriteOrders;
use gateway::app::App;
use gateway::idempotency;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path, Raw, request};
use platform::caller::StoreAccess;
use primitives::fields::{Flag, Text};
use primitives::problem::Problem;
use sales::order::refund::{Refund, RefundView};
use sales::order::{Order, OrderView};
use sales::workflows::cancel_order::{self, CancelOrder};
use schemars::JsonSchema;
use serde::Serialize;

use crate::refund::seed;

primitives::string_enum! {
    /// How much of a cancelled order's money goes back.
    RefundChoice {
        /// All of it.
        Full = "full",
        /// Nothing; it can be refunded later.
        None = "none",
    }
}

/// An order to be cancelled.
#[request]
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// Why.
    reason: Option<Text<1, 500>>,
    /// Whether its stock can be sold again; it can, unless said otherwise.
    restock: Option<Flag>,
    /// How much of its money goes back; all of it, unless said otherwise.
    refund: Option<RefundChoice>,
}

/// An order that was cancelled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CancelledOrder {
    /// The order.
    #[serde(flatten)]
    order: OrderView,
    /// The refund that came with its end; none when there was nothing to refund, or nothing was to
    /// be refunded.
    refund: Option<RefundView>,
}

/// `POST /v1/orders/{id}/cancel` (`cancelOrder`): Cancel an order.
///
/// Cancels the order, gives its stock back, and, unless told otherwise, refunds what was paid. What was
/// authorized, or could still be paid, is voided after that: a provider that does not answer keeps no order
/// alive.
///
/// # Errors
/// `not_found`, `already_fulfilled`, `invalid_state_transition`, `precondition_failed`,
/// `amount_not_supported`, `provider_not_connected`, `provider_error`, `provider_timeout`,
/// `version_conflict`.
pub async fn cancel(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Raw(inbound): Raw,
    _: idempotency::Required,
    Body(input): Body<CancelRequest>,
) -> Result<Json<CancelledOrder>, Problem> {
    let input = CancelOrder {
        reason: input.reason.map(String::from),
        restock: input.restock.is_none_or(|restock| restock.0),
        refund: input.refund != Some(RefundChoice::None),
        seed: seed(&inbound),
        if_match,
    };
    let shown = |order: &Order, refund: Option<&Refund>| {
        let view =
            CancelledOrder { order: OrderView::from(order), refund: refund.map(RefundView::from) };
        Json::new(&view).version(order.version)
    };
    Box::pin(cancel_order::cancel(&app, &caller.store.id, &id, &input, shown)).await
}

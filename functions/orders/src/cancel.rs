//! The route that cancels an order.

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::OrderId;
use core_types::scope::WriteOrders;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path, Raw};
use primitives::fields::{Flag, Text};
use primitives::input::request;
use primitives::problem::Problem;
use sales::order::OrderView;
use sales::order::refund::{RefundView, ReturnedMoney, UnusableGiftCards};
use sales::workflows::cancel_order::{self, CancelOrder, Cancelled};
use schemars::JsonSchema;
use serde::Serialize;

use crate::refund::seed;

primitives::string_enum! {
    /// The refund of a cancelled order.
    RefundChoice {
        /// The whole refundable amount.
        Full = "full",
        /// No refund; it can be refunded later.
        None = "none",
    }
}

/// The cancellation of an order.
#[request]
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// The cancellation reason.
    reason: Option<Text<1, 500>>,
    /// Whether its stock becomes available again; by default true.
    restock: Option<Flag>,
    /// The refund; by default `full`.
    refund: Option<RefundChoice>,
    /// The destination of the refund of disabled or expired gift cards, if the captured payments do not suffice for
    /// it: to the gift cards nevertheless, or manually to the customer.
    unusable_gift_cards: Option<UnusableGiftCards>,
}

/// A cancelled order with its refund.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CancelledOrder {
    /// The order.
    #[serde(flatten)]
    order: OrderView,
    /// The refund of the cancellation; null if there was nothing to refund, or none was requested.
    refund: Option<RefundView>,
    /// The destinations of everything that was paid or authorized.
    returned: Vec<ReturnedMoney>,
}

/// `POST /v1/orders/{id}/cancel` (`cancelOrder`): Cancel an order.
///
/// The stock is released, and unless the request has `none` as `refund`, the captured amount is refunded.
/// Payments that are authorized or can still be paid are voided afterwards, so that a provider that does not
/// respond does not prevent the cancellation. `returned` says where everything went.
///
/// # Errors
/// `not_found`, `already_fulfilled`, `invalid_state_transition`, `precondition_failed`, `gift_card_unusable`,
/// `amount_not_supported`, `provider_not_connected`, `provider_timeout`, `version_conflict`. `provider_error` and
/// `refund_exceeds_captured`, with a `refund_id`: the order is cancelled, and the provider has rejected its refund.
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
        unusable_gift_cards: input.unusable_gift_cards,
        seed: seed(&inbound),
        expected_version: if_match.0,
    };
    let to_response = |Cancelled { order, refund }: &Cancelled| {
        let view = CancelledOrder {
            order: OrderView::from(order),
            refund: refund.as_ref().map(RefundView::from),
            returned: ReturnedMoney::of(order, refund.as_ref()),
        };
        Json::new(&view).version(order.version)
    };
    let completion = answering(to_response);
    Box::pin(cancel_order::cancel(&app, &caller.store.id, &id, &input, &completion)).await
}

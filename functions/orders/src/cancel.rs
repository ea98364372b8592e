//! Calling an order off: its stock and its money go back.

use axum::extract::State;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::idempotency;
use gateway::problem::Problem;
use gateway::request::{Body, Flag, IfMatch, Path, Raw, Text, request};
use ground::id::OrderId;
use ground::scope::WriteOrders;
use platform::caller::StoreAccess;
use sales::order::issue::{Ask, CallOff};
use sales::order::refund::{RefundReason, RefundView, Wanted};
use sales::order::{Order, OrderView, due, issue};
use serde_json::{Value, json};

use crate::refund::seed;

gateway::words! {
    /// How much of a cancelled order's money goes back.
    RefundWish {
        /// All of it.
        Full = "full",
        /// Nothing; it can be refunded later.
        None = "none",
    }
}

/// An order to be called off.
#[request]
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// Why.
    reason: Option<Text<1, 500>>,
    /// Whether its stock can be sold again; it can, unless said otherwise.
    restock: Option<Flag>,
    /// How much of its money goes back; all of it, unless said otherwise.
    refund: Option<RefundWish>,
}

/// `POST /v1/orders/{id}/cancel`: calls the order off, gives its stock back, and, unless told
/// otherwise, gives back what was paid. What was promised, or could still be paid, is let go of
/// after that: a provider that does not answer keeps no order alive.
///
/// # Errors
/// `not_found`, `already_fulfilled`, `invalid_state_transition`, `precondition_failed`,
/// `provider_not_connected`, `provider_error`, `provider_timeout`.
pub async fn cancel(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Raw(inbound): Raw,
    _: idempotency::Required,
    Body(ask): Body<CancelRequest>,
) -> Result<Answer, Problem> {
    let reason = ask.reason.map(String::from);
    let ask = Ask {
        call_off: Some(CallOff {
            reason: reason.clone(),
            restock: ask.restock.is_none_or(|restock| restock.0),
        }),
        wanted: (ask.refund != Some(RefundWish::None)).then(Wanted::default),
        reason: RefundReason::Other,
        note: reason,
        seed: seed(&inbound),
        if_match,
    };
    let answered = issue::refund(&app, &caller.store.id, &id, &ask, |order, refund| {
        Answer::ok(&cancelled(order, refund.map(RefundView::from).as_ref())).version(order.version)
    })
    .await?;
    due::unwind_or_warn(&app, &caller.store.id, &id).await;
    Ok(answered)
}

/// The order, with the refund that came with its end.
fn cancelled(order: &Order, refund: Option<&RefundView>) -> Value {
    let mut view = serde_json::to_value(OrderView::from(order)).unwrap_or_default();
    if let Some(members) = view.as_object_mut() {
        members.insert("refund".to_owned(), json!(refund));
    }
    view
}

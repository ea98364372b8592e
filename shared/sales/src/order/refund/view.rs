//! Refunds, and plans of refunds, as the API shows them.

use core_types::id::{GiftCardId, OrderId, PaymentId, RefundId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Plan, Refund, RefundLine, RefundReason, RefundStatus, RefundTransaction};
use crate::order::Order;

core_types::view! {
    /// A refund.
    RefundView of refund: Refund {
        /// `ref_` and 32 hexadecimal digits.
        id: RefundId,
        /// The order that it belongs to.
        order_id: OrderId,
        /// How far it has come.
        status: RefundStatus,
        /// All of it.
        amount: Money,
        /// For these lines.
        lines: Vec<RefundLine> = refund.items.clone(),
        /// For shipping.
        shipping: Money,
        /// Its parts: gift cards first.
        transactions: Vec<RefundTransaction>,
        /// Why.
        reason: RefundReason,
        /// In the merchant's words.
        note: Option<String>,
        /// When it was asked for.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

/// What a refund would do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlanView {
    /// What could go back in all.
    pub refundable: Money,
    /// What would go back.
    pub amount: Money,
    /// For these lines.
    pub lines: Vec<RefundLine>,
    /// For shipping.
    pub shipping: Money,
    /// Through what: gift cards first.
    pub suggested_transactions: Vec<SuggestedTransaction>,
}

/// What would go back to a gift card, or through a payment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SuggestedTransaction {
    /// The gift card.
    pub gift_card_id: Option<GiftCardId>,
    /// The id of one of the order's payments.
    pub payment_id: Option<PaymentId>,
    /// How much.
    pub amount: Money,
}

impl PlanView {
    /// What a plan would do to an order.
    pub fn of(order: &Order, plan: &Plan) -> Self {
        let cards = plan.to_gift_cards.iter().map(|(id, amount)| SuggestedTransaction {
            gift_card_id: Some(id.clone()),
            payment_id: None,
            amount: amount.clone(),
        });
        let payments = plan.to_payments.iter().map(|(id, amount)| SuggestedTransaction {
            gift_card_id: None,
            payment_id: Some(id.clone()),
            amount: amount.clone(),
        });
        Self {
            refundable: order.refundable(),
            amount: plan.amount.clone(),
            lines: plan.items.clone(),
            shipping: plan.shipping.clone(),
            suggested_transactions: cards.chain(payments).collect(),
        }
    }
}

//! The representations of refunds and their previews in responses and events.

use core_types::id::{GiftCardId, OrderId, PaymentId, RefundId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Plan, Refund, RefundLine, RefundReason, RefundStatus, RefundTransaction};
use crate::order::Order;
use crate::tax::LineTax;

core_types::view! {
    /// A refund.
    RefundView of refund: Refund {
        /// The id: `ref_` and 32 hexadecimal digits.
        id: RefundId,
        /// The order.
        order_id: OrderId,
        /// The status.
        status: RefundStatus,
        /// The total amount.
        amount: Money,
        /// The lines.
        lines: Vec<RefundLine> = refund.items.clone(),
        /// The part for shipping, with its tax.
        shipping: Money,
        /// The tax in the amounts for lines and shipping, by rate. A refund of an amount alone has none.
        tax_lines: Vec<LineTax> = refund.tax_lines(),
        /// The parts, to gift cards first.
        transactions: Vec<RefundTransaction>,
        /// The reason.
        reason: RefundReason,
        /// The merchant's note.
        note: Option<String>,
        /// When it was requested.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

/// The preview of a refund.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlanView {
    /// The amount that can be refunded in all.
    pub refundable: Money,
    /// The amount of this refund.
    pub amount: Money,
    /// The lines.
    pub lines: Vec<RefundLine>,
    /// The part for shipping, with its tax.
    pub shipping: Money,
    /// The tax in the amounts for lines and shipping, by rate.
    pub tax_lines: Vec<LineTax>,
    /// The parts, to gift cards first.
    pub suggested_transactions: Vec<SuggestedTransaction>,
}

/// The part of a refund to a gift card or through a payment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SuggestedTransaction {
    /// The gift card.
    pub gift_card_id: Option<GiftCardId>,
    /// The payment.
    pub payment_id: Option<PaymentId>,
    /// The amount.
    pub amount: Money,
}

impl PlanView {
    /// The preview of a plan for an order.
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
            tax_lines: plan.tax_lines(),
            suggested_transactions: cards.chain(payments).collect(),
        }
    }
}

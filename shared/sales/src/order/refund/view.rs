//! The representations of refunds and their previews in responses and events.

use core_types::id::{GiftCardId, OrderId, PaymentId, RefundId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Refund, RefundLine, RefundPlan, RefundReason, RefundStatus, RefundTransaction};
use crate::order::{FinancialStatus, Order};
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
        /// The amount that the merchant retains of the lines and the shipping; `amount` is without it. Null if
        /// there is none.
        restocking_fee: Option<Money>,
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
    /// The amount that the merchant retains of the lines and the shipping; `amount` is without it. Null if there is
    /// none.
    pub restocking_fee: Option<Money>,
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
    /// Whether the merchant refunds it manually, because the gift card cannot be used.
    pub manual: bool,
    /// The amount.
    pub amount: Money,
}

primitives::string_enum! {
    /// The kind of a payment of an order.
    Tender {
        /// A gift card.
        GiftCard = "gift_card",
        /// A payment that was captured.
        Payment = "payment",
        /// An authorization, which is voided.
        Authorization = "authorization",
        /// A refund that the merchant makes manually.
        Manual = "manual",
    }
}

/// The destination of a part of what was paid for an order, after its cancellation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReturnedMoney {
    /// The kind of the payment.
    pub tender: Tender,
    /// The gift card.
    pub gift_card_id: Option<GiftCardId>,
    /// The payment.
    pub payment_id: Option<PaymentId>,
    /// The amount.
    pub amount: Money,
    /// The status: pending until the provider has completed it.
    pub status: RefundStatus,
}

impl ReturnedMoney {
    /// The destinations of a cancelled order's money: by its refund, back to the gift cards of an unpaid order,
    /// and by voided authorizations.
    pub fn of(order: &Order, refund: Option<&Refund>) -> Vec<Self> {
        let refunded = refund.into_iter().flat_map(|refund| &refund.transactions).map(Self::part);
        let is_unpaid = refund.is_none() && order.financial_status == FinancialStatus::Voided;
        let cards = order.gift_cards.iter().filter(|card| is_unpaid && !card.refunded.is_zero());
        let credited = cards.map(|card| Self {
            tender: Tender::GiftCard,
            gift_card_id: Some(card.card_id.clone()),
            payment_id: None,
            amount: card.refunded.clone(),
            status: RefundStatus::Succeeded,
        });
        let voided = order.payments.iter().filter(|payment| payment.is_voided_authorization());
        let released = voided.map(|payment| Self {
            tender: Tender::Authorization,
            gift_card_id: None,
            payment_id: Some(payment.payment_id.clone()),
            amount: payment.authorized.clone(),
            status: RefundStatus::Succeeded,
        });
        refunded.chain(credited).chain(released).collect()
    }

    fn part(part: &RefundTransaction) -> Self {
        let tender = match (part.manual, &part.gift_card_id) {
            (true, _) => Tender::Manual,
            (false, Some(_)) => Tender::GiftCard,
            (false, None) => Tender::Payment,
        };
        Self {
            tender,
            gift_card_id: part.gift_card_id.clone(),
            payment_id: part.payment_id.clone(),
            amount: part.amount.clone(),
            status: part.status,
        }
    }
}

impl PlanView {
    /// The preview of a plan for an order.
    pub fn of(order: &Order, plan: &RefundPlan) -> Self {
        let to_cards = plan.to_gift_cards.iter().map(|part| (part, false));
        let by_hand = plan.by_hand.iter().map(|part| (part, true));
        let cards = to_cards.chain(by_hand).map(|((id, amount), manual)| SuggestedTransaction {
            gift_card_id: Some(id.clone()),
            payment_id: None,
            manual,
            amount: amount.clone(),
        });
        let payments = plan.to_payments.iter().map(|(id, amount)| SuggestedTransaction {
            gift_card_id: None,
            payment_id: Some(id.clone()),
            manual: false,
            amount: amount.clone(),
        });
        Self {
            refundable: order.refundable(),
            amount: plan.amount.clone(),
            lines: plan.items.clone(),
            shipping: plan.shipping.clone(),
            tax_lines: plan.tax_lines(),
            restocking_fee: plan.restocking_fee.clone(),
            suggested_transactions: cards.chain(payments).collect(),
        }
    }
}

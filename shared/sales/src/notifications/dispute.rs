//! The mail that tells a merchant of a dispute.

use core_types::fields::Email;
use core_types::mail::{MailContent, on_one_line, unlinked};
use primitives::clock::DAY;

use crate::dispute::{Dispute, DisputeType};

/// The mail about a new dispute that needs a response.
pub fn dispute_opened(to: &Email, shop: &str, dispute: &Dispute) -> MailContent {
    let (shop, number) = (unlinked(&on_one_line(shop)), unlinked(&dispute.order_number));
    let what = match dispute.kind {
        DisputeType::Chargeback => {
            "A customer's bank wants the money of a payment back, and holds it"
        }
        DisputeType::Inquiry => "A customer's bank asks about a payment",
    };
    let due = dispute.due_by.map(|due| format!("Answer by: {due}\n")).unwrap_or_default();
    let text = format!(
        "{what}, of the shop\n\n\
         \x20   {shop}\n\n\
         Order: {number}\n\
         Disputed: {} {}\n\
         Reason: {}\n\
         {due}\n\
         Evidence is sent for the dispute {}.\n",
        dispute.amount.decimal(),
        dispute.amount.currency,
        unlinked(&dispute.reason),
        dispute.id,
    );
    let subject = format!("A payment of order {number} is disputed");
    MailContent::new(to, &subject, text, DAY.saturating_mul(3))
}

//! The topics of disputes.

use super::DisputeView;

core_types::topics! {
    DISPUTE_CREATED = "dispute.created", "dispute", Some("read_payments"), DisputeView,
        "A customer's bank disputes a payment.";
    DISPUTE_UPDATED = "dispute.updated", "dispute", Some("read_payments"), DisputeView,
        "A dispute's status changed: evidence was sent, is under review, or more is required.";
    DISPUTE_WON = "dispute.won", "dispute", Some("read_payments"), DisputeView,
        "A dispute was won: the merchant keeps the payment.";
    DISPUTE_LOST = "dispute.lost", "dispute", Some("read_payments"), DisputeView,
        "A dispute was lost: the customer keeps the payment.";
    DISPUTE_CLOSED = "dispute.closed", "dispute", Some("read_payments"), DisputeView,
        "A dispute was closed without a decision.";
}

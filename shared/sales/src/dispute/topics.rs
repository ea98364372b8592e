//! The topics of disputes.

use super::DisputeView;

core_types::topics! {
    DISPUTE_CREATED = "dispute.created", "dispute", Some("read_payments"), DisputeView,
        "A customer's bank disputes a payment.";
    DISPUTE_UPDATED = "dispute.updated", "dispute", Some("read_payments"), DisputeView,
        "A dispute went on: evidence was sent, the bank reviews it, or wants more.";
    DISPUTE_WON = "dispute.won", "dispute", Some("read_payments"), DisputeView,
        "A dispute ended, and the merchant keeps the money.";
    DISPUTE_LOST = "dispute.lost", "dispute", Some("read_payments"), DisputeView,
        "A dispute ended, and the customer has the money.";
    DISPUTE_CLOSED = "dispute.closed", "dispute", Some("read_payments"), DisputeView,
        "A dispute ended without a winner.";
}

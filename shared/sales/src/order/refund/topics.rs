//! The events of refunds.

use super::RefundView;

core_types::topics! {
    REFUND_CREATED = "refund.created", "refund", Some("read_refunds"), RefundView,
        "Money of an order is to go back.";
    REFUND_SUCCEEDED = "refund.succeeded", "refund", Some("read_refunds"), RefundView,
        "Money of an order has gone back.";
    REFUND_FAILED = "refund.failed", "refund", Some("read_refunds"), RefundView,
        "A provider rejected a refund.";
}

//! The events of refunds.

use super::RefundView;

core_types::topics! {
    REFUND_CREATED = "refund.created", "refund", Some("read_refunds"), RefundView,
        "A refund of an order was requested.";
    REFUND_SUCCEEDED = "refund.succeeded", "refund", Some("read_refunds"), RefundView,
        "A refund of an order succeeded.";
    REFUND_FAILED = "refund.failed", "refund", Some("read_refunds"), RefundView,
        "A refund was rejected by the provider.";
}

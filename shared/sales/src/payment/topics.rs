//! The topics of payments.

use super::PaymentView;

core_types::topics! {
    PAYMENT_CREATED = "payment.created", "payment", Some("read_payments"), PaymentView,
        "A payment was created with a provider.";
    PAYMENT_PROCESSING = "payment.processing", "payment", Some("read_payments"), PaymentView,
        "A payment is processing: the provider waits for the customer's bank, which may take days.";
    PAYMENT_AUTHORIZED = "payment.authorized", "payment", Some("read_payments"), PaymentView,
        "A payment was authorized, and can be captured.";
    PAYMENT_CAPTURED = "payment.captured", "payment", Some("read_payments"), PaymentView,
        "A payment was captured.";
    PAYMENT_FAILED = "payment.failed", "payment", Some("read_payments"), PaymentView,
        "An attempt to pay failed; the customer can try again.";
    PAYMENT_VOIDED = "payment.voided", "payment", Some("read_payments"), PaymentView,
        "A payment was voided before it was captured.";
    PAYMENT_REFUNDED = "payment.refunded", "payment", Some("read_payments"), PaymentView,
        "A payment was refunded, partially or completely.";
}

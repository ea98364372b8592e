//! The topics of payments.

use super::PaymentView;

core_types::topics! {
    PAYMENT_CREATED = "payment.created", "payment", Some("read_payments"), PaymentView,
        "A payment was opened with a provider.";
    PAYMENT_PROCESSING = "payment.processing", "payment", Some("read_payments"), PaymentView,
        "A customer has paid, and the provider waits for their bank, which may take days.";
    PAYMENT_AUTHORIZED = "payment.authorized", "payment", Some("read_payments"), PaymentView,
        "A customer agreed to a payment; the money can be captured.";
    PAYMENT_CAPTURED = "payment.captured", "payment", Some("read_payments"), PaymentView,
        "The money of a payment was taken.";
    PAYMENT_FAILED = "payment.failed", "payment", Some("read_payments"), PaymentView,
        "An attempt to pay failed; the customer may try again.";
    PAYMENT_VOIDED = "payment.voided", "payment", Some("read_payments"), PaymentView,
        "A payment was given up before any money was taken.";
    PAYMENT_REFUNDED = "payment.refunded", "payment", Some("read_payments"), PaymentView,
        "Some or all of a payment's money went back.";
}

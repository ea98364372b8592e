//! The mails that follow from events.

primitives::string_enum! {
    /// A mail that follows from an event.
    Notice {
        /// The address of a new account needs confirmation.
        ConfirmAddress = "confirm_address",
        /// An order was placed.
        OrderPlaced = "order_placed",
        /// A fulfilment of an order was shipped.
        OrderShipped = "order_shipped",
        /// A parcel of an order arrived.
        OrderDelivered = "order_delivered",
        /// An order was refunded, in part or in full.
        OrderRefunded = "order_refunded",
        /// An order was cancelled.
        OrderCancelled = "order_cancelled",
        /// An order was not paid in time.
        OrderExpired = "order_expired",
        /// An order awaits its payment.
        PaymentRequested = "payment_requested",
        /// A customer left a cart.
        CartAbandoned = "cart_abandoned",
        /// A customer disputes a payment.
        DisputeOpened = "dispute_opened",
        /// Somebody has sent a form.
        FormSubmitted = "form_submitted",
        /// A customer requests a copy of their data.
        DataRequested = "data_requested",
    }
}

//! Payment providers: the name that settings, orders and payments share.

primitives::string_enum! {
    /// A payment provider: the segment of a route, and the name of an account.
    ProviderName {
        /// Cash or bank transfer: the merchant confirms the payment.
        Manual = "manual",
        /// Razorpay.
        Razorpay = "razorpay",
        /// Stripe.
        Stripe = "stripe",
    }
}

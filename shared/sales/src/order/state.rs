//! The three axes of an order's state, and what can be done in them.

gateway::words! {
    /// Where an order is in its life.
    OrderStatus {
        /// Made by the merchant, not yet binding; its stock is held.
        Draft = "draft",
        /// To be paid, fulfilled, or both.
        Open = "open",
        /// Done with.
        Closed = "closed",
        /// Cancelled.
        Cancelled = "cancelled",
        /// Not paid in time; its stock went back.
        Expired = "expired",
    }
}

gateway::words! {
    /// What has become of an order's money.
    FinancialStatus {
        /// Not paid.
        Pending = "pending",
        /// Authorized by the provider, not yet taken.
        Authorized = "authorized",
        /// Some of it was taken.
        PartiallyPaid = "partially_paid",
        /// All of it was taken.
        Paid = "paid",
        /// Some of it went back.
        PartiallyRefunded = "partially_refunded",
        /// All of it went back.
        Refunded = "refunded",
        /// Voided before anything was taken.
        Voided = "voided",
        /// Not paid in time.
        Expired = "expired",
        /// The last attempt to pay failed; another may succeed.
        Failed = "failed",
    }
}

gateway::words! {
    /// How much of an order has left, derived from its lines.
    FulfillmentStatus {
        /// Nothing.
        Unfulfilled = "unfulfilled",
        /// Some lines, or some of a line.
        PartiallyFulfilled = "partially_fulfilled",
        /// Everything that is to leave.
        Fulfilled = "fulfilled",
        /// Nothing is to leave: every line was cancelled.
        NotRequired = "not_required",
    }
}

gateway::words! {
    /// What can be done with an order.
    OrderAction {
        /// Change its note, tags, e-mail or address.
        Update = "update",
        /// Honour it although its money comes later.
        Confirm = "confirm",
        /// Record that it was paid by hand.
        MarkPaid = "mark_paid",
        /// Take what the provider has authorized.
        Capture = "capture",
        /// Send lines out.
        Fulfill = "fulfill",
        /// Refund money.
        Refund = "refund",
        /// Cancel it.
        Cancel = "cancel",
        /// Cancel units that have not left, without money.
        CancelLines = "cancel_lines",
        /// Return units that have left, without money.
        ReturnLines = "return_lines",
        /// Keep it from being fulfilled.
        Hold = "hold",
        /// Let it be fulfilled again.
        Release = "release",
        /// Be done with it.
        Close = "close",
        /// Open it again.
        Reopen = "reopen",
    }
}

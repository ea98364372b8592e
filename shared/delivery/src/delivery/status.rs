//! The statuses of a delivery.

primitives::string_enum! {
    /// The status of a delivery.
    DeliveryStatus {
        /// It is queued and was not attempted yet.
        Pending = "pending",
        /// It is being attempted.
        Delivering = "delivering",
        /// The receiver answered 2xx.
        Succeeded = "succeeded",
        /// An attempt failed, and another will be made.
        Retrying = "retrying",
        /// It failed, and is not attempted again automatically.
        Exhausted = "exhausted",
        /// It was ended without success: its subscription may not receive it any more, its payload was
        /// removed, or a replay replaced it.
        Cancelled = "cancelled",
        /// The URL leads to an address that the service does not call.
        Blocked = "blocked",
    }
}

impl DeliveryStatus {
    /// Whether the list by this status has an index of its own. For the other statuses the list of all
    /// deliveries is filtered: nearly all of it has succeeded.
    pub const fn is_trouble(self) -> bool {
        matches!(self, Self::Retrying | Self::Exhausted | Self::Cancelled | Self::Blocked)
    }

    /// Whether the delivery has ended: it is not attempted again automatically.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Delivering | Self::Retrying)
    }
}

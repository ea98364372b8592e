//! The kinds of faults, and the calls that each can be injected into.

/// A fault of one call of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The call is throttled: `ProvisionedThroughputExceededException`, `ThrottlingException`, or a
    /// transaction that is cancelled for throttling.
    Throttled,
    /// A write or a transaction conflicts with another transaction.
    Conflict,
    /// The call is executed, and the reply is lost: the connection ends, or the response is 500.
    LostReply,
    /// The call is executed, and the reply is slow.
    Slow,
    /// An index or an eventually consistent read returns the state of a moment before.
    Stale,
    /// A page ends early, perhaps before its first item, with a key to continue from.
    Short,
    /// A batch is processed in part.
    Leftover,
    /// The call is rejected as if a permission were missing. Only planned.
    Denied,
    /// A write is rejected as invalid, like one with an item that is too large. Only planned.
    Invalid,
    /// The call waits until this many calls of this operation have come. Only planned.
    Behind(&'static str, usize),
}

impl Fault {
    /// The faults that are drawn.
    pub const DRAWN: [Self; 7] = [
        Self::Throttled,
        Self::Conflict,
        Self::LostReply,
        Self::Slow,
        Self::Stale,
        Self::Short,
        Self::Leftover,
    ];

    /// The name in a plan.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throttled => "throttle",
            Self::Conflict => "conflict",
            Self::LostReply => "lost",
            Self::Slow => "slow",
            Self::Stale => "stale",
            Self::Short => "short",
            Self::Leftover => "leftover",
            Self::Denied => "denied",
            Self::Invalid => "invalid",
            Self::Behind(..) => "behind",
        }
    }

    /// Whether it can be injected into this call.
    pub(super) fn suits(self, call: &Call) -> bool {
        let operation = call.operation.as_str();
        match self {
            Self::Invalid => call.is_write(),
            Self::Conflict => call.is_write() || operation == "TransactGetItems",
            Self::Stale => {
                call.may_be_late && ["Query", "GetItem", "BatchGetItem"].contains(&operation)
            }
            Self::Short => operation == "Query",
            Self::Leftover => ["BatchGetItem", "BatchWriteItem"].contains(&operation),
            Self::Throttled | Self::LostReply | Self::Slow | Self::Denied | Self::Behind(..) => {
                true
            }
        }
    }
}

/// The properties of a call that select its possible faults.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) operation: String,
    /// Whether it is an eventually consistent read.
    pub(super) may_be_late: bool,
}

impl Call {
    pub(super) fn is_write(&self) -> bool {
        let operation = self.operation.as_str();
        matches!(operation, "PutItem" | "UpdateItem" | "DeleteItem" | "TransactWriteItems")
    }
}

//! The three axes of an order's state, and what can be done in them.

use primitives::problem::Problem;

use super::{Order, OrderItem, StockState};

primitives::string_enum! {
    /// Where an order is in its life.
    OrderStatus {
        /// Made by the merchant, not yet binding; its stock is held.
        Draft = "draft",
        /// To be paid, fulfilled, or both.
        Open = "open",
        /// Closed.
        Closed = "closed",
        /// Cancelled.
        Cancelled = "cancelled",
        /// Not paid in time; its stock went back.
        Expired = "expired",
    }
}

primitives::string_enum! {
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

primitives::string_enum! {
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

primitives::string_enum! {
    /// The actions that an order can allow.
    OrderAction {
        /// Change its note, tags, e-mail or address.
        Update = "update",
        /// Honour it although its money comes later.
        Confirm = "confirm",
        /// Record that it was paid manually.
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
        /// Close it.
        Close = "close",
        /// Open it again.
        Reopen = "reopen",
    }
}

impl Order {
    /// The actions that its state allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let allowed = OrderAction::ALL.iter().filter(|action| self.allows(**action));
        allowed.map(|action| action.as_str()).collect()
    }

    /// Whether this action is allowed now.
    pub fn allows(&self, action: OrderAction) -> bool {
        let (open, draft) = (self.status == OrderStatus::Open, self.status == OrderStatus::Draft);
        let stands = open || self.status == OrderStatus::Closed;
        let has_left = self.items.iter().any(|item| item.fulfilled > 0);
        match action {
            OrderAction::Update => true,
            OrderAction::Confirm => (open || draft) && self.stock == StockState::Reserved,
            OrderAction::MarkPaid => {
                (open || draft) && !self.outstanding().is_zero() && self.authorized().is_zero()
            }
            OrderAction::Capture => {
                !self.is_over() && !self.outstanding().is_zero() && !self.authorized().is_zero()
            }
            OrderAction::Fulfill => open && self.is_fulfillable() && !self.on_hold,
            OrderAction::Refund => {
                !self.refundable().is_zero() && (self.is_over() || self.is_firm())
            }
            OrderAction::Cancel => (open || draft) && !has_left,
            OrderAction::CancelLines => stands && self.is_fulfillable(),
            OrderAction::ReturnLines => {
                stands && self.items.iter().any(|item| item.returnable() > 0)
            }
            OrderAction::Hold => open && !self.on_hold && self.remaining() > 0,
            OrderAction::Release => open && self.on_hold,
            OrderAction::Close => open && self.is_firm(),
            OrderAction::Reopen => self.status == OrderStatus::Closed,
        }
    }

    /// Whether its stock is its own: paid, authorized, or confirmed by the merchant.
    pub fn is_firm(&self) -> bool {
        self.stock == StockState::Committed
    }

    /// Whether it was cancelled or expired.
    pub fn is_over(&self) -> bool {
        matches!(self.status, OrderStatus::Cancelled | OrderStatus::Expired)
    }

    /// Units that have yet to leave.
    pub fn remaining(&self) -> u32 {
        self.items.iter().map(OrderItem::remaining).fold(0, u32::saturating_add)
    }

    fn is_fulfillable(&self) -> bool {
        self.is_firm() && self.remaining() > 0
    }

    /// # Errors
    /// `invalid_state_transition`, with the state and what may be done in it.
    pub fn ensure(&self, action: OrderAction) -> Result<(), Problem> {
        if self.allows(action) { Ok(()) } else { Err(self.rejects()) }
    }

    /// What is answered when the order's state does not allow what was asked.
    pub fn rejects(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
            .with("financial_status", self.financial_status.as_str())
            .with("fulfillment_status", self.fulfillment_status.as_str())
    }
}

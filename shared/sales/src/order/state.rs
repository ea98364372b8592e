//! The three statuses of an order (order, payment, fulfilment), and the actions that they allow.

use primitives::problem::Problem;

use super::{Order, OrderItem, OrderStock};

primitives::string_enum! {
    /// The status of an order.
    OrderStatus {
        /// Created by the merchant and not binding yet; its stock is reserved.
        Draft = "draft",
        /// To be paid, fulfilled, or both.
        Open = "open",
        /// Closed.
        Closed = "closed",
        /// Cancelled.
        Cancelled = "cancelled",
        /// Not paid in time; its stock was released.
        Expired = "expired",
    }
}

primitives::string_enum! {
    /// The payment status of an order.
    FinancialStatus {
        /// Not paid.
        Pending = "pending",
        /// The customer has paid; the provider waits for the customer's bank, which may take days.
        Processing = "processing",
        /// Authorized by the provider, not captured yet.
        Authorized = "authorized",
        /// Paid in part.
        PartiallyPaid = "partially_paid",
        /// Paid in full.
        Paid = "paid",
        /// Refunded in part.
        PartiallyRefunded = "partially_refunded",
        /// Refunded in full.
        Refunded = "refunded",
        /// Voided before anything was captured.
        Voided = "voided",
        /// Not paid in time.
        Expired = "expired",
        /// The last payment attempt failed; another may succeed.
        Failed = "failed",
    }
}

primitives::string_enum! {
    /// The fulfilment status of an order, derived from its lines.
    FulfillmentStatus {
        /// Nothing is fulfilled.
        Unfulfilled = "unfulfilled",
        /// Some lines, or some units of a line, are fulfilled.
        PartiallyFulfilled = "partially_fulfilled",
        /// Everything that is not cancelled is fulfilled.
        Fulfilled = "fulfilled",
        /// Every line was cancelled.
        NotRequired = "not_required",
    }
}

primitives::string_enum! {
    /// An action on an order.
    OrderAction {
        /// Change its note, tags, metadata, e-mail or shipping address.
        Update = "update",
        /// Confirm an order that is paid later.
        Confirm = "confirm",
        /// Record a manual payment.
        MarkPaid = "mark_paid",
        /// Capture an authorization.
        Capture = "capture",
        /// Fulfil lines.
        Fulfill = "fulfill",
        /// Refund it.
        Refund = "refund",
        /// Cancel it.
        Cancel = "cancel",
        /// Cancel units that are not fulfilled, without a refund.
        CancelLines = "cancel_lines",
        /// Return units that are fulfilled, without a refund.
        ReturnLines = "return_lines",
        /// Put its fulfilment on hold.
        Hold = "hold",
        /// Release the hold.
        Release = "release",
        /// Close it.
        Close = "close",
        /// Reopen it.
        Reopen = "reopen",
    }
}

impl Order {
    /// The actions that its status allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let allowed = OrderAction::ALL.iter().filter(|action| self.allows(**action));
        allowed.map(|action| action.as_str()).collect()
    }

    /// Whether this action is allowed now.
    pub fn allows(&self, action: OrderAction) -> bool {
        let (open, draft) = (self.status == OrderStatus::Open, self.status == OrderStatus::Draft);
        let is_active = open || self.status == OrderStatus::Closed;
        let has_left = self.items.iter().any(|item| item.fulfilled > 0);
        match action {
            OrderAction::Update => true,
            OrderAction::Confirm => draft || (open && self.stock == OrderStock::Reserved),
            OrderAction::MarkPaid => {
                (open || draft)
                    && !self.outstanding().is_zero()
                    && self.authorized().is_zero()
                    && !self.is_processing()
            }
            OrderAction::Capture => {
                !self.is_over() && !self.outstanding().is_zero() && !self.authorized().is_zero()
            }
            OrderAction::Fulfill => open && self.is_fulfillable() && !self.on_hold,
            OrderAction::Refund => {
                !self.refundable().is_zero() && (self.is_over() || self.is_firm())
            }
            OrderAction::Cancel => {
                let awaits_bank = self.is_processing() && !self.outstanding().is_zero();
                (open || draft) && !has_left && !awaits_bank
            }
            OrderAction::CancelLines => is_active && self.is_fulfillable(),
            OrderAction::ReturnLines => {
                is_active && self.items.iter().any(|item| item.returnable() > 0)
            }
            OrderAction::Hold => open && !self.on_hold && self.remaining() > 0,
            OrderAction::Release => open && self.on_hold,
            OrderAction::Close => open && self.is_firm(),
            OrderAction::Reopen => self.status == OrderStatus::Closed,
        }
    }

    /// Whether its stock is committed: it is paid, authorized, or confirmed by the merchant.
    pub fn is_firm(&self) -> bool {
        self.stock == OrderStock::Committed
    }

    /// Whether it has ended: it was cancelled or has expired.
    pub fn is_over(&self) -> bool {
        matches!(self.status, OrderStatus::Cancelled | OrderStatus::Expired)
    }

    /// The units that are still to be fulfilled.
    pub fn remaining(&self) -> u32 {
        self.items.iter().map(OrderItem::remaining).fold(0, u32::saturating_add)
    }

    fn is_fulfillable(&self) -> bool {
        self.is_firm() && self.remaining() > 0
    }

    /// Requires that this action is allowed now.
    ///
    /// # Errors
    /// `invalid_state_transition`, with the status and the allowed actions.
    pub fn ensure(&self, action: OrderAction) -> Result<(), Problem> {
        if self.allows(action) { Ok(()) } else { Err(self.rejects()) }
    }

    /// The error for an action that the order's status does not allow.
    pub fn rejects(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
            .with("financial_status", self.financial_status.as_str())
            .with("fulfillment_status", self.fulfillment_status.as_str())
    }
}

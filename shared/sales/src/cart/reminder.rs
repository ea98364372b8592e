//! A cart that was left: its customer is reminded once, until it is changed again.
//!
//! Only customers are, whose account has proven its address and accepts marketing. Anybody can type anybody's
//! address into a guest's cart. The due mark is not moved with each change: it is set by the first one, and the
//! sweep moves it while the cart is in use, so that a change costs no more.

use std::time::Duration;

use core_types::fields::Email;
use identity::customer::{Customer, CustomerStatus};
use primitives::clock::{HOUR, Timestamp};

use super::Cart;

/// The time without a change after which a cart was left, as at Shopify.
pub const ABANDONED_AFTER: Duration = HOUR;

/// What the sweep does with a cart whose due mark has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReminderStep {
    /// It was changed meanwhile: the mark moves.
    Wait(Timestamp),
    /// Nobody is reminded of it: the mark is removed.
    Forget,
    /// It was left: its next version.
    Remind(Box<Cart>),
}

impl Cart {
    fn can_be_left(&self) -> bool {
        let wants = self.buyer.accepts_marketing != Some(false);
        self.customer_id.is_some() && !self.lines.is_empty() && self.order_id.is_none() && wants
    }

    /// When the sweep looks at it, after a change at this time. A mark that there is stays.
    pub(super) fn next_reminder(&self, now: Timestamp) -> Option<Timestamp> {
        let at = self.remind_at.unwrap_or_else(|| now.plus(ABANDONED_AFTER));
        self.can_be_left().then_some(at)
    }

    /// The address that a reminder is mailed to: the proven one of its customer, whatever the cart says. None if
    /// they accept no marketing.
    pub fn reminder_address(account: &Customer) -> Option<Email> {
        let may_be_mailed = account.status == CustomerStatus::Active && account.accepts_marketing;
        let email = account.email.clone().filter(|_| may_be_mailed);
        email.filter(|email| account.has_proven(email))
    }

    /// What the sweep does with it now. `account` is that of its customer.
    pub fn reminder(&self, account: Option<&Customer>, now: Timestamp) -> ReminderStep {
        let left_at = self.updated_at.plus(ABANDONED_AFTER);
        if self.can_be_left() && now < left_at {
            return ReminderStep::Wait(left_at);
        }
        let may_be_mailed = account.and_then(Self::reminder_address).is_some();
        if !self.can_be_left() || !may_be_mailed || !self.is_retained(now) {
            return ReminderStep::Forget;
        }
        let version = self.version.saturating_add(1);
        let left = Self { remind_at: None, abandoned_at: Some(now), version, ..self.clone() };
        ReminderStep::Remind(Box::new(left))
    }
}

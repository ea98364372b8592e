//! What is sold, and what is paid for it.
//!
//! - An [`order`] with its fulfilments and refunds: from a cart through payment to what leaves and
//!   what comes back. What it costs besides its goods: [`shipping`], [`tax`]; what is taken off:
//!   [`discount`].
//! - A [`payment`] is what a provider says of money; a [`gift_card`] is money the store owes.
//! - A [`dispute`] is what a customer's bank says of a payment.
//! - [`workflows`]: changes that span several steps.
//! - [`notifications`]: what is mailed about them.

pub mod discount;
pub mod dispute;
pub mod document;
pub mod gift_card;
pub mod notifications;
pub mod order;
pub mod payment;
pub mod shipping;
pub mod tax;
pub mod workflows;

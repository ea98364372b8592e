//! Orders, payments and everything that belongs to a sale.
//!
//! - [`order`]: an order from cart to payment, with its fulfilments, returns and refunds. Its total adds
//!   [`shipping`] and [`tax`] to the goods, and subtracts each [`discount`].
//! - [`cart`]: what a shopper has chosen, until it becomes an order.
//! - [`guest`]: somebody who has ordered without an account, with what their orders add up to.
//! - [`payment`]: a payment as its provider reports it. [`gift_card`]: stored value that the store owes.
//! - [`dispute`]: a chargeback or inquiry of a customer's bank about a payment.
//! - [`workflows`]: use cases of several steps over these.
//! - [`notifications`]: the mails about them.

pub mod cart;
pub mod discount;
pub mod dispute;
pub mod gift_card;
pub mod guest;
pub mod notifications;
pub mod order;
pub mod payment;
mod postal;
pub mod pricing_document;
pub mod shipping;
pub mod tax;
pub mod workflows;

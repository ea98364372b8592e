//! What loads, decides, asks a provider and writes over several steps. The decisions themselves are
//! the transitions of an [`Order`](crate::order::Order) and a [`Payment`](crate::payment::Payment).
//!
//! - [`place_order`]: a cart becomes an order, its stock and its gift cards in one transaction.
//! - [`record_payment`]: what was learnt about a payment is applied to it and to its order, once.
//! - [`record_disputes`]: what was learnt about disputes of a payment is applied to them, to it and
//!   to its order, once.
//! - [`submit_evidence`]: evidence for a dispute: keep, send, record; also resumed.
//! - [`refund_order`]: money goes back: reserve, ask, record; also resumed where it was left.
//! - [`return_unapplied`]: money that no order takes goes back by itself.
//! - [`expire_order`]: an order that was not paid in time ends, and open payments of what is over
//!   are closed.
//! - [`cancel_order`]: an order ends because the merchant or its shopper says so.
//! - [`join_orders`]: orders of guests become those of the account that has proven their address.
//! - [`hand_over_order`]: an order becomes another account's, of the same person.
//! - [`process_payment`]: what a payment has left to do is tried again.
//! - [`save_change`]: an [`OrderChange`](crate::order::OrderChange), with all that belongs to it,
//!   in one transaction.

pub mod cancel_order;
mod close_payments;
pub mod expire_order;
mod give_order;
pub mod hand_over_order;
pub mod join_orders;
pub mod place_order;
pub mod process_payment;
pub mod record_disputes;
pub mod record_payment;
pub mod refund_order;
pub mod return_unapplied;
pub mod save_change;
pub mod submit_evidence;

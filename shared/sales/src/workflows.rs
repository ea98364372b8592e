//! Use cases that load, decide, call a provider and write, in several steps. The decisions themselves are
//! transitions of an [`Order`](crate::order::Order) and a [`Payment`](crate::payment::Payment).
//!
//! - [`place_order`]: turns a cart into an order, with its stock and gift cards, in one transaction.
//! - [`record_payment`]: applies an update from the provider to a payment and its order, once.
//! - [`record_disputes`]: applies an update about disputes to them, their payment and its order, once.
//! - [`submit_evidence`]: stores, sends and records evidence for a dispute; can be resumed.
//! - [`refund_order`]: reserves, requests and records a refund; can be resumed.
//! - [`explain_rejection`]: finds out why a provider has rejected a refund.
//! - [`return_unapplied`]: returns money that no order accepts.
//! - [`ask_provider`]: records payments whose browser did not come back from the provider.
//! - [`ended_orders`]: decides whether a variant that was ordered can be deleted.
//! - [`expire_order`]: expires an order that was not paid in time, and closes open payments of ended orders.
//! - [`cancel_order`]: cancels an order for the merchant or its shopper.
//! - [`convert_cart`]: turns a saved cart into its order, once. [`remind_of_cart`]: of one that was left.
//! - [`join_orders`]: assigns a guest's orders to the account that has proven the address.
//! - [`hand_over_order`]: moves an order to another account of the same person.
//! - [`process_payment`]: retries the unfinished work of a payment.
//! - [`save_change`]: writes an [`OrderChange`](crate::order::OrderChange) with all that belongs to it, in
//!   one transaction.

pub mod ask_provider;
pub mod cancel_order;
mod close_payments;
pub mod convert_cart;
pub mod ended_orders;
pub mod expire_order;
pub mod explain_rejection;
mod give_order;
pub mod hand_over_order;
pub mod join_orders;
pub mod place_order;
pub mod process_payment;
pub mod record_disputes;
pub mod record_payment;
pub mod refund_order;
pub mod remind_of_cart;
pub mod return_unapplied;
pub mod save_change;
pub mod submit_evidence;
pub mod tax_order;

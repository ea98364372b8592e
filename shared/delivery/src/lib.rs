//! Delivery of events: webhook subscriptions, deliveries, replays; and the senders and limits of mails.
//!
//! - A [`subscription`] says which events a receiver gets; a [`delivery`] is one event for one
//!   subscription, until it has succeeded or ended without success.
//! - A [`replay`] sends events again, as long work in bounded steps ([`run`]).
//! - [`mail`]: the senders of mails, and how many mails a store may send.

pub mod delivery;
pub mod mail;
pub mod replay;
pub mod run;
pub mod subscription;

//! Outgoing mails: their senders, and how many of them a store may send.

pub mod allowance;
mod sender;

pub use sender::Sender;

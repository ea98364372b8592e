//! Mails on their way out: whom they are from, and how many stores may send.

pub mod allowance;
mod sender;

pub use sender::Sender;

//! Where events go.
//!
//! - A [`subscription`] says which events a receiver takes; a [`delivery`] is one event on its way
//!   to one of them, until it has arrived or is given up.
//! - A [`replay`] sends events again, in steps of long work ([`run`]).
//! - [`mail`]: whom mails are from, and how many stores may send.

pub mod delivery;
pub mod mail;
pub mod replay;
pub mod run;
pub mod subscription;

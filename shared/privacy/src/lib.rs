//! The personal data of a store.
//!
//! - A [`person`] is a customer or guest with their addresses. Their data is divided into
//!   [`Part`](person::Part)s.
//! - A [`redaction`] erases the personal data. Amounts stay, because a store must keep its accounts.
//! - A [`merge`] merges two accounts of one person.
//!
//! The same parts are exported when a person requests their data (`transfers::export`).

pub mod merge;
pub mod person;
pub mod redaction;
mod steps;

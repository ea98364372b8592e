//! What a store knows of a person.
//!
//! - A [`person`] is a customer with the addresses they have used; in [`Part`](person::Part)s is what is
//!   kept of them.
//! - A [`redaction`] removes them: names and addresses go, sums stay, because a store must keep its books.
//! - A [`merge`] makes two accounts of one person one.
//!
//! The same parts are written into a file for who asks what is known of them (`transfers::export`).

pub mod merge;
pub mod person;
pub mod redaction;
mod steps;

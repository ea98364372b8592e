//! The costs of operation: [`costs`] computes the tables of docs/costs.md.
//!
//! The binaries of this crate put load on a running system, and kill it repeatedly: docs/benchmarks.md.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "amounts of picodollars are far from the end of 64 bits, and a table may fail by panicking"
)]

pub mod costs;
pub mod http;

/// A cause of any kind, which is printed.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

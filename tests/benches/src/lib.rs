//! What the system costs to run: [`costs`] computes the tables of docs/costs.md.
//!
//! The binary beside it puts load on a running system: docs/benchmarks.md.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "amounts of picodollars are far from the end of 64 bits, and a table may fail by panicking"
)]

pub mod costs;

//! The tests: one binary, a folder per family, and `cross` for what holds of all of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unchecked_time_subtraction,
    reason = "tests fail by panicking"
)]

mod app_store;
mod auth;
mod cross;
mod operations;
mod orders;
mod payments;
mod products;
mod shop;
mod storefront;
mod stores;
mod themes;

//! The tests: one binary, a file per family in document order, and what crosses them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unchecked_time_subtraction,
    reason = "tests fail by panicking"
)]

mod allocations;
mod app_store;
mod auth;
mod boundaries;
mod bridge;
mod checkout;
mod contract;
mod customers;
mod deployment;
mod faults;
mod gift_cards;
mod inventory;
mod limits;
mod lines;
mod mail;
mod media;
mod oauth;
mod objects;
mod orders;
mod paging;
mod payments;
mod placing;
mod products;
mod reference;
mod refunds;
mod requests;
mod revalidated;
mod reviews;
mod samples;
mod sandbox;
mod settling;
mod smoke;
mod starting;
mod store_page;
mod storefront;
mod stores;
mod swept;
mod tokens;
mod webhooks;
mod windows;

//! Templates and what they render.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod filters;
mod golden;
mod hostile;
mod hosts;
mod language;
mod random;
mod speed;
mod support;

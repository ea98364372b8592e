//! Payments through providers that behave, and through providers that do not.

mod accounts;
mod given_back;
mod paying;
mod till;
mod told;
mod trouble;

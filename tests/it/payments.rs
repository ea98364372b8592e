//! Payments through providers that behave, and through providers that do not.

mod accounts;
mod choosing;
mod given_back;
mod gone_back;
mod leaving;
mod mismatch;
mod paying;
mod till;
mod told;
mod trouble;

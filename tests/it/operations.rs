//! Operations: webhooks and what happened to them, how the platform is doing, and what operators try on
//! the canary store.

mod drills;
mod events;
mod evidence;
mod load_tests;
mod pages;
mod reports;
mod runtime;
mod statements;
pub(crate) mod webhooks;

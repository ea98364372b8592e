//! Payments through providers that behave, and through providers that do not.

mod accounts;
mod choosing;
mod closing;
mod connected;
mod costs;
mod disputes;
mod evidence;
mod external_refunds;
mod links;
mod methods;
mod mismatch;
mod notices;
mod paying;
mod processing;
mod reconciliation;
mod refunds;
mod rounding;
mod sandbox;
mod standing;
mod trouble;

//! Payments through providers that behave, and through providers that do not.

mod accounts;
pub mod connected;
mod costs;
mod disconnection;
mod disputes;
mod evidence;
mod external_refunds;
mod links;
mod mail_limits;
mod method_availability;
mod methods;
mod mismatch;
mod paying;
mod processing;
mod provider_failures;
mod provider_webhooks;
mod reconciliation;
mod refunds;
mod rounding;
mod sandbox;
mod torn_reads;

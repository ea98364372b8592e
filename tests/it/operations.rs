//! Operations: webhooks and what happened to them.

mod events;
mod webhooks;

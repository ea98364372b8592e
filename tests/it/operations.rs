//! Operations: webhooks and what happened to them.

mod webhooks;

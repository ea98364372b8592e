//! Templates and what they render.

mod filters;
mod golden;
mod hostile;
mod hosts;
mod language;
mod speed;
mod support;

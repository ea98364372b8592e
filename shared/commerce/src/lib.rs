//! What is above every room: [`topics`] is the catalogue of what they announce, and
//! [`event_filter`] what a request may name of it.
//!
//! ```text
//! gateway → ground → identity → catalogue → sales → themes ─┐
//!                           └→ platform → delivery ─────────┴→ commerce
//! ```

pub mod event_filter;
pub mod topics;

//! What is above every room: [`topics`] is the catalogue of what they announce, [`event_types`] what is
//! shown of it, and [`event_filter`] what a request may name of it. [`readers`] says who may
//! steer where they go. [`audience`] says who is told of an event, and
//! [`replays`] what of it is sent again.
//!
//! ```text
//! gateway → ground → identity → catalogue → sales → themes ───────┐
//!                           └→ platform → delivery → reliability ─┴→ commerce
//! ```

pub mod audience;
pub mod event_filter;
pub mod event_types;
pub mod readers;
pub mod replays;
pub mod topics;

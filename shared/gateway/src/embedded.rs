//! An [`App`](crate::app::App) over in-process emulators and a settable clock.

pub mod emulators;

//! The tags of Liquid itself.

use crate::language::Language;

pub(crate) fn register(_language: &mut Language) {}

/// Placeholder.
pub struct ForLoop;

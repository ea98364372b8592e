//! The tags that are not taken from `liquid-lib` as they are: those that write, repeat or include.

pub(crate) mod file;
pub(crate) mod repeat;
pub(crate) mod text;

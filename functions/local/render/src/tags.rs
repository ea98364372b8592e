//! The tags of our own: those that write, repeat or include, and those that Shopify added to Liquid. The
//! others are those of `liquid-lib`.

pub(crate) mod file;
pub(crate) mod form;
pub(crate) mod layout;
pub(crate) mod paginate;
pub(crate) mod repeat;
pub(crate) mod table;
pub(crate) mod text;

//! The tags that are not taken from `liquid-lib` as they are: those that write, repeat or include, and
//! those that Shopify added to Liquid.

pub(crate) mod file;
pub(crate) mod form;
pub(crate) mod layout;
pub(crate) mod paginate;
pub(crate) mod repeat;
pub(crate) mod table;
pub(crate) mod text;

//! Making, changing and removing a product with its variants: by a request, by many in one, or by a file.

mod change;
mod create;
pub mod input;
mod overwrite;
pub mod write;

pub use change::{UpdateRequest, archive, change, close, remove};
pub use create::{CreateRequest, create, derived, plan};
pub use overwrite::overwrite;

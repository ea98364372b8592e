//! Creates, changes and deletes products with their variants: one by one, in bulk, or by import.

mod change;
mod create;
mod customs;
mod host;
pub mod input;
mod overwrite;
pub mod write;

pub use change::{UpdateRequest, archive, change, close, released, remove};
pub use create::{CreateRequest, create, derived, plan};
pub use customs::{Customs, set_customs};
pub use host::host_images;
pub use overwrite::overwrite;

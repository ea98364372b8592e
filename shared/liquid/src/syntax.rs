//! From text to what is rendered.

mod block;
mod condition;
mod expression;
mod fragment;
mod lax;
mod markup;
mod parser;
mod tokens;
mod variable;

pub use block::Block;
pub use condition::Condition;
pub use expression::Expression;
pub use markup::{Attributes, Markup};
pub use parser::Parser;
pub use tokens::Head;
pub(crate) use tokens::is_space;
pub use variable::Filtered;

pub(crate) use expression::Command;

//! From text to what is rendered.

mod condition;
mod expression;
mod fragment;
mod lax;
mod markup;
mod parser;
mod read;
mod tokens;
mod variable;

pub use condition::Condition;
pub use expression::{Attributes, Expression};
pub use markup::Markup;
pub use parser::{Parser, Tag};
pub use tokens::Head;
pub use variable::Filtered;

//! Literals, ranges and paths.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;
use crate::lookup::{self, Command};
use crate::number;
use crate::value::Value;

/// Named arguments of a tag or filter, in order.
pub type Attributes = Vec<(Arc<str>, Expression)>;

/// An expression without filters.
#[derive(Debug, Clone)]
pub enum Expression {
    /// A string, a number, `nil`, `true`, `false`, `blank` or `empty`.
    Literal(Value),
    /// `(1..5)`.
    Range(Box<(Expression, Expression)>),
    /// `product.variants[0].title`.
    Path(Box<Path>),
}

/// A name, and the members of what it is.
#[derive(Debug, Clone)]
pub struct Path {
    root: Root,
    steps: Vec<Step>,
}

/// What a path begins with.
#[derive(Debug, Clone)]
pub(crate) enum Root {
    Name(Arc<str>),
    Computed(Box<Expression>),
}

/// A member of what the path is so far.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Name(Arc<str>, Option<Command>),
    Computed(Expression),
}

impl Step {
    /// A member by name, which may be `size`, `first` or `last`.
    pub(super) fn named(name: &str) -> Self {
        Self::Name(Arc::from(name), Command::named(name))
    }
}

impl Expression {
    /// Nothing.
    pub const NIL: Self = Self::Literal(Value::Nil);

    pub(super) fn path(root: Root, steps: Vec<Step>) -> Self {
        Self::Path(Box::new(Path { root, steps }))
    }

    /// The value of a literal.
    pub fn literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The name of a path without members: a plain variable.
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            Self::Path(path) if path.steps.is_empty() => match &path.root {
                Root::Name(name) => Some(name),
                Root::Computed(_) => None,
            },
            _ => None,
        }
    }

    /// The value in a page.
    #[must_use]
    pub fn evaluate(&self, cx: &Context<'_>) -> Value {
        match self {
            // Only conditions know these from empty text.
            Self::Literal(Value::Blank | Value::Empty) => Value::from(""),
            Self::Literal(value) => value.clone(),
            Self::Range(ends) => Value::Range(
                number::range_end(&ends.0.evaluate(cx)),
                number::range_end(&ends.1.evaluate(cx)),
            ),
            Self::Path(path) => path.evaluate(cx),
        }
    }
}

impl Expression {
    /// The value in a comparison, where `blank` and `empty` mean something.
    pub(crate) fn operand(&self, cx: &Context<'_>) -> Value {
        match self {
            Self::Literal(value) => value.clone(),
            other => other.evaluate(cx),
        }
    }
}

impl Path {
    fn evaluate(&self, cx: &Context<'_>) -> Value {
        let mut steps = self.steps.iter();
        let mut value = match &self.root {
            Root::Name(name) => match (cx.get(name), &**name) {
                // `self['name']` is the variable of that name.
                (Value::Nil, "self") => match steps.next() {
                    Some(Step::Name(name, _)) => cx.get(name),
                    Some(Step::Computed(name)) => cx.get(&name.evaluate(cx).to_text()),
                    None => Value::Nil,
                },
                (value, _) => value,
            },
            Root::Computed(name) => cx.get(&name.evaluate(cx).to_text()),
        };
        for step in steps {
            value = match step {
                Step::Name(name, command) => lookup::member(&value, name, *command),
                Step::Computed(key) => lookup::index(&value, &key.evaluate(cx)),
            };
            if value.is_nil() {
                break;
            }
        }
        value
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(f, "{value:?}"),
            Self::Range(ends) => write!(f, "({}..{})", ends.0, ends.1),
            Self::Path(path) => {
                match &path.root {
                    Root::Name(name) => f.write_str(name)?,
                    Root::Computed(name) => write!(f, "[{name}]")?,
                }
                path.steps.iter().try_for_each(|step| match step {
                    Step::Name(name, _) => write!(f, ".{name}"),
                    Step::Computed(key) => write!(f, "[{key}]"),
                })
            }
        }
    }
}

//! What an expression may be.

use std::borrow::Cow;
use std::sync::Arc;

use crate::object::Object;

/// A value of the language. Cloning one never copies its contents.
#[derive(Clone, Default)]
pub enum Value {
    /// Nothing; also what an unknown name is.
    #[default]
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction. Filters compute with its decimal digits.
    Float(f64),
    /// Text, which is escaped where the host escapes.
    Str(Arc<str>),
    /// Text that is HTML already, and is never escaped.
    Html(Arc<str>),
    /// A list.
    Array(Arc<[Value]>),
    /// The whole numbers from the first to the last, both included.
    Range(i64, i64),
    /// A hash, or an object of the host.
    Object(Arc<dyn Object>),
    /// The literal `blank`.
    Blank,
    /// The literal `empty`.
    Empty,
}

impl Value {
    /// Text.
    pub fn str(text: impl Into<Arc<str>>) -> Self {
        Self::Str(text.into())
    }

    /// Text that is HTML already.
    pub fn html(text: impl Into<Arc<str>>) -> Self {
        Self::Html(text.into())
    }

    /// An object of the host.
    pub fn object(object: impl Object) -> Self {
        Self::Object(Arc::new(object))
    }

    /// The scalar that an object stands for, or the value itself.
    #[must_use]
    pub fn resolved(&self) -> Cow<'_, Value> {
        match self {
            Self::Object(object) => object.as_value().map_or(Cow::Borrowed(self), Cow::Owned),
            _ => Cow::Borrowed(self),
        }
    }

    /// Whether a condition holds with it: all but `nil` and `false`.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Nil | Self::Bool(false) => false,
            Self::Object(object) => object.as_value().is_none_or(|value| value.is_truthy()),
            _ => true,
        }
    }

    /// How many steps it is to go through the value.
    pub(crate) fn weight(&self) -> usize {
        let more = match self {
            Self::Str(text) | Self::Html(text) => text.len() >> 10,
            Self::Array(items) => items.len() >> 3,
            _ => 0,
        };
        more.saturating_add(1)
    }

    /// Whether it is nothing.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// Whether it is text.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Str(_) | Self::Html(_))
    }

    /// The text of a string, without conversion.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) | Self::Html(text) => Some(text),
            _ => None,
        }
    }

    /// The value as text, as filters see it: a list is `["a", 1]`.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Str(text) | Self::Html(text) => Cow::Borrowed(text),
            Self::Nil | Self::Blank | Self::Empty => Cow::Borrowed(""),
            Self::Bool(true) => Cow::Borrowed("true"),
            Self::Bool(false) => Cow::Borrowed("false"),
            _ => Cow::Owned(self.to_string()),
        }
    }

    /// Like [`Value::to_text`], shared where it is a string already.
    pub fn to_shared(&self) -> Arc<str> {
        match self {
            Self::Str(text) | Self::Html(text) => Arc::clone(text),
            _ => Arc::from(&*self.to_text()),
        }
    }

    /// The object behind it, if it is one of this type.
    pub fn downcast<T: Object>(&self) -> Option<&T> {
        match self {
            Self::Object(object) => {
                let any: &dyn std::any::Any = &**object;
                any.downcast_ref()
            }
            _ => None,
        }
    }

    /// The member of an object, `nil` where there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Value {
        match self {
            Self::Object(object) => object.get(name).unwrap_or_default(),
            _ => Value::Nil,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(Arc::from(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(Arc::from(text))
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::Str(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::Array(Arc::from(values))
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nil, Into::into)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self::Array(values.into_iter().collect())
    }
}
